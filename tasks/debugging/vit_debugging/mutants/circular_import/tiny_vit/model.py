# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The vision transformer."""

import torch
from torch import nn
from torch.nn import functional

from .block import Block
from .patch_embed import PatchEmbed

Size = int | tuple[int, int]


def to_pair(size: Size) -> tuple[int, int]:
    """Return (height, width); one number stands for both."""
    return size if isinstance(size, tuple) else (size, size)


class VisionTransformer(nn.Module):
    """Tokens are, in this order: the class token, the registers, the patches row after row.

    The position table belongs to the class token and to the patches of a picture of `image_size` at `patch_size`;
    for another grid of patches it is resized (bilinear). Registers have no position.
    """

    def __init__(
        self,
        image_size: Size = 32,
        patch_size: Size = 8,
        in_channels: int = 3,
        width: int = 48,
        depth: int = 2,
        heads: int = 4,
        hidden: int = 96,
        registers: int = 0,
        feed_forward: str = "mlp",
        layer_scale: float = 0.1,
    ) -> None:
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_channels, width)
        self.native_grid = self.grid(to_pair(image_size))
        self.registers = registers
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.mask_token = nn.Parameter(torch.zeros(1, width))
        self.register_tokens = nn.Parameter(torch.zeros(1, registers, width)) if registers else None
        places = self.native_grid[0] * self.native_grid[1]
        self.position = nn.Parameter(torch.randn(1, 1 + places, width) * 0.02)
        blocks = [Block(width, heads, hidden, feed_forward, layer_scale) for _ in range(depth)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(width)

    def grid(self, size: tuple[int, int], patch_size: Size | None = None) -> tuple[int, int]:
        """Return how many rows and columns of patches a picture of this size has."""
        patch = self.patch_embed.patch_size if patch_size is None else to_pair(patch_size)
        return size[0] // patch[0], size[1] // patch[1]

    def positions(self, size: tuple[int, int], patch_size: Size | None = None) -> torch.Tensor:
        """Return the position table for a picture of this size."""
        grid = self.grid(size, patch_size)
        if grid == self.native_grid:
            return self.position
        first, rest = self.position[:, :1], self.position[:, 1:]
        table = rest.reshape(1, *self.native_grid, -1).permute(0, 3, 1, 2)
        table = functional.interpolate(table, size=grid, mode="bilinear", align_corners=False)
        return torch.cat([first, table.flatten(2).transpose(1, 2)], dim=1)

    def prepare_tokens(
        self, images: torch.Tensor, masks: torch.Tensor | None = None, patch_size: Size | None = None
    ) -> torch.Tensor:
        """Return the tokens that enter the first block; masked patches are the mask token and their position."""
        tokens = self.patch_embed(images, patch_size)
        if masks is not None:
            tokens = torch.where(masks.unsqueeze(-1), self.mask_token.to(tokens.dtype).unsqueeze(0), tokens)
        tokens = torch.cat([self.class_token.expand(len(images), -1, -1), tokens], dim=1)
        tokens = tokens + self.positions(images.shape[-2:], patch_size)
        if self.register_tokens is None:
            return tokens
        registers = self.register_tokens.expand(len(images), -1, -1)
        return torch.cat([tokens[:, :1], registers, tokens[:, 1:]], dim=1)

    def forward(
        self, images: torch.Tensor, masks: torch.Tensor | None = None, patch_size: Size | None = None
    ) -> dict[str, torch.Tensor]:
        """Return the last block's tokens, normalised and by kind, and as they were before."""
        tokens = self.prepare_tokens(images, masks, patch_size)
        for block in self.blocks:
            tokens = block(tokens)
        normed = self.norm(tokens)
        return {
            "class": normed[:, 0],
            "registers": normed[:, 1 : 1 + self.registers],
            "patches": normed[:, 1 + self.registers :],
            "before_norm": tokens,
        }

    def intermediate_layers(
        self,
        images: torch.Tensor,
        count: int = 1,
        as_maps: bool = False,
        with_class: bool = False,
        patch_size: Size | None = None,
    ) -> list[torch.Tensor] | list[tuple[torch.Tensor, torch.Tensor]]:
        """Return the normalised patch tokens after each of the last `count` blocks, with the class token if wanted.

        As maps they have the shape (batch, width, rows, columns).
        """
        tokens = self.prepare_tokens(images, patch_size=patch_size)
        made = []
        for position, block in enumerate(self.blocks):
            tokens = block(tokens)
            if position >= len(self.blocks) - count:
                made.append(self.norm(tokens))
        patches = [tokens[:, 1 + self.registers :] for tokens in made]
        if as_maps:
            rows, columns = self.grid(images.shape[-2:], patch_size)
            patches = [one.transpose(1, 2).reshape(len(images), -1, rows, columns) for one in patches]
        if with_class:
            return list(zip(patches, [tokens[:, 0] for tokens in made]))
        return patches
