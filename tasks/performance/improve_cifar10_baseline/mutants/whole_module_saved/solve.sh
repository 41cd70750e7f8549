# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# The model object instead of its state dict.
sed -i 's/torch.save(model.state_dict(), /torch.save(model, /' improve.py
python improve.py
