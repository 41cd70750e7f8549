"""The system calls that no command inside may make, as a BPF program for the kernel's seccomp filter.

A deny-list: it closes what namespaces leave open (keyrings, tracing, new mounts and namespaces), no more.
"""

from __future__ import annotations

import errno
import platform
import struct

# Number of each call on x86_64 and on aarch64.
DENIED = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "move_pages": (279, 239), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "open_tree_attr": (467, 467), "perf_event_open": (298, 241), "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41), "process_madvise": (440, 440), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "reboot": (169, 142), "request_key": (249, 218), "setns": (308, 268), "settimeofday": (164, 170),
    "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip
X86_ONLY = {"iopl": 172, "ioperm": 173, "uselib": 134, "_sysctl": 156, "nfsservctl": 180, "modify_ldt": 154}
CLONE, CLONE3, PRLIMIT, SOCKET, IOCTL = (56, 220), (435, 435), (302, 261), (41, 198), (16, 29)

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32_BIT = 0x40000000
# NEWNS NEWCGROUP NEWUTS NEWIPC NEWUSER NEWPID NEWNET
NAMESPACE_FLAGS = 0x7E020000
FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: a vsock, for one, knows no network namespace
TTY_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
ALLOW, KILL = 0x7FFF0000, 0x80000000


def refuse(number: int) -> int:
    """Return the filter's verdict "fail with this errno"."""
    return 0x00050000 | number


def instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def guarded(number: int, body: list[bytes]) -> list[bytes]:
    """Run `body`, which ends in a verdict, for one system call only."""
    return [instruction(EQUAL, number, 0, len(body)), *body]


def first_argument_in(allowed: tuple[int, ...], otherwise: int) -> list[bytes]:
    tests = [instruction(EQUAL, value, len(allowed) - i, 0) for i, value in enumerate(allowed)]
    return [
        instruction(LOAD, ARGUMENTS),
        *tests,
        instruction(RETURN, refuse(otherwise)),
        instruction(RETURN, ALLOW),
    ]


def special_cases(column: int) -> list[bytes]:
    """Calls that are refused for some arguments only."""
    eperm = instruction(RETURN, refuse(errno.EPERM))
    allow = instruction(RETURN, ALLOW)
    clone = [instruction(LOAD, ARGUMENTS), instruction(ANY_BIT, NAMESPACE_FLAGS, 0, 1), eperm, allow]
    # Another process's limits, the keeper's above all, are none of a command's business.
    prlimit = [instruction(LOAD, ARGUMENTS), instruction(EQUAL, 0, 1, 0), eperm, allow]
    ioctl = [
        instruction(LOAD, ARGUMENTS + 8),
        instruction(EQUAL, TTY_INJECTION[0], 1, 0),
        instruction(EQUAL, TTY_INJECTION[1], 0, 1),
        eperm,
        allow,
    ]
    return [
        # ENOSYS makes the C library fall back to clone, whose flags can be seen.
        *guarded(CLONE3[column], [instruction(RETURN, refuse(errno.ENOSYS))]),
        *guarded(CLONE[column], clone),
        *guarded(PRLIMIT[column], prlimit),
        *guarded(IOCTL[column], ioctl),
        *guarded(SOCKET[column], first_argument_in(FAMILIES, errno.EAFNOSUPPORT)),
    ]


def program(machine: str | None = None) -> bytes:
    """Return the filter for a machine (this one by default)."""
    column, architecture = ARCHITECTURES[machine or platform.machine()]
    denied = [numbers[column] for numbers in DENIED.values()] + ([] if column else list(X86_ONLY.values()))
    start = [
        instruction(LOAD, ARCHITECTURE),
        instruction(EQUAL, architecture, 1, 0),
        instruction(RETURN, KILL),
        instruction(LOAD, NUMBER),
    ]
    if not column:
        start += [instruction(AT_LEAST, X32_BIT, 0, 1), instruction(RETURN, refuse(errno.ENOSYS))]
    verdicts = [guarded(number, [instruction(RETURN, refuse(errno.EPERM))]) for number in sorted(denied)]
    return b"".join(
        [*start, *special_cases(column), *(part for each in verdicts for part in each), instruction(RETURN, ALLOW)]
    )
