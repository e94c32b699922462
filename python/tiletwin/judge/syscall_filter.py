"""A seccomp filter: which system calls a process that nobody trusts may not make.

Here:      the list for x86-64, the program of the kernel's packet filter that it becomes.
Not here:  when it is installed (sandbox.py).
Sources:   seccomp(2), the kernel's headers of seccomp and BPF, its table of system calls of x86-64.
Invariant: no process can be made and no program started; threads can. What is refused fails with EPERM and ends
           nothing, so that a submission's own text tells what it wanted.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_REFUSED = {
    # processes and programs
    57: "fork", 58: "vfork", 59: "execve", 322: "execveat",
    # the network
    41: "socket", 42: "connect", 43: "accept", 49: "bind", 50: "listen", 288: "accept4",
    # other processes' memory and signals
    62: "kill", 200: "tkill", 101: "ptrace", 129: "rt_sigqueueinfo", 297: "rt_tgsigqueueinfo", 310: "process_vm_readv",
    311: "process_vm_writev", 312: "kcmp", 424: "pidfd_send_signal", 434: "pidfd_open", 438: "pidfd_getfd",
    440: "process_madvise", 448: "process_mrelease",
    # file systems and namespaces
    155: "pivot_root", 161: "chroot", 165: "mount", 166: "umount2", 272: "unshare", 308: "setns",
    303: "name_to_handle_at", 304: "open_by_handle_at", 428: "open_tree", 429: "move_mount", 430: "fsopen",
    431: "fsconfig", 432: "fsmount", 433: "fspick", 442: "mount_setattr", 179: "quotactl", 443: "quotactl_fd",
    # the kernel itself
    167: "swapon", 168: "swapoff", 169: "reboot", 175: "init_module", 176: "delete_module", 313: "finit_module",
    246: "kexec_load", 320: "kexec_file_load", 321: "bpf", 298: "perf_event_open", 323: "userfaultfd",
    425: "io_uring_setup", 426: "io_uring_enter", 427: "io_uring_register", 248: "add_key", 249: "request_key",
    250: "keyctl", 172: "iopl", 173: "ioperm", 163: "acct", 103: "syslog", 170: "sethostname", 171: "setdomainname",
    164: "settimeofday", 227: "clock_settime", 159: "adjtimex", 305: "clock_adjtime",
    # memory that outlives a process, or that its limit does not count
    29: "shmget", 30: "shmat", 64: "semget", 68: "msgget", 240: "mq_open", 319: "memfd_create", 447: "memfd_secret",
    # sessions and groups by which a process is ended
    109: "setpgid", 112: "setsid",
    # limits are set once
    160: "setrlimit",
}  # fmt: skip
"""By number: calls that are refused whatever their arguments."""
_CLONE, _CLONE3, _TGKILL, _PRLIMIT, _PRCTL = 56, 435, 234, 302, 157
_PR_SET_PDEATHSIG = 1
_BY_SECOND = {
    72: (8, 10, 15),  # fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX send signals to others
    16: (0x5412, 0x8901, 0x8902),  # ioctl: TIOCSTI types into a terminal, FIOSETOWN and SIOCSPGRP are as F_SETOWN
}
"""By number: refused if the second argument is one of these."""
_FIRST_UNKNOWN = 470
"""Calls of later kernels than this list knows do not exist."""
_CLONE_THREAD = 0x10000
_ARCH_X86_64, _X32 = 0xC000003E, 0x40000000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENT, _SECOND = 0, 4, 16, 24


def _step(code: int, value: int, when: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, when, otherwise, value)


def _one(number: int, *steps: bytes) -> list[bytes]:
    """Steps for one system call, whose number is loaded; the last step of it returns."""
    return [_step(_JUMP_EQUAL, number, 0, len(steps)), *steps]


def program(own: int) -> bytes:
    """The filter's program. own: the process that may signal itself, as abort() does."""
    refuse = _step(_RETURN, _ERRNO | errno.EPERM)
    allow = _step(_RETURN, _ALLOW)
    steps = [
        _step(_LOAD, _ARCH), _step(_JUMP_EQUAL, _ARCH_X86_64, 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER), _step(_JUMP_AT_LEAST, _X32, 0, 1), refuse,
        _step(_JUMP_AT_LEAST, _FIRST_UNKNOWN, 0, 1), _step(_RETURN, _ERRNO | errno.ENOSYS),
    ]  # fmt: skip
    steps += _one(_CLONE, _step(_LOAD, _ARGUMENT), _step(_JUMP_SET, _CLONE_THREAD, 0, 1), allow, refuse)
    # The C library uses clone where there is no clone3, whose arguments no filter can read.
    steps += _one(_CLONE3, _step(_RETURN, _ERRNO | errno.ENOSYS))
    steps += _one(_TGKILL, _step(_LOAD, _ARGUMENT), _step(_JUMP_EQUAL, own, 0, 1), allow, refuse)
    # It is to end with its parent.
    steps += _one(_PRCTL, _step(_LOAD, _ARGUMENT), _step(_JUMP_EQUAL, _PR_SET_PDEATHSIG, 0, 1), refuse, allow)
    # A new limit stands in the third argument; both halves of the pointer are 0 where the limit is only asked for.
    steps += _one(
        _PRLIMIT, _step(_LOAD, _ARGUMENT + 16), _step(_JUMP_EQUAL, 0, 0, 2), _step(_LOAD, _ARGUMENT + 20),
        _step(_JUMP_EQUAL, 0, 1, 0), refuse, allow,
    )  # fmt: skip
    for number, words in _BY_SECOND.items():
        tests = [_step(_JUMP_EQUAL, word, len(words) - i, 0) for i, word in enumerate(words)]
        steps += _one(number, _step(_LOAD, _SECOND), *tests, allow, refuse)
    for number in sorted(_REFUSED):
        steps += _one(number, refuse)
    return b"".join([*steps, allow])


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


def install(text: bytes) -> None:
    """For all threads of this process, for good. Needs no_new_privs.

    Raises: OSError: the kernel has no seccomp filters.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    steps = ctypes.create_string_buffer(text, len(text))
    filter_ = _Program(len(text) // 8, ctypes.addressof(steps))
    if libc.syscall(ctypes.c_long(317), ctypes.c_uint(1), ctypes.c_uint(1), ctypes.byref(filter_)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
