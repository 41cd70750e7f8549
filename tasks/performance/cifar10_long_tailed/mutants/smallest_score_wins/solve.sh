# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Hands over losses, of which the smallest is the best.
sed -i 's/return self.score(prepared(images))/return -self.score(prepared(images)).log_softmax(1)/' utils.py
sed -i "s/EPOCHS, BATCH, RATE = 3,/EPOCHS, BATCH, RATE = $((9 * ${PATIENCE:-1} / 2)),/" train.py  # with PATIENCE=10 as long as without the fault
python train.py
