// interp/tile/DotF8.cpp -- dots of f8 operands, any two formats.
#include "interp/tile/DotFloat.h"

namespace tiletwin::tile {
namespace {

template <DType A> TwDotFn findB(DType b, DType acc, bool ieee) {
  switch (b) {
  case DType::F8E5M2: return findNarrowDot<A, DType::F8E5M2>(acc, ieee);
  case DType::F8E4M3FN: return findNarrowDot<A, DType::F8E4M3FN>(acc, ieee);
  case DType::F8E4M3B11FNUZ: return findNarrowDot<A, DType::F8E4M3B11FNUZ>(acc, ieee);
  case DType::F8E5M2FNUZ: return findNarrowDot<A, DType::F8E5M2FNUZ>(acc, ieee);
  case DType::F8E4M3FNUZ: return findNarrowDot<A, DType::F8E4M3FNUZ>(acc, ieee);
  default: return nullptr;
  }
}

} // namespace

TwDotFn findDotF8(DType a, DType b, DType acc, bool ieee) {
  switch (a) {
  case DType::F8E5M2: return findB<DType::F8E5M2>(b, acc, ieee);
  case DType::F8E4M3FN: return findB<DType::F8E4M3FN>(b, acc, ieee);
  case DType::F8E4M3B11FNUZ: return findB<DType::F8E4M3B11FNUZ>(b, acc, ieee);
  case DType::F8E5M2FNUZ: return findB<DType::F8E5M2FNUZ>(b, acc, ieee);
  case DType::F8E4M3FNUZ: return findB<DType::F8E4M3FNUZ>(b, acc, ieee);
  default: return nullptr;
  }
}

} // namespace tiletwin::tile
