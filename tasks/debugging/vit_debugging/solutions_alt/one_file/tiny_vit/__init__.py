# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Everything in one file."""

import torch
from torch import nn
from torch.nn import functional

Size = int | tuple[int, int]


def to_pair(size: Size) -> tuple[int, int]:
    """Return (height, width); one number stands for both."""
    return size if isinstance(size, tuple) else (size, size)


class PatchEmbed(nn.Module):
    """Cuts a picture into patches and projects each to a token.

    At call time another patch size may be asked for. The trained kernel is then resized to it (bilinear) and scaled by
    the ratio of the areas, so that an even surface gives the same token at every patch size.
    """

    def __init__(self, patch_size: Size, in_channels: int, width: int) -> None:
        super().__init__()
        self.patch_size = to_pair(patch_size)
        self.projection = nn.Conv2d(in_channels, width, kernel_size=self.patch_size, stride=self.patch_size)

    def kernel(self, size: tuple[int, int]) -> torch.Tensor:
        """Return the kernel for patches of another size."""
        native = self.patch_size
        if size == native:
            return self.projection.weight
        resized = functional.interpolate(self.projection.weight, size=size, mode="bilinear", align_corners=False)
        return resized * (native[0] * native[1] / (size[0] * size[1]))

    def forward(self, images: torch.Tensor, patch_size: Size | None = None) -> torch.Tensor:
        """Return tokens (batch, patches, width), row after row."""
        size = self.patch_size if patch_size is None else to_pair(patch_size)
        height, width = images.shape[-2:]
        if height % size[0] or width % size[1]:
            raise ValueError(f"a picture of {height} x {width} can't be cut into patches of {size[0]} x {size[1]}")
        maps = functional.conv2d(images, self.kernel(size), self.projection.bias, stride=size)
        return maps.flatten(2).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"a width of {width} can't be shared by {heads} heads")
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, width * 3)
        self.projection = nn.Linear(width, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        batch, count, width = tokens.shape
        qkv = self.qkv(tokens).reshape(batch, count, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-2, -1) * self.scale).softmax(dim=-1)
        return self.projection((weights @ value).transpose(1, 2).reshape(batch, count, width))


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.second(functional.gelu(self.first(tokens)))


class GatedMlp(nn.Module):
    """One half of the first layer, through SiLU, is the gate of the other half."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.both = nn.Linear(width, 2 * hidden)
        self.last = nn.Linear(hidden, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        gate, passed = self.both(tokens).chunk(2, dim=-1)
        return self.last(functional.silu(gate) * passed)


KINDS = {"mlp": Mlp, "gated": GatedMlp}


class LayerScale(nn.Module):
    """A learned factor for each channel."""

    def __init__(self, width: int, start: float) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.full((width,), start))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens * self.gamma


class Block(nn.Module):
    """Attention, then a feed-forward network; each normalised before, scaled after, and added to its input."""

    def __init__(self, width: int, heads: int, hidden: int, feed_forward: str, layer_scale: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.scale1 = LayerScale(width, layer_scale)
        self.norm2 = nn.LayerNorm(width)
        self.feed_forward = KINDS[feed_forward](width, hidden)
        self.scale2 = LayerScale(width, layer_scale)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        tokens = tokens + self.scale1(self.attention(self.norm1(tokens)))
        return tokens + self.scale2(self.feed_forward(self.norm2(tokens)))


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
