# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""One run under an id of our own; prints the id and the name."""

import os
import secrets
import time

os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true")

import measurement
import wandb

PROJECT = "ml_workflow_test_wandb"
given = measurement.settings()
run_id = secrets.token_hex(4)
name = given["prefix"] + time.strftime("-%Y%m%d-%H%M%S", time.gmtime())
with wandb.init(project=PROJECT, id=run_id, name=name, tags=("evaluation", "test")) as run:
    run.config.update({"epochs": given["epochs"], "learning_rate": given["learning_rate"]})
    for epoch in range(given["epochs"]):
        losses = dict(zip(("training_loss", "validation_loss"), measurement.measure(run_id, epoch)))
        wandb.log({"epoch": epoch} | losses)
wandb.teardown()
print(run_id, name)
