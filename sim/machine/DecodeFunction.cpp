#include "sim/machine/DecodeFunction.h"
#include "sim/isa/Forms.h"
#include "sim/isa/Wgmma.h"
#include "sim/machine/LocalMemory.h"
#include "sim/machine/Warp.h"
#include <algorithm>
#include <utility>

namespace tiletwin::sim {

using ptx::Operand;
using ptx::Type;

namespace {
constexpr uint32_t kSlotAlignment = 64;
/// Above this many bits of liveness registers do not share places: an odd text must not take all memory.
constexpr uint64_t kLivenessBits = uint64_t(1) << 31;
constexpr uint64_t kLargestBlock = uint64_t(1) << 30;

uint32_t alignUp(uint64_t value, uint64_t alignment) {
  return uint32_t((value + alignment - 1) / alignment * alignment);
}

/// "sm_90a": 90.
int targetNumber(std::string_view target) {
  int number = 0;
  for (const char c : target.substr(std::min(target.find('_'), target.size())))
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}
} // namespace

uint8_t laneBytes(Type type) {
  const int bytes = ptx::bytesOf(type);
  return type == Type::Pred ? 0 : uint8_t(std::max(bytes, 2));
}

FunctionDecoder::FunctionDecoder(ProgramBuilder& builder, const ptx::Function& function, FunctionCode& code)
    : builder_(builder), function_(function), code_(code) {
  code_.source = &function;
  decoder_.module_ = builder.module;
  decoder_.function_ = &function;
  decoder_.owner_ = this;
  decoder_.target_ = targetNumber(builder.module->target);
}

bool FunctionDecoder::fail(ptx::Position at, std::string message) {
  if (builder_.error->message.empty()) *builder_.error = {at, std::move(message)};
  return false;
}

// ---- Variables ---------------------------------------------------------------------------------------------------------------

namespace {
/// Parameters of an entry lie in front of its variables, and only they are parameters to the machine.
bool isEntryParameter(const ptx::Function& function, size_t variable) {
  return function.isEntry && variable < function.parameters.size();
}
} // namespace

bool FunctionDecoder::layOutVariables() {
  code_.variableOffset.resize(function_.variables.size(), 0); // shared ones are there already
  uint64_t local = 0;
  for (size_t i = 0; i < function_.variables.size(); ++i) {
    const ptx::Variable& variable = function_.variables[i];
    if (isEntryParameter(function_, i)) {
      code_.variableOffset[i] = builder_.program->parameterOffset[i];
      continue;
    }
    if (variable.space != ptx::Space::Local && variable.space != ptx::Space::Param) continue;
    local = (local + variable.alignment - 1) / variable.alignment * variable.alignment;
    code_.variableOffset[i] = uint32_t(local);
    local += variable.bytes;
    if (local > kLocalLimit) return fail(variable.at, "the local variables of " + function_.name + " are too large");
  }
  code_.localBytes = alignUp(local, 16);
  return true;
}

const ptx::Variable& FunctionDecoder::variableOf(const Operand& operand) const {
  return operand.isLocal ? function_.variables[size_t(operand.index)]
                         : builder_.module->variables[size_t(operand.index)];
}

uint32_t FunctionDecoder::offsetOf(const Operand& operand) const {
  if (operand.isLocal) return code_.variableOffset[size_t(operand.index)];
  return builder_.program->sharedOffset[size_t(operand.index)];
}

ptx::Space FunctionDecoder::spaceOf(const Operand& operand) const {
  const ptx::Space space = variableOf(operand).space;
  if (space != ptx::Space::Param || !operand.isLocal) return space;
  return isEntryParameter(function_, size_t(operand.index)) ? ptx::Space::Param : ptx::Space::Local;
}

// ---- Registers, constants, temporaries ---------------------------------------------------------------------------------------

void FunctionDecoder::numberRegisters() {
  for (const ptx::Register& reg : function_.registers) {
    firstNumber_.push_back(int32_t(size_.size()));
    size_.insert(size_.end(), size_t(std::max<int>(reg.vector, 1)), laneBytes(reg.type));
  }
  alone_.assign(size_.size(), false);
  mayBeUnwritten_.assign(size_.size(), true);
  numberProductRegisters();
  for (const auto* list : {&function_.results, &function_.parameters})
    for (const ptx::Variable& variable : *list)
      for (size_t i = 0; variable.space == ptx::Space::Reg && i < function_.registers.size(); ++i)
        if (function_.registers[i].name == variable.name)
          std::fill_n(alone_.begin() + firstNumber_[i], std::max<int>(function_.registers[i].vector, 1), true);
}

/// Registers that hold D or A of a wgmma.
void FunctionDecoder::numberProductRegisters() {
  constexpr size_t kMost = 0xFFFF;
  productNumbers_.assign(size_.size(), -1);
  for (const ptx::Instruction& in : function_.body) {
    if (in.opcode != "wgmma") continue;
    for (size_t i = 0; i < std::min<size_t>(in.operands.size(), 2); ++i)
      for (const Operand& part : in.operands[i].parts) {
        if (part.kind != Operand::Kind::Register || code_.productRegisters.size() == kMost) continue;
        int32_t& index = productNumbers_[size_t(number(part))];
        if (index >= 0) continue;
        index = int32_t(code_.productRegisters.size());
        code_.productRegisters.push_back(registerOf(part).name);
      }
  }
}

Slot FunctionDecoder::registerSlot(const Operand& operand) { return {offset_[size_t(number(operand))]}; }

void FunctionDecoder::writes(const Operand& operand) {
  const int32_t reg = number(operand);
  RegisterUses& uses = uses_[size_t(current_)];
  uses.writes.push_back(reg);
  const bool isLate = current().opcode == "wgmma"; // the sum is written when it is waited for
  if (current().guard >= 0 || isLate) uses.keeps.push_back(reg);
  if (isLate) alone_[size_t(reg)] = true;
}

/// Every register has a place of its own.
void FunctionDecoder::placeApart() {
  uint64_t at = 0;
  offset_.clear();
  for (const uint8_t bytes : size_) {
    offset_.push_back(uint32_t(at));
    at += std::max<uint32_t>(kSlotAlignment, bytes * uint32_t(kLanes));
  }
  code_.clearedBytes = nextOffset_ = uint32_t(at);
  nextPredicate_ = predicatesEnd_ = 0;
}

/// Predicates first, then registers that may be read before they are written, then the others.
void FunctionDecoder::placeTogether(const FlowGraph& graph) {
  const RegisterPlaces places = placeRegisters(graph, uses_, size_, alone_);
  mayBeUnwritten_ = places.unwritten;
  std::vector<uint32_t> placeOffset(places.placeSize.size(), Slot::kNone);
  std::vector<bool> isCleared(places.placeSize.size(), false);
  for (size_t r = 0; r < size_.size(); ++r)
    if (places.unwritten[r] && places.place[r] >= 0) isCleared[size_t(places.place[r])] = true;
  uint64_t at = 0;
  for (size_t p = 0; p < placeOffset.size(); ++p)
    if (!places.placeSize[p]) {
      placeOffset[p] = uint32_t(at);
      at += sizeof(LaneMask);
    }
  at = alignUp(at, kSlotAlignment);
  for (const bool cleared : {true, false}) {
    for (size_t p = 0; p < placeOffset.size(); ++p)
      if (places.placeSize[p] && isCleared[p] == cleared) {
        placeOffset[p] = uint32_t(at);
        at += places.placeSize[p] * uint32_t(kLanes);
      }
    if (cleared) code_.clearedBytes = uint32_t(at);
  }
  for (size_t r = 0; r < size_.size(); ++r)
    offset_[r] = places.place[r] < 0 ? Slot::kNone : placeOffset[size_t(places.place[r])];
  nextOffset_ = uint32_t(at);
  nextPredicate_ = predicatesEnd_ = 0;
}

Slot FunctionDecoder::temporary(size_t bytesPerLane) {
  if (bytesPerLane == 0) { // predicates share a line
    if (nextPredicate_ == predicatesEnd_) {
      nextPredicate_ = nextOffset_;
      nextOffset_ += kSlotAlignment;
      predicatesEnd_ = nextOffset_;
    }
    nextPredicate_ += sizeof(LaneMask);
    return {nextPredicate_ - uint32_t(sizeof(LaneMask))};
  }
  const Slot slot{nextOffset_};
  nextOffset_ += alignUp(std::max<size_t>(bytesPerLane, 2) * kLanes, kSlotAlignment);
  return slot;
}

Slot FunctionDecoder::special(Special special, int bytes) {
  const auto [it, isNew] = specials_.try_emplace({special, bytes});
  if (isNew) {
    it->second = temporary(size_t(bytes));
    code_.specials.push_back({special, uint8_t(bytes), it->second.code});
  }
  return it->second;
}

Slot FunctionDecoder::broadcast(const void* value, size_t bytes) {
  std::string key(static_cast<const char*>(value), bytes);
  if (key.size() < 2) key.resize(2, '\0');
  const auto [it, isNew] = broadcasts_.try_emplace(key);
  if (isNew) {
    constants_.resize(alignUp(constants_.size(), kSlotAlignment));
    it->second = {Slot::kConstant | uint32_t(constants_.size())};
    for (int i = 0; i < kLanes; ++i)
      for (const char c : key) constants_.push_back(std::byte(c));
  }
  return it->second;
}

// ---- The body ----------------------------------------------------------------------------------------------------------------

bool FunctionDecoder::run() {
  const FlowGraph graph(function_);
  graph_ = &graph;
  numberRegisters();
  placeApart();
  if (nextOffset_ > kLargestBlock) return fail(function_.at, "the registers of " + function_.name + " are too many");
  if (!decodeBody(graph)) return false;
  if (!builder_.keepsRegisters && uint64_t(graph.blocks().size()) * size_.size() * 4 < kLivenessBits) {
    placeTogether(graph);
    if (!decodeBody(graph)) return false;
  }
  finish();
  return true;
}

bool FunctionDecoder::decodeBody(const FlowGraph&) {
  code_.code.clear();
  code_.kept.clear();
  code_.specials.clear();
  specials_.clear();
  broadcasts_.clear();
  constants_.clear();
  uses_.assign(function_.body.size(), {});
  firstInst_.clear();
  for (current_ = 0; current_ < int32_t(function_.body.size()); ++current_) {
    firstInst_.push_back(int32_t(code_.code.size()));
    if (!decodeInstruction()) return false;
  }
  firstInst_.push_back(int32_t(code_.code.size()));
  Inst end;
  end.flow = Flow::Return;
  end.kind = InstClass::Control;
  end.source = int32_t(function_.body.size()) - 1;
  end.isInserted = true;
  code_.code.push_back(end);
  return nextOffset_ <= kLargestBlock || fail(function_.at, "the registers of " + function_.name + " are too many");
}

bool FunctionDecoder::decodeInstruction() {
  const ptx::Instruction& in = current();
  before_.clear();
  after_.clear();
  Inst out;
  if (in.guard >= 0) {
    Operand guard;
    guard.kind = Operand::Kind::Register;
    guard.index = in.guard;
    guard.at = in.at;
    if (!decoder_.predicate(guard, out.guard)) return false;
    out.guardNegated = in.guardNegated;
  }
  Words words(in);
  bool ok = true;
  if (!decodeControl(in, words, out, ok)) {
    const OpcodeRow* row = findOpcode(in);
    if (!row) return fail(in.at, "instruction " + std::string(in.text) + " is unknown, or not implemented");
    ok = row->decode(decoder_, in, words, out);
  }
  if (!ok) {
    if (builder_.error->message.empty())
      return fail(in.at, "instruction " + std::string(in.text) + " is not implemented");
    return false;
  }
  if (const std::string_view left = words.rest(); !left.empty())
    return fail(in.at, std::string(in.text) + ": modifier ." + std::string(left) + " is not implemented here");
  append(out);
  return true;
}

/// What the instruction does with registers of wgmma, or null. wgmma itself knows its registers.
const void* FunctionDecoder::productRegisterUses() {
  if (code_.productRegisters.empty() || current().opcode == "wgmma") return nullptr;
  ProductRegisterUses uses;
  const auto collect = [&](const std::vector<int32_t>& registers, std::vector<uint16_t>& numbers) {
    for (const int32_t r : registers)
      if (productNumbers_[size_t(r)] >= 0) numbers.push_back(uint16_t(productNumbers_[size_t(r)]));
  };
  collect(uses_[size_t(current_)].reads, uses.reads);
  collect(uses_[size_t(current_)].writes, uses.writes);
  if (uses.reads.empty() && uses.writes.empty()) return nullptr;
  return decoder_.make<ProductRegisterUses>(std::move(uses));
}

/// The instruction with those that its operands need around it, under its guard.
void FunctionDecoder::append(Inst out) {
  Slot guard = out.guard;
  if (guard && !after_.empty()) { // it may write its own guard
    Inst copy;
    copy.run = runPredicates<kSame, 1>;
    copy.kind = InstClass::Move;
    copy.a = guard;
    guard = copy.d = temporary(0);
    copy.source = current_;
    copy.isInserted = true;
    code_.code.push_back(copy);
  }
  const auto add = [&](Inst in, bool isInserted) {
    in.source = current_;
    in.isInserted = isInserted;
    if (guard) {
      in.guard = guard;
      in.guardNegated = out.guardNegated;
    }
    code_.code.push_back(in);
  };
  if (const void* uses = productRegisterUses()) {
    Inst check;
    check.run = runProductRegisterUses;
    check.kind = out.kind;
    check.data = uses;
    add(check, true);
  }
  for (const Inst& in : before_) add(in, true);
  add(out, false);
  for (const Inst& in : after_) add(in, true);
}

/// Numbers of instructions of the text become numbers of Insts.
void FunctionDecoder::finish() {
  for (Inst& in : code_.code) {
    if (in.flow == Flow::Branch) in.immediate = firstInst_[size_t(in.immediate)];
    if (in.flow == Flow::BranchTable)
      for (int32_t& target : *static_cast<std::vector<int32_t>*>(const_cast<void*>(in.data)))
        target = firstInst_[size_t(target)];
    if (in.reconverges >= 0) {
      in.reconverges = firstInst_[size_t(in.reconverges)];
      code_.code[size_t(in.reconverges)].joins = true;
    }
  }
  code_.constants = AlignedBytes(constants_.size());
  if (!constants_.empty()) std::memcpy(code_.constants.data(), constants_.data(), constants_.size());
  code_.registerBytes = alignUp(nextOffset_, 128);
  noteDoubtful();

  if (function_.isEntry) return;
  size_t variable = 0;
  for (auto [list, values] :
       {std::pair(&function_.results, &code_.results), std::pair(&function_.parameters, &code_.parameters)})
    for (const ptx::Variable& parameter : *list) {
      CallValue value;
      value.bytes = uint32_t(parameter.bytes);
      if (parameter.space == ptx::Space::Reg) {
        for (size_t i = 0; i < function_.registers.size(); ++i)
          if (function_.registers[i].name == parameter.name) {
            value.bytes = laneBytes(function_.registers[i].type);
            value.slot = {offset_[size_t(firstNumber_[i])]};
            value.isUsed = bool(value.slot);
          }
      } else {
        value.offset = code_.variableOffset[variable++];
      }
      values->push_back(value);
    }
}

} // namespace tiletwin::sim
