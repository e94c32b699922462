"""Writes what real Triton makes of a product by two CTAs, which its own compiler makes of Gluon only.

A program for a Python that has Triton: two_cta_product.py OUT M. No GPU is needed.
"""

import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia import blackwell, hopper

N, K = 128, 64


@gluon.jit
def product(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """c = a @ b: each CTA has half of a's rows and half of b's columns in shared memory."""
    of_a: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
    of_b: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=[[0, 1]])
    m, k = gl.arange(0, M, gl.SliceLayout(1, of_a)), gl.arange(0, K, gl.SliceLayout(0, of_a))
    x = gl.load(a + m[:, None] * K + k[None, :])
    k, n = gl.arange(0, K, gl.SliceLayout(1, of_b)), gl.arange(0, N, gl.SliceLayout(0, of_b))
    y = gl.load(b + k[:, None] * N + n[None, :])
    rows = gl.allocate_shared_memory(gl.float16, [M, K], gl.NVMMASharedLayout(128, 16, 2, cga_layout=[[1, 0]]), x)
    columns = gl.allocate_shared_memory(gl.float16, [K, N], gl.NVMMASharedLayout(128, 16, 2, cga_layout=[[0, 1]]), y)
    of_sum: gl.constexpr = blackwell.TensorMemoryLayout([M // 2, N], 1, cga_layout=[[1, 0]], two_ctas=True)
    total = blackwell.allocate_tensor_memory(gl.float32, [M, N], of_sum)
    done = blackwell.mbarrier.allocate_mbarrier()
    blackwell.mbarrier.init(done, count=1)
    blackwell.fence_async_shared(cluster=True)
    hopper.cluster.barrier()
    blackwell.tcgen05_mma(rows, columns, total, use_acc=False, multicast=True, mbarriers=[done])
    blackwell.mbarrier.wait(done, 0)
    of_c: gl.constexpr = total.get_reg_layout()
    m, n = gl.arange(0, M, gl.SliceLayout(1, of_c)), gl.arange(0, N, gl.SliceLayout(0, of_c))
    gl.store(c + m[:, None] * N + n[None, :], total.load(of_c))


if __name__ == "__main__":
    out, m = Path(sys.argv[1]), int(sys.argv[2])
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "constexpr", "N": "constexpr", "K": "constexpr"}
    source = GluonASTSource(product, signature, {(3,): m, (4,): N, (5,): K})
    compiled = triton.compile(source, target=GPUTarget("cuda", 100, 32), options={"num_ctas": 2, "num_warps": 4})
    out.write_text(compiled.asm["ptx"])
    print(compiled.metadata.shared)
