// codegen/emit/DotOps.cpp -- tt.dot: which way its attribute `instruction` names.
// Here:      the dispatch, operands without tensor cores (fused multiply-adds). Not here: mma.sync (DotMma.cpp).
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Elementwise.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

RegisterMap::RegisterMap(const LinearLayout& layout) {
  for (uint32_t r = layout.registers(); r-- > 0;) numbers_[layout.elementOf(Part::Register, r)] = r;
}

Values throughPtx(Emitter& e, StringRef text, StringRef inputConstraints, Values inputs, ArrayRef<Value*> sums) {
  std::string constraints;
  SmallVector<llvm::Type*> outputs;
  for (Value* sum : sums) {
    constraints += outputs.empty() ? "=" : ",=";
    constraints += sum->getType()->isFloatTy() ? "f" : "r";
    outputs.push_back(sum->getType());
  }
  constraints += inputConstraints;
  for (size_t i = 0; i < sums.size(); ++i) constraints += "," + std::to_string(i);
  llvm::append_range(inputs, sums);
  return e.inlinePtx(text, constraints + ",~{memory}", outputs, inputs, true);
}

namespace {

/// A number as one of the result's type: exact.
Value* widen(Emitter& e, Value* value, llvm::Type* type) {
  if (value->getType() == type) return value;
  return type->isIntegerTy() ? e.ir().CreateSExt(value, type) : e.ir().CreateFPExt(value, type);
}

LogicalResult emitFmas(Emitter& e, tt::DotOp dot) {
  LinearLayout d = twg::layoutOf(dot.getD());
  int64_t k = tt::shapeOf(dot.getA().getType()).back();
  DotLayouts wanted = fmaLayouts(d, k);
  if (!(twg::layoutOf(dot.getA()) == wanted.a) || !(twg::layoutOf(dot.getB()) == wanted.b))
    return dot.emitOpError("has operands whose layouts are not those of its result's");
  llvm::Type* type = e.typeOf(tt::elementTypeOf(dot.getD().getType()));
  RegisterMap aRegisters(wanted.a), bRegisters(wanted.b);
  ArrayRef<Value*> a = e.values(dot.getA()), b = e.values(dot.getB()), c = e.values(dot.getC());
  unsigned m = d.rank() - 2, n = d.rank() - 1;
  Values sums(c);
  SmallVector<SmallVector<int64_t, 5>> places;
  for (uint32_t r = 0; r < sums.size(); ++r) places.push_back(d.coordinates(d.elementOf(Part::Register, r)));
  for (int64_t i = 0; i < k; ++i) // outside: what a step reads is not needed behind it
    for (auto [place, sum] : llvm::zip_equal(places, sums)) {
      SmallVector<int64_t, 5> left = place, right = place;
      left[n] = i, right[m] = i;
      Value* x = widen(e, a[aRegisters.at(wanted.a.flatIndex(left))], type);
      Value* y = widen(e, b[bRegisters.at(wanted.b.flatIndex(right))], type);
      sum = type->isIntegerTy() ? e.ir().CreateAdd(sum, e.ir().CreateMul(x, y))
                                : e.intrinsic(llvm::Intrinsic::fma, {type}, {x, y, sum});
    }
  e.define(dot.getD(), std::move(sums));
  return success();
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::DotOp dot) {
  auto instruction = dot->getAttrOfType<StringAttr>("instruction");
  if (instruction && instruction.getValue() == "fma") return emitFmas(e, dot);
  if (instruction && instruction.getValue().starts_with("mma.")) return emitMma(e, dot);
  return dot->emitOpError("needs the attribute `instruction`: fma, or mma. and a shape");
}

template <> LogicalResult emit(Emitter& e, twg::RoundToTf32Op op) {
  return emitPerRegister(e, op, [&](ArrayRef<Value*> in) {
    Value* bits = e.inlinePtx("cvt.rna.tf32.f32 $0, $1;", "=r,f", {e.ir().getInt32Ty()}, in, false).front();
    return e.ir().CreateBitCast(bits, e.ir().getFloatTy());
  });
}

} // namespace tiletwin::codegen
