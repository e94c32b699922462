"""ptxas and the disassemblers: which one is taken, what it makes, what its errors say. The real ones where they are.

Not here:  the assembler inside the driver (test_fake_driver.py, test_gpu_launch.py).
"""

from __future__ import annotations

import pathlib

import children
import pytest
from fake_driver import run_fake
from tiletwin import toolkit
from tiletwin.cuda import ptxas, sass
from tiletwin.errors import PTXASError
from tiletwin.native import cuda as extension

TEXT = """.version 7.8
.target sm_80
.address_size 64
.visible .entry first(.param .u64 .ptr .global out) .maxntid 64
{
  .shared .align 16 .b8 buffer[2048];
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  mov.u32 %r0, buffer; mov.u32 %r1, %tid.x; add.u32 %r2, %r0, %r1;
  st.shared.u32 [%r2], %r1;
  bar.sync 0;
  ld.shared.u32 %r3, [%r0];
  ld.param.u64 %rd0, [out];
  st.global.u32 [%rd0], %r3;
  ret;
}
.visible .entry second() { ret; }
"""


def spilling(values: int = 200) -> str:
    """An entry that loads more values than its registers hold, and then stores them all."""
    lines = [
        TEXT.partition(".visible")[0],
        ".visible .entry spills(.param .u64 x)\n{\n  .reg .b64 %p; .reg .b32 %t, %i;",
    ]
    lines.append(f"  .reg .b32 %r<{values}>;\n  ld.param.u64 %p, [x];")
    lines += [f"  ld.volatile.global.u32 %r{i}, [%p+{4 * i}];" for i in range(values)]
    lines += [f"  st.volatile.global.u32 [%p+{4 * i}], %r{values - 1 - i};" for i in range(values)]
    return "\n".join([*lines, "  ret;\n}\n"])


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """No variable of the session names a program."""
    children.clean(monkeypatch, without=("TILETWIN_PTXAS", "CUDA_HOME", "CUDA_PATH"))


def test_programs_that_never_end_are_stopped(monkeypatch, tmp_path):
    slow = tmp_path / "ptxas"
    slow.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "release 13.0, V13.0" || exec sleep 60\n')
    slow.chmod(0o755)
    monkeypatch.setenv("TILETWIN_PTXAS", str(slow))
    monkeypatch.setenv("TRITON_NVDISASM_PATH", str(slow))
    monkeypatch.setattr(ptxas, "LIMIT", 0.3)
    monkeypatch.setattr(sass, "LIMIT", 0.3)
    with pytest.raises(PTXASError, match=r"ptxas did not end within 0\.3 seconds on kernel\.ptx for sm_80"):
        ptxas.assemble(TEXT, "sm_80")
    with pytest.raises(RuntimeError, match=r"did not end within 0\.3 seconds"):
        sass.disassemble(b"")


@pytest.fixture
def real():
    if toolkit.find("ptxas") is None:
        pytest.skip("no ptxas here")


def program(path: pathlib.Path, text: str) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def versioned(path: pathlib.Path, version: str) -> pathlib.Path:
    return program(path, f'echo "Cuda compilation tools, release {version}, V{version}.1"')


def test_places_in_order(tmp_path, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr("sys.path", [str(tmp_path / "site"), "", str(tmp_path / "other")])
    places = {
        "triton": tmp_path / "site" / "triton" / "backends" / "nvidia" / "bin" / "ptxas",
        "path": empty / "ptxas",
        "home": tmp_path / "home" / "bin" / "ptxas",
        "wheel": tmp_path / "other" / "nvidia" / "cu13" / "bin" / "ptxas",
        "named": tmp_path / "mine",
    }
    if not pathlib.Path("/usr/local/cuda/bin/ptxas").is_file():
        assert toolkit.find("ptxas") is None
        versioned(places["triton"], "12.8")
        assert toolkit.find("ptxas") == (places["triton"], "the installed Triton", (12, 8))
    versioned(places["path"], "12.9")
    assert toolkit.find("ptxas") == (places["path"], "PATH", (12, 9))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert toolkit.find("ptxas").why == "PATH", "there is none in CUDA_HOME"
    versioned(places["home"], "13.0")
    assert toolkit.find("ptxas") == (places["home"], "CUDA_HOME", (13, 0))
    versioned(places["wheel"], "13.1")
    assert toolkit.find("ptxas") == (places["wheel"], "a wheel of NVIDIA's", (13, 1))
    assert ptxas.find().newest_ptx == 91
    monkeypatch.setenv("TILETWIN_PTXAS", str(versioned(places["named"], "11.8")))
    assert toolkit.find("ptxas") == (places["named"], "TILETWIN_PTXAS", (11, 8))
    assert str(toolkit.find("ptxas")) == f"{places['named']} (CUDA 11.8, found by TILETWIN_PTXAS)"
    assert ptxas.find().newest_ptx == 78
    program(places["wheel"], "exit 3")
    monkeypatch.delenv("TILETWIN_PTXAS")
    assert toolkit.find("ptxas").why == "CUDA_HOME", "one that does not run is passed over"
    looked = toolkit.where_looked("ptxas").splitlines()
    assert looked[0] == f"  a wheel of NVIDIA's: {places['wheel']}: does not say its version (exit status 3)"
    assert looked[1] == f"  CUDA_HOME: {places['home']}: found"


@pytest.mark.parametrize(
    "make, text",
    [
        (None, "which is not there"),
        (lambda p: p.write_text("x"), "which is not executable"),
        (lambda p: (p.write_bytes(b"\x7fELF"), p.chmod(0o755)), "which cannot be run: "),
        (lambda p: program(p, "exit 1"), "which does not say its version (exit status 1)"),
    ],
)
def test_a_variable_that_names_none(make, text, tmp_path, monkeypatch):
    path = tmp_path / "ptxas"
    if make:
        make(path)
    monkeypatch.setenv("TILETWIN_PTXAS", str(path))
    with pytest.raises(RuntimeError) as caught:
        ptxas.assemble(TEXT, "sm_80")
    assert str(caught.value).startswith(f"TILETWIN_PTXAS names {path}, {text}")


def test_none_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolkit, "places", lambda name: iter([toolkit.Place("PATH", tmp_path / name)]))
    with pytest.raises(RuntimeError) as caught:
        ptxas.assemble(TEXT, "sm_80")
    assert str(caught.value) == (
        f"a cubin needs ptxas, and none was found; looked at:\n  PATH: {tmp_path}/ptxas: not there\n"
        "Install one (pip install nvidia-cuda-nvcc), or name it in TILETWIN_PTXAS; a GPU's driver can assemble too"
    )
    with pytest.raises(RuntimeError, match=r"neither nvdisasm nor cuobjdump was found; looked at:\n  PATH: .*nvdisasm"):
        sass.disassemble(b"")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a", "sm_120"])
def test_what_it_makes(arch, real):
    made = ptxas.assemble(TEXT.replace("7.8", "8.8"), arch)
    assert made.cubin.startswith(b"\x7fELF") and made.arch == arch and made.warnings == []
    first, second = made.functions["first"], made.functions["second"]
    assert (first.shared - 1024 * (arch[3:] >= "90" or len(arch) > 5), first.barriers) in [(2048, 1), (1024, 1)]
    assert 4 <= first.registers <= 32 and (first.stack, first.spill_stores) == (0, 0)
    assert second.registers < first.registers and second.shared == 0


def test_spills_are_reported(real):
    whole = ptxas.assemble(spilling(), "sm_80").functions["spills"]
    tight = ptxas.assemble(spilling(), "sm_80", max_registers=32).functions["spills"]
    assert whole.registers > 200 and whole.spill_stores == 0
    assert tight.registers == 32 and tight.spill_stores > 500 and tight.spill_loads >= tight.spill_stores
    assert tight.stack >= tight.spill_stores


def test_a_report_of_several_functions():
    log = """ptxas info    : 4 bytes gmem
ptxas info    : Compiling entry function 'outer' for 'sm_80'
ptxas info    : Function properties for outer
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 30 registers, used 2 barriers, 16 bytes cumulative stack size, 4096 bytes smem, 360 bytes cmem[0]
ptxas info    : Function properties for helper
    64 bytes stack frame, 32 bytes spill stores, 32 bytes spill loads
ptxas info    : Compiling entry function 'plain' for 'sm_80'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, 352 bytes cmem[0]
"""
    assert ptxas.read_report(log) == {
        "outer": ptxas.FunctionReport(30, 16, 8, 12, 4096, 2),
        "plain": ptxas.FunctionReport(4, 0, 0, 0, 0, 0),
    }


def test_options_reach_it(tmp_path, monkeypatch):
    path = program(
        tmp_path / "ptxas",
        '[ "$1" = --version ] && { echo "release 13.0"; exit 0; }\necho "$@" >&2; echo "warning : beware"\n'
        'while [ "$1" != -o ]; do shift; done; echo cubin > "$2"',
    )
    monkeypatch.setenv("TILETWIN_PTXAS", str(path))
    made = ptxas.assemble(TEXT, "sm_86", max_registers=40, optimization=1, line_info=True, options=["--fmad=false"])
    words = made.log.splitlines()[1]
    assert words.startswith("-v --gpu-name=sm_86 kernel.ptx -o ") and made.warnings == ["warning : beware"]
    assert (
        words.endswith("--maxrregcount=40 --opt-level=1 --generate-line-info --fmad=false") and made.cubin == b"cubin\n"
    )
    program(path, '[ "$1" = --version ] && { echo "release 13.0"; exit 0; }\nkill -SEGV $$')
    with pytest.raises(PTXASError, match=r"ptxas was ended by signal 11"):
        ptxas.assemble(TEXT, "sm_86")


def test_line_information(real):
    text = TEXT.replace("  bar.sync 0;", "  .loc 1 7 0\n  bar.sync 0;") + '\n.file 1 "kernel.py"\n'
    made = ptxas.assemble(text, "sm_80", line_info=True)
    assert b".debug_line" in made.cubin and b"kernel.py" in made.cubin and made.warnings == []
    assert b".debug_line" not in ptxas.assemble(TEXT, "sm_80").cubin


@pytest.mark.parametrize(
    "change, lines",
    [
        (("add.u32 %r2, %r0", "add.u33 %r2, %r0"),
         ["a.ptx:8: Unknown modifier '.u33'", "    mov.u32 %r0, buffer; mov.u32 %r1, %tid.x; add.u33 %r2, %r0, %r1;"]),
        (("[out]", "[nowhere]"), ["a.ptx:12: Unknown symbol 'nowhere'", "    ld.param.u64 %rd0, [nowhere];"]),
        ((".version 7.8", ".version 9.9"),
         ["    .version 9.9", "the text is of PTX 9.9, and this ptxas takes up to 9.0: compile for that version, or "
          "name a newer ptxas in TILETWIN_PTXAS"]),
        (("sm_80", "sm_100a"), []),
    ],
)  # fmt: skip
def test_errors_name_the_line(change, lines, real):
    if toolkit.find("ptxas").cuda != (13, 0):
        pytest.skip("the words of CUDA 13.0")
    with pytest.raises(PTXASError) as caught:
        ptxas.assemble(TEXT.replace(*change), "sm_80", file="a.ptx")
    said = caught.value.error_message.splitlines()
    assert said[0].endswith("(CUDA 13.0) does not take a.ptx for sm_80:") and len(said) > 1
    assert [line for line in lines if line not in said] == [], said


@pytest.mark.parametrize("target, capability, arch", [("sm_80", 90, "sm_90"), ("sm_90a", 90, "sm_90a"),
                                                      ("sm_90", 80, "sm_90"), ("sm_100f", 103, "sm_100f")])  # fmt: skip
def test_which_architecture(target, capability, arch):
    assert ptxas.arch_for(target, capability) == arch


def test_sass(real):
    if sass.find() is None:
        pytest.skip("no nvdisasm or cuobjdump here")
    code = sass.disassemble(ptxas.assemble(TEXT, "sm_80").cubin)
    assert "STS" in code and "BAR.SYNC" in code and "EXIT" in code and "first" in code
    with pytest.raises(RuntimeError, match=r"does not take the code"):
        sass.disassemble(b"nothing")


def test_which_assembler_is_taken(real, tmp_path):
    said = run_fake("""
        import tiletwin.cuda as cuda
        print(cuda.load(ADD).assembler, cuda.load(ADD)["add"].report.registers > 0)
        print(cuda.load(ADD, assembler="driver")["add"].report)
        os.environ["TILETWIN_PTXAS"] = "/nowhere"
        print(message(cuda.load, ADD))
    """)
    assert said.splitlines() == [
        "ptxas True",
        "None",
        "RuntimeError: TILETWIN_PTXAS names /nowhere, which is not there",
    ]
    old = versioned(tmp_path / "ptxas", "11.8")
    said = run_fake("print(cuda.load(ADD).assembler)", TILETWIN_PTXAS=str(old))
    assert said == "driver\n", "this ptxas is older than the text"


STRUCTURES = """.version 8.8
.target sm_75
.address_size 64
.visible .func (.param .b32 r) helper(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; st.param.b32 [r], %r; ret; }
.visible .entry mixed(.param .u8 a, .param .u64 .ptr .global .align 4 b, .param .align 64 .b8 s[128], .param .f32 c,
                      .param .u16 d, .param .align 8 .b8 t[24], .param .f64 e) { ret; }
.visible .entry none() { ret; }
.visible .entry one(.param .u32 x) { ret; }
.visible .entry many(PARAMETERS) { ret; }
""".replace("PARAMETERS", ", ".join(f".param .b{8 << i % 4} p{i}" for i in range(200)))


ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_120"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_is_read_of_a_cubins_parameters(arch, real):
    """Against the PTX: the same sizes in the same order, and the places too where nothing is aligned to 64."""
    made = ptxas.assemble(STRUCTURES, arch)
    said = run_fake(
        f"""
        module = native.load(bytes.fromhex({made.cubin.hex()!r}), 0, "a")
        for entry in ("mixed", "none", "one", "many"):
            print(entry, *(n for row in module.kernel(entry).parameters for n in row))
        """,
        FAKE_CUDA_capability=arch[3:].rstrip("a"),
    )
    rows = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in said.splitlines()}
    _, _, entries = extension().ptx_header(STRUCTURES)
    for name, facts in entries.items():
        sizes = [row[2] for row in facts["parameters"]]
        assert rows[name][1::2] == sizes, name
        if name != "mixed":
            assert rows[name][::2] == [row[3] for row in facts["parameters"]]
    places = rows["mixed"][::2]
    assert places[:2] == [0, 8] and places[2] in (32, 48, 64) and places[3] == places[2] + 128
    assert places[4] == places[3] + 4 and places[5] == places[3] + 8 and places[6] == places[5] + 24


def test_no_bytes_of_a_cubin_crash_the_reader(real):
    made = ptxas.assemble(STRUCTURES, "sm_90")
    said = run_fake(f"""
        whole = bytes.fromhex({made.cubin.hex()!r})
        random, kinds = np.random.default_rng(0), set()
        for _ in range(3000):
            image = np.frombuffer(whole, np.uint8).copy()
            image[random.integers(8, image.size, random.integers(1, 5))] = random.integers(0, 256)
            image[8], image[49] = 8, 90
            try: kinds.add(type(native.load(image.tobytes(), 0, "a").kernel("mixed").parameters).__name__)
            except errors.CudaError as error: kinds.add(error.kind)
        print(*sorted(kinds))
    """)
    assert said == "NoneType image list\n"


@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_120"])
def test_cubins_are_whole_or_refused(arch, real):
    """What is read of a cubin before the driver sees it: its GPU, and whether its tables end where the file does."""
    capability = int(arch[3:].rstrip("a"))
    made = ptxas.assemble(TEXT.replace("7.8", "8.8").replace("sm_80", "sm_75"), arch)
    said = run_fake(
        f"""
        image = bytes.fromhex({made.cubin.hex()!r})
        print(native.describe_image(image), type(native.load(image, 0, "a")).__name__)
        lengths = [64, 100, len(image) // 2, len(image) - 1]
        print(["is damaged" in message(native.load, image[:n], 0, "a") for n in lengths])
        """,
        FAKE_CUDA_capability=str(capability),
    )
    assert said.splitlines() == [f"a cubin for sm_{capability} Module", "[True, True, True, True]"]
