"""Small kernels of one access each, and the addresses with which they run: from these ncu's counters are learnt.

Here:      FORMS (an instruction each), cases() (a form with an offset for each lane), ptx_text() (a module of all).
Not here:  running them on a GPU and writing down what ncu says (tools/record_counters.py), judging the simulator by
           that (test_counter_record.py).
Idea:      the offsets are a parameter, so that a kernel accesses no memory but what it is about. A lane whose offset is
           OFF takes no part.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

OFF = 0xFFFFFFFF
LANES = 32
MOST_THREADS = 128
SHARED_BYTES = 32768
LOCAL_BYTES = 512
BUFFER_BYTES = 1 << 20


class Form(NamedTuple):
    """An instruction. `body` may use %a and %b (the lane's offsets), %ga (global address by %a), %sa and %sb (shared
    addresses), %la (local), %x0 to %x3, %y0, %y1 (registers that are 0 before, and are made use of afterwards)."""

    name: str
    body: str
    width: int
    space: str
    masked: bool = True


class Case(NamedTuple):
    form: str
    pattern: str
    a: tuple[int, ...]
    b: tuple[int, ...]


def _vector(width: int, registers: str = "x") -> tuple[str, str]:
    """The words of PTX for a value of this many bytes, and its registers."""
    plain = {1: ("u8", "%x0"), 2: ("u16", "%h0"), 4: ("u32", "%x0"), 8: ("v2.u32", "{%x0, %x1}")}
    return plain.get(width, ("v4.u32", "{%x0, %x1, %x2, %x3}"))


def _forms() -> Iterator[Form]:
    for width in (1, 2, 4, 8, 16):
        words, value = _vector(width)
        yield Form(
            f"local_{width}", f"st.local.{words} [%la], {value}; ld.local.{words} {value}, [%lb];", width, "local"
        )
        for space, address in (("global", "%ga"), ("shared", "%sa")):
            yield Form(f"ld_{space}_{width}", f"ld.{space}.{words} {value}, [{address}];", width, space)
            yield Form(f"st_{space}_{width}", f"st.{space}.{words} [{address}], {value};", width, space)
    for space, address in (("global", "%ga"), ("shared", "%sa")):
        yield Form(f"ld_{space}_u64", f"ld.{space}.u64 %y0, [{address}];", 8, space)
        yield Form(f"st_{space}_u64", f"st.{space}.u64 [{address}], %y0;", 8, space)
        yield Form(f"ld_{space}_v2u64", f"ld.{space}.v2.u64 {{%y0, %y1}}, [{address}];", 16, space)
        yield Form(f"ld_{space}_v2u16", f"ld.{space}.v2.u16 {{%h0, %h1}}, [{address}];", 4, space)
        yield Form(f"atom_add_{space}", f"atom.{space}.add.u32 %x0, [{address}], %x1;", 4, space)
        yield Form(f"atom_add64_{space}", f"atom.{space}.add.u64 %y0, [{address}], %y1;", 8, space)
        yield Form(f"atom_addf32_{space}", f"atom.{space}.add.f32 %f0, [{address}], %f1;", 4, space)
        yield Form(f"atom_max_{space}", f"atom.{space}.max.u32 %x0, [{address}], %a;", 4, space)
        yield Form(f"atom_cas_{space}", f"atom.{space}.cas.b32 %x0, [{address}], %x1, %x2;", 4, space)
        yield Form(f"atom_cas64_{space}", f"atom.{space}.cas.b64 %y0, [{address}], %y0, %y1;", 8, space)
        yield Form(f"atom_exch_{space}", f"atom.{space}.exch.b32 %x0, [{address}], %x1;", 4, space)
        yield Form(f"atom_one_{space}", f"atom.{space}.add.u32 %x0, [{address}], 1;", 4, space)
        yield Form(f"red_one_{space}", f"red.{space}.add.u32 [{address}], 1;", 4, space)
        yield Form(f"red_add_{space}", f"red.{space}.add.u32 [{address}], %x1;", 4, space)
        yield Form(f"red_addf32_{space}", f"red.{space}.add.f32 [{address}], %f1;", 4, space)
    yield Form("red_addf16x2_global", "red.global.add.noftz.f16x2 [%ga], %x1;", 4, "global")
    yield Form("ld_generic_global", "ld.u32 %x0, [%ga];", 4, "global")
    yield Form("st_generic_global", "st.u32 [%ga], %x0;", 4, "global")
    yield Form("ld_generic_shared", "cvta.shared.u64 %y0, %s64; ld.u32 %x0, [%y0];", 4, "shared")
    yield Form("st_generic_shared", "cvta.shared.u64 %y0, %s64; st.u32 [%y0], %x0;", 4, "shared")
    yield Form("ld_nc_global", "ld.global.nc.u32 %x0, [%ga];", 4, "global")
    yield Form("ld_nc_global_16", "ld.global.nc.v4.u32 {%x0, %x1, %x2, %x3}, [%ga];", 16, "global")
    yield Form("ld_relaxed_global", "ld.relaxed.gpu.global.u32 %x0, [%ga];", 4, "global")
    yield Form("ld_volatile_shared", "ld.volatile.shared.u32 %x0, [%sa];", 4, "shared")
    yield Form("st_release_global", "st.release.gpu.global.u32 [%ga], %x0;", 4, "global")
    for kind, width in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        yield Form(f"cp_{kind}_{width}", f"cp.async.{kind}.shared.global [%sb], [%ga], {width};", width, "both")
    yield Form("cp_cg_16_zeros", "cp.async.cg.shared.global [%sb], [%ga], 16, 8;", 16, "both")
    yield Form("cp_cg_16_none", "cp.async.cg.shared.global [%sb], [%ga], 16, 0;", 16, "both")
    twice = "cp.async.cg.shared.global [%sb], [%ga], 16; cp.async.cg.shared.global [%sb + 2048], [%ga + 65536], 16;"
    yield Form("cp_cg_16_twice", twice, 16, "both")
    for count, registers in ((1, "{%x0}"), (2, "{%x0, %x1}"), (4, "{%x0, %x1, %x2, %x3}")):
        for trans in ("", ".trans"):
            words = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
            name = f"x{count}{trans.replace('.', '_')}"
            yield Form(f"ldmatrix_{name}", f"ldmatrix.{words} {registers}, [%sa];", 16, "matrix", masked=False)
            yield Form(f"stmatrix_{name}", f"stmatrix.{words} [%sa], {registers};", 16, "matrix", masked=False)
    yield Form("shfl", "shfl.sync.bfly.b32 %x0, %a, 1, 31, -1;", 4, "none", masked=False)
    yield Form("bar", "bar.sync 0;", 4, "none", masked=False)
    yield Form("nothing", "", 4, "none", masked=False)
    yield Form("mbarrier", "mbarrier.init.shared.b64 [%sa], 32; mbarrier.arrive.shared.b64 %y0, [%sa];", 8, "shared")


FORMS = {form.name: form for form in _forms()}


def ptx_text() -> str:
    """A module with an entry for each form, for sm_90a."""
    return ".version 8.3\n.target sm_90a\n.address_size 64\n\n" + "\n".join(map(_entry, FORMS.values()))


def _entry(form: Form) -> str:
    guard = "@%on " if form.masked else ""
    body = "\n".join(
        f"  {guard if 'cvta' not in part else ''}{part.strip()};" for part in form.body.split(";") if part.strip()
    )
    uses = "shared" in body or "%sa" in body or "%sb" in body
    shared = f"  .shared .align 128 .b8 memory[{SHARED_BYTES}];\n" if uses else ""
    places = (
        "  mov.u32 %base, memory;\n  add.u32 %sa, %base, %a;\n  add.u32 %sb, %base, %b;\n  cvt.u64.u32 %s64, %sa;\n"
        if uses
        else ""
    )
    local = ""
    if "%la" in body:
        local = f"  .local .align 16 .b8 frame[{LOCAL_BYTES}];\n"
        places += "  mov.u64 %la, frame;\n  cvt.u64.u32 %y2, %a;\n  cvt.u64.u32 %lb, %b;\n"
        places += "  add.u64 %lb, %la, %lb;\n  add.u64 %la, %la, %y2;\n"
    after = "  cp.async.commit_group;\n  cp.async.wait_group 0;\n" if form.name.startswith("cp_") else ""
    return f"""
.visible .entry {form.name}(.param .u64 buffer, .param .align 4 .b8 first[{4 * MOST_THREADS}],
                            .param .align 4 .b8 second[{4 * MOST_THREADS}])
{{
  .reg .u32 %a, %b, %t, %base, %sa, %sb;
  .reg .b32 %x<4>, %sum;
  .reg .b16 %h<2>;
  .reg .f32 %f<2>;
  .reg .u64 %ga, %la, %lb, %s64, %y<3>, %p, %q;
  .reg .pred %on, %never;
{shared}{local}  mov.u32 %t, %tid.x;
  mul.wide.u32 %p, %t, 4;
  mov.u64 %q, first;
  add.u64 %q, %q, %p;
  ld.param.u32 %a, [%q];
  mov.u64 %q, second;
  add.u64 %q, %q, %p;
  ld.param.u32 %b, [%q];
  setp.ne.u32 %on, %a, {OFF};
  ld.param.u64 %ga, [buffer];
  cvta.to.global.u64 %ga, %ga;
  mov.u64 %q, %ga;
  cvt.u64.u32 %p, %a;
  add.u64 %ga, %ga, %p;
  mov.u32 %x0, 0;
  mov.u32 %x1, 0;
  mov.u32 %x2, 0;
  mov.u32 %x3, 0;
  mov.b16 %h0, 0;
  mov.b16 %h1, 0;
  mov.u64 %y0, 0;
  mov.u64 %y1, 0;
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
{places}{body}
{after}  xor.b32 %sum, %x0, %x1;
  xor.b32 %sum, %sum, %x2;
  xor.b32 %sum, %sum, %x3;
  mov.b64 {{%x0, %x1}}, %y0;
  xor.b32 %sum, %sum, %x0;
  xor.b32 %sum, %sum, %x1;
  mov.b64 {{%x0, %x1}}, %y1;
  xor.b32 %sum, %sum, %x0;
  xor.b32 %sum, %sum, %x1;
  cvt.u32.u16 %x0, %h0;
  xor.b32 %sum, %sum, %x0;
  cvt.u32.u16 %x0, %h1;
  xor.b32 %sum, %sum, %x0;
  mov.b32 %x0, %f0;
  xor.b32 %sum, %sum, %x0;
  setp.eq.u32 %never, %sum, 0x5bd1e995;
  @%never st.global.u32 [%q], %sum;
  ret;
}}
"""


# ---- Offsets ---------------------------------------------------------------------------------------------------------


def _masked(offsets: list[int], keep) -> list[int]:
    return [at if keep(lane) else OFF for lane, at in enumerate(offsets)]


def _patterns(width: int, limit: int, draw: random.Random) -> dict[str, list[int]]:
    """Offsets of 32 lanes that each access `width` bytes below `limit`."""
    lanes = range(LANES)
    line = [lane * width for lane in lanes]
    shuffled = line[:]
    draw.shuffle(shuffled)
    block = [at for at in line for _ in range(1)]

    def random_in(size: int) -> list[int]:
        return [draw.randrange(min(size, limit) // width) * width for _ in lanes]

    return {
        "line": line,
        "stride_128": [lane * 128 % limit for lane in lanes],
        "random_4k": random_in(4096),
        "stride_2": [2 * at for at in line],
        "broadcast": [0] * LANES,
        "shuffled": shuffled,
        "even_lanes": _masked(line, lambda lane: lane % 2 == 0),
        "stride_132": [lane * (128 + max(width, 4)) % limit // width * width for lane in lanes],
        "random_512": random_in(512),
        "beside": [at + width for at in line],
        "pairs": [lane // 2 * width for lane in lanes],
        "low_half": _masked(line, lambda lane: lane < 16),
        "stride_32": [lane * 32 for lane in lanes],
        "one_lane": _masked(line, lambda lane: lane == 5),
        "xor": [(lane * 128 + (lane % 8 * 16) // width * width) % limit for lane in lanes],
        "random_16k": random_in(16384),
        "reversed": block[::-1],
        "stride_4": [4 * at for at in line],
        "halves": [lane % 16 * width for lane in lanes],
        "quarters": [lane % 8 * width for lane in lanes],
        "random_lanes": _masked(random_in(2048), lambda lane: draw.random() < 0.5),
        "stride_64": [lane * 64 for lane in lanes],
        "two_rows": [lane % 2 * 1024 % limit + lane // 2 * width for lane in lanes],
        "none": [OFF] * LANES,
        "same_bank": [lane % 4 * 128 for lane in lanes],
        "random_1k": random_in(1024),
        "low_quarter": _masked(line, lambda lane: lane < 8),
        "every_fourth": _masked(line, lambda lane: lane % 4 == 1),
        **_rows(width, limit),
        **_shared_by_lanes(width, limit, draw),
        "far_pairs": [lane // 2 * 128 % limit + lane % 2 * width for lane in lanes],
    }


def _shared_by_lanes(width: int, limit: int, draw: random.Random) -> dict[str, list[int]]:
    """Lanes that access the same place: which ones, side by side or at random places; with and without others."""
    found = {}
    for name, drop in (
        ("xor_1", 1),
        ("xor_2", 2),
        ("xor_4", 4),
        ("xor_8", 8),
        ("xor_16", 16),
        ("xor_3", 3),
        ("xor_12", 12),
    ):
        groups = [lane & ~drop for lane in range(LANES)]
        places = {group: draw.randrange(min(4096, limit) // width) * width for group in sorted(set(groups))}
        found[f"same_{name}"] = [places[group] for group in groups]
        ranks = {group: rank for rank, group in enumerate(sorted(set(groups)))}
        found[f"line_{name}"] = [ranks[group] * width for group in groups]
    found["odd_pairs"] = [(lane + 1) // 2 * width for lane in range(LANES)]
    found["random_even"] = _masked([draw.randrange(min(4096, limit) // width) * width for _ in range(LANES)],
                                   lambda lane: lane % 2 == 0)  # fmt: skip
    found["two_places"] = [(lane % 2) * 128 for lane in range(LANES)]
    found["one_other"] = [128 if lane == 9 else 0 for lane in range(LANES)]
    return found


_ROWS = ("rows_64", "rows_128", "rows_64_swizzled", "rows_128_swizzled", "swapped")


def _rows(width: int, limit: int) -> dict[str, list[int]]:
    """Rows of 64 and of 128 bytes 256 bytes apart, as they are, and with their 16-byte units exchanged by the row's
    number, as tiles in shared memory are; neighbours exchanged."""
    found = {}
    for row in (64, 128):
        each = row // width
        places = [(lane // each, lane % each * width) for lane in range(LANES)]
        found[f"rows_{row}"] = [r * 256 % limit + at for r, at in places]
        mask = row // 16 - 1
        found[f"rows_{row}_swizzled"] = [r * row % limit + (at ^ (r & mask) * 16) for r, at in places]
    found["swapped"] = [(lane ^ 1) * width for lane in range(LANES)]
    return found


_LIMITS = {"global": BUFFER_BYTES, "shared": SHARED_BYTES, "local": LOCAL_BYTES, "both": BUFFER_BYTES,
           "matrix": SHARED_BYTES}  # fmt: skip
_MOST = {"ld_global_4": 29, "ld_shared_4": 29, "st_shared_4": 29, "ld_global_16": 20, "ld_shared_16": 29,
         "ld_shared_8": 29, "st_shared_8": 22, "st_shared_16": 29, "ld_global_8": 16, "st_global_4": 20,
         "st_global_16": 16}  # fmt: skip
"""How many patterns a form runs with; others: _FEW."""
_FEW = 9
_LAST = ("line", "stride_128", "random_4k")


def cases() -> list[Case]:
    """Every case; those that matter most come first. Always the same."""
    rows: list[tuple[int, int, Case]] = []
    for number, form in enumerate(FORMS.values()):
        draw = random.Random(number)
        if form.space == "none":
            line = tuple(range(LANES))
            rows.append((0, number, Case(form.name, "line", line, line)))
            continue
        most = _MOST.get(form.name, _FEW)
        found = _patterns(form.width, _LIMITS[form.space], draw)
        second = _patterns(form.width, SHARED_BYTES, random.Random(number + 1000))
        for rank, (name, a) in enumerate(list(found.items())[:most]):
            if not form.masked and OFF in a:
                continue
            limit = _LIMITS[form.space]
            a = [at if at == OFF else at % limit for at in a]
            b = a if form.space != "both" else second["line"]
            if form.space == "local":
                b = a[1:] + a[:1]
            rows.append((rank, number, Case(form.name, name, tuple(a), tuple(at if at != OFF else 0 for at in b))))
        if form.space == "both":
            for rank, name in enumerate(["stride_128", "random_4k", "xor", "broadcast", *_ROWS]):
                rows.append((rank, number, Case(form.name, f"to_{name}", tuple(found["line"]), tuple(second[name]))))
        warps = [[draw.randrange(2048 // form.width) * form.width % _LIMITS[form.space] for _ in range(LANES)]
                 for _ in range(MOST_THREADS // LANES)]  # fmt: skip
        many = tuple(at for warp in warps for at in warp)
        b = many if form.space != "both" else tuple(range(0, MOST_THREADS * form.width, form.width))
        rows.append((3, number, Case(form.name, "four_warps", many, b)))
    return [row[2] for row in sorted(rows, key=lambda row: (row[2].pattern in _LAST, *row[:2]))]
