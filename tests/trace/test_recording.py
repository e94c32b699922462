"""What TILETWIN_RECORD keeps: steps, values, accesses; what happens at limits, in forks, when a process is killed."""

import functools
import resource
import subprocess
import sys

import children
import numpy as np
import pytest
import tiletwin.trace
from run_recorded import SCRIPT, run_recorded
from tiletwin.trace.selection import default_programs, parse_launches, parse_size

SOURCE = SCRIPT.read_text().splitlines()


def line_of(text):
    """Number of the first line of recorded_kernels.py that holds the text."""
    return next(n for n, line in enumerate(SOURCE, 1) if text in line)


def program_of(folder, *ids, launch=0):
    return tiletwin.trace.open(folder).launches[launch].program(*ids)


# ---- values and steps ----


def test_by_default_the_first_the_middle_and_the_last_program(added):
    launch = tiletwin.trace.open(added).launches[0]
    assert launch.kernel == "add" and launch.grid == (8, 1, 1)
    assert [p.id for p in launch.programs] == [(0, 0, 0), (4, 0, 0), (7, 0, 0)]
    assert {p.status for p in launch.programs} == {"done"}


@pytest.mark.parametrize("pid", [0, 4, 7])
def test_every_value_of_every_line(added, pid):
    """Replays the kernel in NumPy beside the steps."""
    program = program_of(added, pid)
    offs = (pid * 128 + np.arange(128)).astype(np.int32)
    mask = offs < 1000
    x = np.where(mask, offs, 0).astype(np.float32)
    acc = np.zeros(128, np.float32)
    steps = iter(program.steps)

    def expect(kind, text, **changes):
        step = next(steps)
        assert (step.kind, step.line) == (kind, line_of(text)), step
        assert set(step.changes) == set(changes)
        for name, value in changes.items():
            assert np.array_equal(step[name], value), name
        return step

    step = next(steps)
    assert step.kind == "call" and step.line == line_of("def add(")
    assert step["n"] == 1000 and step["BLOCK"] == 128 and step.changes["x_ptr"].type == "pointer<fp32>"
    expect("line", "pid = tl.program_id(0)", pid=pid)
    expect("line", "offs = pid * BLOCK", offs=offs)
    expect("line", "mask = offs < n", mask=mask)
    expect("line", "acc = tl.zeros((BLOCK,)", acc=acc)
    for i in range(3):
        step = expect("iteration", "for i in range(3)", i=i)
        assert step.loops == ((line_of("for i in range(3)"), i),)
        expect("line", "x = tl.load(x_ptr + offs", x=x)
        acc = acc + x * np.float32(i)
        expect("line", "acc += x * i", acc=acc)
        if i > 0:
            expect("true", "if i > 0")
            inside = expect("call", "def scale(", v=acc, s=2.0)
            assert inside.depth == 1 and inside.loops == ()
            expect("line", "w = v * s", w=acc * 2)
            acc = acc * 2 + 1
            left = expect("return", "return w + 1", **{"(return)": acc})
            assert [s.line for s in left.stack] == [line_of("acc = scale(acc"), left.line]
            expect("line", "acc = scale(acc, 2.0)", acc=acc)
        else:
            expect("false", "if i > 0")
            expect("line", "unchanged = acc", unchanged=acc)
    assert expect("loop end", "for i in range(3)").loops == ((line_of("for i in range(3)"), 2),)
    expect("line", "y = tl.load(y_ptr", y=np.where(mask, np.float32(1), np.float32(0)))
    stored = next(steps)
    assert stored.source.strip().startswith("tl.store(") and not stored.changes
    (access,) = stored.accesses
    assert access.name == "store" and np.array_equal(access.value.numpy(), acc + np.where(mask, 1, 0))
    assert (access.old.numpy() == np.where(mask, 7.0, 0.0)).all()
    (touched,) = access.touched()
    assert touched.buffer.name == "out_ptr" and np.array_equal(touched.offsets, offs[mask])
    assert next(steps).kind == "return"
    assert next(steps, None) is None


def test_accesses_have_masks_values_and_buffers(added):
    program = program_of(added, 7)
    load = next(a for a in program.accesses)
    (touched,) = load.touched()
    assert load.operation == "load" and load.done and not load.writes
    assert touched.buffer.name == "x_ptr" and touched.buffer.shape == (1000,)
    assert touched.offsets.tolist() == list(range(896, 1000)) == touched.lanes.tolist() or touched.lanes.size == 104
    assert load.active().sum() == 104 and load.addresses.shape == (128,)
    assert load.value.numpy()[103] == 999 and load.value.numpy()[104] == 0


def test_navigation(added):
    program = program_of(added, 0)
    loads = program.at_line(line_of("x = tl.load(x_ptr + offs"))
    assert len(loads) == 3
    first = program.steps[loads[0]]
    second = program.iteration(first, 1)
    assert second.kind == "iteration" and second.loops[-1][1] == 1
    assert program.iteration(second, -1).loops[-1][1] == 0
    assert program.iteration(program.steps[1], 1) is None
    assert program.writer_of("acc", first).line == line_of("acc = tl.zeros((BLOCK,)")
    test = next(s for s in program.steps if s.kind == "true")
    assert program.over(test, 1).line == line_of("acc = scale(acc")
    assert program.over(program.over(test, 1), -1).number == test.number
    assert program.over(program.steps[-1], 1) is None


def test_all_kinds_of_values(tmp_path):
    done = run_recorded(tmp_path, "many_kinds")
    assert done.returncode == 0, done.stderr
    assert "recording has stopped" not in done.stderr
    program = program_of(tmp_path, 0)
    last = program.steps[-1]
    assert "total" not in program.steps[0].variables and last.variables["total"].type == "fp32"
    half = np.linspace(-2, 2, 64, dtype=np.float32).astype(np.float16)
    assert np.array_equal(last["half"], half) and last.variables["half"].type == "fp16"
    assert last.variables["brain"].type == "bf16" and last["brain"].dtype == np.float32
    assert np.allclose(last["brain"], half, rtol=2**-8)
    assert len(last.variables["brain"].raw()) == 128
    assert last.variables["small"].type == "fp8e5"
    assert last["first"] == 1.5 and last["second"] == 2 and last["NAME"] == "text"
    assert np.array_equal(last["both"][1], half) and last.variables["both"].kind == "tuple"
    assert np.array_equal(last["flags"], half > 0) and last["flags"].dtype == bool
    assert last["cube"].shape == (2, 4, 8)
    assert last["k"] == 3 and [s["k"] for s in program.steps if s.kind == "iteration"] == [0, 1, 2]
    assert last.variables["desc"].kind == "object" and last["desc"]["shape"] == (4, 16)
    assert sorted(last["old"].tolist()) == sorted([*range(32), *range(32)])
    by_name = {a.name: a for a in program.accesses}
    assert set(by_name) == {"load", "atomic_rmw add", "atomic_cas", "descriptor_load", "store"}
    (touched,) = by_name["descriptor_load"].touched()
    assert touched.offsets.tolist() == list(range(48, 64)) and by_name["descriptor_load"].active().tolist() == [
        [True] * 16,
        [False] * 16,
    ]
    assert by_name["atomic_cas"].old.numpy() == 0 and by_name["atomic_cas"].value.numpy() == 5
    assert by_name["atomic_rmw add"].old.numpy().tolist() == [0] * 64


def test_a_failing_program_ends_with_the_access_that_failed(tmp_path):
    done = run_recorded(tmp_path, "outside", TILETWIN_PROGRAM="3")
    assert done.returncode != 0 and "OutOfBoundsError" in done.stderr
    assert "recording has stopped" not in done.stderr
    program = program_of(tmp_path, 3)
    assert program.status == "error" and "OutOfBoundsError" in program.message
    step = program.error
    assert step.kind == "error" and step.line == line_of("x = tl.load(x_ptr + wrong")
    (access,) = step.accesses
    assert not access.done and access.value is None
    assert access.touched()[0].offsets.max() == 255
    assert np.array_equal(step["wrong"], np.arange(200, 264))


# ---- the rest of the launch ----


@functools.cache
def printed_without_recording(*words):
    done = run_recorded(SCRIPT.parent, *words, TILETWIN_RECORD="")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words, environment",
    [
        (("add",), {}),
        (("add",), {"TILETWIN_EAGER": "1"}),
        (("copies", "9"), {"TILETWIN_PROGRAM": "1-2"}),
        (("waits",), {}),
        (("waits",), {"TILETWIN_PROGRAM": "1-2"}),
    ],
)
def test_results_are_those_without_recording(tmp_path, words, environment):
    """The script checks its result bit for bit; `add` prints it as well."""
    done = run_recorded(tmp_path / "r", *words, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed_without_recording(*words)
    assert "recording has stopped" not in done.stderr


def test_programs_that_wait_for_each_other(tmp_path):
    done = run_recorded(tmp_path, "waits", TILETWIN_EAGER="1", TILETWIN_PROGRAM="*")
    assert done.returncode == 0, done.stderr
    launch = tiletwin.trace.open(tmp_path).launches[0]
    assert len(launch.programs) == 16 and {p.status for p in launch.programs} == {"done"}
    assert [p.steps[-1]["pid"] for p in launch.programs] == list(range(16))


def test_the_notice_says_what_is_kept_and_where(tmp_path):
    done = run_recorded(tmp_path / "r", "launches")
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stderr.splitlines() if line.startswith("tiletwin:")]
    assert len(notices) == 1
    for part in ("the first, the middle and the last program", "first 4 launches", str(tmp_path / "r"), "256 MB"):
        assert part in notices[0]


@pytest.mark.parametrize(
    "wanted, counts", [("", [0, 1, 2, 3]), ("5", [5]), ("2-3", [2, 3]), ("5-", [5, 6]), ("*", list(range(7))),
                       ("other:*; add:6", [6]), ("other:*", [])]
)  # fmt: skip
def test_launches_can_be_chosen(tmp_path, wanted, counts):
    done = run_recorded(tmp_path, "launches", TILETWIN_RECORD_LAUNCHES=wanted)
    assert done.returncode == 0, done.stderr
    assert [launch.count for launch in tiletwin.trace.open(tmp_path).launches] == counts


def test_the_limit_stops_the_recording_and_not_the_launch(tmp_path):
    done = run_recorded(tmp_path, "copies", "4000", TILETWIN_RECORD_LIMIT="200K", TILETWIN_PROGRAM="1;3")
    assert done.returncode == 0 and done.stdout == "correct\n", done.stderr
    assert (
        "recording has stopped: the limit of 200 KB was reached in launch 1 (copies), program (1, 0, 0), line"
        in done.stderr
    )
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) < 2 * 200 * 1024
    trace = tiletwin.trace.open(tmp_path)
    assert "the limit of 200 KB" in trace.endings[0]
    (program,) = trace.launches[0].programs
    assert program.status == "running" and len(program.steps) > 10


def test_a_killed_process_leaves_what_was_flushed(tmp_path):
    done = run_recorded(tmp_path, "killed")
    assert done.returncode == -9
    trace = tiletwin.trace.open(tmp_path)
    assert "killed" in trace.endings[0]
    assert len(trace.launches) == 2
    program = trace.launches[1].programs[0]
    assert program.status == "running" and 10 <= len(program.steps) < 20
    assert np.array_equal(program.steps[2]["offs"], np.arange(128))


def test_processes_have_files_of_their_own(tmp_path):
    done = run_recorded(tmp_path, "forked")
    assert done.returncode == 0, done.stderr
    done = run_recorded(tmp_path, "add")
    trace = tiletwin.trace.open(tmp_path)
    assert len(trace.recordings) == 3 and not trace.problems
    assert sorted(len(r.launches) for r in trace.recordings) == [1, 1, 2]
    assert all(p.status == "done" for launch in trace.launches for p in launch.programs)


def test_a_full_disk_ends_the_recording_and_not_the_script(tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    environment = children.environment(TILETWIN_INTERPRET="1", TILETWIN_RECORD=str(tmp_path))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "copies", "300"], env=environment, capture_output=True, text=True,
        timeout=300, preexec_fn=small_files,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "correct\n", done.stderr
    assert "recording has stopped:" in done.stderr and "could not be written any more" in done.stderr
    trace = tiletwin.trace.open(tmp_path)
    assert trace.endings


@pytest.mark.parametrize("make", ["file", "no permission"])
def test_a_folder_that_cannot_be_written_is_an_error(tmp_path, make):
    place = tmp_path / "r"
    if make == "file":
        place.write_text("")
    else:
        place = "/proc/nowhere"
    done = run_recorded(place, "add")
    assert done.returncode != 0
    assert f"TILETWIN_RECORD={place}: nothing can be written there" in done.stderr


@pytest.mark.parametrize(
    "name, value",
    [("TILETWIN_RECORD_LIMIT", "many"), ("TILETWIN_RECORD_LIMIT", "3"), ("TILETWIN_RECORD_LAUNCHES", "a-b")],
)
def test_a_bad_value_is_an_error_that_names_the_variable(tmp_path, name, value):
    done = run_recorded(tmp_path, "add", **{name: value})
    assert done.returncode != 0 and f"{name} is '{value}'" in done.stderr


@pytest.mark.parametrize(
    "text, size", [("4096", 4096), ("64K", 65536), ("1.5 MB", 3 << 19), ("2GiB", 2 << 30), (" 1g ", 1 << 30)]
)
def test_sizes(text, size):
    assert parse_size(text) == size


def test_ranges_of_launches():
    assert parse_launches("1-2; m:*") == [("*", 1, 2), ("m", 0, float("inf"))]
    with pytest.raises(ValueError, match="joined by ;"):
        parse_launches("1,2")


@pytest.mark.parametrize("grid, expected", [((0, 1, 1), []), ((1, 1, 1), [0]), ((2, 1, 1), [0, 1]),
                                            ((8, 4, 2), [0, 32, 63])])  # fmt: skip
def test_default_programs(grid, expected):
    assert default_programs(grid) == expected
