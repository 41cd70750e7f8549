# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Log the measurements of all epochs and read the last row back."""

import json
from datetime import datetime, timezone
from pathlib import Path

import wandb
from measurement import measure, settings

wanted = settings()
name = f"{wanted['prefix']}-{datetime.now(timezone.utc):%Y%m%d-%H%M%S}"
run = wandb.init(
    project="ml_workflow_test_wandb",
    name=name,
    tags=["test", "evaluation"],
    config={key: wanted[key] for key in ("epochs", "learning_rate")},
    mode="offline",
    dir=".",
)
for epoch in range(wanted["epochs"]):
    training, validation = measure(run.id, epoch)
    run.log({"training_loss": training, "validation_loss": validation, "epoch": epoch})
fields = ("training_loss", "validation_loss", "epoch", "_step", "_timestamp")
metrics = {field: run.summary[field] for field in fields}
folder = Path(run.dir).parent
run.finish()
file = next(folder.glob("run-*.wandb")).resolve().relative_to(Path.cwd())
info = {"run_id": run.id, "project": run.project, "run_name": name, "run_file": str(file)}
Path("wandb_metrics.json").write_text(json.dumps(metrics))
Path("wandb_info.json").write_text(json.dumps(info))
