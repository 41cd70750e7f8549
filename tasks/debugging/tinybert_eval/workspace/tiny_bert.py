"""A very small BERT with a classifier on its first token. Do not change this file."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn


class Layer(nn.Module):
    """Self-attention and a feed-forward network, each added to what came in and then normalised."""

    def __init__(self, config: dict) -> None:
        super().__init__()
        hidden = config["hidden_size"]
        self.heads = config["num_attention_heads"]
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden)
        self.widen = nn.Linear(hidden, config["intermediate_size"])
        self.narrow = nn.Linear(config["intermediate_size"], hidden)
        self.output_norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])

    def attend(self, states: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        batch, length, hidden = states.shape
        split = (batch, length, self.heads, hidden // self.heads)
        query, key, value = (part(states).view(split).transpose(1, 2) for part in (self.query, self.key, self.value))
        weights = query @ key.transpose(2, 3) / (hidden // self.heads) ** 0.5 + bias
        return (weights.softmax(dim=-1) @ value).transpose(1, 2).reshape(batch, length, hidden)

    def forward(self, states: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        states = self.attention_norm(states + self.dropout(self.output(self.attend(states, bias))))
        return self.output_norm(states + self.dropout(self.narrow(torch.relu(self.widen(states)))))


class TinyBert(nn.Module):
    """Maps token ids to two scores: no, yes."""

    def __init__(self, config: dict) -> None:
        super().__init__()
        hidden = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], hidden)
        self.positions = nn.Embedding(config["max_position_embeddings"], hidden)
        self.segments = nn.Embedding(2, hidden)
        self.embedding_norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(config["hidden_dropout_prob"])
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.classifier = nn.Linear(hidden, 2)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Without a mask all tokens count; without segments all tokens belong to the first."""
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.words(input_ids) + self.positions(places) + self.segments(token_type_ids)
        states = self.dropout(self.embedding_norm(states))
        bias = (1.0 - attention_mask[:, None, None, :].float()) * -1e4
        for layer in self.layers:
            states = layer(states, bias)
        return self.classifier(states[:, 0])


def read_config(folder: str | Path) -> dict:
    return json.loads((Path(folder) / "config.json").read_text())


def load_model(folder: str | Path) -> TinyBert:
    """Return the model of a checkpoint."""
    model = TinyBert(read_config(folder))
    model.load_state_dict(load_file(Path(folder) / "model.safetensors"))
    return model
