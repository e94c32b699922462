// interp/tile/Library.h -- how the functions of libdevice become rows of a table: a scalar function in one loop over a
// strip, or an elementwise operation of this module.
// Here:      rows from functions, the loop, the families' look-ups.   Not here:  what the functions compute
// (Library*.cpp), which symbols Triton's names stand for (python/tiletwin/language/extra).
// Invariant: a row's element types are the function's own, so a table cannot disagree with its code.
#pragma once
#include "interp/tile/Functors.h"
#include "interp/tile/Strip.h"
#include "interp/tile/TileOps.h"
#include <type_traits>
#include <utility>

namespace tiletwin::tile {

/// The storage type of a C++ type; integers are signless.
template <class T> constexpr DType dtypeOfScalar() {
  if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (sizeof(T) == 4)
    return DType::I32;
  else {
    static_assert(std::is_integral_v<T> && sizeof(T) == 8);
    return DType::I64;
  }
}

/// dst[i] = F(src[0][i], src[1][i], ...).
template <auto F, class R, class... A>
TILETWIN_INLINE void scalarLoop(int64_t n, void* dst, const void* const* src, uint32_t splat) {
  [&]<size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    const int64_t step[] = {int64_t(splat >> I & 1 ? 0 : 1)...};
    auto* out = static_cast<R*>(dst);
    for (int64_t i = 0; i < n; ++i) out[i] = F(static_cast<const A*>(src[I])[i * step[I]]...);
  }(std::index_sequence_for<A...>{});
}

template <class Function> struct RowOf;
template <class R, class... A> struct RowOf<R (*)(A...)> {
  template <auto F> static void strip(int64_t n, void* dst, const void* const* src, uint32_t splat) {
    scalarLoop<F, R, A...>(n, dst, src, splat);
  }
  static constexpr TwLibraryRow make(const char* symbol, TwStripFn fn) {
    return {
        symbol, TwElementwise::Count, fn, int32_t(sizeof...(A)), {dtypeOfScalar<A>()...}, dtypeOfScalar<R>(), nullptr,
        {}};
  }
};
/// A scalar function, called in a loop.
template <auto F> constexpr TwLibraryRow row(const char* symbol) {
  using Row = RowOf<decltype(+F)>;
  return Row::make(symbol, Row::template strip<F>);
}
/// A function of four arguments, as H(G(a, b, c), d).
template <auto G, auto H> constexpr TwLibraryRow row4(const char* symbol) {
  TwLibraryRow first = row<G>(symbol);
  const TwLibraryRow second = row<H>(symbol);
  first.between = first.result;
  first.arguments[3] = second.arguments[1];
  first.arity = 4;
  first.result = second.result;
  first.last = second.fn;
  return first;
}
/// An elementwise operation of this module, on `arity` elements of one type.
constexpr TwLibraryRow row(const char* symbol, TwElementwise op, DType type, int32_t arity = 1) {
  return {symbol, op, nullptr, arity, {type, type, type, type}, type, nullptr, {}};
}
/// A function over packets of f32.
template <class Op> constexpr TwLibraryRow packetRow(const char* symbol, int32_t arity = 1) {
  using S = Storage<DType::F32>;
  constexpr int L = kLanes<float, 2>;
  constexpr DType f = DType::F32;
  if constexpr (requires(PacketF p) { Op::apply(p, p); })
    return {symbol, TwElementwise::Count, strip<OnPackets<Op>, L, S, S, S>, arity, {f, f}, f, nullptr, {}};
  else
    return {symbol, TwElementwise::Count, strip<OnPackets<Op>, L, S, S>, arity, {f}, f, nullptr, {}};
}
template <class Rows> const TwLibraryRow* findSymbol(const Rows& rows, const char* symbol) {
  for (const TwLibraryRow& row : rows)
    if (row.symbol && std::strcmp(row.symbol, symbol) == 0) return &row;
  return nullptr;
}

// The families; null: not one of theirs.
const TwLibraryRow* findLibraryFloat(const char* symbol);    ///< of f32 and f64
const TwLibraryRow* findLibraryRounding(const char* symbol); ///< ..._rn, _rd, _ru, _rz
const TwLibraryRow* findLibraryBits(const char* symbol);     ///< integers, bit patterns, classification
/// The function behind a symbol, given without its prefix "__nv_". Null: libdevice has no such function.
const TwLibraryRow* findLibrary(const char* symbol);

} // namespace tiletwin::tile
