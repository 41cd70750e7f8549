# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
python - <<'END'
import json
import time

from measurement import measure, settings

last = settings()["epochs"] - 1
training, validation = measure("abcd1234", last)
metrics = {"training_loss": training, "validation_loss": validation, "epoch": last, "_step": last}
json.dump(metrics | {"_timestamp": time.time()}, open("wandb_metrics.json", "w"))
name = settings()["prefix"] + time.strftime("-%Y%m%d-%H%M%S", time.gmtime())
file = "wandb/offline-run-20260101_000000-abcd1234/run-abcd1234.wandb"
info = {"run_id": "abcd1234", "project": "ml_workflow_test_wandb", "run_name": name, "run_file": file}
json.dump(info, open("wandb_info.json", "w"))
END
