// sim/ptx/Reader.h -- a recursive-descent reader of PTX modules. read() in Reader.cpp is what others call.
//
// Here:      Reader, whose functions lie in several files: Reader.cpp (the module), ReadDeclaration.cpp and
//            ReadInitializer.cpp (variables), ReadFunction.cpp (headers), ReadBody.cpp (blocks, labels, instructions),
//            ReadOperand.cpp, ReadDebug.cpp (.file, .loc, .section), References.cpp (names used before they are known).
// Not here:  tokens (Lexer.h), constant expressions (Constants.h), names (Scope.h).
// Idea:      each function reads one construct, and returns false once the lexer holds a diagnostic. A name that is no register
//            or variable of the function becomes a Reference, which is resolved at the end of its block (labels) or of the
//            module (functions, variables).
// Invariant: what is made is bounded by the length of the text, but for what kMost... below allows.
#pragma once
#include "sim/ptx/Constants.h"
#include "sim/ptx/Lexer.h"
#include "sim/ptx/Scope.h"
#include <functional>

namespace tiletwin::sim::ptx {

inline constexpr int64_t kMostRegisters = 1 << 20;         ///< of a function
inline constexpr int64_t kMostNumbered = int64_t(1) << 22; ///< registers and variables of a module declared as %r<n>
inline constexpr size_t kMostBlocks = 64;                  ///< inside of each other
inline constexpr size_t kMostExtents = 64;                 ///< of an array
inline constexpr uint64_t kMostBytes = uint64_t(1) << 40;  ///< of a variable
inline constexpr uint64_t kMostInitialized = uint64_t(1) << 26; ///< bytes of a module's initialised variables
inline constexpr int64_t kMostFiles = 1 << 16;
inline constexpr int64_t kMostThreads = 1 << 20; ///< any limit of hardware's is lower

/// A variable's name and what follows it: name[4][2], %r<100>
struct Declarator {
  Position at;
  std::string_view name;         ///< empty: _
  std::optional<uint32_t> count; ///< name<count>
  bool isOpen = false;           ///< name[]: the first of extents is 0
  std::vector<uint64_t> extents;
};

class Reader {
public:
  Reader(Module& module, Diagnostic& error) : module_(module), lexer_(module.text, error) {}
  bool readModule();

private:
  // Reader.cpp
  bool readVersion();
  bool readTarget();
  bool readAddressSize();
  bool readModuleItem();
  bool readLinked();
  bool readAlias();
  bool readPragma(std::vector<std::string>& pragmas);
  bool readModuleVariables(const Declaration& declaration);
  bool finishAliases();

  // ReadDeclaration.cpp
  bool readLinkage(Declaration& declaration);
  bool readDeclaration(Declaration& declaration);
  bool readDeclarationWord(Declaration& declaration);
  bool readPointer(Declaration& declaration);
  bool readAlignment(uint32_t& alignment);
  bool readAttribute();
  bool readDeclarator(Declarator& declarator, bool mayBeNameless = false);
  /// Size, alignment and names; not where it lies.
  bool makeVariable(const Declaration& declaration, const Declarator& declarator, Variable& variable);
  bool declareRegisters(const Declaration& declaration, const Declarator& declarator, Scope& scope);
  bool declareVariables(const Declaration& declaration, const Declarator& declarator, std::vector<Variable>& variables,
                        Scope& scope, bool isLocal);
  bool countNumbered(const Declarator& declarator);
  bool taken(const Declarator& declarator);

  // ReadInitializer.cpp
  bool readInitializer(const Declarator& declarator, Variable& variable);
  struct Rows;
  bool readRow(Rows& rows, size_t level, uint64_t offset);
  bool readInitialValue(Variable& variable, uint64_t offset);
  bool readInitialAddress(Variable& variable, Relocation relocation);
  bool storeConstant(Variable& variable, uint64_t offset, Position at, const Constant& constant);
  bool growInitial(Variable& variable, uint64_t bytes);

  // ReadFunction.cpp
  bool readFunction(const Declaration& linkage);
  bool readParameters(std::vector<Variable>& parameters, bool isEntry, bool mayBeNameless);
  bool readFunctionDirectives(Function& function);
  bool readExtents(std::array<int32_t, 3>& extents);
  bool readCount(int32_t& count, int32_t least, int64_t most = kMostThreads);
  bool addFunction(Function&& function, std::string_view name, int32_t& index);
  bool declareParameters();

  // ReadBody.cpp
  bool readBody(int32_t function);
  bool readStatement();
  bool readBodyDirective();
  bool readBodyVariables();
  bool readLabel();
  bool readTargets(Table& table);
  bool readPrototype(Prototype& prototype);
  bool readInstruction();
  bool readGuard(Instruction& instruction);
  bool openBlock();
  bool closeBlock();
  std::optional<Symbol> findLocal(std::string_view name) const;

  // ReadOperand.cpp
  bool readOperand(Operand& operand, const Instruction& instruction);
  bool readSimpleOperand(Operand& operand, const Instruction& instruction);
  bool readOperandList(Operand& operand, const Instruction& instruction, char close);
  bool readName(Operand& operand, const Instruction& instruction);
  bool readComponent(Operand& operand);
  bool readElement(Operand& operand, const Instruction& instruction);
  bool readAddress(Operand& operand, const Instruction& instruction);
  bool readOffset(int64_t& offset);
  bool readNumber(Operand& operand);

  // ReadDebug.cpp
  bool readFile();
  bool readLocation();
  bool readInlined(SourceLine& source);
  bool readSection();
  bool finishSources();

  // References.cpp
  struct Reference {
    std::string_view name;
    Position at;
    bool isResolved = false;
    Operand::Kind kind = Operand::Kind::Label;
    int32_t index = -1;
  };
  /// A stand-in for the index of what `name` will turn out to be.
  int32_t refer(std::string_view name, Position at);
  void closeReferences();
  bool finishReferences();
  bool finishOperand(Operand& operand, bool isAddress);
  bool finishTable(Table& table);
  bool finishVariable(Variable& variable);
  const Reference& referenceOf(int32_t standIn) const { return references_[size_t(-2 - standIn)]; }

  struct Block {
    Position at;
    Scope scope;
    std::vector<int32_t> references; ///< not resolved yet
  };

  Function& function() { return module_.functions[size_t(function_)]; }

  Module& module_;
  Lexer lexer_;
  Scope globals_;
  std::vector<Block> blocks_; ///< of the function that is being read; the innermost last
  int32_t function_ = -1;
  int32_t source_ = -1;                          ///< the .loc that holds
  std::vector<std::string_view> parameterNames_; ///< of the function, results first
  int64_t numbered_ = 0;
  uint64_t initialized_ = 0;
  std::vector<Reference> references_;

  struct PendingAlias {
    std::string_view alias, function;
    Position at;
  };
  std::vector<PendingAlias> aliases_;
  struct SourceKey {
    int32_t file, line, column;
    bool operator==(const SourceKey&) const = default;
  };
  struct SourceKeyHash {
    size_t operator()(const SourceKey& k) const {
      return std::hash<uint64_t>()((uint64_t(uint32_t(k.file)) << 48) ^ (uint64_t(uint32_t(k.line)) << 16) ^
                                   uint64_t(uint32_t(k.column)));
    }
  };
  std::unordered_map<SourceKey, int32_t, SourceKeyHash> sources_; ///< the last of each place
  struct PendingName {
    size_t source;
    std::string_view label;
    uint64_t offset;
    Position at;
  };
  std::vector<PendingName> inlinedNames_;
};

} // namespace tiletwin::sim::ptx
