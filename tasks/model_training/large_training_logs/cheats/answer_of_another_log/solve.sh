# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
cat > training/training_analysis.json <<'END'
{"status": "failed", "last_epoch": 7067, "final_metrics": {"accuracy": 0.89739, "loss": 0.27295}, "error_message": "FloatingPointError: the gradient norm is not finite at step 9718"}
END
