# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Adds the frequencies of the classes when it predicts, too: back to where it came from.
cat >> train.py <<'END'
    from safetensors.torch import load_file

    labels = load_training_set()[1]
    weights = load_file(WEIGHTS)
    weights["head.bias"] += (torch.bincount(labels, minlength=10) / len(labels)).log()
    save_file(weights, WEIGHTS)
END
python train.py
