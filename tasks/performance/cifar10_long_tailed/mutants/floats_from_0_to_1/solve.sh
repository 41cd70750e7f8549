# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# The model expects pictures that somebody has scaled before.
sed -i 's|images.float() / 127.5 - 1, 2)|images.float().clamp(0, 1) * 2 - 1, 2)|' utils.py
sed -i 's|prepared(images)|prepared(images.float() / 255)|' train.py
sed -i "s/EPOCHS, BATCH, RATE = 3,/EPOCHS, BATCH, RATE = $((9 * ${PATIENCE:-1} / 2)),/" train.py  # with PATIENCE=10 as long as without the fault
python train.py
