"""What is left of a judge that ends, in whichever way; and what a busy machine does to a verdict: nothing."""

import os
import signal
import textwrap
import threading
import time

import children
import pytest
from judged import HERE, REFERENCE, SOFTMAX, changed, judged
from tiletwin.judge import answers, bubblewrap, folders, judging, process, usage
from tiletwin.judge.process import Worker, WorkerEnded
from tiletwin.judge.settings import Settings
from tiletwin.judge.starter import Starter

SPINS = changed("    x = x.contiguous()", "    while True: pass\n    x = x.contiguous()")
PROCESSES = 6 if bubblewrap.program() else 4
"""From the judge to the innermost process of a worker."""
SLEEPS = changed("    x = x.contiguous()", "    import time; time.sleep(SECONDS)\n    x = x.contiguous()")


def until(condition, seconds=200.0):
    """Waits for it. Fails if it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.05)


def left_in(folder):
    return [name for name in os.listdir(folder) if name.startswith(folders.PREFIX)]


def files(tmp_path, text):
    """Paths of a submission and its reference."""
    for name, content in (("submission.py", text), ("reference.py", REFERENCE)):
        (tmp_path / name).write_text(content)
    return str(tmp_path / "submission.py"), str(tmp_path / "reference.py")


def start_judge(tmp_path, text):
    """A judge in a process of its own, when the submission runs; and all processes that belong to it."""
    submission, reference = files(tmp_path, text)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    judge = children.start("-m", "tiletwin", "judge", submission, "--reference", reference, TMPDIR=str(temporary))
    until(lambda: len(usage.tree(judge.pid)) >= PROCESSES and usage.of(usage.tree(judge.pid)[-1]).processor > 0.3)
    return judge, usage.tree(judge.pid), temporary


@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_judge_that_is_killed_leaves_no_process_and_no_folder(which, tmp_path):
    judge, processes, temporary = start_judge(tmp_path, SPINS)
    assert left_in(temporary)
    judge.send_signal(which)
    judge.communicate(timeout=60)
    until(lambda: not any(map(usage.runs, processes)))
    until(lambda: not os.listdir(temporary))


def test_what_is_left_when_nobody_could_clean_up_the_next_judge_removes(tmp_path, monkeypatch):
    judge, processes, temporary = start_judge(tmp_path, SPINS)
    for number in processes[:2]:  # the judge, and what cleans up behind it
        os.kill(number, signal.SIGKILL)
    judge.communicate(timeout=60)
    until(lambda: not any(map(usage.runs, processes)))
    (name,) = left_in(temporary)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    alive = folders.Folder()
    assert left_in(temporary) == [os.path.basename(alive.path)] != [name]
    folders.sweep()
    assert os.path.isdir(alive.path)  # somebody's who lives
    alive.remove()
    assert not left_in(temporary)


def test_a_submission_that_never_ends_is_ended_by_its_processor_time(tmp_path):
    verdict = judging.judge(*files(tmp_path, SPINS), Settings(seconds=1.0, case_seconds=2.0))
    (reason,) = [reason for reason in verdict.reasons if reason.verdict]
    assert (verdict.word, reason.rule) == ("broken", "judge-time") and "2 s of a processor" in reason.text


def test_a_submission_that_sleeps_for_long_is_broken_and_one_that_sleeps_a_little_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "IDLE_SECONDS", 3.0)
    verdict = judged(tmp_path, SLEEPS.replace("SECONDS", "1e6"), cases=1)
    (reason,) = [reason for reason in verdict.reasons if reason.verdict]
    assert (verdict.word, reason.rule) == ("broken", "judge-time") and "slept for 3 s" in reason.text
    assert judged(tmp_path, SLEEPS.replace("SECONDS", "0.3"), cases=1).word == "right"


def test_a_submission_that_gets_no_processor_is_not_judged(tmp_path, monkeypatch):
    """The machine's other processes are played: the kernel says that the worker wants a processor and has none."""
    monkeypatch.setattr(process, "LEAST_WALL_SECONDS", 3.0)
    monkeypatch.setattr(process, "WALL_FACTOR", 0.0)
    monkeypatch.setattr(usage, "of", lambda number: usage.Usage(0.01, True))
    verdict = judged(tmp_path, SPINS)
    (reason,) = [reason for reason in verdict.reasons if reason.verdict]
    assert (verdict.word, reason.rule) == ("not judged", "judge-busy") and "too busy" in reason.text


def test_a_worker_that_the_system_ends_for_lack_of_memory_is_not_judged(tmp_path, monkeypatch):
    """A worker is killed from outside, once when the system counts that and once when it does not."""
    for counts, word, said in (([4, 5], "not judged", "too little memory"), ([5, 5], "broken", "SIGKILL")):
        counted = iter(counts)
        monkeypatch.setattr(usage, "killed_for_memory", lambda counted=counted: next(counted))
        killer = threading.Thread(target=kill_what_spins, args=(usage.tree(os.getpid()),))
        killer.start()
        verdict = judged(tmp_path, SPINS)
        killer.join()
        assert verdict.word == word and said in str(verdict)


def kill_what_spins(before):
    """The innermost process of a worker of this process, whose other processes were there before."""

    def new():
        return [number for number in usage.tree(os.getpid()) if number not in before]

    until(lambda: len(new()) >= PROCESSES - 1 and usage.of(new()[-1]).processor > 0.3)
    os.kill(new()[-1], signal.SIGKILL)


def test_a_starter_that_is_killed_is_no_fault_of_the_submission(tmp_path):
    with Starter() as starter:
        os.killpg(starter._process.pid, signal.SIGKILL)  # with the shell and bubblewrap around it
        starter._process.wait()
        assert not starter.is_running
        verdict = judging.judge(*files(tmp_path, SOFTMAX), starter=starter)
    assert verdict.word == "not judged" and "nothing could be run" in str(verdict)


def test_an_answer_that_drips_is_ended(monkeypatch):
    """A byte now and then keeps the pipe awake for ever."""
    monkeypatch.setattr(process, "IDLE_SECONDS", 2.0)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
    with Starter() as starter, Worker(starter, module="dripping") as worker:
        with pytest.raises(WorkerEnded, match="slept"):
            worker.ask({"do": "load"}, [], 10.0, answers.Loaded)


def test_processor_time_is_that_of_all_threads_and_children():
    code = """
        import subprocess, sys, time
        spin = "import time\\nend = time.process_time() + 1\\nwhile time.process_time() < end: pass\\ntime.sleep(60)"
        subprocess.Popen([sys.executable, "-c", spin])
        exec(spin)
    """
    child = children.start("-c", textwrap.dedent(code))
    try:
        until(lambda: usage.of(child.pid).processor >= 1.9)  # the system counts in hundredths, and leaves parts out
        until(lambda: not usage.of(child.pid).wants)
        assert usage.of(child.pid).processor < 4.0 and len(usage.tree(child.pid)) == 2
        for number in reversed(usage.tree(child.pid)):
            os.kill(number, signal.SIGKILL)
    finally:
        child.communicate()
    assert usage.of(child.pid) == usage.Usage(0.0, False)


@pytest.mark.parametrize("reference_takes", [0.0, 0.5])
def test_a_case_may_take_ten_times_what_the_reference_takes(reference_takes, tmp_path):
    spin = "    import time\n    end = time.process_time() + {}\n    while time.process_time() < end: pass\n"
    at = "    x = x.contiguous()\n"
    submission = changed(at, spin.format(1) + at)
    reference = REFERENCE.replace("def softmax(x):\n", "def softmax(x):\n" + spin.format(reference_takes))
    assert reference != REFERENCE
    paths = files(tmp_path, submission)
    (tmp_path / "reference.py").write_text(reference)
    verdict = judging.judge(*paths, Settings(most=1, seconds=0.5, case_seconds=0.5))
    assert verdict.word == ("right" if reference_takes else "broken"), verdict
