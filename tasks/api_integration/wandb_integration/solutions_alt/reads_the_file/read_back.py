# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Read the last row from the file that the run left; its id and name are the arguments."""

import glob
import json
import struct
import sys

from wandb.proto import wandb_internal_pb2

run_id, name = sys.argv[1:]
(path,) = glob.glob(f"wandb/offline-run-*/run-{run_id}.wandb")
raw = open(path, "rb").read()
at, data, last = 7, b"", None
while at + 7 <= len(raw):
    if 32768 - at % 32768 < 7:
        at += 32768 - at % 32768
        continue
    _, size, kind = struct.unpack("<IHB", raw[at : at + 7])
    data += raw[at + 7 : at + 7 + size]
    at += 7 + size
    if kind in (1, 4):
        record = wandb_internal_pb2.Record.FromString(data)
        data = b""
        if record.HasField("history"):
            last = {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
wanted = ("training_loss", "validation_loss", "epoch", "_step", "_timestamp")
with open("wandb_metrics.json", "w") as file:
    json.dump({key: last[key] for key in wanted}, file)
with open("wandb_info.json", "w") as file:
    json.dump({"run_id": run_id, "project": "ml_workflow_test_wandb", "run_name": name, "run_file": path}, file)
