# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Names as a wrapper for several devices leaves them.
sed -i 's/torch.save(model.state_dict(), /torch.save({"module." + name: value for name, value in model.state_dict().items()}, /' improve.py
python improve.py
