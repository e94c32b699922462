// sim/machine/Program.h -- an entry and the functions it calls, decoded; the module's memory.
//
// Here:      FunctionCode, Program, ModuleMemory.
// Not here:  how they are made (DecodeFunction.cpp, sim/Module.cpp), how they run (Run.cpp).
// Invariant: a Program does not change once made and is shared by launches and threads; only the bytes of module variables do.
#pragma once
#include "sim/Sim.h"
#include "sim/machine/Instruction.h"
#include "sim/ptx/SpecialRegisters.h"
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace tiletwin::sim {

/// Bytes whose first one is a multiple of 64, zero at first.
class AlignedBytes {
public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t bytes) : size_(bytes) {
    if (!bytes) return;
    data_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kAlignment))));
    __builtin_memset(data_.get(), 0, bytes);
  }
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

private:
  static constexpr size_t kAlignment = 128;
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(kAlignment)); }
  };
  std::unique_ptr<std::byte, Delete> data_;
  size_t size_ = 0;
};

/// Memory of a module's .global and .const variables; it keeps its values from launch to launch.
class ModuleMemory {
public:
  /// False with `error` set if an initialiser names what has no address.
  bool make(const ptx::Module& module, ptx::Diagnostic& error);
  /// Address of a variable; 0 for those of other spaces.
  uint64_t address(size_t variable) const { return addresses_[variable]; }

private:
  std::vector<AlignedBytes> bytes_;
  std::vector<uint64_t> addresses_;
};

/// Addresses of functions: what a call through a register gets.
inline constexpr uint64_t kFunctionAddresses = uint64_t(4) << 56;

/// A special register that is the same while a call runs: filled in when it begins.
struct SpecialFill {
  Special special;
  uint8_t bytes;   ///< a lane: 2, 4 or 8
  uint32_t offset; ///< in the registers
};
/// Writes a special register's 32 lanes, of 2, 4 or 8 bytes each. `localBase`: of the call that begins.
void fillSpecial(Special special, int bytes, const Warp& warp, uint32_t localBase, std::byte* lanes);

/// Where an argument or a result of a call lies, on either side.
struct CallValue {
  Slot slot;           ///< a register; none: local memory
  uint32_t offset = 0; ///< in the frame's local memory
  uint32_t bytes = 0;  ///< of one lane; 0: a predicate
  bool isUsed = true;  ///< false: a register that nothing reads or writes
};

/// Inst::data of a call.
struct CallSite {
  const class FunctionCode* callee = nullptr; ///< null: through a register
  bool isWide = true;                         ///< of that register (Inst::a)
  std::vector<CallValue> arguments, results;
};

/// What an instruction does with a register whose value may be one that nobody has written.
struct DoubtfulUse {
  enum class Kind : uint8_t {
    Guard,   ///< read by all lanes that come here
    Needs,   ///< read where the value matters: memory, a jump, a barrier or a call gets it
    Follows, ///< read, and the results are as unwritten as it is
    IfTrue,  ///< as Follows, in lanes where the predicate of a selp is true
    IfFalse, ///< ... false
    Result,  ///< written, by what was read with the three kinds above
    Write,   ///< written, whatever was read
  };
  uint32_t index = 0; ///< into FunctionCode::doubtful
  Kind kind = Kind::Needs;
};

class FunctionCode {
public:
  const ptx::Function* source = nullptr;
  std::vector<Inst> code; ///< the last one is the function's end
  AlignedBytes constants;
  uint32_t registerBytes = 0;
  uint32_t clearedBytes = 0; ///< the first ones: registers that may be read before they are written
  std::vector<SpecialFill> specials;
  /// .local variables, and for functions that are no entry .param ones: bytes of one thread.
  uint32_t localBytes = 0;
  std::vector<uint32_t> variableOffset;       ///< per ptx::Function::variables: in local, shared or parameter memory
  std::vector<CallValue> results, parameters; ///< of a function that is no entry
  std::vector<std::string_view> productRegisters; ///< names of the registers that hold D or A of a wgmma
  std::vector<std::shared_ptr<void>> kept;
  /// Registers that some way through the function may read before it writes them, and behind them those that are computed from
  /// these; numbers as registerNumber() gives them.
  std::vector<int32_t> doubtful;
  uint32_t doubtfulOrigins = 0; ///< how many of `doubtful` are of the first sort
  /// What instruction i of the body does with them: doubtfulUses from firstDoubtful[i] to firstDoubtful[i + 1], what it writes
  /// last. Both are empty if there is no such register.
  std::vector<uint32_t> firstDoubtful;
  std::vector<DoubtfulUse> doubtfulUses;
  std::vector<int32_t> firstNumber;     ///< of each of source->registers: its first component's number
  std::vector<uint32_t> registerOffset; ///< by number: Slot::code, or Slot::kNone for registers that are never used

  int32_t registerNumber(const ptx::Operand& operand) const {
    return firstNumber[size_t(operand.index)] + (operand.component < 0 ? 0 : operand.component);
  }
  const ptx::Instruction& sourceOf(const Inst& in) const { return source->body[size_t(in.source)]; }
};

class Program {
public:
  std::shared_ptr<const ptx::Module> module;
  std::shared_ptr<ModuleMemory> memory;
  std::string file;
  size_t entry = 0;                                     ///< index into ptx::Module::functions
  std::vector<std::unique_ptr<FunctionCode>> functions; ///< by the same index; null: never called
  static constexpr uint32_t kNowhere = ~uint32_t(0);
  std::vector<uint32_t> sharedOffset; ///< of the module's variables in shared memory; kNowhere: no code names it
  uint32_t staticShared = 0;          ///< bytes
  std::vector<uint32_t> parameterOffset;
  uint32_t parameterBytes = 0;

  bool usesHeap = false;      ///< some code that it reaches calls malloc or free
  bool usesPrintf = false;    ///< ... vprintf
  bool hasAsync = false;      ///< cp.async, bulk copies, wgmma: operations that go on while their thread does
  bool hasAsyncReads = false; ///< ... that read shared memory in the async proxy: bulk and tensor stores, wgmma

  const FunctionCode& entryCode() const { return *functions[entry]; }
  /// The code at a function's address, or null.
  const FunctionCode* functionAt(uint64_t address) const;
};

} // namespace tiletwin::sim
