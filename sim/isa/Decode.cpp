#include "sim/isa/Forms.h"
#include "sim/machine/DecodeFunction.h"
#include "sim/machine/Warp.h"
#include <algorithm>

namespace tiletwin::sim {

using ptx::Operand;
using ptx::Type;

// ---- Words -----------------------------------------------------------------------------------------------------------------

bool Words::take(std::string_view word) {
  const auto at = std::ranges::find(left_, word);
  if (at == left_.end()) return false;
  left_.erase(at);
  return true;
}

std::string_view Words::takeOneOf(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (take(word)) return word;
  return {};
}

ptx::Type Words::takeType() {
  const auto at = std::ranges::find_if(left_, [](auto word) { return ptx::typeNamed(word) != Type::None; });
  if (at == left_.end()) return Type::None;
  const Type type = ptx::typeNamed(*at);
  left_.erase(at);
  return type;
}

std::string_view Words::takeNext() {
  const std::string_view word = rest();
  if (!left_.empty()) left_.erase(left_.begin());
  return word;
}

// ---- Instructions that operands need in front of the one that is decoded -----------------------------------------------------

namespace {

template <class T> Step runAddConstant(const Inst& in, Warp& warp, LaneMask active) {
  const T* a = warp.lanes<T>(in.a);
  const T add = T(in.immediate);
  perLane(warp.lanes<T>(in.d), active, [=](int i) { return T(a[i] + add); });
  return Step::Next;
}

/// A word's truth as a predicate.
Step runIsNotZero(const Inst& in, Warp& warp, LaneMask active) {
  const uint32_t* a = warp.lanes<uint32_t>(in.a);
  perLanePredicate(warp.predicate(in.d), active, [=](int i) { return a[i] != 0; });
  return Step::Next;
}

Step runReadSpecial(const Inst& in, Warp& warp, LaneMask) {
  fillSpecial(Special(in.immediate & 0xFF), int(in.immediate >> 8), warp, 0, warp.lanes<std::byte>(in.d));
  return Step::Next;
}

bool isFloat(Type type) { return type == Type::F32 || type == Type::F64; }

/// The bits of a constant of some type, or false if it has none of that kind.
bool constantBits(const Operand& operand, Type type, uint64_t& bits) {
  if (operand.kind == Operand::Kind::Integer) {
    bits = uint64_t(operand.integer);
    return !isFloat(type);
  }
  const int bytes = ptx::bytesOf(type);
  if (bytes != 4 && bytes != 8) return false;
  if (operand.floatBits == bytes * 8) {
    bits = uint64_t(operand.integer);
  } else if (bytes == 4) {
    const float value = float(operand.number);
    uint32_t low;
    std::memcpy(&low, &value, 4);
    bits = low;
  } else {
    std::memcpy(&bits, &operand.number, 8);
  }
  return true;
}

size_t slotBytes(Type type) { return size_t(std::max(2, ptx::bytesOf(type))); }

std::string constantText(const Operand& operand) {
  return operand.kind == Operand::Kind::Integer ? std::to_string(operand.integer) : std::to_string(operand.number);
}

std::string quoted(const Operand& operand) { return "'" + std::string(operand.name) + "'"; }

} // namespace

// ---- Decoder -----------------------------------------------------------------------------------------------------------------

bool Decoder::fail(const Operand& where, std::string message) {
  return owner_->fail(where.at.line ? where.at : owner_->current().at, std::move(message));
}
bool Decoder::alike(const ptx::Instruction& in, Inst& out, Type type, int sources) {
  if (sources == 1) return form(in, out, type, {type});
  return sources == 2 ? form(in, out, type, {type, type}) : form(in, out, type, {type, type, type});
}

bool Decoder::fail(std::string message) { return owner_->fail(owner_->current().at, std::move(message)); }
bool Decoder::refuse(std::string_view why) {
  return fail(std::string(owner_->current().text).append(": ").append(why));
}

bool Decoder::operands(const ptx::Instruction& in, size_t count) { return operands(in, count, count); }

bool Decoder::operands(const ptx::Instruction& in, size_t least, size_t most) {
  const size_t count = in.operands.size();
  if (count >= least && count <= most) return true;
  std::string wanted = std::to_string(least);
  if (most != least) wanted += " to " + std::to_string(most);
  return refuse("wants " + wanted + (most == 1 ? " operand" : " operands") + ", got " + std::to_string(count));
}

bool Decoder::form(const ptx::Instruction& in, Inst& out, Type d, std::initializer_list<Type> sources) {
  if (!operands(in, 1 + sources.size()) || !destination(in.operands[0], d, out.d)) return false;
  Slot* const slots[] = {&out.a, &out.b, &out.c, &out.e};
  for (size_t i = 0; i < sources.size(); ++i)
    if (!source(in.operands[i + 1], sources.begin()[i], *slots[i])) return false;
  return true;
}

Inst& Decoder::emitBefore() { return owner_->emitBefore(); }
Inst& Decoder::emitAfter() { return owner_->emitAfter(); }
Slot Decoder::broadcast(const void* value, size_t bytes) { return owner_->broadcast(value, bytes); }
Slot Decoder::temporary(size_t bytesPerLane) { return owner_->temporary(bytesPerLane); }
void Decoder::keep(std::shared_ptr<void> object) { owner_->code().kept.push_back(std::move(object)); }

int Decoder::registerBytes(const Operand& operand) const {
  if (operand.kind == Operand::Kind::Special) {
    const std::optional<Special> special = findSpecial(operand.name, operand.component);
    return special ? bytesOf(*special) : 0;
  }
  return operand.kind == Operand::Kind::Register ? laneBytes(owner_->registerOf(operand).type) : 0;
}

int Decoder::productRegister(const Operand& operand) const {
  return operand.kind == Operand::Kind::Register ? owner_->productNumber(operand) : -1;
}

namespace {
/// Says what is wrong with a register as an operand of some type; empty: nothing.
std::string registerMisfit(const ptx::Register& reg, const Operand& operand, Type type, bool anySize) {
  const auto named = [&](Type t) { return "." + std::string(ptx::nameOf(t)); };
  if (operand.component < 0 && reg.vector > 1)
    return "vector register " + reg.name + " stands where one element is wanted";
  if (operand.component >= reg.vector) return "register " + reg.name + " has no such component";
  if ((reg.type == Type::Pred) != (type == Type::Pred))
    return "register " + reg.name + " is " + named(reg.type) + ", wanted " + named(type);
  const int has = ptx::bytesOf(reg.type), wants = ptx::bytesOf(type);
  if (type != Type::Pred && (anySize ? has < wants : has != wants))
    return "register " + reg.name + " of type " + named(reg.type) + " does not fit " + named(type);
  return {};
}
} // namespace

bool Decoder::source(const Operand& operand, Type type, Slot& slot, bool anySize) {
  if (type == Type::Pred) return predicate(operand, slot);
  if (operand.negated) return fail(operand, quoted(operand) + " is no predicate: ! cannot stand here");
  const size_t bytes = slotBytes(type);
  switch (operand.kind) {
  case Operand::Kind::Register: {
    const std::string misfit = registerMisfit(owner_->registerOf(operand), operand, type, anySize);
    if (!misfit.empty()) return fail(operand, misfit);
    owner_->reads(operand);
    slot = owner_->registerSlot(operand);
    return true;
  }
  case Operand::Kind::Special: {
    const std::optional<Special> special = findSpecial(operand.name, operand.component);
    if (!special) return fail(operand, "special register " + std::string(operand.name) + " is not known");
    const size_t width = anySize ? size_t(bytesOf(*special)) : bytes;
    if (width > 8) return fail(operand, quoted(operand) + " does not fit ." + std::string(ptx::nameOf(type)));
    if (!changesWhileRunning(*special)) {
      slot = owner_->special(*special, int(width));
      return true;
    }
    slot = temporary(width);
    Inst& read = emitBefore();
    read.run = runReadSpecial;
    read.kind = InstClass::Special;
    read.d = slot;
    read.immediate = int64_t(*special) | int64_t(width) << 8;
    return true;
  }
  case Operand::Kind::Integer:
  case Operand::Kind::Float: {
    uint64_t bits[2] = {0, 0};
    if (!constantBits(operand, type, bits[0]))
      return fail(operand,
                  "the constant " + constantText(operand) + " does not fit ." + std::string(ptx::nameOf(type)));
    if (bytes == 16 && operand.integer < 0) bits[1] = ~uint64_t(0);
    slot = broadcast(bits, bytes);
    return true;
  }
  case Operand::Kind::Function: {
    if (bytes < 4) return fail(operand, "an address does not fit ." + std::string(ptx::nameOf(type)));
    const uint64_t address = kFunctionAddresses | uint64_t(operand.index + 1);
    slot = broadcast(&address, bytes);
    return true;
  }
  case Operand::Kind::Variable:
  case Operand::Kind::Address: {
    const bool isVariable = operand.kind == Operand::Kind::Variable;
    if (!isVariable || (bytes != 4 && bytes != 8))
      return fail(operand, isVariable ? "an address does not fit ." + std::string(ptx::nameOf(type))
                                      : std::string("an address in brackets cannot stand here"));
    Address at;
    if (!address(operand, at)) return false;
    if (!at.base) {
      slot = broadcast(&at.offset, bytes);
      return true;
    }
    const Special base = at.space == ptx::Space::Shared ? Special::SharedBase : Special::LocalBase;
    Inst& add = emitBefore();
    add.run = bytes == 8 ? runAddConstant<uint64_t> : runAddConstant<uint32_t>;
    add.kind = InstClass::Move;
    add.a = owner_->special(base, int(bytes));
    add.immediate = at.offset;
    slot = add.d = temporary(bytes);
    return true;
  }
  default: return fail(operand, "a register or a constant is wanted here");
  }
}

bool Decoder::destination(const Operand& operand, Type type, Slot& slot, bool anySize, bool maySink) {
  if (operand.kind == Operand::Kind::Sink) {
    slot = {};
    return maySink || fail(operand, "_ cannot stand here");
  }
  if (operand.kind != Operand::Kind::Register || operand.negated)
    return fail(operand, "a register to write is wanted here");
  const std::string misfit = registerMisfit(owner_->registerOf(operand), operand, type, anySize);
  if (!misfit.empty()) return fail(operand, misfit);
  owner_->writes(operand);
  slot = owner_->registerSlot(operand);
  return true;
}

bool Decoder::predicate(const Operand& operand, Slot& slot) {
  if (operand.kind == Operand::Kind::Integer) {
    slot = broadcast<LaneMask>((operand.integer != 0) != operand.negated ? kAllLanes : 0);
    return true;
  }
  if (operand.kind == Operand::Kind::Special && operand.name == "%is_explicit_cluster" && !operand.negated) {
    slot = temporary(0);
    Inst& test = emitBefore();
    test.run = runIsNotZero;
    test.kind = InstClass::Integer;
    test.a = owner_->special(Special::IsExplicitCluster, 4);
    test.d = slot;
    return true;
  }
  if (operand.kind != Operand::Kind::Register || owner_->registerOf(operand).type != Type::Pred)
    return fail(operand, "a predicate is wanted here");
  const std::string misfit = registerMisfit(owner_->registerOf(operand), operand, Type::Pred, false);
  if (!misfit.empty()) return fail(operand, misfit);
  owner_->reads(operand);
  slot = owner_->registerSlot(operand);
  if (!operand.negated) return true;
  const Slot positive = slot;
  slot = temporary(0);
  Inst& invert = emitBefore();
  invert.run = runPredicates<kNot, 1>;
  invert.kind = InstClass::Integer;
  invert.a = positive;
  invert.d = slot;
  return true;
}

bool Decoder::constant(const Operand& operand, int64_t& value) {
  if (operand.kind != Operand::Kind::Integer) return fail(operand, "an integer constant is wanted here");
  value = operand.integer;
  return true;
}

bool Decoder::address(const Operand& operand, Address& address) {
  const bool bracketed = operand.kind == Operand::Kind::Address && !operand.parts.empty();
  const Operand& base = bracketed ? operand.parts[0] : operand;
  address = {};
  address.offset = operand.integer;
  switch (base.kind) {
  case Operand::Kind::Integer: address.offset = bracketed ? base.integer + operand.integer : base.integer; return true;
  case Operand::Kind::Register: {
    const ptx::Register& reg = owner_->registerOf(base);
    const int bytes = laneBytes(reg.type);
    if ((bytes != 4 && bytes != 8) || reg.vector > 1 || isFloat(reg.type))
      return fail(base, "an address is a register of 32 or 64 bits, " + reg.name + " is ." +
                            std::string(ptx::nameOf(reg.type)));
    owner_->reads(base);
    address.base = owner_->registerSlot(base);
    address.bytes = uint8_t(bytes);
    return true;
  }
  case Operand::Kind::Variable: {
    if (bracketed) address.offset += base.integer;
    address.space = owner_->spaceOf(base);
    address.offset += owner_->offsetOf(base);
    if (address.space == ptx::Space::Global || address.space == ptx::Space::Const) {
      const uint64_t at = owner_->builder().program->memory->address(size_t(base.index));
      if (!at) return fail(base, "variable " + quoted(base) + " has no definition in this module");
      address.offset += int64_t(at);
      return true;
    }
    if (address.space == ptx::Space::Param) return true;
    address.base = owner_->special(address.space == ptx::Space::Shared ? Special::SharedBase : Special::LocalBase, 4);
    address.bytes = 4;
    return true;
  }
  default: return fail(base, "an address is a register, a variable or a number, plus a number");
  }
}

} // namespace tiletwin::sim
