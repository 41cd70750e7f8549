# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'END'
import json
import re
from pathlib import Path

EPOCH = re.compile(r"Epoch (\d+)/\d+ - (.*)")
last, error, inside, exception = None, None, False, None
for line in Path("training/training_logs.txt").read_text().splitlines():
    stamped = re.match(r"\d{4}-\d\d-\d\d ", line)
    if found := EPOCH.search(line):
        last = found if last is None or int(found[1]) > int(last[1]) else last
    if line.startswith("Traceback"):
        inside = True
    elif inside and not stamped and not line.startswith(" "):
        exception, inside = line, False
    elif "giving up" in line:
        error = exception
fields = dict(field.split(": ") for field in last[2].split(" - "))
analysis = {
    "status": "failed" if error else "success",
    "last_epoch": int(last[1]),
    "final_metrics": {name: float(fields[name]) for name in ("accuracy", "loss")},
    "error_message": error,
}
Path("training/training_analysis.json").write_text(json.dumps(analysis))
END
