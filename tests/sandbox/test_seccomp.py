"""The filter as the kernel would read it, for machines that are not this one too."""

from __future__ import annotations

import errno
import struct

import pytest

from mldevbench.sandbox import seccomp

EPERM, ENOSYS = seccomp.refuse(errno.EPERM), seccomp.refuse(errno.ENOSYS)
MACHINES = {"x86_64": 0, "aarch64": 1}


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Interpret the program for one system call."""
    program = seccomp.program(machine)
    own = seccomp.ARCHITECTURES[machine][1]
    data = struct.pack("=IIQ6Q", number, architecture or own, 0, *(*arguments, *[0] * (6 - len(arguments))))
    position, value = 0, 0
    while True:
        code, yes, no, operand = struct.unpack_from("=HBBI", program, position * 8)
        position += 1
        if code == seccomp.LOAD:
            (value,) = struct.unpack_from("=I", data, operand)
        elif code == seccomp.RETURN:
            return operand
        else:
            tests = {
                seccomp.EQUAL: value == operand,
                seccomp.AT_LEAST: value >= operand,
                seccomp.ANY_BIT: bool(value & operand),
            }
            position += yes if tests[code] else no


@pytest.mark.parametrize("machine", MACHINES)
def test_every_denied_call_is_refused(machine: str) -> None:
    for name, numbers in seccomp.DENIED.items():
        assert verdict(machine, numbers[MACHINES[machine]]) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_decide(machine: str) -> None:
    column = MACHINES[machine]
    clone, prlimit, sock = seccomp.CLONE[column], seccomp.PRLIMIT[column], seccomp.SOCKET[column]
    assert verdict(machine, clone, 17) == seccomp.ALLOW
    assert verdict(machine, clone, 0x003D0F00) == seccomp.ALLOW  # a thread
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, clone, flag | 17) == EPERM
    assert verdict(machine, seccomp.CLONE3[column]) == ENOSYS
    assert verdict(machine, prlimit, 0, 7) == seccomp.ALLOW
    assert verdict(machine, prlimit, 1, 7) == EPERM
    assert [verdict(machine, sock, family) == seccomp.ALLOW for family in (1, 2, 10, 16, 17, 38, 40)] == [
        *[True] * 4,
        *[False] * 3,
    ]
    ioctl = seccomp.IOCTL[column]
    assert [verdict(machine, ioctl, 0, request) for request in (0x5401, 0x5412, 0x541C)] == [
        seccomp.ALLOW,
        EPERM,
        EPERM,
    ]


def test_other_ways_into_the_kernel_are_closed() -> None:
    assert verdict("x86_64", 0, architecture=0x40000003) == seccomp.KILL  # the 32-bit calls
    assert verdict("x86_64", seccomp.X32_BIT | 101) == ENOSYS
    assert verdict("x86_64", 0) == seccomp.ALLOW
    assert verdict("aarch64", 63) == seccomp.ALLOW
