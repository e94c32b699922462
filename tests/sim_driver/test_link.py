"""Images: PTX, fat binaries, machine code; several texts linked; grid-wide barriers."""

from __future__ import annotations

import concurrent.futures
import ctypes
import struct

import numpy as np
import pytest
import virtual_gpu as gpu
from images import fat_binary
from virtual_gpu import call, code_of, number

CALLER = (
    gpu.HEAD
    + """
.extern .func (.param .b32 r) twice(.param .b32 a);
.global .u32 bias = 5;
.visible .entry main_kernel(.param .u64 out)
{ .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, 20;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), twice, (a); ld.param.b32 %r2, [r]; }
  ld.global.u32 %r3, [bias]; add.u32 %r2, %r2, %r3; st.global.u32 [%d1], %r2; ret; }
"""
)
CALLEE = (
    gpu.HEAD
    + """
.global .u32 bias = 100;
.visible .func (.param .b32 r) twice(.param .b32 a)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.global.u32 %r2, [bias];
  mad.lo.u32 %r3, %r1, 2, %r2; st.param.b32 [r], %r3; ret; }
"""
)
GRID_SYNC = (
    gpu.HEAD
    + """
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 s);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);
.visible .entry rounds(.param .u64 cells)
{ .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<2>;
  ld.param.u64 %d1, [cells];
  { .param .b32 s; .param .b64 r; mov.u32 %r1, 1; st.param.b32 [s], %r1;
    call.uni (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %d2, [r]; }
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, 0;
$L_round:
  mul.wide.u32 %d3, %r2, 4; add.u64 %d4, %d1, %d3;
  red.global.add.u32 [%d4], 1;
  { .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %d2; mov.u32 %r5, 0; st.param.b32 [f], %r5;
    call.uni (r), cudaCGSynchronize, (h, f); }
  add.u32 %r2, %r2, 1; rem.u32 %r2, %r2, %r3;
  add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r3; @%p1 bra $L_round; ret; }
"""
)


def lz4(plain: bytes) -> bytes:
    """A block with a long literal, and the same four bytes once more from 4 before."""
    head, rest = plain[:-9], plain[-5:]
    length = len(head) - 15
    return bytes([0xF0]) + b"\xff" * (length // 255) + bytes([length % 255]) + head + struct.pack("<H", 4) + bytes(
        [len(rest) << 4]) + rest  # fmt: skip


def zstd(plain: bytes) -> bytes:
    """A frame with one raw block."""
    return struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(plain)) + ((len(plain) << 3) | 1).to_bytes(3, "little") + plain


def repeated(text: str) -> bytes:
    """Whose last nine bytes are abcdabcd and a zero's place, so that LZ4 has something to repeat."""
    return text.encode() + b"//abcdabcd\n   "


@pytest.mark.parametrize("packed", ["plain", "lz4", "zstd"])
def test_fat_binaries_with_ptx(packed):
    text = repeated(gpu.ADD)
    text = text[:-14] + b"//abc" + b"wxyz" + b"wxyz" + b"12345" if packed == "lz4" else text
    image = {"plain": lambda: fat_binary(text, 0, 0x11), "lz4": lambda: fat_binary(lz4(text), len(text), 0x2011),
             "zstd": lambda: fat_binary(zstd(text), len(text), 0x8011)}[packed]()  # fmt: skip
    x = np.arange(100, dtype=np.float32)
    with gpu.context():
        np.testing.assert_array_equal(gpu.launch_add(gpu.function("add", gpu.module(image)), x), 3 * x)
        if packed != "plain":
            damaged = bytearray(image)
            damaged[16 + 56] ^= 1  # how long it is without compression
            assert code_of("cuModuleLoadData", ctypes.byref(ctypes.c_uint64()), bytes(damaged)) == gpu.INVALID_IMAGE


LAUNCHES_A_KERNEL = (
    gpu.HEAD
    + """
.extern .func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .b32 size);
.visible .entry f()
{ .reg .b64 %d<2>; .param .b64 p, q; .param .b32 s; st.param.b64 [p], 0; st.param.b32 [s], 4;
  call.uni (q), __cudaCDP2GetParameterBufferV2, (p, s); ret; }
"""
)


@pytest.mark.parametrize("image, code, text", [
    (b"\x7fELF\x02\x01\x01", gpu.NO_BINARY, "this image is machine code for a real GPU (a cubin); this GPU runs PTX"),
    (fat_binary(b"\x7fELF", 0, 0x11, kind=2), gpu.NO_BINARY, "holds machine code for sm_90, and no PTX for sm_90a"),
    (b"no code", gpu.INVALID_IMAGE, "neither PTX (there is no .version line) nor a fat binary"),
    (gpu.HEAD.replace("sm_80", "sm_100a").encode(), gpu.NO_BINARY, "PTX for sm_100a does not run on a GPU of sm_90a"),
    (fat_binary(b"\x7fELF", 0, 0x11, kind=2), gpu.NO_BINARY, "(-rdc=true, -dc) leaves no PTX"),
    (gpu.HEAD.encode() + b".visible .entry f() { nonsense; }", gpu.INVALID_PTX, "kernel.ptx:"),
    (LAUNCHES_A_KERNEL.encode(), gpu.INVALID_PTX, "kernels that launch kernels do not run here"),
])  # fmt: skip
def test_images_that_are_refused(image, code, text, capfd):
    log, values = ctypes.create_string_buffer(4096), (ctypes.c_void_p * 2)()
    values[0], values[1] = ctypes.addressof(log), 4096
    with gpu.context():
        options = (ctypes.c_int * 2)(5, 6)
        module = ctypes.byref(ctypes.c_uint64())
        assert code_of("cuModuleLoadDataEx", module, image, 2, options, values) == code
    assert text in capfd.readouterr().err and text in log.value.decode()
    assert values[1] == len(log.value)


def link(*texts: str) -> bytes:
    state = _created()
    try:
        for text in texts:
            call("cuLinkAddData_v2", state, 1, text.encode(), len(text) + 1, b"a text", 0, None, None)
        image, size = ctypes.c_void_p(), ctypes.c_size_t()
        call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size))
        return ctypes.string_at(image.value or 0, size.value)
    finally:
        call("cuLinkDestroy", state)


def _created() -> int:
    state = ctypes.c_uint64()
    call("cuLinkCreate_v2", 0, None, None, ctypes.byref(state))
    return state.value


@pytest.mark.parametrize("order", [(CALLER, CALLEE), (CALLEE, CALLER)])
def test_texts_that_call_each_other(order):
    with gpu.context():
        of = gpu.function("main_kernel", gpu.module(link(*order)))
        out = gpu.to_device(np.zeros(1, np.uint32))
        gpu.launch(of, ctypes.c_uint64(out))
        # Each text has a private `bias` of its own.
        assert gpu.from_device(out, np.zeros(1, np.uint32)) == [20 * 2 + 100 + 5]


KEEPS = (
    gpu.HEAD
    + """
.global .u32 kept;
.visible .func twice(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; st.global.u32 [kept], %r1; ret; }
.visible .entry again(.param .u64 out)
{ .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [out]; ld.global.u32 %r1, [kept]; st.global.u32 [%d1], %r1; ret; }
.visible .entry plainly()
{ .reg .b32 %r<2>; mov.u32 %r1, 7; { .param .b32 a; st.param.b32 [a], %r1; call.uni twice, (a); } ret; }
"""
)


@pytest.mark.parametrize("again", ["", ".extern .func (.param .b32 other) twice(.param .b32 b);\n"])
@pytest.mark.parametrize("swap", [False, True])
def test_a_result_that_is_declared_and_not_defined(again, swap):
    """A GPU's linker knows names alone: the call is made, and its result is whatever was there."""
    texts = [CALLER.replace(".global .u32 bias", again + ".global .u32 bias"), KEEPS]
    with gpu.context():
        of = gpu.module(link(*texts[:: -1 if swap else 1]))
        out = gpu.to_device(np.zeros(1, np.uint32))
        gpu.launch(gpu.function("main_kernel", of), ctypes.c_uint64(out))
        gpu.launch(gpu.function("again", of), ctypes.c_uint64(out))
        assert gpu.from_device(out, np.zeros(1, np.uint32)) == [20]
        gpu.launch(gpu.function("plainly", of))  # the text that defines it calls it as it is
        gpu.launch(gpu.function("again", of), ctypes.c_uint64(out))
        assert gpu.from_device(out, np.zeros(1, np.uint32)) == [7]


def test_two_definitions_are_an_error_and_weak_ones_are_none(capfd):
    with gpu.context():
        with pytest.raises(gpu.DriverError, match="cuLinkComplete returned 200"):
            link(CALLEE, CALLEE, CALLER)
        assert "both define twice" in capfd.readouterr().err
        weak = CALLEE.replace(".visible .func", ".weak .func").replace("100", "1")
        for order in ((weak, CALLEE, CALLER), (CALLEE, weak, CALLER)):
            out = gpu.to_device(np.zeros(1, np.uint32))
            gpu.launch(gpu.function("main_kernel", gpu.module(link(*order))), ctypes.c_uint64(out))
            assert gpu.from_device(out, np.zeros(1, np.uint32)) == [145]


def test_barriers_of_a_whole_grid():
    with gpu.context():
        of = gpu.function("rounds", gpu.module(GRID_SYNC))
        blocks, threads = 7, 40
        cells = gpu.to_device(np.zeros(blocks, np.uint32))
        values = gpu.pointers([ctypes.c_uint64(cells)])
        for _ in range(2):
            call("cuLaunchCooperativeKernel", of, blocks, 1, 1, threads, 1, 1, 0, 0, values)
        expected = np.full(blocks, 2 * blocks * threads, np.uint32)
        np.testing.assert_array_equal(gpu.from_device(cells, expected), expected)
        assert code_of("cuLaunchCooperativeKernel", of, 100000, 1, 1, 1024, 1, 1, 0, 0, values) == 720


def test_libraries_and_their_kernels():
    with gpu.context():
        library = ctypes.c_uint64()
        call("cuLibraryLoadData", ctypes.byref(library), gpu.ADD.encode(), None, None, 0, None, None, 0)
        kernel = number("cuLibraryGetKernel", library.value, b"add")
        x = np.arange(70, dtype=np.float32)
        np.testing.assert_array_equal(gpu.launch_add(kernel, x), 3 * x)  # a kernel stands where a function does
        np.testing.assert_array_equal(gpu.launch_add(number("cuKernelGetFunction", kernel), x), 3 * x)
        assert code_of("cuLibraryGetKernel", ctypes.byref(library), library.value, b"none") == gpu.NOT_FOUND
        call("cuLibraryUnload", library.value)
        assert code_of("cuKernelGetFunction", ctypes.byref(library), kernel) == gpu.INVALID_HANDLE


def test_kernels_of_a_library_without_a_context():
    """As on a GPU: a library belongs to no context, and which kernels it has is asked before there is one."""
    with concurrent.futures.ThreadPoolExecutor(1) as another_thread:
        another_thread.submit(_ask_without_a_context).result()


def _ask_without_a_context() -> None:
    call("cuInit", 0)
    assert number("cuCtxGetCurrent") == 0  # contexts are current in threads
    library = ctypes.c_uint64()
    call("cuLibraryLoadData", ctypes.byref(library), gpu.ADD.encode(), None, None, 0, None, None, 0)
    kernel = number("cuLibraryGetKernel", library.value, b"add")
    assert number("cuLibraryGetKernelCount", library.value, kind=ctypes.c_uint) == gpu.ADD.count(".entry")
    assert code_of("cuLibraryGetKernel", ctypes.byref(ctypes.c_uint64()), library.value, b"none") == gpu.NOT_FOUND
    assert code_of("cuKernelGetFunction", ctypes.byref(ctypes.c_uint64()), kernel) == gpu.INVALID_CONTEXT
    with gpu.context():
        x = np.arange(70, dtype=np.float32)
        np.testing.assert_array_equal(gpu.launch_add(kernel, x), 3 * x)
    call("cuLibraryUnload", library.value)


WORKSPACE = (
    gpu.HEAD
    + """
.visible .entry reads(.param .u64 out)
{ .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p<2>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %d2, {%r1, %r2};
  mov.u32 %r3, 0; setp.eq.u64 %p1, %d2, 0; @%p1 bra $L_done;
  ld.global.u32 %r3, [%d2]; atom.global.add.u32 %r4, [%d2+4], 1;
$L_done:
  st.global.u32 [%d1], %r3; ret; }
"""
)


def test_cooperative_grids_have_a_workspace():
    """Where %envreg1 and %envreg2 point to: its size, and a counter."""
    with gpu.context():
        reads, out = gpu.function("reads", gpu.module(WORKSPACE)), gpu.to_device(np.full(1, 7, np.uint32))
        parameters = gpu.pointers([ctypes.c_uint64(out)])
        call("cuLaunchCooperativeKernel", reads, 1, 1, 1, 1, 1, 1, 0, 0, parameters)
        assert gpu.from_device(out, np.zeros(1, np.uint32)) == 8
        gpu.launch(reads, ctypes.c_uint64(out))
        assert gpu.from_device(out, np.zeros(1, np.uint32)) == 0
