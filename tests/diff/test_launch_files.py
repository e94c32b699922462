"""Recorded launches: what is written is read again; files that are damaged give a diagnostic, never a crash."""

import io
import json
import zipfile

import children
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from legitimate_kernels import CASES
from tiletwin import diff
from tiletwin.diff import comparing, files, launches, replay, taking, text
from tiletwin.findings import results


def taken(name):
    kernel, grid, args = CASES[name]()
    launch, _ = taking.take(kernel, kernel._launcher.prepare(**args), args, grid)
    launch.outputs["interp"] = diff.BACKENDS["interp"]().run(launch).memory
    return launch


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("launches") / f"softmax{files.SUFFIX}"
    files.write(taken("softmax"), path)
    return path


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_is_read(name, tmp_path):
    launch = taken(name)
    path = tmp_path / f"{name}{files.SUFFIX}"
    files.write(launch, path)
    again = files.read(path)
    for field in ("name", "file", "first_line", "grid", "arguments", "signature", "options", "ttir", "sources", "files",
                  "qualname", "alignment", "versions", "errors", "number"):  # fmt: skip
        assert getattr(again, field) == getattr(launch, field), field
    for a, b in zip(launch.memory, again.memory, strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(launch.outputs["interp"], again.outputs["interp"], strict=True):
        assert np.array_equal(a, b)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing half-written is left


@pytest.mark.parametrize("name", [name for name in CASES if "atomic" not in name and "split" not in name])
def test_replay_gives_the_same_bits(name, tmp_path):
    path = files.write(taken(name), tmp_path / f"x{files.SUFFIX}")
    report = replay.replay(files.read(path))
    assert report.verdict == diff.SAME and all(row.equal == row.elements for row in report.rows), report
    assert [outcome.backend for outcome in report.outcomes] == ["recorded:interp", "interp"]


@pytest.mark.parametrize("name", ["softmax", "matmul_f16", "attention", "dropout", "quantise", "to_fp8"])
def test_the_text_runs_on_its_own(name, tmp_path):
    """The kernel's text in the file gives the same bits as its TTIR, in a process that never saw the original."""
    path = files.write(taken(name), tmp_path / f"x{files.SUFFIX}")
    code = f"""
import numpy as np
from tiletwin.diff import files, replay
launch = files.read({str(path)!r})
launch.file = "/nowhere.py"
memory = replay.run_source(launch)
assert all(np.array_equal(a, b) for a, b in zip(memory, launch.outputs["interp"], strict=True))
print("equal")
"""
    activated = (
        "import os; os.environ['TILETWIN_INTERPRET'] = '1'\nfrom tiletwin import activation; activation.activate()\n"
    )
    result = children.run("-c", activated + code)
    assert result.stdout == "equal\n", result.stderr


def test_all_kinds_of_arguments(tmp_path):
    @triton.jit
    def kernel(x, pair, nothing, flag, small, big, name: tl.constexpr, kind: tl.constexpr, N: tl.constexpr):
        v = tl.load(x + tl.arange(0, N)).to(kind)
        tl.store(pair[0] + tl.arange(0, N), v + small)

    x, o = np.arange(16, dtype=np.float32)[::2], np.zeros(8, np.float32)
    args = {"x": x, "pair": (o, 3), "nothing": None, "flag": True, "small": 1.5, "big": 1 << 40, "name": "é", "kind":
            tl.float32, "N": 8}  # fmt: skip
    compiled = kernel._launcher.prepare(**args)
    launch, _ = taking.take(kernel, compiled, args, (1,))
    again = files.read(files.write(launch, tmp_path / "x"))
    assert again.arguments == launch.arguments
    assert again.arguments["kind"] == launches.Constant("dtype", "fp32")
    assert again.arguments["x"].strides == (2,) and again.memory[again.arguments["x"].storage].size == 64


def test_arguments_as_every_version_1_has_them(whole, tmp_path):
    base = {"storage": 0, "offset": 0, "type": "fp32", "shape": [2, 2], "strides": [2, 1], "kind": "torch"}
    sizes = {"shape": [2, 2], "strides": [2, 1], "block_shape": [2, 2]}
    given = {
        "d": {"descriptor": {"base": base, **sizes, "padding": "nan", "round_f32_to_tf32": False}},
        "t": {"tuple": [{"float": "0x1.8000000000000p+0"}, {"float": "-inf"}, {"dtype": "fp16"}, {"function": "add"},
                        {"tuple": []}, {"array": base}, None, True, 1 << 40, "\u00e9"]},
    }  # fmt: skip

    def change(description):
        description["arguments"] |= given
        description["signature"] |= dict.fromkeys(given, "constexpr")
        description["source_problem"] = "none of its text has them"
        del description["files"]  # older ones lack it

    found = files.read(rewritten(whole, tmp_path / "old", change)).arguments
    array = launches.Array(0, 0, "fp32", (2, 2), (2, 1), "torch")
    assert found["d"] == launches.Descriptor(array, (2, 2), (2, 1), (2, 2), "nan", False)
    constants = (launches.Constant("dtype", "fp16"), launches.Constant("function", "add"))
    assert found["t"] == (1.5, -np.inf, *constants, (), array, None, True, 1 << 40, "é")
    launch = files.read(whole)
    launch.arguments |= found
    launch.signature |= dict.fromkeys(found, "constexpr")
    launch.source_problem = "none"
    with zipfile.ZipFile(files.write(launch, tmp_path / "new")) as archive:
        written = json.loads(archive.read("launch.json"))["arguments"]
    assert {name: written[name] for name in given} == given


def test_elements_have_the_type_that_the_kernel_was_compiled_for():
    """A kernel of fp8e4b15 takes bytes: other backends compile it for that type, too."""

    @triton.jit
    def kernel(x, pair, o, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(o + i, tl.load(x + i) + tl.load(pair[0] + i).to(tl.float32))

    types = {"x": "*fp32", "pair": ("*fp8e4b15", "i32"), "o": "*fp32", "B": "constexpr"}
    compiled = triton.compile(triton.compiler.ASTSource(kernel, types, {"B": 16}))
    pair = (np.full(16, 0x78, np.int8), 1)
    args = {"x": np.zeros(16, np.float32), "pair": pair, "o": np.zeros(16, np.int32), "B": 16}
    launch, _ = taking.take(kernel, compiled, args, (1,))
    assert [array.type for _, array in launch.arrays()] == ["fp32", "fp8e4b15", "fp32"]
    report = diff.compare_launch(launch, ["interp", "sim"])
    assert report.verdict == diff.SAME and report.outcomes[0].memory[2].view(np.float32)[0] == 1.0, report


def test_elements_of_another_size_stay_what_they_are():
    @triton.jit
    def kernel(x, o, B: tl.constexpr):
        tl.store(o + tl.arange(0, B), tl.load(x + tl.arange(0, B)))

    types = {"x": "*fp32", "o": "*fp32", "B": "constexpr"}
    compiled = triton.compile(triton.compiler.ASTSource(kernel, types, {"B": 16}))
    args = {"x": np.zeros(64, np.uint8), "o": np.zeros(16, np.float32), "B": 16}
    launch, _ = taking.take(kernel, compiled, args, (1,))
    assert [array.type for _, array in launch.arrays()] == ["u8", "fp32"]


def test_aliases_stay_aliases():
    data = np.arange(32, dtype=np.float32)
    taker = taking.Taker()
    a, b = taker.array(data[:16]), taker.array(data[16:])
    assert a.storage == b.storage and (a.offset, b.offset) == (0, 64) and len(taker.memory) == 1
    memory = [launches.aligned_copy(m, begin) for m, begin in zip(taker.memory, taker.alignment)]
    first, second = launches.rebuilt(a, memory), launches.rebuilt(b, memory)
    assert first.base is not None and np.array_equal(second, data[16:]) and not np.shares_memory(first, data)
    assert memory[0].ctypes.data % 64 == taker.alignment[0]


def test_what_cannot_be_kept():
    @triton.jit
    def kernel(x):
        tl.store(x, 1.0)

    with pytest.raises(
        diff.NotRecordable, match=r"kernel: argument 'x' cannot be kept: a object: a object is not an array"
    ):
        taking.take(kernel, None, {"x": object()}, (1,))


# ---- files that are damaged ----


def rewritten(path, out, change=None, drop=(), replace=None):
    """A copy of a file with another description, without members, or with other ones."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w") as target:
        for item in source.infolist():
            data = source.read(item)
            if item.filename in drop:
                continue
            if item.filename == "launch.json" and change is not None:
                description = json.loads(data)
                change(description)
                data = json.dumps(description).encode()
            target.writestr(item.filename, (replace or {}).get(item.filename, data))
    return out


def setting(key, value):
    return lambda description: description.__setitem__(key, value)


@pytest.mark.parametrize("name", ["../../outside", "/tmp/outside", "a/b", "", "..", "a.b", 3, "a\x00b"])
def test_names_are_no_paths(whole, tmp_path, name):
    """They become names of files, where a launch is compiled or its text is run."""
    for change in (setting("name", name), setting("modules", [name])):
        out = rewritten(whole, tmp_path / "x", change, replace={})
        with pytest.raises(files.LaunchFileError, match=r"Expected `str`( matching regex|, got `int`)"):
            files.read(out)


def test_another_version_is_not_damage(whole, tmp_path):
    out = rewritten(whole, tmp_path / "x", setting("version", 7))
    with pytest.raises(files.LaunchFileError) as caught:
        files.read(out)
    assert "damaged" not in str(caught.value)
    assert "has version 7 of the format, and this tiletwin reads version 1" in str(caught.value)
    launch = files.read(whole)
    launch.versions = {"tiletwin": "9.9"}
    out = rewritten(files.write(launch, tmp_path / "y"), tmp_path / "x", setting("version", 7))
    with pytest.raises(files.LaunchFileError, match=r"tiletwin 9\.9 wrote it"):
        files.read(out)


def test_what_is_missing_is_named(whole, tmp_path):
    for drop, said in (("launch.json", "it holds no launch.json"), ("before/0.npy", "it holds no before/0.npy")):
        with pytest.raises(files.LaunchFileError, match=f"the recorded launch is damaged: {said}$"):
            files.read(rewritten(whole, tmp_path / "x", drop=(drop,)))
    with pytest.raises(files.LaunchFileError, match="damaged: Object missing required field `grid`"):
        files.read(rewritten(whole, tmp_path / "x", lambda description: description.pop("grid")))


def of_objects():
    out = io.BytesIO()
    np.lib.format.write_array(out, np.array([{}], dtype=object), allow_pickle=True)
    return out.getvalue()


def bytes_of(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, array)
    return out.getvalue()


DAMAGE = {
    "other format": ({"change": lambda d: d.update(format="x")}, "not the description of a launch"),
    "newer": ({"change": lambda d: d.update(version=99)}, "version 99 of the format, and this .* reads version 1"),
    "no grid": ({"change": lambda d: d.pop("grid")}, "missing required field `grid`"),
    "text as grid": ({"change": lambda d: d.update(grid=["a", 1, 1])}, r"Expected `int`, got `str` - at `\$.grid"),
    "two sizes": ({"change": lambda d: d.update(grid=[1, 1])}, r"Expected `array` of length 3.* - at `\$.grid`"),
    "no type": ({"change": lambda d: d["arguments"]["x"]["array"].update(type="fp5")}, "of argument x, is no element"),
    "outside": ({"change": lambda d: d["arguments"]["x"]["array"].update(offset=1 << 40)}, "x lies outside of"),
    "wide": ({"change": lambda d: d["arguments"]["x"]["array"].update(strides=[1 << 20, 1])}, "x lies outside"),
    "other storage": ({"change": lambda d: d["arguments"]["x"]["array"].update(storage=7)}, "x lies outside"),
    "unknown kind": ({"change": lambda d: d["arguments"].update(n={"code": "1"})}, "n is damaged: .* field `code`"),
    "a list": ({"change": lambda d: d["arguments"].update(n=[1])}, "argument n is damaged: .* got `array`"),
    "wrong size": ({"change": lambda d: d.update(storages=[1, 2])}, "damaged"),
    "too few": ({"change": lambda d: d.update(alignment=[])}, "different lengths"),
    "no memory": ({"drop": ("before/0.npy",)}, "before/0.npy"),
    "no description": ({"drop": ("launch.json",)}, "launch.json"),
    "objects": ({"replace": {"before/0.npy": of_objects()}}, "before/0.npy holds Python objects, not numbers"),
    "no array": ({"replace": {"before/0.npy": b"xyz"}}, "damaged"),
    "floats": ({"replace": {"before/0.npy": bytes_of(np.zeros(3, np.float32))}}, r"float32\(3,\)"),
    "no JSON": ({"replace": {"launch.json": b"{"}}, "damaged"),
    "large text": ({"replace": {"kernel.ttir": b" " * (65 << 20)}}, "its texts .* are 65 MB, and at most 64 are read"),
    "large array": ({"replace": {"before/0.npy": bytes(1 << 20)}}, "before/0.npy has 1048576 bytes, and its array has"),
    "huge": ({"change": lambda d: d.update(storages=[1 << 50] * 2)}, "its arrays need .* and this machine has"),
    "below nothing": ({"change": lambda d: d.update(storages=[-1, 2])}, r"Expected `int` >= 0 - at `\$.storages"),
    "text for an array": ({"change": lambda d: d["arguments"].update(x="text")}, "x is 'text', and .* says [*]fp32"),
    "None for an array": ({"change": lambda d: d["arguments"].update(x=None)}, "x is None, and .* says [*]fp32"),
    "text for a number": ({"change": lambda d: d["arguments"].update(n="7")}, "n is '7', and its signature says i32"),
    "an array for a number": ({"change": lambda d: d["arguments"].update(n=d["arguments"]["x"])}, "n is memory"),
    "a large number": ({"change": lambda d: d["arguments"].update(n=1 << 70)}, "which no integer of a kernel holds"),
    "an argument less": ({"change": lambda d: d["arguments"].pop("x")}, "no argument 'x', which its signature has"),
    "an argument more": ({"change": lambda d: d["arguments"].update(zz=1)}, "its signature has no parameter 'zz'"),
    "a number as type": ({"change": lambda d: d["signature"].update(x=5)}, "5, the type of x, is no type"),
    "another type": ({"change": lambda d: d["signature"].update(x="*fp5")}, "'[*]fp5', the type of x, is no type"),
    "no signature": ({"change": lambda d: d.update(signature={})}, "its signature has no parameter"),
    "many warps": ({"change": lambda d: d["options"].update(num_warps="many")}, "num_warps must be a power of 2"),
    "a list of options": ({"change": lambda d: d["options"].update(num_stages=[1])}, r"got `array` - at `\$.options"),
    "alignment": ({"change": lambda d: d.update(alignment=[64] * len(d["alignment"]))}, r"`int` <= 63 - at `\$.align"),
    "parameters": ({"replace": {"source/{text}.py": b"def {name}(a, b): pass"}}, "no argument 'a', which its text"),
    "another function": ({"replace": {"source/{text}.py": b"def another(a): pass"}}, "its text defines no function"),
    "no Python": ({"replace": {"source/{text}.py": b"def"}}, "invalid syntax"),
    "no text": ({"replace": {"kernel.ttir": b"\xff\xfe"}}, "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files(name, whole, tmp_path):
    arguments, message = DAMAGE[name]
    launch = files.read(whole)
    if "replace" in arguments:  # of the kernel's own text
        own = {"text": next(iter(launch.sources)), "name": launch.name}
        replace = {
            key.format(**own): text.replace(b"{name}", launch.name.encode())
            for key, text in arguments["replace"].items()
        }
        arguments = {"replace": replace}
    path = rewritten(whole, tmp_path / "damaged", **arguments)
    with pytest.raises(diff.LaunchFileError, match=message) as caught:
        files.read(path)
    assert str(path) in str(caught.value)


def test_lines_of_source_are_the_recording_s(tmp_path):
    """Another version of the file lies where the launch was recorded."""
    launch = taken("softmax")
    launch.file, file = str(tmp_path / "kernels.py"), launch.file
    launch.files = {module: launch.file if name == file else name for module, name in launch.files.items()}
    (tmp_path / "kernels.py").write_text("pass  # another version\n" * 2000)
    again = files.read(files.write(launch, tmp_path / f"x{files.SUFFIX}"))
    number, line = next(
        (n, text)
        for n, text in enumerate(again.sources[next(iter(again.sources))].splitlines(), 1)
        if "tl.store" in text
    )
    assert again.source_line(launch.file, number) == line
    assert again.source_line(launch.file, 1) == again.source_line(launch.file, 5000) == ""
    (tmp_path / "other.py").write_text("one\ntwo\n")
    assert again.source_line(str(tmp_path / "other.py"), 2) == "two"  # nothing of it was recorded
    again.files = {}  # as in files of older versions
    assert again.source_line(launch.file, number) == line
    shown = text.source_line(comparing.Report(again, []), (launch.file, number, 1))
    row = comparing.Row("x", None, "a", "b", "different", place=(launch.file, number, 1))
    (result,) = results.of_report(comparing.Report(again, [], [row]))
    assert shown == line == result.place.source


def test_files_cut_off_anywhere(whole, tmp_path):
    data = whole.read_bytes()
    path = tmp_path / "cut"
    for size in [*range(0, len(data), max(1, len(data) // 60)), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(diff.LaunchFileError):
            files.read(path)


def test_files_with_a_wrong_byte(whole, tmp_path):
    data = whole.read_bytes()
    random = np.random.default_rng(0)
    path = tmp_path / "wrong"
    for _ in range(150):
        changed = bytearray(data)
        changed[int(random.integers(len(data)))] ^= int(random.integers(1, 256))
        path.write_bytes(changed)
        try:
            files.read(path)
        except diff.LaunchFileError:
            continue


def test_bad_ttir_is_an_outcome(whole, tmp_path):
    path = rewritten(whole, tmp_path / "x", replace={"kernel.ttir": b"module { tt.func"})
    report = replay.replay(files.read(path))
    assert report.verdict == diff.NOT_COMPARABLE and "interp cannot run this launch" in report.notes[0], report


def test_versions_are_noted():
    assert set(files.versions()) == {"tiletwin", "python", "machine", "made"}
