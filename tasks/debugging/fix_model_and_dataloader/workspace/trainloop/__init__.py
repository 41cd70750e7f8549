"""A small training loop. Do not change this package."""

from .base import DataModule, Module
from .trainer import Trainer

__all__ = ["DataModule", "Module", "Trainer"]
