"""A BERT with a yes-or-no head, and its tokenizer. Do not change this file; your weights are put into it."""

import json
import re
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

WORD = re.compile(r"\w+|[^\w\s]")


class Layer(nn.Module):
    """Self-attention and a feed-forward network, each added to what came in and then normalised."""

    def __init__(self, config: dict) -> None:
        super().__init__()
        hidden, wide = config["hidden_size"], config["intermediate_size"]
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.widen, self.narrow = nn.Linear(hidden, wide), nn.Linear(wide, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, hidden = states.shape
        shape = (batch, length, self.heads, hidden // self.heads)
        query, key, value = (part(states).view(shape).transpose(1, 2) for part in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        mixed = self.output(mixed.transpose(1, 2).reshape(batch, length, hidden))
        states = self.attention_norm(states + self.dropout(mixed))
        return self.output_norm(states + self.dropout(self.narrow(functional.gelu(self.widen(states)))))


class TinyBert(nn.Module):
    """Maps token ids, segments and a mask of the real tokens to two scores: no, yes."""

    def __init__(self, config: dict) -> None:
        super().__init__()
        hidden = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], hidden)
        self.positions = nn.Embedding(config["max_position_embeddings"], hidden)
        self.segments = nn.Embedding(2, hidden)
        self.embedding_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.pooler = nn.Linear(hidden, hidden)
        self.classifier = nn.Linear(hidden, 2)

    def first_state(self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        states = self.words(ids) + self.positions(places) + self.segments(segments)
        states = self.dropout(self.embedding_norm(states))
        for layer in self.layers:
            states = layer(states, mask)
        return states[:, 0]

    def forward(self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        pooled = torch.tanh(self.pooler(self.first_state(ids, segments, mask)))
        return self.classifier(self.dropout(pooled))


class Tokenizer:
    """Cuts text into the pieces of a vocabulary: [CLS] question [SEP] passage [SEP]."""

    def __init__(self, folder: str | Path, max_length: int) -> None:
        words = (Path(folder) / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.ids = {word: number for number, word in enumerate(words)}
        self.max_length = max_length

    def pieces(self, text: str) -> list[int]:
        return [number for word in WORD.findall(text.lower()) for number in self.word(word)]

    def word(self, word: str) -> list[int]:
        """Return the longest pieces from left to right; a word that has none is unknown."""
        found, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in self.ids)
            end = next(ends, None)
            if end is None:
                return [self.ids["[UNK]"]]
            found.append(self.ids[prefix + word[start:end]])
            start = end
        return found

    def pair(self, question: str, passage: str) -> tuple[list[int], list[int]]:
        """Return ids and segments; a passage that is too long is cut at its end."""
        first = [self.ids["[CLS]"], *self.pieces(question)[: self.max_length // 2], self.ids["[SEP]"]]
        rest = [*self.pieces(passage)[: self.max_length - len(first) - 1], self.ids["[SEP]"]]
        return first + rest, [0] * len(first) + [1] * len(rest)

    def batch(self, pairs: list[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return ids, segments and mask for (question, passage) pairs, as the model takes them."""
        rows = [self.pair(question, passage) for question, passage in pairs]
        longest = max(len(ids) for ids, _ in rows)
        pad = self.ids["[PAD]"]
        ids = torch.tensor([ids + [pad] * (longest - len(ids)) for ids, _ in rows])
        segments = torch.tensor([parts + [0] * (longest - len(parts)) for _, parts in rows])
        mask = torch.tensor([[True] * len(ids) + [False] * (longest - len(ids)) for ids, _ in rows])
        return ids, segments, mask


def read_config(folder: str | Path) -> dict:
    return json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))


def load_model(folder: str | Path, weights: str | Path | None = None) -> TinyBert:
    """Return the model that a folder's config.json describes, with its own or other weights."""
    model = TinyBert(read_config(folder))
    model.load_state_dict(load_file(weights or Path(folder) / "model.safetensors"))
    return model
