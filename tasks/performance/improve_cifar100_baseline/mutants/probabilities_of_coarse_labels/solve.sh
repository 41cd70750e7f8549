# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Trained on the coarse labels, scores for these.
sed -i 's/images, labels, _ = load_training_set()/images, _, labels = load_training_set()/; s/Classifier(class_count())/Classifier(int(labels.max()) + 1)/' train.py
python train.py
