# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
cp pretrained/model.safetensors model.safetensors
cat >> fcn.py <<'P'


def prepared(pictures):
    return (pictures.float() - pictures.float().mean((2, 3), keepdim=True)) / -80
P
