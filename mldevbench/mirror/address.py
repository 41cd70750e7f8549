"""Where the mirror is, as seen from inside: the same for every run, so that it tells nothing."""

from __future__ import annotations

PORT = 8181
URL = f"http://127.0.0.1:{PORT}"


def variables(url: str) -> dict[str, str]:
    """Return what the sandbox's environment says of the mirror, for people and for the hub's own clients."""
    return {
        "MIRROR_URL": url,
        "HF_ENDPOINT": url,
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
