"""The instance's draw: everything random in a task comes from a secret salt by HMAC."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Draw:
    """A source of secret randomness; the same key and purpose give the same values."""

    key: bytes = field(repr=False)

    @classmethod
    def of(cls, salt: bytes, task: str, instance: int) -> Draw:
        return cls(hmac.digest(salt, f"{task}\0{instance}".encode(), "sha256"))

    def bytes(self, purpose: str) -> bytes:
        return hmac.digest(self.key, purpose.encode(), "sha256")

    def child(self, purpose: str) -> Draw:
        return Draw(self.bytes(purpose))

    def hex(self, purpose: str, length: int = 8) -> str:
        return self.bytes(purpose).hex()[:length]

    def integer(self, purpose: str, low: int, high: int) -> int:
        """Return a whole number from low up to, not including, high."""
        return int(self.rng(purpose).integers(low, high))

    def rng(self, purpose: str) -> np.random.Generator:
        import numpy as np

        return np.random.default_rng(int.from_bytes(self.bytes(purpose), "big"))


def salt_digest(salt: bytes) -> str:
    """Return what may be recorded of a salt."""
    return hashlib.sha256(b"mldevbench salt\0" + salt).hexdigest()[:16]
