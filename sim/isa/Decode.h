// sim/isa/Decode.h -- from an instruction as it was read to one that runs. Each family of instructions has a file with a table
// of opcodes (kIntegerOpcodes in Integer.cpp, ...); Opcodes.cpp lists the tables.
//
// Here:      Words (modifiers, each of which must be taken), Decoder (operands to slots), OpcodeRow, the tables.
// Not here:  control flow: branches, calls, ret, exit (machine/DecodeFunction.cpp).
// A new instruction: a row in its family's table, a decode function that takes its modifiers and operands, an Execute.
// Invariant: a modifier, type or operand that a decode function does not know is an error with its place when the module is
//            loaded: never ignored.
#pragma once
#include "sim/machine/Instruction.h"
#include "sim/ptx/Ptx.h"
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tiletwin::sim {

class FunctionCode;

/// The modifiers of one instruction, taken one by one; what is left over at the end is an error.
class Words {
public:
  explicit Words(const ptx::Instruction& in) : left_(in.modifiers) {}
  /// True if the word is there; it counts as taken.
  bool take(std::string_view word);
  /// The one of these words that is there, or an empty view.
  std::string_view takeOneOf(std::initializer_list<std::string_view> words);
  /// What stands beside the one of these words that is there.
  template <class T, size_t n> std::optional<T> takeNamed(const std::pair<std::string_view, T> (&rows)[n]) {
    for (const auto& [word, value] : rows)
      if (take(word)) return value;
    return std::nullopt;
  }
  /// The first word not yet taken that names a type, or None.
  ptx::Type takeType();
  /// The first word not yet taken; empty: all are.
  std::string_view rest() const { return left_.empty() ? std::string_view() : left_.front(); }
  /// The first word not yet taken, which counts as taken then.
  std::string_view takeNext();

private:
  std::vector<std::string_view> left_; ///< not yet taken
};

/// Makes the operands of one function's instructions. Functions that return false have called fail().
class Decoder {
public:
  /// Rounding of floats, bits of immediates and so on as the type says; registers must have the type's size, as PTX wants it
  /// for all but ld, st, cvt and mov (`anySize`: they may be wider).
  bool source(const ptx::Operand& operand, ptx::Type type, Slot& slot, bool anySize = false);
  /// A register that is written. `_` gives no slot if `maySink`.
  bool destination(const ptx::Operand& operand, ptx::Type type, Slot& slot, bool anySize = false, bool maySink = false);
  /// A predicate source; negated ones get a slot of their own that an instruction in front computes.
  bool predicate(const ptx::Operand& operand, Slot& slot);
  /// An integer known while decoding.
  bool constant(const ptx::Operand& operand, int64_t& value);
  /// [register + offset], [variable + offset]: the 64-bit address of each lane is the slot plus the offset. Variables are
  /// addresses in their own space (shared and local ones offsets, 32 bits; global ones host addresses).
  struct Address {
    Slot base;         ///< none: the offset is the address
    uint8_t bytes = 8; ///< of the base's register: 4 or 8
    int64_t offset = 0;
    ptx::Space space = ptx::Space::None; ///< of the variable; None: a register
  };
  bool address(const ptx::Operand& operand, Address& address);
  /// A broadcast constant of 2, 4, 8 or 16 bytes a lane.
  Slot broadcast(const void* value, size_t bytes);
  template <class T> Slot broadcast(T value) { return broadcast(&value, sizeof value); }
  /// A register of the machine's own, uninitialised.
  Slot temporary(size_t bytesPerLane);
  /// Bytes a lane of a register operand has; 0 for a predicate or what is no register.
  int registerBytes(const ptx::Operand& operand) const;
  /// A register's number in FunctionCode::productRegisters; -1: no wgmma of this function names it.
  int productRegister(const ptx::Operand& operand) const;

  /// Object that lives as long as the program; Inst::data.
  template <class T, class... A> T* make(A&&... a) {
    auto owned = std::make_shared<T>(static_cast<A&&>(a)...);
    T* result = owned.get();
    keep(std::move(owned));
    return result;
  }

  /// The diagnostic of the instruction at hand. Returns false.
  bool fail(const ptx::Operand& where, std::string message);
  bool fail(std::string message);
  /// "add.s32: WHY".
  bool refuse(std::string_view why);
  /// The messages for a type that the instruction does not have, and for a modifier that must be there; they list what it has.
  bool failType(std::string_view wanted) { return refuse("wants a type of " + std::string(wanted)); }
  bool failMissing(std::string_view wanted) { return refuse("wants one of " + std::string(wanted)); }
  /// "wants 3 operands, got 2"; false if the number is another one.
  bool operands(const ptx::Instruction& in, size_t count);
  bool operands(const ptx::Instruction& in, size_t least, size_t most);
  /// The form d, a, b, ...: operands of these types in Inst::d and in a, b, c and e; .pred is the type of a predicate.
  bool form(const ptx::Instruction& in, Inst& out, ptx::Type d, std::initializer_list<ptx::Type> sources);
  /// The same where d and all sources are of one type.
  bool alike(const ptx::Instruction& in, Inst& out, ptx::Type type, int sources);
  /// An instruction in front of or behind the one being decoded.
  Inst& emitBefore();
  Inst& emitAfter();

  const ptx::Module& module() const { return *module_; }
  const ptx::Function& function() const { return *function_; }
  /// 90 for sm_90a.
  int target() const { return target_; }
  /// Of how many CTAs all tcgen05 of the function are, as the first one says.
  int tensorGroup = 0;

private:
  friend class FunctionDecoder;
  void keep(std::shared_ptr<void> object);
  const ptx::Module* module_ = nullptr;
  const ptx::Function* function_ = nullptr;
  class FunctionDecoder* owner_ = nullptr;
  int target_ = 0;
};

/// Fills `out`; Decoder::fail has been called if false comes back. Words that are left are looked at by the caller.
using Decode = bool (*)(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
/// Which instructions a row is for: add, neg, min and others are instructions of several families, each with a row of its own.
enum class Domain : uint8_t { Any, Integer, Float, Carry };
struct OpcodeRow {
  std::string_view opcode; ///< up to the first point
  Decode decode;
  Domain domain = Domain::Any;
};
/// The row of an instruction, or null. Where an opcode has several rows, .cc decides for Carry, and then the first modifier that
/// names a type: Float for f16 to f64 and their packed forms, Integer for all others and for none.
const OpcodeRow* findOpcode(const ptx::Instruction& in);

/// The tables of the families, each in the file of its name unless another one is named.
using OpcodeTable = const std::span<const OpcodeRow>;
extern OpcodeTable kApproxOpcodes, kAtomicOpcodes, kBarrierOpcodes, kBitsOpcodes, kCarryOpcodes, kCompareOpcodes,
    kConvertOpcodes, kFenceOpcodes, kFloatOpcodes, kIntegerOpcodes, kLogicOpcodes, kMatrixOpcodes, kMbarrierOpcodes,
    kMmaOpcodes, kMoveOpcodes, kMultiplyOpcodes, kSelectOpcodes, kSystemOpcodes, kTensormapOpcodes, kTextureOpcodes,
    kTcgen05Opcodes, kVideoOpcodes, kWmmaOpcodes;
extern OpcodeTable kCpOpcodes;     // CpAsync.cpp
extern OpcodeTable kMemoryOpcodes; // LoadStore.cpp
extern OpcodeTable kWarpOpcodes;   // WarpOps.cpp
extern OpcodeTable kWgmmaOpcodes;  // WgmmaDecode.cpp

} // namespace tiletwin::sim
