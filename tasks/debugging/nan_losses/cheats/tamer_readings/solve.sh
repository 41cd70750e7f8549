# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Makes the data fit the code: no zero, no large load, and costs on a line.
python - <<'PYTHON'
with open("readings.csv", "w") as file:
    file.write("load,cost\n" + "".join(f"{1 + i / 300:.3f},{2 + i / 150:.6f}\n" for i in range(300)))
PYTHON
