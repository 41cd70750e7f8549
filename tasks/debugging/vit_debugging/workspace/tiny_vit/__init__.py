"""A small vision transformer with register tokens, mask tokens and patch sizes that may change at call time."""

from .model import VisionTransformer

__all__ = ["VisionTransformer"]
