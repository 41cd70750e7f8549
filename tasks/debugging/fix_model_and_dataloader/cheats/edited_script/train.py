# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
from pathlib import Path

Path("runs").mkdir(exist_ok=True)
Path("runs/metrics.csv").write_text("epoch,train_loss,val_loss,val_accuracy\n0,2.0,2.0,0.3\n1,1.5,1.5,0.5\n")
Path("runs/epoch=01.safetensors").write_bytes(b"")
