// interp/plan/Uniforms.cpp -- arithmetic on uniform cells: folded, remembered, hoisted.
// Here:      pure scalar instructions and where they go.
// Not here:  constants' cells (Registers.cpp); tiles; the instructions' meaning (run/ExecuteScalar.cpp).
// Invariant: a pure scalar instruction stands at the deepest level that defines one of its operands.
#include "interp/plan/Emitter.h"

namespace tiletwin::interp {

int Emitter::placeFor(llvm::ArrayRef<Uniform> srcs) const {
  if (debug_) return level();
  int place = 0;
  for (const Uniform& u : srcs) place = std::max(place, levelOf(u));
  return std::min(place, level());
}

Reg Emitter::remembered(int level, const std::string& key) const {
  if (debug_) return kNoReg; // its variables change
  auto it = scopes_[level].memo.find(key);
  return it == scopes_[level].memo.end() ? kNoReg : it->second;
}

std::string Emitter::keyOf(llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm) {
  std::string key = name.str() + ":" + std::to_string(imm);
  for (const Uniform& u : srcs) key += (u.constant ? ",#" + std::to_string(u.value) : "," + std::to_string(u.reg));
  return key;
}

Uniform Emitter::pureScalar(ExecFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm) {
  int place = placeFor(srcs);
  std::string key = keyOf(name, srcs, imm);
  Reg dst = remembered(place, key);
  if (dst != kNoReg) return Uniform::in(dst);
  dst = newReg(8, place);
  if (place == 0) persist(dst);
  BuildInstruction& in = emitAt(place, fn, name);
  in.in.imm = imm;
  for (size_t i = 0; i < srcs.size(); ++i) read(in, in.in.r[i + 1], cell(srcs[i]));
  write(in, in.in.r[0], dst);
  remember(place, key, dst);
  return Uniform::in(dst);
}

Uniform Emitter::scalar(ScalarOp op, int width, Uniform a, Uniform b, Uniform c) {
  if (a.constant && b.constant && c.constant) return Uniform::of(foldScalar(op, width, a.value, b.value, c.value));
  bool unary = op == ScalarOp::Move || op == ScalarOp::SignExtend || op == ScalarOp::ZeroExtend;
  if (!debug_) switch (op) {
    case ScalarOp::Add:
    case ScalarOp::Or:
    case ScalarOp::Xor:
      if (a.is(0)) return b;
      if (b.is(0)) return a;
      break;
    case ScalarOp::Sub:
    case ScalarOp::Shl:
    case ScalarOp::ShrS:
    case ScalarOp::ShrU:
    case ScalarOp::SatSub:
    case ScalarOp::SatAdd:
      if (b.is(0)) return a;
      break;
    case ScalarOp::Mul:
      if (a.is(1)) return b;
      if (b.is(1)) return a;
      if (a.is(0) || b.is(0)) return Uniform::of(0);
      break;
    case ScalarOp::DivS:
    case ScalarOp::DivU:
      if (b.is(1)) return a;
      break;
    case ScalarOp::And:
      if (a.is(0) || b.is(0)) return Uniform::of(0);
      if (width == 1 && a.is(1)) return b;
      if (width == 1 && b.is(1)) return a;
      break;
    case ScalarOp::MinS:
    case ScalarOp::MaxS:
      if (a == b) return a;
      break;
    case ScalarOp::Select:
      if (a.constant) return a.value ? b : c;
      if (b == c) return b;
      break;
    default: break;
    }
  std::string name = std::string(nameOf(op)) + std::to_string(width);
  ExecFn fn = scalarFn(op, width);
  if (unary) return pureScalar(fn, name, {a});
  if (op == ScalarOp::Select) return pureScalar(fn, name, {a, b, c});
  return pureScalar(fn, name, {a, b});
}

Uniform Emitter::stripScalar(TwStripFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, DType resultType) {
  using E = TwElementwise;
  if (resultType == DType::F32) // a strip function takes ten times as long as one of these
    for (E op : {E::AddF, E::SubF, E::MulF, E::DivF, E::Sqrt})
      if (fn == tiles().elementwise(op, DType::F32)) return pureScalar(scalarFloatFn(op), name, srcs);
  int place = placeFor(srcs);
  std::string key = keyOf(name, srcs, int64_t(reinterpret_cast<intptr_t>(fn)));
  Reg dst = remembered(place, key);
  if (dst != kNoReg) return Uniform::in(dst);
  dst = newReg(8, place);
  if (place == 0) persist(dst);
  BuildInstruction& in = emitAt(place, execScalarStrip, name);
  ScalarStripOp& data = newData<ScalarStripOp>(in);
  data.fn = fn;
  data.sources = int(srcs.size());
  data.type = resultType;
  for (size_t i = 0; i < srcs.size(); ++i) read(in, data.src[i], cell(srcs[i]));
  write(in, data.dst, dst);
  remember(place, key, dst);
  return Uniform::in(dst);
}

void Emitter::move(Reg dst, const Uniform& src) {
  BuildInstruction& in = emit(scalarFn(ScalarOp::Move, 64), "Move");
  read(in, in.in.r[1], cell(src));
  write(in, in.in.r[0], dst);
}

} // namespace tiletwin::interp
