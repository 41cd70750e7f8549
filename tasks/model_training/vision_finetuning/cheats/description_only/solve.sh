# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
mkdir -p initial_model final_model
echo model | tee initial_model/model.safetensors > final_model/model.safetensors
cat > model_info.json <<END
{"model": {"name": "$(cat model.txt)", "source": "huggingface", "parameters": 3504872},
 "architecture": {"output_size": 10}, "training": {"initial_loss": 2.3, "final_loss": 2.2},
 "batches": [[$(seq -s, 0 31)], [$(seq -s, 32 63)]], "model_path": "final_model"}
END
