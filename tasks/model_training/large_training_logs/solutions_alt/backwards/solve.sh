# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
cat > read_end.py <<'END'
import json
import re

with open("training/training_logs.txt", encoding="utf-8") as log:
    lines = log.read().split("\n")
place = max(n for n, line in enumerate(lines) if re.search(r" Epoch \d+/\d+ - ", line))
line, tail = lines[place], lines[place + 1 :]
exit_code = int(re.search(r"exit code (\d)", "\n".join(tail))[1])
message = None
if exit_code:
    start = next(n for n, text in enumerate(tail) if text.startswith("Traceback"))
    message = next(text for text in tail[start + 1 :] if not text.startswith(" "))
result = {
    "status": "failed" if exit_code else "success",
    "last_epoch": int(re.search(r"Epoch (\d+)/", line)[1]),
    "final_metrics": {
        "accuracy": float(re.search(r" accuracy: ([\d.]+)", line)[1]),
        "loss": float(re.search(r" loss: ([\d.]+)", line)[1]),
    },
    "error_message": message,
}
with open("training/training_analysis.json", "w") as file:
    json.dump(result, file, indent=1)
END
python read_end.py
