// interp/asm/Compiler.h -- from statements to steps: registers, constants, and one row for each form of an instruction.
// Here:      what the Read*.cpp files share.   Not here:  splitting (Text.h), running (Run.cpp).
// Invariant: a register's slot holds its lanes in the register's own width; predicates are bytes 0 or 1.
#pragma once
#include "interp/asm/Asm.h"
#include "interp/asm/Text.h"
#include "interp/asm/Types.h"
#include <map>
#include <optional>

namespace tiletwin::interp {

struct AsmRegister {
  uint32_t slot = 0;
  int bytes = 0; ///< 1, 2, 4, 8
  bool predicate = false;
  bool written = false;
};

class AsmCompiler;
/// One form of an instruction, as an opcode names it.
struct AsmForm {
  const AsmType* type = nullptr;          ///< that the opcode ends with, if it does
  std::string shape;                      ///< widths of the operands, result first: bytes, or p for a predicate
  TwElementwise e = TwElementwise::Count; ///< the tile module's operation, on elements of `type`
  TwStripFn step = nullptr;               ///< else a step of Lanes*.cpp
  bool (AsmCompiler::*special)(const AsmStatement& s, const AsmForm& form) = nullptr; ///< else this does it all
};
std::optional<AsmForm> findAsmForm(const std::vector<std::string>& words);

class AsmCompiler {
public:
  AsmCompiler(const AsmRequest& request, AsmProgram& program, std::string& error)
      : request_(request), tiles_(*request.tiles), program_(program), error_(error) {}
  bool run();

  // Rows with a way of their own (ReadSpecial.cpp, ReadConvert.cpp, ReadNarrow.cpp).
  bool move(const AsmStatement& s, const AsmForm& form);
  bool compare(const AsmStatement& s, const AsmForm& form);     ///< setp
  bool compareInto(const AsmStatement& s, const AsmForm& form); ///< set
  bool reciprocal(const AsmStatement& s, const AsmForm& form);
  bool throughF32(const AsmStatement& s, const AsmForm& form);
  bool nothing(const AsmStatement& s, const AsmForm& form);
  bool convert(const AsmStatement& s, const AsmForm& form);
  bool convertPacked(const AsmStatement& s, const AsmForm& form);
  bool convertToNarrow(const AsmStatement& s, const AsmForm& form);
  bool convertFromNarrow(const AsmStatement& s, const AsmForm& form);
  bool video(const AsmStatement& s, const AsmForm& form);
  bool byMagnitude(const AsmStatement& s, const AsmForm& form); ///< min and max .xorsign.abs

private:
  bool fail(const std::string& why);   ///< in the statement that is read
  bool refuse(const std::string& why); ///< the constraints
  bool readConstraints();
  bool bindPort(const std::vector<std::string>& letters, size_t& next, DType type, bool isResult);
  bool statement(const AsmStatement& s);
  bool declare(const AsmStatement& s);
  bool generic(const AsmStatement& s, const AsmForm& form);
  /// The sources of a packed conversion as f32: two f32 operands, or the halves of a pair.
  bool pairOfF32(const AsmStatement& s, uint32_t& high, uint32_t& low);

  // Registers and values. `bytes` 0: a predicate.
  uint32_t newSlot() {
    const uint32_t slot = program_.scratchBytes;
    program_.scratchBytes += kAsmSlotBytes;
    return slot;
  }
  AsmRegister* find(const AsmArgument& a);
  uint32_t constant(int bytes, uint64_t bits);
  /// The slot of a source of exactly so many bytes; numbers become constants. `isFloat` says how numbers are read.
  bool source(const AsmArgument& a, int bytes, bool isFloat, uint32_t& slot);
  /// A source of a conversion: a wider register gives its low bytes.
  bool sourceLow(const AsmArgument& a, int bytes, bool isFloat, uint32_t& slot);
  bool predicate(const AsmArgument& a, uint32_t& slot);
  /// Where a result goes; store() puts it there, under the statement's guard.
  bool target(const AsmArgument& a, int bytes, AsmRegister*& reg);
  void store(AsmRegister& reg, uint32_t from);
  /// A result of fewer bytes than its register is extended.
  bool storeExtended(const AsmArgument& a, int bytes, bool isSigned, uint32_t from);
  uint32_t step(TwStripFn fn, std::initializer_list<uint32_t> srcs, int perLane = 1, int rounding = 0);
  bool argumentCount(const AsmStatement& s, size_t count);
  /// Reads all sources of a statement that takes `count` operands, the first of them its result.
  bool sources(const AsmStatement& s, size_t count, int bytes, bool isFloat, std::initializer_list<uint32_t*> slots);
  /// Puts a result of so many bytes where the statement wants it.
  bool put(const AsmStatement& s, int bytes, uint32_t from);
  /// Modifiers that change a float result, in this order: ftz, relu, sat.
  uint32_t flushed(uint32_t slot, DType type, int perLane);
  uint32_t finished(uint32_t slot, DType type, int perLane, const AsmStatement& s);
  static bool has(const AsmStatement& s, const char* modifier);
  int roundingOf(const AsmStatement& s);

  const AsmRequest& request_;
  const TwTileOps& tiles_;
  AsmProgram& program_;
  std::string& error_;
  int line_ = 1;
  std::vector<AsmRegister> placeholders_;
  std::vector<std::map<std::string, AsmRegister>> scopes_;
  std::map<std::pair<int, uint64_t>, uint32_t> constants_;
  uint32_t guard_ = 0;
  bool guarded_ = false, guardNegated_ = false;
};

} // namespace tiletwin::interp
