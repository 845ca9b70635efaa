"""Runs a program on a machine without IPv6, as far as it can see: `python -m conformance.deploy.without_ipv6 PROGRAM…`.

socket(2) refuses the family, as a kernel does that was started with `ipv6.disable=1`: a seccomp filter says so.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SOCKET = {"x86_64": 41, "aarch64": 198}
"""The number of socket(2)."""

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16  # in struct seccomp_data
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def instructions(number: int) -> bytes:
    """The filter, for socket(2) of this number."""
    code = [
        (LOAD, 0, 0, NUMBER_AT),
        (EQUAL, 0, 3, number),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (EQUAL, 0, 1, socket.AF_INET6),
        (RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *one) for one in code)


def refuse_ipv6() -> None:
    """From now on, for this process and what it becomes. Raises `OSError`, `KeyError` on other machines."""
    code = instructions(SOCKET[platform.machine()])
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    refuse_ipv6()
    os.execvp(sys.argv[1], sys.argv[1:])
