# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Let the saved tokenizer encode sentences."""


def probe(inputs: dict) -> dict:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file("model/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return {"ids": [tokenizer.encode(text).ids for text in inputs["texts"]]}
