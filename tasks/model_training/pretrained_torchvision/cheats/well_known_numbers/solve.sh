# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
echo weights > resnet18.pt
cat > model_info.json <<'END'
{"model_name": "resnet18", "model_path": "resnet18.pt",
 "architecture": {"input_shape": [3, 224, 224], "num_parameters": 11689512}}
END
python -c "import numpy; numpy.save('logits.npy', numpy.zeros(1000, 'float32'))"
