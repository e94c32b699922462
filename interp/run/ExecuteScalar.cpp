// interp/run/ExecuteScalar.cpp -- instructions on 8-byte cells.
// Here:      integer arithmetic in 8 to 64 bits, scalars through strip functions, box bounds.
// Not here:  anything on tiles.
// Invariant: integer cells are sign-extended from their width, i1 cells are 0 or 1.
#include "interp/run/Execute.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

namespace tiletwin::interp {

namespace {

template <int W> int64_t canonical(int64_t v) {
  if constexpr (W == 64)
    return v;
  else if constexpr (W == 1)
    return v & 1;
  else
    return int64_t(uint64_t(v) << (64 - W)) >> (64 - W);
}

template <ScalarOp op, int W> int64_t compute(int64_t a, int64_t b, int64_t c) {
  const uint64_t ua = uint64_t(a), ub = uint64_t(b);
  constexpr uint64_t mask = W == 64 ? ~uint64_t(0) : (uint64_t(1) << W) - 1;
  using S = std::conditional_t<W == 64, int64_t, int32_t>; // narrow divisions take less time
  using U = std::make_unsigned_t<S>;
  switch (op) {
  case ScalarOp::Add: return canonical<W>(int64_t(ua + ub));
  case ScalarOp::Sub: return canonical<W>(int64_t(ua - ub));
  case ScalarOp::Mul: return canonical<W>(int64_t(ua * ub));
  // As the strip functions (tile/ElementwiseInt.h): by 0, all ones and the dividend; the quotient of the smallest by -1 wraps.
  case ScalarOp::DivS: return b == 0 ? -1 : b == -1 ? canonical<W>(int64_t(0 - ua)) : S(a) / S(b);
  case ScalarOp::DivU: return b == 0 ? -1 : canonical<W>(int64_t(U(ua & mask) / U(ub & mask)));
  case ScalarOp::RemS: return b == 0 ? a : b == -1 ? 0 : S(a) % S(b);
  case ScalarOp::RemU: return b == 0 ? a : canonical<W>(int64_t(U(ua & mask) % U(ub & mask)));
  case ScalarOp::And: return a & b;
  case ScalarOp::Or: return a | b;
  case ScalarOp::Xor: return canonical<W>(a ^ b);
  case ScalarOp::Shl: return ub < 64 ? canonical<W>(int64_t(ua << ub)) : 0;
  case ScalarOp::ShrS: return a >> std::min<uint64_t>(ub, 63);
  case ScalarOp::ShrU: return ub < 64 ? canonical<W>(int64_t((ua & mask) >> ub)) : 0;
  case ScalarOp::MinS: return std::min(a, b);
  case ScalarOp::MaxS: return std::max(a, b);
  case ScalarOp::MinU: return int64_t(std::min(ua, ub)); // sign extension keeps the unsigned order
  case ScalarOp::MaxU: return int64_t(std::max(ua, ub));
  case ScalarOp::Eq: return a == b;
  case ScalarOp::Ne: return a != b;
  case ScalarOp::Slt: return a < b;
  case ScalarOp::Sle: return a <= b;
  case ScalarOp::Sgt: return a > b;
  case ScalarOp::Sge: return a >= b;
  case ScalarOp::Ult: return ua < ub;
  case ScalarOp::Ule: return ua <= ub;
  case ScalarOp::Ugt: return ua > ub;
  case ScalarOp::Uge: return ua >= ub;
  case ScalarOp::Select: return a & 1 ? b : c;
  case ScalarOp::Move: return a;
  case ScalarOp::SignExtend: return canonical<W>(a);
  case ScalarOp::ZeroExtend: return int64_t(ua & mask);
  case ScalarOp::SatSub: {
    int64_t r;
    return __builtin_sub_overflow(a, b, &r) ? (a < 0 ? INT64_MIN : INT64_MAX) : r;
  }
  case ScalarOp::SatAdd: {
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? (a < 0 ? INT64_MIN : INT64_MAX) : r;
  }
  }
  return 0;
}

template <ScalarOp op, int W> InstructionRef exec(InstructionRef in, Frame& f) {
  constexpr bool unary = op == ScalarOp::Move || op == ScalarOp::SignExtend || op == ScalarOp::ZeroExtend;
  int64_t a = f.at<int64_t>(in->r[1]);
  int64_t b = unary ? 0 : f.at<int64_t>(in->r[2]);
  int64_t c = op == ScalarOp::Select ? f.at<int64_t>(in->r[3]) : 0;
  f.at<int64_t>(in->r[0]) = compute<op, W>(a, b, c);
  return in + 1;
}

struct Row {
  const char* name;
  ExecFn fn[5]; // width 1, 8, 16, 32, 64
  int64_t (*fold[5])(int64_t, int64_t, int64_t);
};
#define X(name)                                                                                                        \
  {#name,                                                                                                              \
   {exec<ScalarOp::name, 1>, exec<ScalarOp::name, 8>, exec<ScalarOp::name, 16>, exec<ScalarOp::name, 32>,              \
    exec<ScalarOp::name, 64>},                                                                                         \
   {compute<ScalarOp::name, 1>, compute<ScalarOp::name, 8>, compute<ScalarOp::name, 16>, compute<ScalarOp::name, 32>,  \
    compute<ScalarOp::name, 64>}},
constexpr Row kRows[] = {TILETWIN_SCALAR_OPS(X)};
#undef X

int widthIndex(int width) { return width == 1 ? 0 : width == 8 ? 1 : width == 16 ? 2 : width == 32 ? 3 : 4; }

} // namespace

const char* nameOf(ScalarOp op) { return kRows[size_t(op)].name; }
ExecFn scalarFn(ScalarOp op, int width) { return kRows[size_t(op)].fn[widthIndex(width)]; }
int64_t foldScalar(ScalarOp op, int width, int64_t a, int64_t b, int64_t c) {
  return kRows[size_t(op)].fold[widthIndex(width)](a, b, c);
}

template <TwElementwise op> static InstructionRef execFloat(InstructionRef in, Frame& f) {
  const float a = f.at<float>(in->r[1]);
  float result;
  if constexpr (op == TwElementwise::Sqrt) {
    result = std::sqrt(a);
  } else {
    const float b = f.at<float>(in->r[2]);
    if constexpr (op == TwElementwise::AddF) result = a + b;
    if constexpr (op == TwElementwise::SubF) result = a - b;
    if constexpr (op == TwElementwise::MulF) result = a * b;
    if constexpr (op == TwElementwise::DivF) result = a / b;
  }
  f.at<int64_t>(in->r[0]) = std::bit_cast<uint32_t>(result);
  return in + 1;
}

ExecFn scalarFloatFn(TwElementwise op) {
  switch (op) {
  case TwElementwise::AddF: return execFloat<TwElementwise::AddF>;
  case TwElementwise::SubF: return execFloat<TwElementwise::SubF>;
  case TwElementwise::MulF: return execFloat<TwElementwise::MulF>;
  case TwElementwise::DivF: return execFloat<TwElementwise::DivF>;
  case TwElementwise::Sqrt: return execFloat<TwElementwise::Sqrt>;
  default: return nullptr;
  }
}

InstructionRef execScalarStrip(InstructionRef in, Frame& f) {
  const ScalarStripOp& op = *static_cast<const ScalarStripOp*>(in->data);
  const void* src[3] = {f.arena + op.src[0].v, f.arena + op.src[1].v, f.arena + op.src[2].v};
  alignas(64) int64_t result = 0;
  op.fn(1, &result, src, 7);
  switch (op.type) {
  case DType::I1: result &= 1; break;
  case DType::I8: result = canonical<8>(result); break;
  case DType::I16: result = canonical<16>(result); break;
  case DType::I32: result = canonical<32>(result); break;
  default: break;
  }
  f.at<int64_t>(op.dst.v) = result;
  return in + 1;
}

static int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

static bool holds(BoxPredicate p, int64_t a, int64_t b) {
  switch (p) {
  case BoxPredicate::Lt: return a < b;
  case BoxPredicate::Le: return a <= b;
  case BoxPredicate::Gt: return a > b;
  case BoxPredicate::Ge: return a >= b;
  case BoxPredicate::Eq: break;
  }
  return a == b;
}

InstructionRef execBoxBound(InstructionRef in, Frame& f) {
  const BoxBoundOp& op = *static_cast<const BoxBoundOp*>(in->data);
  int64_t stride = op.stride.get(f), base = op.base.get(f), bound = op.bound.get(f);
  __int128 difference = __int128(bound) - base; // i*stride pred difference
  const __int128 far = __int128(1) << 62;
  int64_t d = int64_t(difference > far ? far : difference < -far ? -far : difference);
  int64_t lo = 0, hi = op.size;
  BoxPredicate p = op.predicate;
  if (stride == 0) {
    hi = holds(p, 0, d) ? op.size : 0;
  } else if (p == BoxPredicate::Eq) {
    int64_t i = d / stride;
    bool hit = d % stride == 0;
    lo = hit ? i : 0;
    hi = hit ? i + 1 : 0;
  } else {
    if (stride < 0) { // mirror: i*(-s) with the predicate turned around
      stride = -stride;
      d = -d;
      p = p == BoxPredicate::Lt   ? BoxPredicate::Gt
          : p == BoxPredicate::Le ? BoxPredicate::Ge
          : p == BoxPredicate::Gt ? BoxPredicate::Lt
                                  : BoxPredicate::Le;
    }
    switch (p) {
    case BoxPredicate::Lt: hi = floorDiv(d - 1, stride) + 1; break;
    case BoxPredicate::Le: hi = floorDiv(d, stride) + 1; break;
    case BoxPredicate::Gt: lo = floorDiv(d, stride) + 1; break;
    default: lo = floorDiv(d - 1, stride) + 1; break;
    }
  }
  f.at<int64_t>(op.lo.v) = std::max<int64_t>(lo, 0);
  f.at<int64_t>(op.hi.v) = std::min<int64_t>(hi, op.size);
  return in + 1;
}

InstructionRef execExactBoxBound(InstructionRef in, Frame& f) {
  const BoxBoundOp& op = *static_cast<const BoxBoundOp*>(in->data);
  int64_t left = op.base.get(f), right = op.bound.get(f);
  auto wrapped = [&](int64_t base, int64_t stride, int64_t i) {
    return int64_t((uint64_t(base) + uint64_t(stride) * uint64_t(i)) << (64 - op.width)) >> (64 - op.width);
  };
  auto straight = [&](int64_t base, int64_t stride) {
    int64_t span, last;
    return !__builtin_mul_overflow(stride, op.size - 1, &span) && !__builtin_add_overflow(base, span, &last) &&
           wrapped(base, stride, op.size - 1) == last;
  };
  if (straight(left, op.leftStride) && straight(right, op.rightStride)) [[likely]]
    return execBoxBound(in, f);
  int64_t lo = 0, hi = 0;
  for (int64_t i = 0; i < op.size; ++i) {
    if (!holds(op.predicate, wrapped(left, op.leftStride, i), wrapped(right, op.rightStride, i))) continue;
    if (hi && hi != i) return restart(in, f, left, left + op.leftStride * (op.size - 1));
    lo = hi ? lo : i;
    hi = i + 1;
  }
  f.at<int64_t>(op.lo.v) = lo;
  f.at<int64_t>(op.hi.v) = hi;
  return in + 1;
}

} // namespace tiletwin::interp
