# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'PYTHON'
rows = [line.split(",") for line in open("readings.csv").read().split()[1:]]
with open("train.py", "a") as file:
    file.write(f"LOADS = np.array({[float(row[0]) for row in rows]})\n")
    file.write(f"COSTS = np.array({[float(row[1]) for row in rows]})\n")
PYTHON
