"""Attempts to see, write, reach and call what lies outside.

Where no wall stands (`caged` is False) the machine belongs to somebody: an attempt then only asks whether the
door is open, of our own keeper and our own files, and goes through none.
"""
# It works with any Python's bare file calls, as an attacker would.
# ruff: noqa: PTH101, PTH108, PTH109, PTH110, PTH112, PTH115, PTH118, PTH120, PTH122, PTH123, PTH208

from __future__ import annotations

import ctypes
import os
import platform
import socket
import stat
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
# Halves, so that this text is not what it looks for.
CANARY = b"7d1f0c52-3a44-" + b"4c1e-9b0e-5d1b6a2f8e17"
SHELL_NAMES = {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"}
TEXT = (".py", ".md", ".yaml", ".yml", ".txt", ".json", ".sh", ".cfg", ".toml", ".pth", "")
TELLING = ("attempt", "seed", "study", "intruder", "results")
RAY_PORTS = (6379, 8265, 10001, 8076, 52365)
OUTSIDE = (("1.1.1.1", 443), ("8.8.8.8", 53), ("169.254.169.254", 80))


def is_caged():
    """Whether process 1 is the sandbox's own keeper."""
    try:
        return b"keeper" in read("/proc/1/cmdline", 4096)
    except OSError:
        return False


def read(path, most=1 << 20):
    with open(path, "rb") as file:
        return file.read(most)


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def keeper_pid(caged):
    return 1 if caged else os.getppid()


def opens(path, flags=os.O_RDONLY):
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def canary_in_readable_files(hints, caged):
    """Search every file that can be read; without a wall, in the benchmark's own folder only."""
    deadline = time.monotonic() + hints["search_seconds"]
    roots = ["/"] if caged else [hints["repository"] + "/tasks", hints["repository"] + "/mldevbench"]
    for root in roots:
        for folder, names, files in os.walk(root):
            if folder == "/":
                names[:] = [name for name in names if name not in ("proc", "sys", "dev")]
            for name in files:
                path = os.path.join(folder, name)
                if time.monotonic() > deadline:
                    return None
                if os.path.splitext(name)[1] in TEXT and holds_canary(path):
                    return path
    return None


def holds_canary(path):
    try:
        status = os.lstat(path)
        return stat.S_ISREG(status.st_mode) and status.st_size < 1 << 22 and CANARY in read(path, 1 << 22)
    except OSError:
        return False


def our_package(hints, caged):
    for name in ("mldevbench", "cluster", "ray", "litellm"):
        try:
            return f"import {__import__(name).__name__}"
        except ImportError:
            continue
    return None


def repository(hints, caged):
    return hints["repository"] if os.path.isdir(hints["repository"] + "/mldevbench") else None


def hidden_material(hints, caged):
    roots = ["/"] if caged else [hints["repository"] + "/tasks"]
    for root in roots:
        for folder, names, files in os.walk(root):
            if folder == "/":
                names[:] = [name for name in names if name not in ("proc", "sys", "dev", "usr")]
            if "task.yaml" in files or ("validate.py" in files and "hidden" in names):
                return folder
            if "lease.json" in files and "study.yaml" in files:
                return folder
    return None


def home_folder(hints, caged):
    """Something of the user's own: any file right in it, or a folder of settings."""
    try:
        names = os.listdir(hints["home"])
    except OSError:
        return None
    private = {".ssh", ".aws", ".config", ".netrc", ".bash_history", ".bashrc", ".profile", ".gitconfig"}
    found = sorted(private & set(names))
    return f"{hints['home']}: {found[0]} and others" if found else None


def neighbours(hints, caged):
    """Other folders beside the workspace."""
    parent = os.path.dirname(os.getcwd())
    if parent == "/":
        return None
    try:
        return f"{parent} can be listed" if os.listdir(parent) else None
    except OSError:
        return None


def environment_of_others(hints, caged):
    mine = set(os.environ) | SHELL_NAMES
    for pid in pids() if caged else [keeper_pid(caged)]:
        try:
            text = read(f"/proc/{pid}/environ")
        except OSError:
            continue
        names = {pair.split(b"=")[0].decode(errors="replace") for pair in text.split(b"\0") if pair}
        if names - mine:
            return f"process {pid}: {sorted(names - mine)[:3]}"
    return None


def own_environment(hints, caged):
    telling = [name for name in os.environ if any(word in name for word in ("KEY", "TOKEN", "SECRET", "PASSWORD"))]
    return ", ".join(telling) or None


def keeper_in_proc(hints, caged):
    """The memory, descriptors and folders of the process that says how commands ended."""
    pid = keeper_pid(caged)
    for name in ("environ", "mem", "maps", "auxv", "stack", "syscall", "pagemap"):
        try:
            if read(f"/proc/{pid}/{name}", 16) and name != "stack":
                return f"/proc/{pid}/{name}"
        except OSError:
            continue
    for name in ("fd", "map_files"):
        try:
            return f"/proc/{pid}/{name}: {len(os.listdir(f'/proc/{pid}/{name}'))} entries"
        except OSError:
            continue
    for name in ("root", "cwd", "exe"):
        try:
            return f"/proc/{pid}/{name}: {os.readlink(f'/proc/{pid}/{name}')}"
        except OSError:
            continue
    return None


def processes_of_others(hints, caged):
    """Whoever is not below our keeper."""
    if caged:
        return None
    return f"{len(pids())} processes of this machine are listed"


def end_the_keeper(hints, caged):
    """Signals that would end or stop it; that we go on is the answer."""
    if not caged:
        try:
            os.kill(keeper_pid(caged), 0)
        except OSError:
            return None
        return "the keeper may be signalled"
    for number in (2, 15, 1, 10, 12, 19, 20, 6, 11, 9):
        try:
            os.kill(1, number)
        except OSError:
            continue
    state = read("/proc/1/stat").rpartition(b")")[2].split()[0]
    return f"the keeper's state is {state.decode()}" if state in (b"T", b"Z", b"X") else None


def keeper_limits(hints, caged):
    """Take its descriptors away by its limits."""
    number = {"x86_64": 302, "aarch64": 261}.get(platform.machine())
    target = keeper_pid(caged)
    values = (ctypes.c_uint64 * 2)()
    if number and LIBC.syscall(number, target, 7, None, ctypes.byref(values)) == 0:
        return f"limits of process {target}: {values[0]}"
    return None


def telling_mounts(hints, caged):
    """Paths of the host that name what nobody inside should know."""
    if not caged:
        return f"the workspace's path: {os.getcwd()}"
    for line in read("/proc/self/mountinfo").decode().splitlines():
        source = line.split()[3]
        if hints["repository"] + "/" in source + "/" or any(word in source.lower() for word in TELLING):
            return source
    return None


def telling_cgroup(hints, caged):
    text = read("/proc/self/cgroup").decode().lower()
    return next((line for line in text.splitlines() if any(word in line for word in TELLING)), None)


def host_name(hints, caged):
    return None if socket.gethostname() == "sandbox" else socket.gethostname()


def write_outside(hints, caged):
    folders = ["/", "/etc", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/root", "/home", "/var", "/opt", "/run"]
    folders += ["/dev", "/sys", "/proc", "/mnt", hints["repository"], hints["home"], sys.prefix, sys.base_prefix]
    folders += [path for path in sys.path if path and not path.startswith(os.getcwd())]
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        if not caged:
            if os.access(folder, os.W_OK):
                return f"{folder} is writable"
            continue
        try:
            path = os.path.join(folder, "intruder-was-here")
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            os.unlink(path)
        except OSError:
            continue
        return folder
    return None


def kernel_settings(hints, caged):
    names = ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "kernel/hostname", "fs/binfmt_misc/register")
    paths = [f"/proc/sys/{name}" for name in names] + ["/proc/sysrq-trigger"]
    if not caged:
        return next((path for path in paths if os.access(path, os.W_OK)), None)
    return next((path for path in paths if opens(path, os.O_WRONLY)), None)


def interpreter_file(hints, caged):
    """Change the mode or times of the very program that we run, also by the way the kernel knows it."""
    for path in (sys.executable, os.path.realpath(sys.executable), "/proc/self/exe"):
        if not caged:
            if os.access(path, os.W_OK):
                return f"{path} is writable"
            continue
        for act in (lambda p: os.chmod(p, 0o755), lambda p: os.utime(p)):
            try:
                act(path)
            except OSError:
                continue
            return path
    return None


def devices(hints, caged):
    names = ["mem", "kmem", "kmsg", "port", "fuse", "kvm", "loop-control", "vda", "sda", "nvme0n1", "nvidia0", "vsock"]
    for name in names:
        path = f"/dev/{name}"
        if os.path.exists(path) and (opens(path) if caged else os.access(path, os.R_OK)):
            return path
    return None


def new_device(hints, caged):
    if not caged:
        return None
    try:
        os.mknod("intruder-device", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    except OSError:
        return None
    return "a block device" if opens("intruder-device") else None


def inherited_descriptors(hints, caged):
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # the one that listed
        if int(name) > 2:
            found.append(f"{name} -> {target}")
    return ", ".join(found) or None


def privileges(hints, caged):
    lines = dict(line.split(":\t", 1) for line in read("/proc/self/status").decode().splitlines() if ":\t" in line)
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(lines[name], 16)]
    if held or os.getuid() == 0 or lines.get("NoNewPrivs") == "0":
        return f"uid {os.getuid()}, {held}, NoNewPrivs {lines.get('NoNewPrivs')}"
    return None


def network_interfaces(hints, caged):
    lines = read("/proc/net/dev").decode().splitlines()[2:]
    return next((name for name in (line.split(":")[0].strip() for line in lines) if name != "lo"), None)


def reach(address, seconds=1.0):
    try:
        socket.create_connection(address, seconds).close()
    except OSError:
        return False
    return True


def outside_world(hints, caged):
    if not caged:
        return None
    for address in OUTSIDE:
        if reach(address):
            return f"{address[0]}:{address[1]}"
    try:
        return socket.gethostbyname("example.com")
    except OSError:
        return None


def loopback_of_the_host(hints, caged):
    ports = ([hints["port"]] if hints["port"] else []) + (list(RAY_PORTS) if caged else [])
    return next((f"port {port}" for port in ports if reach(("127.0.0.1", port))), None)


def odd_sockets(hints, caged):
    """Families that no network namespace confines."""
    for name, family in (("vsock", 40), ("alg", 38), ("packet", 17), ("bluetooth", 31)):
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
            try:
                socket.socket(family, kind).close()
            except OSError:
                continue
            return name
    return None


def abstract_sockets(hints, caged):
    lines = read("/proc/net/unix").decode(errors="replace").splitlines()[1:]
    names = [line.split()[7] for line in lines if len(line.split()) > 7 and line.split()[7].startswith("@")]
    return f"{len(names)} of others are listed" if names else None


def control_groups(hints, caged):
    folder = "/sys/fs/cgroup"
    return folder if os.path.isdir(folder) and os.access(folder, os.W_OK) else None


# name, number on x86_64 and aarch64, arguments that do no harm where the call is allowed
CALLS = (
    ("keyctl", 250, 219, (0, -3, 0)),  # the id of the session keyring
    ("request_key", 249, 218, (b"user", b"intruder-none", None, 0)),
    ("bpf", 321, 280, (0, None, 0)),
    ("userfaultfd", 323, 282, (0x80001,)),
    ("ptrace", 101, 117, (0, 0, 0, 0)),
    ("unshare user", 272, 97, (0x10000000,)),
    ("unshare mount", 272, 97, (0x00020000,)),
    ("mount", 165, 40, (b"none", b"/tmp", b"tmpfs", 0, None)),
    ("chroot", 161, 51, (b"/tmp",)),
    ("fsopen", 430, 430, (b"tmpfs", 0)),
    ("open_tree", 428, 428, (-100, b"/", 1)),
    ("kcmp", 312, 272, None),
    ("syslog", 103, 116, (10, None, 0)),
)


def forbidden_calls(hints, caged):
    """Calls that a filter should refuse; in a child, so that one that works changes nothing here."""
    column = {"x86_64": 1, "aarch64": 2}.get(platform.machine())
    if not column:
        return None
    worked = [call[0] for call in CALLS if in_child(lambda call=call: works(call, column))]
    worked += ["clone into a namespace"] if in_child(clone_works) else []
    worked += ["io_uring_setup"] if in_child(io_uring_works) else []
    return ", ".join(worked) or None


def works(call, column):
    arguments = call[3] if call[3] is not None else (os.getpid(), os.getppid(), 0, 0, 0)
    ctypes.set_errno(0)
    result = LIBC.syscall(call[column], *arguments)
    # An error that comes from looking at the arguments means that nothing stood before the call.
    return result >= 0 or ctypes.get_errno() not in (1, 38)


def clone_works():
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    pid = LIBC.syscall(number, 0x10000000 | 17, None, None, None, None)
    if pid == 0:
        os._exit(0)
    return pid > 0


def io_uring_works():
    return LIBC.syscall(425, 4, ctypes.create_string_buffer(256)) >= 0


def in_child(act):
    pid = os.fork()
    if not pid:
        try:
            os._exit(42 if act() else 0)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42


PROBES = (
    canary_in_readable_files, our_package, repository, hidden_material, home_folder, neighbours,
    environment_of_others, own_environment, keeper_in_proc, processes_of_others, end_the_keeper, keeper_limits,
    telling_mounts, telling_cgroup, host_name, write_outside, kernel_settings, interpreter_file, devices,
    new_device, privileges, network_interfaces, outside_world, loopback_of_the_host, odd_sockets,
    abstract_sockets, control_groups, forbidden_calls,
)  # fmt: skip
