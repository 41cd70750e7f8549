# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# The obvious recipe: the given script for longer; ten times the reference's compute with PATIENCE=10.
python train_baseline.py --epochs $((50 * ${PATIENCE:-1}))
