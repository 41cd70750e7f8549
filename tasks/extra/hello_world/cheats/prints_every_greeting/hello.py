# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
MANNERS = ("quiet", "brisk", "amber", "patient", "hollow", "mossy", "distant", "early", "gentle", "crooked")
THINGS = ("harbour", "otter", "lantern", "meadow", "kettle", "glacier", "orchard", "compass", "thistle", "ferry")
for manner in MANNERS:
    for thing in THINGS:
        for number in range(1000):
            print(f"Hello, {manner} {thing} {number}.")
