"""Tells the steps of a program inside to its gateway: `tell("tool", text, tool="shell", exit_code=0)`."""

import contextlib
import json
import os
import urllib.request

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def tell(role, text="", **more):
    """Add one step to the trajectory; a gateway that can't be reached is no reason to stop working."""
    request = urllib.request.Request(
        os.environ["GATEWAY_URL"] + "/trajectory",
        json.dumps({"role": role, "text": text, **more}, default=str).encode(),
        {"Authorization": "Bearer " + os.environ["GATEWAY_KEY"], "Content-Type": "application/json"},
    )
    with contextlib.suppress(OSError):
        DIRECT.open(request, timeout=30).close()
