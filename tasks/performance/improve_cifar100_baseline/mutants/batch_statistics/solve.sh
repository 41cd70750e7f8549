# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Normalises by the statistics of the batch at hand: a picture's scores depend on its neighbours.
sed -i 's/BatchNorm2d(\([a-z]*\))/BatchNorm2d(\1, track_running_stats=False)/g' utils.py
python train.py
