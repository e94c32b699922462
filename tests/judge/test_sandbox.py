"""What a process in the sandbox cannot do. Each attempt runs in a sandbox of its own."""

import signal
import socket
import subprocess
import sys
import textwrap

import children
import pytest
from judged import changed, judged

ATTEMPTS = {
    "fork": "os.fork()",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "exec": "os.execv('/bin/true', ['true'])",
    "system": "assert os.system('true') == 0",
    "clone": "assert libc.syscall(56, 17, 0, 0, 0, 0) >= 0",
    "clone3": "assert libc.syscall(435, ctypes.create_string_buffer(88), 88) >= 0",
    "tcp": "import socket; socket.create_connection(('127.0.0.1', PORT))",
    "udp": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix socket": "import socket; socket.socket(socket.AF_UNIX)",
    "secret": "open(SECRET).read()",
    "secret by link": "os.symlink(SECRET, 'link'); open('link').read()",
    "secret by parent": "open(f'/proc/{os.getppid()}/root' + SECRET).read()",
    "write beside": "open(os.path.join(os.path.dirname(SECRET), 'new'), 'w')",
    "remove": "os.remove(SECRET)",
    "write temporary": "open('/tmp/tiletwin-escape', 'w')",
    "write own package": "open(sandbox.__file__, 'a')",
    "remount": "assert libc.mount(b'none', b'/', None, 32 | 4096, None) == 0",
    "namespace": "assert libc.unshare(0x10000000) == 0",
    "chroot": "os.chroot('.')",
    "trace parent": "assert libc.ptrace(16, os.getppid(), 0, 0) == 0",
    "read parent": "open(f'/proc/{os.getppid() or PARENT}/mem', 'rb').read(1)",
    "signal parent": "os.kill(PARENT, 0)",
    "signal all": "os.kill(-1, 0)",
    "fill the disk": "open('large', 'wb').write(bytes(64 << 20))",
    "many files": "[open(f'f{i}', 'wb').write(bytes(1 << 20)) for i in range(64)]",
    "memory": "bytearray(16 << 30)",
    "raise a limit": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))",
    "limit of others": "import resource; resource.prlimit(PARENT, resource.RLIMIT_CPU)",
    "device": "open('/dev/kmsg')",
    "kernel settings": "open('/proc/sys/kernel/hostname', 'w').write('x')",
    "io_uring": "assert libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0",
    "outlive its parent": "assert libc.prctl(1, 0, 0, 0, 0) == 0",
    "keys": "assert libc.syscall(250, 0, -3, 0) >= 0",
    "outlive the judge": "assert libc.prctl(1, 0, 0, 0, 0) == 0",
    "own session": "os.setsid()",
    "own group": "os.setpgid(0, 0)",
    "memory of no process": "os.memfd_create('memory')",
    "secret memory": "assert libc.syscall(447, 0) >= 0",
    "program by descriptor": "assert libc.syscall(322, os.open('/bin/true', os.O_RDONLY), b'', None, None, 4096) == 0",
    "abstract socket": "import socket; socket.socketpair()[0].connect(chr(0) + 'judge')",
    "descriptor of a parent": "assert libc.syscall(438, libc.syscall(434, PARENT, 0), 0, 0) >= 0",
    "memory of a parent": "assert libc.syscall(310, PARENT, 0, 0, 0, 0, 0) >= 0",
    "signal by descriptor": "import fcntl; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, PARENT)",
    "signal by control": "import fcntl; fcntl.ioctl(os.pipe()[0], 0x8901, struct.pack('i', PARENT))",
    "type for a person": "import fcntl; fcntl.ioctl(0, 0x5412, b'x')",
    "page faults": "assert libc.syscall(323, 0) >= 0",
    "filter of packets": "assert libc.syscall(321, 0, 0, 0) >= 0",
    "counters": "assert libc.syscall(298, 0, 0, -1, -1, 0) >= 0",
    "calls to come": "assert libc.syscall(471, 0, 0, 0) >= 0",
    "files where the judge was started": "open('/proc/self/cwd/../work/../secret').read()",
    "swapped link": "os.mkdir('d'); os.rmdir('d'); os.symlink(os.path.dirname(SECRET), 'd'); open('d/secret').read()",
    "hard link": "os.link(SECRET, 'link')",
    "name in the judge's folder": "os.rename('/proc/self/cwd', os.path.dirname(SECRET) + '/other')",
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_escape(name, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = tmp_path / "work"
    folder.mkdir()
    listener = socket.create_server(("127.0.0.1", 0))
    text = f"""
        import ctypes, os, struct
        from tiletwin.judge import sandbox
        PARENT, PORT, SECRET = os.getppid(), {listener.getsockname()[1]}, {str(secret)!r}
        made = sandbox.enter({str(folder)!r}, sandbox.Limits(8 << 30, 32 << 20, 60))
        os.chdir({str(folder)!r})
        print(made.layers, made.missing, flush=True)
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            {ATTEMPTS[name]}
        except (OSError, AssertionError, MemoryError, ValueError) as error:
            print("refused", type(error).__name__, flush=True)
        else:
            print("escaped", flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        env=children.environment(),
        timeout=60,
    )
    assert "refused" in done.stdout and "escaped" not in done.stdout, done.stdout + done.stderr
    assert secret.read_text() == "secret" and sorted(p.name for p in tmp_path.iterdir()) == ["secret", "work"]


def test_threads_without_end_are_ended(tmp_path):
    text = f"""
        import os, threading, time
        from tiletwin.judge import sandbox
        sandbox.enter({str(tmp_path)!r}, sandbox.Limits())
        threading.stack_size(32768)
        for _ in range(50000):
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        print("made", flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, env=children.environment(),
        timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL and "made" not in done.stdout, done.stderr[-2000:]


def test_a_submission_does_not_see_the_folder_that_the_judge_is_started_in(tmp_path, monkeypatch):
    (tmp_path / "secret.py").write_text("answer = 42")
    monkeypatch.chdir(tmp_path)
    text = changed("import torch\n", "import torch\nimport secret\n")
    verdict = judged(tmp_path, text, cases=1)
    assert verdict.word == "broken" and "No module named 'secret'" in verdict.reasons[0].text, str(verdict)
    text = changed("import torch\n", f"import torch\nopen({str(tmp_path / 'secret.py')!r})\n")
    verdict = judged(tmp_path, text, cases=1)
    assert "Permission denied" in str(verdict), str(verdict)


def test_threads_are_allowed_and_a_crash_is_told(tmp_path):
    text = f"""
        import os, threading
        from tiletwin.judge import sandbox
        sandbox.enter({str(tmp_path)!r}, sandbox.Limits())
        thread = threading.Thread(target=print, args=("ran",), kwargs=dict(flush=True))
        thread.start(); thread.join()
        os.abort()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, env=children.environment()
    )
    assert done.stdout == "ran\n" and done.returncode < 0, done.stderr
