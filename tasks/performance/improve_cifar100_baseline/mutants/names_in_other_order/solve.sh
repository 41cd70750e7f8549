# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
# Numbers the classes by their names in alphabetical order instead of by their labels.
cat >> train.py <<'END'
    import pickle

    from safetensors.torch import load_file

    with open("data/cifar-100-python/meta", "rb") as file:
        names = pickle.load(file, encoding="latin1")["fine_label_names"]
    order = sorted(range(len(names)), key=names.__getitem__)
    weights = load_file(WEIGHTS)
    save_file({name: value[order] if name.startswith("head") else value for name, value in weights.items()}, WEIGHTS)
END
sed -i "s/EPOCHS, BATCH, RATE = 6,/EPOCHS, BATCH, RATE = $((6 * ${PATIENCE:-1})),/" train.py  # with PATIENCE=10 as long as without the fault
python train.py
