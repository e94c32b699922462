"""Counter-based random numbers: the same seed and offset give the same numbers on every target.

The generator is Philox-4x32 with 10 rounds by default (Salmon and others, "Parallel random numbers: as easy as 1, 2,
3"). The counter is (low half of the offset, high half, 0, 0), the key the 64-bit seed.
"""

from __future__ import annotations

from tiletwin._C import constexpr
from tiletwin.kernels.callables import constexpr_function
from tiletwin.kernels.jit import jit
from tiletwin.language import core, math

__all__ = [
    "pair_uniform_to_normal", "philox", "philox_impl", "rand", "rand4x", "randint", "randint4x", "randn", "randn4x",
    "uint_to_uniform_float",
]  # fmt: skip

N_ROUNDS_DEFAULT = constexpr(10)

# Multipliers of the two products of a round, and what each round adds to the two halves of the key; by word size.
_MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
_KEY_STEPS = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
# A word as a signed integer times this is in (-1, 1).
_UNIFORM_SCALES = {32: 4.6566127342e-10, 64: 1.0842020432385337e-19}


@constexpr_function
def _multiplier(bits, i):
    return _MULTIPLIERS[bits][i]


@constexpr_function
def _key_step(bits, i):
    return _KEY_STEPS[bits][i]


@constexpr_function
def _uniform_scale(bits):
    return _UNIFORM_SCALES[bits]


@constexpr_function
def _is_word(bits):
    return bits in _MULTIPLIERS


@constexpr_function
def _word_type(bits, signed):
    return core.get_int_dtype(bits, signed)


@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """n_rounds rounds of Philox on the counter (c0, c1, c2, c3) under the key (k0, k1); all uint32, or all uint64.

    Returns four random words of the counter's type.
    """
    bits: constexpr = c0.dtype.primitive_bitwidth
    core.static_assert(c0.dtype.is_int_unsigned() and _is_word(bits), "philox_impl: needs uint32 or uint64 counters")
    for _ in core.static_range(n_rounds):
        low0 = core.mul(c0, _multiplier(bits, 0), sanitize_overflow=False)
        low2 = core.mul(c2, _multiplier(bits, 1), sanitize_overflow=False)
        high0 = math.umulhi(_multiplier(bits, 0), c0)
        high2 = math.umulhi(_multiplier(bits, 1), c2)
        c0, c1, c2, c3 = high2 ^ c1 ^ k0, low2, high0 ^ c3 ^ k1, low0
        k0 = core.add(k0, _key_step(bits, 0), sanitize_overflow=False)
        k1 = core.add(k1, _key_step(bits, 1), sanitize_overflow=False)
    return c0, c1, c2, c3


@jit
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of random words for the counter (c0, c1, c2, c3): uint32 for 32-bit counters, uint64 for 64-bit ones.

    seed: an integer scalar; it is the key (for 64-bit words its upper half is 0).
    """
    seed = core.to_tensor(seed)
    core.static_assert(seed.dtype.is_int(), "philox: the seed must be an integer")
    seed = seed.to(core.uint64)
    c0 = core.to_tensor(c0)
    c1 = core.to_tensor(c1)
    c2 = core.to_tensor(c2)
    c3 = core.to_tensor(c3)
    bits: constexpr = c0.dtype.primitive_bitwidth
    core.static_assert(_is_word(bits), "philox: counters must have 32 or 64 bits")
    word: constexpr = _word_type(bits, False)
    if bits == 32:
        key0 = (seed & 0xFFFFFFFF).to(core.uint32)
        key1 = ((seed >> 32) & 0xFFFFFFFF).to(core.uint32)
    else:
        key0 = seed
        key1 = core.full((1,), 0, core.uint64)
    return philox_impl(
        c0.to(word, bitcast=True),
        c1.to(word, bitcast=True),
        c2.to(word, bitcast=True),
        c3.to(word, bitcast=True),
        key0,
        key1,
        n_rounds,
    )


@jit
def randint4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of random 32-bit words (uint32; stored into int32 they are any int32) for a block of offsets.

    seed: an integer scalar. offset: integers; the same offset gives the same numbers.
    """
    low = offset.to(core.uint32)
    zero = low * 0
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(core.uint32)
    else:
        high = zero
    return philox(seed, low, high, zero, zero, n_rounds)


@jit
def randint(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of random 32-bit words for a block of offsets: the first of `randint4x`, which costs the same."""
    word, _, _, _ = randint4x(seed, offset, n_rounds)
    return word


@jit
def uint_to_uniform_float(x):
    """float32 in [0, 1) from random 32- or 64-bit words: a word, folded at its sign bit, times a power of two."""
    bits: constexpr = x.dtype.primitive_bitwidth
    core.static_assert(x.dtype.is_int() and _is_word(bits), "uint_to_uniform_float: needs 32- or 64-bit integers")
    x = x.to(_word_type(bits, True), bitcast=True)
    x = core.where(x < 0, ~x, x)
    return x * _uniform_scale(bits)


@jit
def rand(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of float32, uniform in [0, 1), for a block of offsets."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed, offsets, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of float32, uniform in [0, 1), for a block of offsets."""
    i0, i1, i2, i3 = randint4x(seed, offsets, n_rounds)
    return uint_to_uniform_float(i0), uint_to_uniform_float(i1), uint_to_uniform_float(i2), uint_to_uniform_float(i3)


@jit
def pair_uniform_to_normal(u1, u2):
    """Two standard normal blocks from two uniform ones (Box-Muller); u1 is kept at 1e-7 or more."""
    u1 = core.maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = math.sqrt(-2.0 * math.log(u1))
    return radius * math.cos(angle), radius * math.sin(angle)


@jit
def randn(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A block of float32, standard normal, for a block of offsets."""
    i0, i1, _, _ = randint4x(seed, offset, n_rounds)
    normal, _ = pair_uniform_to_normal(uint_to_uniform_float(i0), uint_to_uniform_float(i1))
    return normal


@jit
def randn4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four blocks of float32, standard normal, for a block of offsets."""
    u0, u1, u2, u3 = rand4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(u0, u1)
    n2, n3 = pair_uniform_to_normal(u2, u3)
    return n0, n1, n2, n3
