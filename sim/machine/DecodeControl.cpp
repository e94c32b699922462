// sim/machine/DecodeControl.cpp -- branches, calls, ret and exit.
// Source:    PTX ISA, 9.7.12 (control flow), 7.1 (function declarations and definitions).
// Idea:      `ret` is a branch to the function's end, where lanes that parted meet before they return together.
#include "sim/machine/Builtin.h"
#include "sim/machine/Cta.h"
#include "sim/machine/DecodeFunction.h"
#include "sim/machine/LocalMemory.h"
#include <algorithm>

namespace tiletwin::sim {

using ptx::Operand;
using ptx::Type;

bool FunctionDecoder::decodeControl(const ptx::Instruction& in, Words& words, Inst& out, bool& ok) {
  out.kind = InstClass::Control;
  if (in.opcode == "bra") {
    ok = decodeBranch(in, words, out);
  } else if (in.opcode == "brx") {
    ok = decodeBranchTable(in, words, out);
  } else if (in.opcode == "call") {
    ok = decodeCall(in, words, out);
  } else if (in.opcode == "ret") {
    words.take("uni");
    out.flow = Flow::Branch;
    out.immediate = int64_t(function_.body.size());
    if (in.guard >= 0) out.reconverges = graph_->meetingPoint(graph_->blockOf(current_));
    ok = decoder_.operands(in, 0);
  } else if (in.opcode == "exit") {
    out.flow = Flow::Exit;
    ok = decoder_.operands(in, 0);
  } else {
    out.kind = InstClass::Integer;
    return false;
  }
  return true;
}

bool FunctionDecoder::decodeBranch(const ptx::Instruction& in, Words& words, Inst& out) {
  words.take("uni");
  if (!decoder_.operands(in, 1)) return false;
  const Operand& target = in.operands[0];
  if (target.kind != Operand::Kind::Label) return fail(target.at, "bra wants a label");
  out.flow = Flow::Branch;
  out.immediate = function_.labels[size_t(target.index)].instruction;
  if (in.guard >= 0) out.reconverges = graph_->meetingPoint(graph_->blockOf(current_));
  return true;
}

bool FunctionDecoder::decodeBranchTable(const ptx::Instruction& in, Words& words, Inst& out) {
  if (!words.take("idx")) return fail(in.at, "brx wants .idx");
  words.take("uni");
  if (!decoder_.operands(in, 2) || !decoder_.source(in.operands[0], Type::U32, out.a)) return false;
  const std::vector<int32_t>* labels = branchTargets(function_, in);
  if (!labels || function_.tables[size_t(in.operands[1].index)].isCalls)
    return fail(in.operands[1].at, "brx.idx wants a list made by .branchtargets");
  auto* targets = decoder_.make<std::vector<int32_t>>();
  for (const int32_t label : *labels) targets->push_back(function_.labels[size_t(label)].instruction);
  out.flow = Flow::BranchTable;
  out.data = targets;
  out.reconverges = graph_->meetingPoint(graph_->blockOf(current_));
  return true;
}

namespace {

/// The parts of a call's operands: (results), function, (arguments), table or prototype.
struct CallOperands {
  const Operand* function = nullptr;
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
};

CallOperands partsOf(const ptx::Instruction& in) {
  CallOperands parts;
  for (const Operand& operand : in.operands) {
    if (operand.kind == Operand::Kind::Function || operand.kind == Operand::Kind::Register) {
      if (!parts.function) parts.function = &operand;
    } else if (operand.kind == Operand::Kind::List) {
      (parts.function ? parts.arguments : parts.results) = &operand;
    }
  }
  return parts;
}

template <class T> Step runLoadLocal(const Inst& in, Warp& warp, LaneMask active) {
  T* d = warp.lanes<T>(in.d);
  eachLane(active,
           [&](int lane) { std::memcpy(d + lane, localMemory(warp, lane, uint32_t(in.immediate)), sizeof(T)); });
  return Step::Next;
}
template <class T> Step runStoreLocal(const Inst& in, Warp& warp, LaneMask active) {
  const T* a = warp.lanes<T>(in.a);
  eachLane(active,
           [&](int lane) { std::memcpy(localMemory(warp, lane, uint32_t(in.immediate)), a + lane, sizeof(T)); });
  return Step::Next;
}
Execute loadLocal(size_t bytes) {
  return bytes == 8 ? runLoadLocal<uint64_t> : bytes == 4 ? runLoadLocal<uint32_t> : runLoadLocal<uint16_t>;
}
Execute storeLocal(size_t bytes) {
  return bytes == 8 ? runStoreLocal<uint64_t> : bytes == 4 ? runStoreLocal<uint32_t> : runStoreLocal<uint16_t>;
}
bool isWord(size_t bytes) { return bytes == 2 || bytes == 4 || bytes == 8; }

/// Functions that kernels of nvcc call to launch kernels.
bool isOfDeviceRuntime(std::string_view name) {
  return name.starts_with("__cudaCDP2") || name.starts_with("cudaGetParameterBuffer") ||
         name.starts_with("cudaLaunchDevice");
}

} // namespace

/// The caller's side of an argument or result: a .param variable of its own, a register, or a constant.
static bool callValue(FunctionDecoder& owner, Decoder& decoder, const Operand& operand, Type type, bool isResult,
                      CallValue& value) {
  if (operand.kind == Operand::Kind::Variable) {
    const ptx::Variable& variable = owner.variableOf(operand);
    if (variable.space != ptx::Space::Param || owner.spaceOf(operand) != ptx::Space::Local)
      return owner.fail(operand.at, variable.name + " is no .param variable of this function");
    value.offset = owner.offsetOf(operand);
    value.bytes = uint32_t(variable.bytes);
    return true;
  }
  if (operand.kind == Operand::Kind::Sink && isResult) {
    value.isUsed = false;
    return true;
  }
  if (operand.kind == Operand::Kind::Register) type = owner.registerOf(operand).type;
  value.bytes = laneBytes(type);
  return isResult ? decoder.destination(operand, type, value.slot) : decoder.source(operand, type, value.slot);
}

bool FunctionDecoder::decodeCall(const ptx::Instruction& in, Words& words, Inst& out) {
  words.take("uni");
  const CallOperands parts = partsOf(in);
  if (!parts.function) return fail(in.at, "call wants a function, or a register that holds one");
  const std::vector<ptx::Variable>*results = nullptr, *parameters = nullptr;
  CallSite site;
  if (parts.function->kind == Operand::Kind::Function) {
    const ptx::Function& callee = builder_.module->functions[size_t(parts.function->index)];
    if (callee.isEntry) return fail(parts.function->at, callee.name + " is an entry and cannot be called");
    results = &callee.results;
    parameters = &callee.parameters;
    if (!callee.hasBody) return decodeBuiltinCall(in, callee, out);
    site.callee = builder_.program->functions[size_t(parts.function->index)].get();
  } else {
    const int bytes = laneBytes(registerOf(*parts.function).type);
    if (bytes != 4 && bytes != 8)
      return fail(parts.function->at, "a function's address is a register of 32 or 64 bits");
    site.isWide = bytes == 8;
    if (!decoder_.source(*parts.function, site.isWide ? Type::U64 : Type::U32, out.a)) return false;
    for (const Operand& operand : in.operands) {
      if (operand.kind == Operand::Kind::Prototype) {
        results = &function_.prototypes[size_t(operand.index)].results;
        parameters = &function_.prototypes[size_t(operand.index)].parameters;
      } else if (operand.kind == Operand::Kind::Table && !function_.tables[size_t(operand.index)].targets.empty()) {
        const ptx::Function& callee =
            builder_.module->functions[size_t(function_.tables[size_t(operand.index)].targets.front())];
        results = &callee.results;
        parameters = &callee.parameters;
      }
    }
    if (!results) return fail(in.at, "a call through a register wants a .callprototype or .calltargets list");
  }
  const auto convert = [&](const Operand* list, const std::vector<ptx::Variable>& wanted, bool isResult,
                           std::vector<CallValue>& values) {
    const size_t count = list ? list->parts.size() : 0;
    if (count != wanted.size())
      return fail(in.at, "this call has " + std::to_string(count) + (isResult ? " results" : " arguments") +
                             ", the function wants " + std::to_string(wanted.size()));
    for (size_t i = 0; i < count; ++i)
      if (!callValue(*this, decoder_, list->parts[i], wanted[i].type, isResult, values.emplace_back())) return false;
    return true;
  };
  if (!convert(parts.results, *results, true, site.results) ||
      !convert(parts.arguments, *parameters, false, site.arguments))
    return false;
  out.flow = Flow::Call;
  out.data = decoder_.make<CallSite>(std::move(site));
  return true;
}

/// A function without a body: what a GPU's driver brings along. Its .param arguments are read into registers in front of it.
bool FunctionDecoder::decodeBuiltinCall(const ptx::Instruction& in, const ptx::Function& callee, Inst& out) {
  const BuiltinRow* row = findBuiltin(callee.name);
  if (!row)
    return fail(in.at, "function " + callee.name +
                           (isOfDeviceRuntime(callee.name)
                                ? " is of CUDA's device runtime: kernels that launch kernels do not run here (dynamic "
                                  "parallelism); launch them from the host"
                                : " has no body, and tiletwin has none for it"));
  const CallOperands parts = partsOf(in);
  BuiltinCall call;
  // The register of a value; one that lies in local memory is loaded in front of the call, or stored behind it.
  const auto word = [&](const Operand& operand, Type type, bool isResult, Slot& slot, uint8_t& bytes) {
    CallValue value;
    if (!callValue(*this, decoder_, operand, type, isResult, value)) return false;
    if (!value.isUsed) return true;
    if (!isWord(value.bytes))
      return fail(operand.at, (isResult ? "a result of " : "an argument of ") + callee.name + " is 2, 4 or 8 bytes");
    bytes = uint8_t(value.bytes);
    slot = value.slot ? value.slot : temporary(value.bytes);
    if (value.slot) return true;
    Inst& move = isResult ? emitAfter() : emitBefore();
    move.run = isResult ? storeLocal(value.bytes) : loadLocal(value.bytes);
    move.kind = InstClass::Control;
    (isResult ? move.a : move.d) = slot;
    move.immediate = value.offset;
    return true;
  };
  for (const Operand& operand : parts.arguments ? parts.arguments->parts : std::vector<Operand>()) {
    const size_t i = call.arguments.size();
    const Type type = i < callee.parameters.size() ? callee.parameters[i].type : Type::B32;
    if (!word(operand, type, false, call.arguments.emplace_back(), call.argumentBytes.emplace_back())) return false;
  }
  if (parts.results && !parts.results->parts.empty()) {
    const Type type = callee.results.empty() ? Type::B32 : callee.results.front().type;
    if (!word(parts.results->parts.front(), type, true, call.result, call.resultBytes)) return false;
  }
  out.run = row->run;
  out.data = decoder_.make<BuiltinCall>(std::move(call));
  return true;
}

} // namespace tiletwin::sim
