# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Put submitted tensors into the given model and let it answer questions; runs no submitted code."""


def probe(inputs: dict) -> dict:
    import json

    import torch
    from tiny_bert import Tokenizer, load_model, read_config

    device = "cuda" if torch.cuda.is_available() else "cpu"
    config = read_config("pretrained")
    tokenizer = Tokenizer("pretrained", config["max_length"])
    model = load_model("pretrained", "best_checkpoint/model.safetensors").float().eval().to(device)
    rows = [json.loads(bytes(row)) for row in inputs["questions"]]
    answers = []
    with torch.no_grad():
        for start in range(0, len(rows), 100):
            batch = tokenizer.batch([(row["question"], row["passage"]) for row in rows[start : start + 100]])
            answers += model(*(part.to(device) for part in batch)).argmax(1).tolist()
    return {"outputs": torch.tensor(answers, dtype=torch.int8).numpy()}
