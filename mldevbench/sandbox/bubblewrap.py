"""The wall that bubblewrap builds: as root with a user id of its own, else inside a user namespace.

It doesn't defend against faults of the kernel itself, and time and CPU use of neighbours can be felt inside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mldevbench.errors import Fault
from mldevbench.sandbox import cgroup, gpu, seccomp, uid
from mldevbench.sandbox.cage import Cage, Wall, close_all, in_memory
from mldevbench.sandbox.interpreter import Interpreter, behind_all
from mldevbench.sandbox.launch import KEEPER, Recipe, launch
from mldevbench.sandbox.protocol import SandboxSpec
from mldevbench.sandbox.rlimit import Bounds, rlimits

MakeCage = Callable[[SandboxSpec, Wall], Cage]
INSIDE = "/workspace"
HOST_NAME = "sandbox"
INNER_ID = 1000  # in a user namespace, where it costs nothing to be the same everywhere
KEEPER_INSIDE = "/run/keeper.py"
SMALL_FILE = 8 << 20  # copied in rather than bound, since a bind shows its source's path
ETC = (
    "alternatives", "ld.so.cache", "ld.so.conf", "localtime", "nsswitch.conf", "mime.types", "ssl/certs",
    "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust",
)  # fmt: skip


def program() -> str | None:
    return shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")


@dataclass
class Arguments:
    """bwrap's argument list as it grows, with the descriptors that it refers to."""

    words: list[str] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    _folders: set[str] = field(default_factory=lambda: {"/"})

    def add(self, *words: str | Path) -> None:
        self.words += map(str, words)

    def parents(self, target: str | Path) -> None:
        """Make the folders above a target passable: bwrap's own are closed to all but root."""
        for folder in reversed(Path(target).parents):
            if str(folder) not in self._folders:
                self._folders.add(str(folder))
                self.add("--perms", "0755", "--dir", folder)

    def bind(self, option: str, source: str | Path, target: str | Path) -> None:
        self.parents(target)
        self._folders.add(str(target))
        self.add(option, source, target)

    def content(self, data: bytes, target: str) -> None:
        """Put a file there by its bytes, so that no path of the host shows."""
        descriptor = in_memory(data)
        self.descriptors.append(descriptor)
        self.parents(target)
        self.add("--perms", "0444", "--file", str(descriptor), target)

    def show(self, source: Path, target: str | Path) -> None:
        """Make a file or folder visible, a file by copying it if it is small."""
        if source.is_file() and source.stat().st_size <= SMALL_FILE:
            self.content(source.read_bytes(), str(target))
        else:
            self.bind("--ro-bind", source, target)

    def scratch(self, target: str, size_mb: int) -> None:
        self._folders.add(target)
        self.add("--perms", "1777", "--size", str(size_mb << 20), "--tmpfs", target)

    def mask(self, target: str | Path) -> None:
        """Cover a folder with an empty one that stays empty."""
        self._folders.add(str(target))
        self.masks.append(str(target))
        self.add("--perms", "0755", "--size", "4096", "--tmpfs", target)

    def seal(self) -> None:
        """Close for writing what had to be open while mount points were made in it."""
        # In a user namespace the inner user owns these file systems, and two have no size of their own.
        for target in (*self.masks, "/dev", "/"):
            self.add("--remount-ro", target)


def namespaces(arguments: Arguments, root: bool, userns: int | None) -> None:
    if userns is not None:
        arguments.descriptors.append(os.dup(userns))
        arguments.add("--userns", str(arguments.descriptors[-1]))
    elif not root:
        arguments.add("--unshare-user", "--uid", str(INNER_ID), "--gid", str(INNER_ID))
    arguments.add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try")
    arguments.add("--hostname", HOST_NAME, "--as-pid-1", "--die-with-parent", "--new-session", "--clearenv")
    filter_file = in_memory(seccomp.program())
    arguments.descriptors.append(filter_file)
    arguments.add("--seccomp", str(filter_file))


def system(arguments: Arguments, interpreter: Interpreter) -> None:
    """Show the system's programs and libraries, and what of /etc they need."""
    arguments.bind("--ro-bind", "/usr", "/usr")
    if Path("/usr/local") not in interpreter.prefixes:
        arguments.mask("/usr/local")
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            arguments.add("--symlink", path.readlink(), path)
        elif path.is_dir():
            arguments.bind("--ro-bind", path, path)
    for name in ETC:
        path = Path("/etc", name)
        if path.exists():
            arguments.show(path.resolve(), path)
    processors = Path("/sys/devices/system")  # where libraries count them
    if processors.exists():
        arguments.bind("--ro-bind", processors, processors)


def identity(arguments: Arguments, inner: int) -> None:
    home = f"{INSIDE}/.home"
    arguments.content(
        f"root:x:0:0:root:/:/bin/false\nagent:x:{inner}:{inner}::{home}:/bin/bash\n".encode(), "/etc/passwd"
    )
    arguments.content(f"root:x:0:\nagent:x:{inner}:\n".encode(), "/etc/group")
    arguments.content(b"127.0.0.1 localhost sandbox\n::1 localhost\n", "/etc/hosts")


def python(arguments: Arguments, interpreter: Interpreter, *venvs: Path | None) -> None:
    for prefix in interpreter.prefixes:
        if Path("/usr") not in prefix.parents:
            arguments.bind("--ro-bind", prefix, prefix)
    for folder in interpreter.site_packages:
        arguments.mask(folder)
    for venv in venvs:
        if venv is not None:
            arguments.bind("--ro-bind", venv, venv)


def extras(arguments: Arguments, spec: SandboxSpec) -> None:
    for bind in spec.readonly:
        arguments.show(bind.source, bind.target)
    for bind in spec.sockets:
        arguments.bind("--bind", bind.source, bind.target)
    libraries = gpu.library_paths(spec.gpus)
    for path in libraries:
        arguments.parents(path)
    arguments.add(*gpu.bubblewrap_arguments(spec.gpus, libraries))


def build(
    spec: SandboxSpec, interpreter: Interpreter, inner: int, *, root: bool, userns: int | None = None
) -> Arguments:
    """Return all of bwrap's arguments but the command."""
    arguments = Arguments()
    namespaces(arguments, root, userns)
    arguments.add("--proc", "/proc", "--dev", "/dev")
    arguments.scratch("/tmp", spec.limits.tmp_mb)
    arguments.scratch("/dev/shm", spec.limits.tmp_mb)
    system(arguments, interpreter)
    identity(arguments, inner)
    python(arguments, interpreter, spec.venv, spec.agent_venv)
    extras(arguments, spec)
    arguments.content(KEEPER.read_bytes(), KEEPER_INSIDE)
    arguments.parents("/var/tmp")
    arguments.add("--symlink", "/tmp", "/var/tmp")
    arguments.bind("--bind", spec.workspace, INSIDE)
    arguments.seal()
    arguments.add("--chdir", INSIDE)
    return arguments


def environment(spec: SandboxSpec, inside: str) -> dict[str, str]:
    """Return all variables that a command starts with."""
    folders = [f"{spec.venv}/bin"] if spec.venv is not None else []
    return {
        "PATH": ":".join([*folders, "/usr/bin", "/bin"]),
        "HOME": f"{inside}/.home",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        **spec.environment,
    }


def keeper_command(
    python: str, keeper: str, control: int | str, inner: int, folder: str, bounds: Bounds, doors: Sequence[int] = ()
) -> list[str]:
    ports = ",".join(map(str, doors))
    return [python, "-ISB", keeper, str(control), str(inner), str(inner), folder, ports, *map(str, bounds)]


def hand_over(folder: Path, owner: int) -> None:
    """Give a tree to a user id; the tool descends as deep as anybody can dig."""
    subprocess.run(["/bin/chown", "-hR", f"{owner}:{owner}", "--", str(folder)], check=True, capture_output=True)


def make_passable(folder: Path) -> None:
    """Open again what the inmates, who share our user id, have closed to us, and let nothing run as us for others."""
    subprocess.run(["/bin/chmod", "-R", "u+rwX,ug-s", "--", str(folder)], check=False, capture_output=True)


def open_bubblewrap(
    spec: SandboxSpec, *, cgroups: bool = True, userns: int | None = None, kind: MakeCage = Cage
) -> Cage:
    """Open a sandbox, in a user namespace that is already there if one is given.

    Whatever fails here is not the doing of anybody inside.
    """
    undo: list[Callable[[], None]] = []
    try:
        return kind(spec, _build_wall(spec, undo, cgroups, userns))
    except BaseException as error:
        while undo:
            undo.pop()()
        if isinstance(error, OSError | subprocess.CalledProcessError):
            raise Fault("sandbox_error", f"the sandbox can't be made: {error}") from error
        raise


def _build_wall(spec: SandboxSpec, undo: list[Callable[[], None]], cgroups: bool, userns: int | None) -> Wall:
    bwrap = program()
    if bwrap is None:
        raise Fault("sandbox_error", "bwrap is not installed")
    root = os.geteuid() == 0
    inner = INNER_ID
    if root:
        claimed = uid.claim()
        inner = claimed.uid
        undo.append(claimed.release)
        undo.append(lambda: hand_over(spec.workspace, 0))
        hand_over(spec.workspace, inner)
        for socket_file in spec.sockets:
            socket_file.source.chmod(0o666)
    else:
        undo.append(lambda: make_passable(spec.workspace))
    group = cgroup.make(spec.limits) if cgroups else None
    if group is not None:
        undo.append(group.remove)
    interpreter = behind_all(spec.venv, spec.agent_venv)
    arguments = build(spec, interpreter, inner, root=root, userns=userns)
    bounds = rlimits(spec.limits, group is None)

    def argv(control: int) -> list[str]:
        command = keeper_command(interpreter.python, KEEPER_INSIDE, control, inner, INSIDE, bounds, spec.doors)
        return [bwrap, *arguments.words, "--", *command]

    try:
        launched = launch(Recipe(argv, arguments.descriptors))
    finally:
        close_all(arguments.descriptors)
    undo.append(launched.abandon)
    if group is not None:
        group.add(launched.pid)
    undo.pop()
    return Wall("bubblewrap", INSIDE, environment(spec, INSIDE), launched, inner if root else None, group, undo)
