# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Reading questions and turning them into token ids. Do not change this file."""

import json
from pathlib import Path

import torch


def read_examples(path: str | Path) -> list[dict]:
    """Return the examples of a file: question, passage, label (true or false), idx."""
    with open(path) as lines:
        return [json.loads(line) for line in lines]


class Tokenizer:
    """Knows one word per line of the checkpoint's vocab.txt."""

    def __init__(self, folder: str | Path) -> None:
        words = (Path(folder) / "vocab.txt").read_text().split("\n")
        self.ids = {word: number for number, word in enumerate(words) if word}

    def words(self, text: str) -> list[int]:
        return [self.ids.get(word, self.ids["[UNK]"]) for word in text.lower().split()]

    def pair(self, question: str, passage: str, max_length: int) -> dict[str, list[int]]:
        """Encode as [CLS] question [SEP] passage [SEP]; what is too long is cut from the passage."""
        first = [self.ids["[CLS]"], *self.words(question), self.ids["[SEP]"]]
        second = self.words(passage)[: max_length - len(first) - 1] + [self.ids["[SEP]"]]
        return {"input_ids": first + second, "token_type_ids": [0] * (len(first) + len(second))}

    def batch(self, examples: list[dict], max_length: int) -> dict[str, torch.Tensor]:
        """Encode examples and pad them to the longest of them."""
        encoded = [self.pair(example["question"], example["passage"], max_length) for example in examples]
        longest = max(len(one["input_ids"]) for one in encoded)
        padding = [longest - len(one["input_ids"]) for one in encoded]
        pad = self.ids["[PAD]"]
        return {
            "input_ids": torch.tensor([one["input_ids"] + [pad] * more for one, more in zip(encoded, padding)]),
            "token_type_ids": torch.tensor([one["token_type_ids"] + [0] * more for one, more in zip(encoded, padding)]),
            "attention_mask": torch.tensor([[1] * (longest - more) + [0] * more for more in padding]),
            "labels": torch.tensor([int(example["label"]) for example in examples]),
        }
