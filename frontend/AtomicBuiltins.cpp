// frontend/AtomicBuiltins.cpp -- atomic accesses (rules 34 to 36).
// Not here: atomic updates through descriptors (DescriptorBuiltins.cpp).
#include "frontend/Builtins.h"
#include "frontend/Emit.h"
#include "ir/TT.h"

namespace tiletwin::frontend {
namespace {

/// The attributes sem and scope. `standard` is the semantics when none is given; `only` restricts to it and relaxed.
bool ordering(Builder& b, llvm::StringRef function, PyObject* semArg, PyObject* scopeArg, llvm::StringRef standard,
              bool only, llvm::SmallVectorImpl<mlir::NamedAttribute>& attributes) {
  std::string sem, scope;
  if (!constantString(semArg, "tl." + function + ": sem", sem) ||
      !constantString(scopeArg, "tl." + function + ": scope", scope))
    return false;
  llvm::StringRef wanted = sem.empty() ? standard : llvm::StringRef(sem);
  const std::optional<tt::MemSemantic> order = tt::symbolizeMemSemantic(wanted);
  if (!order || (only && wanted != standard && wanted != "relaxed"))
    return raiseValue(
        "tl." + function + ": sem must be " +
        (only ? "'" + standard.str() + "' or 'relaxed'" : std::string("'acq_rel', 'acquire', 'release' or 'relaxed'")) +
        ", got '" + wanted + "'");
  const std::optional<tt::MemScope> reach = tt::symbolizeMemScope(scope.empty() ? "gpu" : scope);
  if (!reach) return raiseValue("tl." + function + ": scope must be 'gpu', 'cta' or 'sys', got '" + scope + "'");
  attributes.push_back(integer(b, "sem", int64_t(*order)));
  attributes.push_back(integer(b, "scope", int64_t(*reach)));
  return true;
}

Value atomicPointer(PyObject* arg, llvm::StringRef function, bool writes) {
  PyObject* plain = unwrap(arg);
  if (!isTensor(plain) || !tensorValue(plain).type.isPointer())
    return raiseType("tl." + function + ": pointer must be a pointer or a block of pointers, got " + given(plain));
  const Value& pointer = tensorValue(plain);
  if (writes && pointer.type.constPointer)
    return raiseValue("tl." + function + ": Cannot store to a constant pointer (" + pointer.type.str() + ")");
  return pointer;
}

/// A companion of the pointer in its shape.
bool inShape(Builder& b, llvm::StringRef function, llvm::StringRef what, const Value& pointer, Value& x) {
  if (!pointer.type.isBlock() && x.type.isBlock())
    return raiseValue("tl." + function + ": " + what + " is a block of type " + x.type.str() +
                      ", but the pointer is a scalar");
  while (x.type.isBlock() && x.type.shape.size() < pointer.type.shape.size())
    if (!(x = expandDims(b, x, 0))) return false;
  x = broadcastTo(b, x, pointer.type.shape);
  return bool(x);
}
Value maskInShape(Builder& b, llvm::StringRef function, const Value& pointer, PyObject* arg) {
  if (isNone(arg)) return splat(b, integerConstant(b, scalarType(Scalar::I1), 1), pointer.type.shape);
  Value mask = tensorArgument(b, arg, "tl." + function + ": mask");
  if (mask && !mask.type.isBool())
    return raiseValue("tl." + function + ": mask must be of type int1, got " + mask.type.str());
  return mask && inShape(b, function, "mask", pointer, mask) ? mask : Value();
}
Value valueInShape(Builder& b, llvm::StringRef function, const Value& pointer, PyObject* arg) {
  Value value = tensorArgument(b, arg, "tl." + function + ": val");
  if (!value || !inShape(b, function, "val", pointer, value)) return raised();
  return cast(b, value, pointer.type.pointee());
}

enum Allowed : unsigned { Ints = 1, Halves = 2, Floats = 4 };
struct RmwRow {
  llvm::StringLiteral function;
  unsigned allowed;
  tt::RmwKind onSigned, onUnsigned, onFloats;
};
constexpr RmwRow kRmw[] = {
    {"atomic_add", Ints | Halves | Floats, tt::RmwKind::Add, tt::RmwKind::Add, tt::RmwKind::FAdd},
    {"atomic_and", Ints, tt::RmwKind::And, tt::RmwKind::And, tt::RmwKind::And},
    {"atomic_max", Ints | Floats, tt::RmwKind::Max, tt::RmwKind::UMax, tt::RmwKind::Max},
    {"atomic_min", Ints | Floats, tt::RmwKind::Min, tt::RmwKind::UMin, tt::RmwKind::Min},
    {"atomic_or", Ints, tt::RmwKind::Or, tt::RmwKind::Or, tt::RmwKind::Or},
    {"atomic_xchg", Ints | Floats, tt::RmwKind::Exch, tt::RmwKind::Exch, tt::RmwKind::Exch},
    {"atomic_xor", Ints, tt::RmwKind::Xor, tt::RmwKind::Xor, tt::RmwKind::Xor},
};

bool checkElement(const RmwRow& row, const Type& t) {
  bool pointerWord = t.isPointer() && row.onSigned == tt::RmwKind::Exch;
  bool wide = t.bits() == 32 || t.bits() == 64;
  if (pointerWord || (t.isInt() && wide && (row.allowed & Ints)) || (t.isFloat() && wide && (row.allowed & Floats)) ||
      (t.isFloat() && t.bits() == 16 && (row.allowed & Halves)))
    return true;
  std::string takes = row.allowed & Halves   ? "fp16, bf16, fp32, fp64 and 32- and 64-bit integers"
                      : row.allowed & Floats ? "fp32, fp64 and 32- and 64-bit integers"
                                             : "32- and 64-bit integers";
  return raiseValue("tl." + row.function + " takes " + takes + ", got a pointer to " + t.str());
}

Value rmw(Builder& b, tt::RmwKind kind, llvm::ArrayRef<mlir::NamedAttribute> order, Value pointer, Value value,
          Value mask) {
  llvm::SmallVector<mlir::NamedAttribute> attributes{integer(b, "atomic_rmw_op", int64_t(kind))};
  attributes.append(order.begin(), order.end());
  return b.create1("tt.atomic_rmw", {pointer, value, mask}, value.type, attributes);
}

/// Rule 35: among floats with the sign bit clear the order is that of signed integers, with it set the reverse of
/// unsigned ones.
Value floatExtremum(Builder& b, bool larger, llvm::ArrayRef<mlir::NamedAttribute> order, Value pointer, Value value,
                    Value mask) {
  bool wide = value.type.bits() == 64;
  Type s = scalarType(wide ? Scalar::I64 : Scalar::I32), u = scalarType(wide ? Scalar::U64 : Scalar::U32);
  llvm::ArrayRef<int64_t> shape = value.type.shape;
  Type i1 = scalarType(Scalar::I1).withShape(shape);
  auto pointerAs = [&](const Type& t) { return b.create1("tt.bitcast", pointer, pointerTo(t).withShape(shape)); };
  Value asSigned = bitcast(b, value, s), signedPointer = pointerAs(s);
  Value asUnsigned = bitcast(b, value, u), unsignedPointer = pointerAs(u);
  Value distance = splat(b, integerConstant(b, u, wide ? 63 : 31), shape);
  Value negative = cast(b, b.create1("arith.shrui", {asUnsigned, distance}, asUnsigned.type), i1);
  Value positive = b.create1("arith.xori", {negative, splat(b, integerConstant(b, i1, 1), shape)}, i1);
  Value first = rmw(b, larger ? tt::RmwKind::Max : tt::RmwKind::Min, order, signedPointer, asSigned,
                    b.create1("arith.andi", {mask, positive}, i1));
  Value second = rmw(b, larger ? tt::RmwKind::UMin : tt::RmwKind::UMax, order, unsignedPointer, asUnsigned,
                     b.create1("arith.andi", {mask, negative}, i1));
  Value old = b.create1("arith.select", {positive, cast(b, first, u), second}, second.type);
  return bitcast(b, old, value.type);
}

// atomic_add(pointer, val, mask, sem, scope) and the like
template <size_t index> PyRef buildRmw(Builder& b, llvm::ArrayRef<PyObject*> args) {
  const RmwRow& row = kRmw[index];
  Value pointer = atomicPointer(args[0], row.function, true);
  llvm::SmallVector<mlir::NamedAttribute> order;
  if (!pointer || !checkElement(row, pointer.type.pointee()) ||
      !ordering(b, row.function, args[3], args[4], "acq_rel", false, order))
    return {};
  Value mask = isNone(args[2]) ? Value() : maskInShape(b, row.function, pointer, args[2]);
  if (!mask && !isNone(args[2])) return {};
  Value value = valueInShape(b, row.function, pointer, args[1]);
  mask = value && !mask ? maskInShape(b, row.function, pointer, args[2]) : mask;
  if (!value || !mask) return {};
  bool extremum = row.onUnsigned == tt::RmwKind::UMax || row.onUnsigned == tt::RmwKind::UMin;
  if (value.type.isFloat() && extremum)
    return result(floatExtremum(b, row.onUnsigned == tt::RmwKind::UMax, order, pointer, value, mask));
  tt::RmwKind kind = value.type.isFloat() ? row.onFloats : value.type.isSigned() ? row.onSigned : row.onUnsigned;
  return result(rmw(b, kind, order, pointer, value, mask));
}

// atomic_cas(pointer, cmp, val, sem, scope): neither broadcasts nor casts (rule 36).
PyRef buildCas(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value pointer = atomicPointer(args[0], "atomic_cas", true);
  llvm::SmallVector<mlir::NamedAttribute> order;
  if (!pointer || !ordering(b, "atomic_cas", args[3], args[4], "acq_rel", false, order)) return {};
  Type element = pointer.type.pointee(), wanted = element.withShape(pointer.type.shape);
  if (element.bits() != 16 && element.bits() != 32 && element.bits() != 64)
    return raiseValue("tl.atomic_cas takes types of 16, 32 or 64 bits, got a pointer to " + element.str());
  Value values[2];
  for (auto [value, arg, name] : {std::tuple(&values[0], args[1], "cmp"), std::tuple(&values[1], args[2], "val")}) {
    *value = tensorArgument(b, arg, "tl.atomic_cas: " + llvm::Twine(name));
    if (!*value) return {};
    if (value->type.toMlir(b.context()) != wanted.toMlir(b.context()))
      return raiseValue("tl.atomic_cas: " + llvm::Twine(name) + " must be of type " + wanted.str() +
                        ", as the pointer says, got " + value->type.str() + "; make it with tl.full or .to()");
    value->type = wanted;
  }
  return result(b.create1("tt.atomic_cas", {pointer, values[0], values[1]}, wanted, order));
}

// atomic_load(pointer, mask, sem, scope)
PyRef buildAtomicLoad(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value pointer = atomicPointer(args[0], "atomic_load", false);
  llvm::SmallVector<mlir::NamedAttribute> order;
  if (!pointer || !ordering(b, "atomic_load", args[2], args[3], "acquire", true, order)) return {};
  if (pointer.type.pointee().isBool())
    return raiseValue("tl.atomic_load does not read int1; use a pointer to int8 or wider");
  Value mask = maskInShape(b, "atomic_load", pointer, args[1]);
  return mask ? result(b.create1("tt.atomic_load", {pointer, mask},
                                 pointer.type.pointee().withShape(pointer.type.shape), order))
              : PyRef();
}

// atomic_store(pointer, val, mask, sem, scope)
PyRef buildAtomicStore(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value pointer = atomicPointer(args[0], "atomic_store", true);
  llvm::SmallVector<mlir::NamedAttribute> order;
  if (!pointer || !ordering(b, "atomic_store", args[3], args[4], "release", true, order)) return {};
  if (pointer.type.pointee().isBool())
    return raiseValue("tl.atomic_store does not write int1; use a pointer to int8 or wider");
  Value value = valueInShape(b, "atomic_store", pointer, args[1]);
  Value mask = value ? maskInShape(b, "atomic_store", pointer, args[2]) : Value();
  return mask ? resultNone(emit(b, "tt.atomic_store", {pointer, value, mask}, order)) : PyRef();
}

// atomic_poll(pointer, expected_value, sem, scope, timeout_ns)
PyRef buildPoll(Builder& b, llvm::ArrayRef<PyObject*> args) {
  Value pointer = atomicPointer(args[0], "atomic_poll", false);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (!pointer || !ordering(b, "atomic_poll", args[2], args[3], "acquire", true, attributes)) return {};
  Type element = pointer.type.pointee();
  if (pointer.type.isBlock() || !element.isInt() || element.bits() < 16)
    return raiseValue("tl.atomic_poll takes one pointer to an integer of 16, 32 or 64 bits, got " + pointer.type.str());
  Value expected = tensorArgument(b, args[1], "tl.atomic_poll: expected_value");
  if (expected && expected.type.isBlock())
    return raiseValue("tl.atomic_poll: expected_value must be a scalar, got " + expected.type.str());
  if (!expected || !(expected = cast(b, expected, element))) return {};
  llvm::SmallVector<Value> operands{pointer, expected};
  if (!isNone(args[4])) {
    Value timeout = tensorArgument(b, args[4], "tl.atomic_poll: timeout_ns");
    if (timeout && (!timeout.type.isInt() || timeout.type.isBlock()))
      return raiseValue("tl.atomic_poll: timeout_ns must be an integer scalar, got " + timeout.type.str());
    if (!timeout || !(timeout = cast(b, timeout, scalarType(Scalar::I64)))) return {};
    operands.push_back(timeout);
  }
  return result(b.create1("tt.atomic_poll", operands, scalarType(Scalar::I1), attributes));
}

constexpr BuiltinRow kRows[] = {
    {"atomic_add", buildRmw<0>},      {"atomic_and", buildRmw<1>}, {"atomic_cas", buildCas},
    {"atomic_load", buildAtomicLoad}, {"atomic_max", buildRmw<2>}, {"atomic_min", buildRmw<3>},
    {"atomic_or", buildRmw<4>},       {"atomic_poll", buildPoll},  {"atomic_store", buildAtomicStore},
    {"atomic_xchg", buildRmw<5>},     {"atomic_xor", buildRmw<6>},
};

} // namespace

llvm::ArrayRef<BuiltinRow> atomicBuiltins() { return kRows; }

} // namespace tiletwin::frontend
