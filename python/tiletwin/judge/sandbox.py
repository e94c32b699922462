"""What a process gives up before it runs code that nobody trusts: network, files, processes, privileges.

Here:      namespaces, mounts, Landlock, limits, and in which order a process enters them.
Not here:  the filter of system calls (syscall_filter.py), what the parent limits: time and output (process.py).
Sources:   user_namespaces(7), mount_setattr(2), landlock(7), setrlimit(2), the kernel's header of Landlock.
Invariant: every layer that this kernel lacks is named in `Isolation.missing`; no layer fails in silence.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import select
import signal
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from tiletwin.judge import syscall_filter

_libc = ctypes.CDLL(None, use_errno=True)
_NEW_USER, _NEW_NS, _NEW_PID, _NEW_NET, _NEW_IPC, _NEW_UTS = (
    0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000,
)  # fmt: skip
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 2, 4, 0x4000, 1 << 18
_SYS_MOUNT_SETATTR, _SYS_CAPSET = 442, 126
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Landlock: execute (to map libraries), read files, read folders."""
_FS_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of rights over files by version; later versions have those of 5."""


MOST_THREADS, WATCHED_MILLISECONDS = 512, 20


@dataclass(frozen=True)
class Limits:
    """memory, disk: bytes. processor: seconds of all threads. A limit of 0 is none."""

    memory: int = 8 << 30
    disk: int = 256 << 20
    processor: int = 600


USUAL = Limits()


@dataclass
class Isolation:
    """Which layers hold, and what is not isolated because one does not."""

    layers: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


class NotIsolated(OSError):
    """A layer that this kernel refuses."""


def _check(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise NotIsolated(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(number: int, *arguments: object, what: str) -> int:
    return _check(_libc.syscall(ctypes.c_long(number), *arguments), what)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [text.encode() if text else None for text in (source, target, kind)]
    result = _libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None)
    _check(result, f"mount {target}")


def enter_namespaces(folder: str, disk: int) -> list[str]:
    """This process goes on as the first one of its own user, process, mount, network and IPC namespaces. All files are
    read-only but those of `folder`, which becomes an empty file system of `disk` bytes.

    The process that was called stays outside, waits, and ends as the one inside does. When either of them is killed
    the kernel ends all processes inside.

    Returns: what is not isolated all the same.
    Raises: NotIsolated: the kernel refuses, and nothing has changed but perhaps this process's namespaces.
    """
    user, group = os.getuid(), os.getgid()
    flags = _NEW_USER | _NEW_NS | _NEW_PID | _NEW_NET | _NEW_IPC | _NEW_UTS
    _check(_libc.unshare(flags), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
    inside = os.fork()
    if inside:
        _wait_for(inside, proc)
    os.close(proc)
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    missing = []
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    try:
        _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV)
    except NotIsolated as error:
        missing.append(f"other processes can be seen in /proc ({error.strerror})")
    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0))
    _syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, ctypes.c_size_t(32), what="mount_setattr")
    _mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={disk},mode=700")
    os.chdir(folder)
    return missing


def _wait_for(child: int, proc: int) -> None:
    """Ends this process as the child ends, and the child if it has too many threads: a limit on their number counts all
    processes of a user, and none of root's. proc: the folder /proc, of the processes outside."""
    status = 1 << 8
    try:
        ended = select.poll()
        ended.register(os.pidfd_open(child), select.POLLIN)
        file = os.open(f"{child}/status", os.O_RDONLY, dir_fd=proc)
        while not ended.poll(WATCHED_MILLISECONDS):
            if _threads(os.pread(file, 1 << 14, 0)) > MOST_THREADS:
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            with contextlib.suppress(OSError):
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
            os.kill(os.getpid(), os.WTERMSIG(status))
    finally:  # whatever happens, this process runs nothing of what the one inside runs
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _threads(status: bytes) -> int:
    """Of a process, by what /proc says of it."""
    words = status.partition(b"\nThreads:")[2].split(maxsplit=1)
    return int(words[0]) if words else 0


def drop_capabilities() -> None:
    """Errors: NotIsolated."""
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    _syscall(_SYS_CAPSET, header, ctypes.create_string_buffer(24), what="capset")


def no_new_privileges() -> None:
    """Errors: NotIsolated."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def landlock(readable: Iterable[str], writable: Iterable[str]) -> None:
    """From now on this process reads files below `readable` only, and writes below `writable` only; it connects to no
    TCP port, and, where the kernel knows how, to no abstract socket and signals nobody outside.

    Raises: NotIsolated: the kernel has no Landlock.
    """
    version = _syscall(_SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1, what="landlock")
    rights = (1 << _FS_RIGHTS.get(version, 16)) - 1
    words = [rights, 3 if version >= 4 else 0, 3 if version >= 6 else 0]
    size = 8 * (3 if version >= 6 else 2 if version >= 4 else 1)
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", *words))
    ruleset = _syscall(_SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0, what="landlock")
    try:
        for paths, allowed in ((readable, _READ), (writable, rights)):
            for path in paths:
                _allow(ruleset, path, allowed)
        _syscall(_SYS_LANDLOCK_RESTRICT, ruleset, 0, what="landlock")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):
        rights &= 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14
    rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, place))
    try:
        _syscall(_SYS_LANDLOCK_ADD, ruleset, 1, rule, 0, what=f"landlock {path}")
    finally:
        os.close(place)


def limit(limits: Limits) -> None:
    """Limits of this process and its threads. The number of processes is the filter's: a limit counts a user's."""
    rows = (
        (resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_FSIZE, limits.disk),
        (resource.RLIMIT_CPU, limits.processor), (resource.RLIMIT_NOFILE, 512),
    )  # fmt: skip
    for which, most in rows:
        if most:
            ceiling = resource.getrlimit(which)[1]
            most = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
            resource.setrlimit(which, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def readable_paths() -> list[str]:
    """Where Python, its packages and the system's libraries lie; nobody's own files."""
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.path.realpath(sys.executable))]
    found += [path for path in sys.path if path and os.path.isdir(path)]
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    # A build puts links to libraries into the package.
    linked = {os.path.realpath(entry.path) for entry in os.scandir(package) if ".so" in entry.name}
    found += [package, *map(os.path.dirname, linked)]
    found += ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf"]
    found += ["/dev/null", "/dev/zero", "/dev/urandom", "/proc", "/sys/devices/system", "/sys/fs/cgroup"]
    real = (os.path.realpath(path) for path in found)
    return sorted(set(real) - {"/", os.path.realpath(os.path.expanduser("~"))})


outer: list[str] = []
"""Layers around this process that somebody else has entered for it (bubblewrap.py)."""


def enter(folder: str, limits: Limits) -> Isolation:
    """Enters every layer that this kernel has, in the order in which one needs the other. `folder`: the only one that
    can be written. Call it before any thread begins."""
    made = Isolation(list(outer))
    try:
        made.missing += enter_namespaces(folder, limits.disk)
        made.layers.append("namespaces")
    except OSError as error:
        made.missing.append(f"no namespaces ({error.strerror}): memory of {folder} counts as the disk's")
    no_new_privileges()
    with contextlib.suppress(OSError):
        drop_capabilities()
    try:
        landlock(readable_paths(), [folder, "/dev/null"])
        made.layers.append("landlock")
    except OSError as error:
        also = "" if outer or "namespaces" in made.layers else " and written"
        made.missing.append(f"no Landlock ({error.strerror}): all files can be read{also}")
    limit(limits)
    made.layers.append("limits")
    if platform.machine() == "x86_64":
        try:
            syscall_filter.install(syscall_filter.program(os.getpid()))
            made.layers.append("filter of system calls")
        except OSError as error:
            made.missing.append(f"no filter of system calls ({error.strerror}): processes can be started")
    else:
        made.missing.append(f"no filter of system calls on {platform.machine()}: processes can be started")
    if not outer and "namespaces" not in made.layers and "filter of system calls" not in made.layers:
        made.missing.append("the network can be reached")
    return made
