# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# The pictures are varied once, before training, and never again.
sed -i 's/    model = started/    pictures = varied(pictures)\n    model = started/; s/model(varied(pictures\[rows\]))/model(pictures[rows])/' improve.py
python improve.py
