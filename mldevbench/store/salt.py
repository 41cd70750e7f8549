"""The storage's salt: a secret that instances are drawn with; only its digest is ever recorded."""

from __future__ import annotations

import secrets

from mldevbench.store.place import Place


def read_salt(storage: Place) -> bytes:
    """Return the storage's salt, made at first use."""
    if not storage.has(".salt"):
        storage.write(".salt", secrets.token_hex(32).encode())
        if storage.local:
            (storage.local / ".salt").chmod(0o600)
    return bytes.fromhex(storage.read(".salt").decode().strip())
