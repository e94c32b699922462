// sim/ptx/Ptx.h -- a PTX module as it was read: directives, variables, functions, instructions, with names resolved.
//
// Here:      the syntax tree, and the reader's one function.
// Not here:  what an instruction means (isa/): the reader knows its grammar only, and takes any opcode.
// Source:    "PTX ISA", NVIDIA, versions 3.0 to 9.x, chapters 4 (syntax), 5 (state spaces, types, variables), 6 (operands),
//            7 (ABI), 11 (directives).
// Invariant: registers, labels and symbols of a Module are indices that exist; every part knows where it stood in the text.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::sim::ptx {

/// In the PTX text, both from 1.
struct Position {
  int32_t line = 0, column = 0;
};

/// What .loc says: where an instruction comes from in the kernel's own source.
struct SourceLine {
  int32_t file = -1; ///< index into Module::files; -1: unknown
  int32_t line = 0, column = 0;
  int32_t inlinedAt = -1;  ///< index into Module::sourceLines of the call that was inlined; -1: none
  std::string inlinedFrom; ///< function that was inlined there; empty: none
};

enum class Space : uint8_t { None, Reg, Const, Global, Local, Param, Shared };

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F32x2,
  F64,
};
/// Bytes of one element; 0 for None and Pred.
int bytesOf(Type type);
/// "f32"; None for a word that is no fundamental type.
Type typeNamed(std::string_view word);
std::string_view nameOf(Type type);

struct Operand {
  enum class Kind : uint8_t {
    Register, ///< index: into Function::registers
    Special,  ///< name: "%tid", "%laneid", ...; component where one was written
    Integer,  ///< integer
    Float,    ///< number; where it was written as 0f or 0d, integer holds its bits and floatBits their number
    Variable, ///< index: into Function::variables or Module::variables (isLocal tells); + integer bytes
    Function, ///< index: into Module::functions
    Label,    ///< index: into Function::labels
    Address, ///< [parts[0] + integer]: parts[0] is a Register, Variable or Integer; parts[1...]: what follows a comma inside
             ///< of the brackets, such as the coordinates of a tensor copy
    Vector,    ///< {parts...}
    Pair,      ///< p|q: two destinations
    List,      ///< (parts...): arguments and results of a call
    Table,     ///< index: into Function::tables (.branchtargets, .calltargets)
    Prototype, ///< index: into Function::prototypes
    Sink,      ///< _
    Part, ///< of video instructions: r.b0, r.h10, -r: parts[0] is the register, name "b0" or empty, negated for a minus
  };
  Kind kind = Kind::Sink;
  Position at;
  int32_t index = -1;
  int8_t component = -1; ///< Register, Special: .x .y .z .w (0 to 3); -1: none
  bool negated = false;  ///< !p
  bool isLocal = false;  ///< Variable: of the function
  int64_t integer = 0;
  double number = 0;
  uint8_t floatBits = 0; ///< Float: 32 or 64 if written in hexadecimal; 0: decimal
  std::string_view name; ///< as written, in Module::text
  std::vector<Operand> parts;
};

/// Also a label's place: labels stand in front of the instruction of their index.
struct Instruction {
  Position at;
  int32_t source = -1;                     ///< index into Module::sourceLines; -1: no .loc was seen
  std::string_view opcode;                 ///< "mma": up to the first point
  std::string_view text;                   ///< "mma.sync.aligned.m16n8k16...": all of it
  std::vector<std::string_view> modifiers; ///< {"sync", "aligned", "m16n8k16", ...}; "shared::cta" is one
  int32_t guard = -1;                      ///< predicate register; -1: none
  bool guardNegated = false;
  std::vector<Operand> operands;
};

struct Register {
  std::string name;
  Type type = Type::None;
  int8_t vector = 1; ///< 2, 4: .v2, .v4
};

/// A number or an address in an initialised variable.
struct Relocation {
  uint64_t offset = 0;                  ///< byte in the variable
  int32_t variable = -1, function = -1; ///< index of the module's variable or function
  int64_t addend = 0;
  bool generic = false;
  uint8_t bytes = 8;
  uint8_t shift = 0; ///< 0xFF(x), 0xFF00(x), ...: only these bits of the address
};

/// What stands in front of a variable's name: .visible .global .align 8 .v2 .b32
struct Declaration {
  Position at; ///< of a variable: of its name
  Space space = Space::None;
  Type type = Type::None;
  int8_t vector = 1;
  uint32_t alignment = 0; ///< bytes; of a declaration 0: as the type asks for
  bool isExtern = false, isVisible = false, isWeak = false, isCommon = false;
  bool isPointer = false; ///< .param .ptr
  Space pointerSpace = Space::None;
  uint32_t pointerAlignment = 1;
};

struct Variable : Declaration {
  std::string name;
  uint64_t bytes = 0;             ///< of the whole variable
  bool unsized = false;           ///< extern .shared x[]: as large as the launch says
  std::vector<std::byte> initial; ///< empty: zeros for global and const, nothing for others
  std::vector<Relocation> relocations;
};

struct Label {
  std::string name;
  int32_t instruction = 0; ///< index into Function::body; body.size() at the end
};

struct Table { ///< .branchtargets, .calltargets
  std::string name;
  bool isCalls = false;
  std::vector<int32_t> targets; ///< labels or functions
};

struct Prototype { ///< .callprototype
  std::string name;
  std::vector<Variable> results, parameters;
};

struct Function {
  std::string name;
  Position at;
  bool isEntry = false, isExtern = false, isVisible = false, isWeak = false, isNoReturn = false;
  bool hasBody = false;
  std::vector<Variable> results, parameters; ///< space Reg or Param
  /// Registers and variables (local, shared, param for calls) of all of its blocks; a parameter or result in .reg space is
  /// one of `registers` too, of the same name. Of a declaration without a body: empty.
  std::vector<Register> registers;
  std::vector<Variable>
      variables; ///< first the results and parameters in .param space, in that order, then the body's own
  std::vector<Instruction> body;
  std::vector<Label> labels;
  std::vector<Table> tables;
  std::vector<Prototype> prototypes;
  std::array<int32_t, 3> requiredThreads{0, 0, 0}, maxThreads{0, 0, 0}; ///< .reqntid, .maxntid; 0: not given
  std::array<int32_t, 3> requiredCluster{0, 0, 0};                      ///< .reqnctapercluster
  int32_t maxClusterRank = 0, minCtasPerSm = 0, maxRegisters = 0;
  bool explicitCluster = false;
  bool blocksAreClusters = false; ///< the launch's grid counts clusters
  std::vector<std::string> pragmas;
};

struct Module {
  std::string text; ///< what names point into
  int32_t major = 0, minor = 0;
  std::string target; ///< "sm_90a"
  std::vector<std::string> targetOptions;
  int32_t addressSize = 64;
  std::vector<std::string> files; ///< .file, by number - 0; unused numbers are empty
  std::vector<SourceLine> sourceLines;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  struct Alias { ///< operands that name an alias hold the function itself
    std::string name;
    int32_t function = -1;
  };
  std::vector<Alias> aliases;
  std::vector<std::string> pragmas; ///< outside of functions
  struct Section {
    std::string name;
    std::string_view body;
  };
  std::vector<Section> sections; ///< debug sections, unread
  /// Index into functions, of the function itself for an alias; -1: none of that name.
  int32_t findFunction(std::string_view name) const;
};

struct Diagnostic {
  Position at;
  std::string message;
  /// "file.ptx:12:5: message", and the line with a caret under it.
  std::string render(std::string_view file, std::string_view text) const;
};

/// Reads a module. On failure returns null and says in `error` what is wrong, where, and what was expected.
/// A Module does not move: names point into its text.
std::unique_ptr<const Module> read(std::string_view text, Diagnostic& error);

} // namespace tiletwin::sim::ptx
