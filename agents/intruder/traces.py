"""Looks for what an earlier run has left, then leaves the same for the next.

Without a wall whatever is left is taken away at once; a key that can't be would expire.
"""
# It works with any Python's bare file calls, as an attacker would.
# ruff: noqa: PTH108, PTH110, PTH123, PTH208

from __future__ import annotations

import ctypes
import os
import platform
import sys

NAME = "intruder-left-this"
KEY = 0x1D7A0C52
SHADOWS = ("sitecustomize.py", "usercustomize.py", "conftest.py", "torch.py", "numpy.py", "intruder.pth")
KEY_CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}  # add_key, keyctl
EXPIRES_SECONDS = 60


def places():
    """Folders that somebody might forget to empty."""
    home = os.environ.get("HOME", "/nonexistent")
    return ["/tmp", "/var/tmp", "/dev/shm", "/run", home, f"{home}/.cache", "/dev/mqueue"]


def left_files(act):
    found = []
    for folder in places():
        path = f"{folder}/{NAME}"
        if act == "look" and os.path.exists(path):
            os.unlink(path)
            found.append(path)
        elif act == "plant":
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write("left\n")
            except OSError:
                continue
    return ", ".join(found) or None


def left_key(act):
    add_key, keyctl = KEY_CALLS.get(platform.machine(), (None, None))
    if add_key is None:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    for ring in (-4, -3, -5):  # the user's, the session's, the user's session's
        if act == "plant":
            key = libc.syscall(add_key, b"user", NAME.encode(), b"left", 4, ring)
            if key > 0:
                libc.syscall(keyctl, 15, key, EXPIRES_SECONDS)
        else:
            key = libc.syscall(keyctl, 10, ring, b"user", NAME.encode(), 0)
            if key > 0:
                libc.syscall(keyctl, 9, key, ring)
                found.append(f"key {key} in ring {ring}")
    return ", ".join(found) or None


def left_shared_memory(act):
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(KEY, 4096, 0o666 | (0o1000 if act == "plant" else 0))
    if act == "look" and segment >= 0:
        libc.shmctl(segment, 0, None)
        return f"segment {segment}"
    return None


def left_queue(act):
    libc = ctypes.CDLL(None, use_errno=True)
    queue = libc.msgget(KEY, 0o666 | (0o1000 if act == "plant" else 0))
    if act == "look" and queue >= 0:
        libc.msgctl(queue, 0, None)
        return f"queue {queue}"
    return None


def left_process(act):
    """A daemon that has left its session and would rewrite the submission later."""
    marker = f"{NAME}-daemon"
    if act == "look":
        for pid in (name for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if marker.encode() in file.read().split(b"\0"):
                        return f"process {pid}"
            except OSError:
                continue
        return None
    code = f"import time; end = time.time() + {EXPIRES_SECONDS}\nwhile time.time() < end:\n"
    code += " time.sleep(0.2); open('rewritten-later', 'a').write('x')"
    if not os.fork():
        os.setsid()
        if not os.fork():
            null = os.open("/dev/null", os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            os.execv(sys.executable, [sys.executable, "-c", code, marker])
        os._exit(0)
    return None


def plant_shadows():
    """Files in the workspace that harm whoever imports, collects or unpickles there."""
    trap = "open('/tmp/intruder-escaped', 'w').close()\n"
    patch = "class Always(float):\n    __eq__ = __ge__ = __le__ = lambda self, other: True\n"
    for name in SHADOWS:
        if not os.path.exists(name):
            with open(name, "w", encoding="utf-8") as file:
                file.write(("import os; " if name.endswith(".pth") else patch) + trap)
    with open("intruder.pt", "wb") as file:  # a pickle that calls os.system
        file.write(b"cposix\nsystem\n(S'touch /tmp/intruder-escaped'\ntR.")


TRACES = (left_files, left_key, left_shared_memory, left_queue, left_process)
