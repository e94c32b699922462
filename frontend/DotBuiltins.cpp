// frontend/DotBuiltins.cpp -- matrix products: dot, dot_scaled (rules 45 to 49).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "ir/GpuFeatures.h"
#include "ir/TT.h"
#include "llvm/ADT/StringExtras.h"

namespace tiletwin::frontend {
namespace {

bool precisionArgument(const Builder& b, PyObject* precisionArg, PyObject* allowTf32, tt::InputPrecision& out) {
  const SemanticOptions& options = b.options();
  std::string name = options.defaultDotPrecision;
  if (!isNone(precisionArg) && !isNone(allowTf32))
    return raiseValue("tl.dot: give input_precision or allow_tf32, not both");
  if (!isNone(allowTf32)) {
    bool allowed = false;
    if (!constantBool(allowTf32, "tl.dot: allow_tf32", allowed)) return false;
    name = allowed ? "tf32" : "ieee";
  } else if (!isNone(precisionArg) && !constantString(precisionArg, "tl.dot: input_precision", name)) {
    return false;
  }
  const std::string lower = llvm::StringRef(name).lower();
  const std::optional<tt::InputPrecision> precision = tt::symbolizeInputPrecision(lower);
  if (precision) out = *precision;
  if (precision && llvm::is_contained(options.allowedDotPrecisions, lower)) return true;
  return raiseValue("tl.dot: input_precision must be one of " + llvm::join(options.allowedDotPrecisions, ", ") +
                    "; got '" + name + "'");
}

std::string dims(const Value& x) { return shapeText(x.type.shape); }

/// The type that products are summed in, which is the result's (rule 46).
bool resultType(const Type& operand, PyObject* outDtype, const Value& acc, Type& out) {
  Type asked;
  bool given = !isNone(outDtype);
  if (given && !typeFromPython(outDtype, asked)) return false;
  if (given && !asked.isPointer() && asked.scalar == Scalar::BF16)
    return raiseValue("tl.dot: out_dtype=tl.bfloat16 is not supported; use out_dtype=tl.float32 and cast the result "
                      "with .to(tl.bfloat16)");
  if (operand.isInt())
    out = scalarType(Scalar::I32);
  else if (operand.scalar == Scalar::F64)
    out = scalarType(Scalar::F64);
  else if (operand.scalar == Scalar::F32 || operand.scalar == Scalar::BF16)
    out = scalarType(Scalar::F32);
  else if (given)
    out = asked;
  else
    out = acc && acc.type.element().scalar == Scalar::F16 ? scalarType(Scalar::F16) : scalarType(Scalar::F32);
  bool half = operand.scalar == Scalar::F16 || operand.isFp8();
  if (half && out.scalar != Scalar::F32 && out.scalar != Scalar::F16)
    return raiseValue("tl.dot: out_dtype must be tl.float32 or tl.float16 for operands of type " + operand.str() +
                      ", got " + out.str());
  return true;
}

bool checkOperands(const Value& a, const Value& b) {
  Type x = a.type.element(), y = b.type.element();
  bool fp8 = x.isFp8() && y.isFp8();
  for (const Type* t : {&x, &y}) {
    bool allowed =
        t->isFp8() || (t->isFloat() && t->scalar != Scalar::Void) || (!t->isPointer() && t->scalar == Scalar::I8);
    if (!allowed)
      return raiseValue("tl.dot multiplies int8, fp8, fp16, bf16, fp32 or fp64, got " + x.str() + " and " + y.str());
  }
  if (!fp8 && x != y)
    return raiseValue("tl.dot: both operands must have one element type (two fp8 types may differ), got " + x.str() +
                      " and " + y.str() + "; convert one, as in a.to(b.dtype)");
  size_t rank = a.type.shape.size();
  if (rank != b.type.shape.size() || rank < 2)
    return raiseValue("tl.dot multiplies two blocks of the same number of dimensions, 2 or more, got shapes " +
                      dims(a) + " and " + dims(b));
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a.type.shape[i] != b.type.shape[i])
      return raiseValue("tl.dot: batch dimensions differ: shapes " + dims(a) + " and " + dims(b));
  int64_t k = a.type.shape[rank - 1];
  if (k != b.type.shape[rank - 2])
    return raiseValue(
        "tl.dot: the last dimension of input and the one before the last of other must be equal, got shapes " +
        dims(a) + " and " + dims(b) + "; tl.trans(x) exchanges two dimensions");
  int64_t least = x.bits() == 8 ? 32 : x.bits() == 16 ? 16 : x.bits() == 32 ? 8 : 4;
  if (k < least)
    return raiseValue("tl.dot: the summed dimension must be at least " + llvm::Twine(least) + " for " + x.str() +
                      ", got " + llvm::Twine(k) + " (shapes " + dims(a) + " and " + dims(b) + ")");
  return true;
}

/// Blocks of rank 4 and more become one batch dimension.
Value mergeBatch(Builder& b, const Value& x) {
  size_t rank = x.type.shape.size();
  if (rank <= 3) return x;
  int64_t batch = 1;
  for (size_t i = 0; i + 2 < rank; ++i) batch *= x.type.shape[i];
  return reshape(b, x, {batch, x.type.shape[rank - 2], x.type.shape[rank - 1]});
}

// dot(input, other, acc, input_precision, allow_tf32, max_num_imprecise_acc, out_dtype)
PyRef buildDot(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x = blockArgument(args[0], "tl.dot: input"), y = x ? blockArgument(args[1], "tl.dot: other") : Value(), acc;
  tt::InputPrecision precision;
  if (!y || !checkOperands(x, y) || !precisionArgument(b, args[3], args[4], precision)) return {};
  if (!isNone(args[2]) && !(acc = blockArgument(args[2], "tl.dot: acc"))) return {};
  Type operand = x.type.element(), out;
  if (!resultType(operand, args[6], acc, out)) return {};
  size_t rank = x.type.shape.size();
  llvm::SmallVector<int64_t> shape(x.type.shape.begin(), x.type.shape.end());
  shape[rank - 1] = y.type.shape[rank - 1];
  if (acc && llvm::ArrayRef<int64_t>(acc.type.shape) != llvm::ArrayRef<int64_t>(shape))
    return raiseValue("tl.dot: acc must have the result's shape " + shapeText(shape) + ", got " + dims(acc));
  if (acc && acc.type.element() != out)
    return raiseValue("tl.dot: acc must have the result's type " + out.str() + ", got " + acc.type.element().str() +
                      (out.isFloat() ? "; pass out_dtype, or cast acc with .to(tl.float32)" : ""));
  // The units that sum fp8 less precisely do so as long as nobody asks for more.
  const bool isImprecise =
      operand.isFp8() && operand.scalar != Scalar::F8E4B15 && tt::featuresOf(b.options().capability).wgmma;
  int64_t k = x.type.shape[rank - 1], imprecise = isImprecise ? 1 << 30 : 0;
  if (!isNone(args[5])) {
    int64_t asked = 0;
    if (!constantInt(args[5], "tl.dot: max_num_imprecise_acc", asked)) return {};
    if (operand.isFp8()) {
      if (asked > k)
        return raiseValue("tl.dot: max_num_imprecise_acc (" + llvm::Twine(asked) + ") must be <= K (" + llvm::Twine(k) +
                          "), the summed dimension");
      imprecise = asked;
    }
  }
  x = mergeBatch(b, x);
  y = x ? mergeBatch(b, y) : Value();
  if (!y) return {};
  // fp8e4b15 travels as integers; its values are exact in fp16.
  for (Value* v : {&x, &y})
    if (v->type.scalar == Scalar::F8E4B15 && !(*v = cast(b, *v, scalarType(Scalar::F16)))) return {};
  if (x.type.element() != y.type.element() && !(x.type.isFp8() && y.type.isFp8()))
    for (Value* v : {&x, &y})
      if (!(*v = cast(b, *v, scalarType(Scalar::F16)))) return {};
  llvm::SmallVector<int64_t> merged(x.type.shape.begin(), x.type.shape.end());
  merged.back() = y.type.shape.back();
  Value zero = acc ? mergeBatch(b, acc) : out.isFloat() ? floatConstant(b, out, 0.0) : integerConstant(b, out, 0);
  if (zero && !acc) zero = splat(b, zero, merged);
  if (!zero) return {};
  llvm::SmallVector<mlir::NamedAttribute> attributes{integer(b, "inputPrecision", int64_t(precision))};
  if (imprecise) attributes.push_back(integer(b, "maxNumImpreciseAcc", imprecise));
  Value product = b.create1("tt.dot", {x, y, zero}, out.withShape(merged), attributes);
  return result(product && rank > 3 ? reshape(b, product, shape) : product);
}

struct FormatRow {
  llvm::StringLiteral name;
  tt::ScaleDotElemType format;
  Scalar element;
};
constexpr FormatRow kFormats[] = {
    {"e2m1", tt::ScaleDotElemType::E2M1, Scalar::U8},   {"e4m3", tt::ScaleDotElemType::E4M3, Scalar::F8E4NV},
    {"e5m2", tt::ScaleDotElemType::E5M2, Scalar::F8E5}, {"bf16", tt::ScaleDotElemType::BF16, Scalar::BF16},
    {"fp16", tt::ScaleDotElemType::FP16, Scalar::F16},
};

/// One operand: its format, and its block in the type the format needs.
bool scaledOperand(Builder& b, llvm::StringRef side, PyObject* arg, PyObject* formatArg, Value& x,
                   const FormatRow*& format) {
  std::string name;
  x = blockArgument(arg, "tl.dot_scaled: " + side);
  if (!x || !constantString(formatArg, "tl.dot_scaled: " + side + "_format", name)) return false;
  format = llvm::find_if(kFormats, [&](const FormatRow& r) { return r.name == name; });
  if (format == std::end(kFormats))
    return raiseValue("tl.dot_scaled: " + side + "_format must be 'e2m1', 'e4m3', 'e5m2', 'bf16' or 'fp16', got '" +
                      name + "'");
  Type have = x.type.element();
  if (have.scalar == format->element && !have.isPointer()) return true;
  Type wanted = scalarType(format->element);
  bool sameWidth = have.isInt() && have.bits() == wanted.bits();
  if (sameWidth && format->format == tt::ScaleDotElemType::E2M1) return true;
  if (sameWidth) { // the numbers' bits
    x = bitcast(b, x, wanted);
    return bool(x);
  }
  return raiseValue("tl.dot_scaled: " + side + " of format '" + name + "' must hold " + wanted.str() +
                    (wanted.isFloat() ? " (or its bits as uint" + std::to_string(wanted.bits()) + ")" : "") + ", got " +
                    have.str());
}

bool scaleArgument(PyObject* arg, llvm::StringRef side, Value& scale) {
  if (isNone(arg)) return true;
  scale = blockArgument(arg, "tl.dot_scaled: " + side + "_scale");
  if (!scale) return false;
  if (!(scale.type.isInt() && scale.type.bits() == 8) && scale.type.element() != scalarType(Scalar::F8E4NV))
    return raiseValue("tl.dot_scaled: " + side + "_scale must hold uint8 exponents (e8m0) or fp8e4nv numbers, got " +
                      scale.type.str());
  return true;
}

// dot_scaled(lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc, fast_math, lhs_k_pack, rhs_k_pack, out_dtype)
PyRef buildDotScaled(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value x, y, xScale, yScale, acc;
  const FormatRow *xFormat = nullptr, *yFormat = nullptr;
  bool fast = false, lhsPack = true, rhsPack = true;
  Type out;
  if (!scaledOperand(b, "lhs", args[0], args[2], x, xFormat) ||
      !scaledOperand(b, "rhs", args[3], args[5], y, yFormat) || !scaleArgument(args[1], "lhs", xScale) ||
      !scaleArgument(args[4], "rhs", yScale) || !constantBool(args[7], "tl.dot_scaled: fast_math", fast) ||
      !constantBool(args[8], "tl.dot_scaled: lhs_k_pack", lhsPack) ||
      !constantBool(args[9], "tl.dot_scaled: rhs_k_pack", rhsPack) || !typeFromPython(args[10], out))
    return {};
  if (out.scalar != Scalar::F32 || out.isPointer())
    return raiseValue("tl.dot_scaled: out_dtype must be tl.float32, got " + out.str());
  for (auto [side, format, pack] : {std::tuple("lhs", xFormat, lhsPack), std::tuple("rhs", yFormat, rhsPack)})
    if (!pack && format->format != tt::ScaleDotElemType::E2M1)
      return raiseValue(llvm::Twine("tl.dot_scaled: ") + side +
                        "_k_pack=False is for format 'e2m1', whose numbers are packed; " + side + " has format '" +
                        format->name + "'");
  size_t rank = x.type.shape.size();
  if (rank != y.type.shape.size() || rank < 2 || rank > 3 || (rank == 3 && x.type.shape[0] != y.type.shape[0]))
    return raiseValue("tl.dot_scaled multiplies 2-D blocks, or 3-D ones with one batch size, got shapes " + dims(x) +
                      " and " + dims(y));
  auto packed = [](const FormatRow* f) { return f->format == tt::ScaleDotElemType::E2M1; };
  int64_t m = x.type.shape[rank - 2] * (packed(xFormat) && !lhsPack ? 2 : 1),
          kx = x.type.shape[rank - 1] * (packed(xFormat) && lhsPack ? 2 : 1);
  int64_t ky = y.type.shape[rank - 2] * (packed(yFormat) && rhsPack ? 2 : 1),
          n = y.type.shape[rank - 1] * (packed(yFormat) && !rhsPack ? 2 : 1);
  if (kx != ky)
    return raiseValue("tl.dot_scaled: the summed dimensions differ: lhs has " + llvm::Twine(kx) + " values (shape " +
                      dims(x) + ", " + xFormat->name + "), rhs " + llvm::Twine(ky) + " (shape " + dims(y) + ", " +
                      yFormat->name + ")");
  auto checkScale = [&](llvm::StringRef side, const Value& scale, int64_t rows) {
    if (!scale) return true;
    llvm::ArrayRef<int64_t> s = scale.type.shape;
    if (s.size() == rank && s[rank - 2] == rows && (s[rank - 1] * 32 == kx || s[rank - 1] * 16 == kx)) return true;
    return bool(raiseValue("tl.dot_scaled: " + side + "_scale must have shape (" + llvm::Twine(rows) + ", " +
                           llvm::Twine(kx / 32) + "), got " + dims(scale)));
  };
  if (!checkScale("lhs", xScale, m) || !checkScale("rhs", yScale, n)) return {};
  auto factor = [&](const Value& scale) { return kx / scale.type.shape.back(); };
  if (xScale && yScale && factor(xScale) != factor(yScale))
    return raiseValue("tl.dot_scaled: Operands must have the same scale factor; (lhs: " + llvm::Twine(factor(xScale)) +
                      " vs rhs: " + llvm::Twine(factor(yScale)) + ")");
  llvm::SmallVector<int64_t> shape(x.type.shape.begin(), x.type.shape.end());
  shape[rank - 2] = m;
  shape[rank - 1] = n;
  if (!isNone(args[6])) {
    acc = blockArgument(args[6], "tl.dot_scaled: acc");
    if (!acc) return {};
    if (acc.type != out.withShape(shape))
      return raiseValue("tl.dot_scaled: acc must be of type " + out.withShape(shape).str() + ", got " + acc.type.str());
  } else if (!(acc = splat(b, floatConstant(b, out, 0.0), shape))) {
    return {};
  }
  llvm::SmallVector<Value> operands{x, y, acc};
  for (const Value* scale : {&xScale, &yScale})
    if (*scale) operands.push_back(*scale);
  llvm::SmallVector<mlir::NamedAttribute> attributes{
      integer(b, "a_elem_type", int64_t(xFormat->format)), integer(b, "b_elem_type", int64_t(yFormat->format)),
      boolean(b, "fastMath", fast), segments(b, {1, 1, 1, xScale ? 1 : 0, yScale ? 1 : 0})};
  if (!lhsPack) attributes.push_back(boolean(b, "lhs_k_pack", false));
  if (!rhsPack) attributes.push_back(boolean(b, "rhs_k_pack", false));
  return result(b.create1("tt.dot_scaled", operands, out.withShape(shape), attributes));
}

constexpr BuiltinRow kRows[] = {
    {"dot", buildDot},
    {"dot_scaled", buildDotScaled},
};

} // namespace

llvm::ArrayRef<BuiltinRow> dotBuiltins() { return kRows; }

} // namespace tiletwin::frontend
