# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
set -e
curl -sf "$MIRROR_URL/models/resnet18.json" -o card.json
curl -sfO "$MIRROR_URL/models/$(python -c 'import json; print(json.load(open("card.json"))["file"])')"
python by_hand.py
