// sim/ptx/ReadInitializer.cpp -- initial values of variables: numbers, addresses, bytes of addresses, rows in braces.
// Not here: which variables may have them but for their space; names of variables that follow (References.cpp).
// Source:   PTX ISA, 5.4.4 "Initializers". A row may be incomplete only if it is the last one: what ptxas does with others is
//           not what is written.
#include "sim/ptx/Reader.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace tiletwin::sim::ptx {

/// The variable whose rows are read. The innermost level is that of scalars: a vector's elements, or an array's.
struct Reader::Rows {
  Variable& variable;
  std::vector<uint64_t> extents;
  std::vector<uint64_t> strides; ///< bytes
  bool isOpen = false;           ///< the first level has as many rows as there are
  uint64_t rows = 0;             ///< of the first level
  bool isIncomplete = false;     ///< a row was shorter than its extent: nothing may follow
};

namespace {

bool isRealType(Type type) { return type == Type::F32 || type == Type::F64; }
bool isIntegerType(Type type) { return type >= Type::B8 && type <= Type::S64; }

/// 0xFF, 0xFF00, ...: how far the mask's byte is from the right; -1: no such mask.
int maskShift(uint64_t mask) {
  if (mask == 0) return -1;
  const int shift = std::countr_zero(mask);
  return shift % 8 == 0 && mask >> shift == 0xFF ? shift : -1;
}

} // namespace

/// Behind '='.
bool Reader::readInitializer(const Declarator& declarator, Variable& variable) {
  if (variable.space != Space::Global && variable.space != Space::Const)
    return lexer_.fail(declarator.at, "only variables in .global and .const have initial values");
  if (variable.isExtern || declarator.count)
    return lexer_.fail(declarator.at, quoted(declarator.name) + " cannot have an initial value");
  if (!isIntegerType(variable.type) && !isRealType(variable.type))
    return lexer_.fail(declarator.at,
                       "variables of type ." + std::string(nameOf(variable.type)) + " cannot have an initial value");
  Rows rows{variable, declarator.extents, {}, declarator.isOpen};
  if (variable.vector > 1) rows.extents.push_back(uint64_t(variable.vector));
  const uint64_t scalar = uint64_t(bytesOf(variable.type));
  if (rows.extents.empty()) return growInitial(variable, scalar) && readInitialValue(variable, 0);
  rows.strides.assign(rows.extents.size(), scalar);
  for (size_t i = rows.extents.size() - 1; i-- > 0;) rows.strides[i] = rows.strides[i + 1] * rows.extents[i + 1];
  if (!declarator.isOpen && !growInitial(variable, variable.bytes)) return false;
  if (!readRow(rows, 0, 0)) return false;
  if (declarator.isOpen) variable.bytes = rows.rows * rows.strides[0];
  return growInitial(variable, variable.bytes);
}

bool Reader::growInitial(Variable& variable, uint64_t bytes) {
  if (bytes <= variable.initial.size()) return true;
  initialized_ += bytes - variable.initial.size();
  if (bytes > kMostInitialized || initialized_ > kMostInitialized)
    return lexer_.fail(variable.at, "initial values of more than " + std::to_string(kMostInitialized >> 20) + " MiB");
  variable.initial.resize(bytes);
  return true;
}

/// {row, row}, or {value, value} at the innermost level.
bool Reader::readRow(Rows& rows, size_t level, uint64_t offset) {
  const Token brace = lexer_.token();
  if (!lexer_.expect('{', " of a row of initial values")) return false;
  const bool isOpen = level == 0 && rows.isOpen, isInnermost = level + 1 == rows.extents.size();
  const uint64_t extent = rows.extents[level];
  uint64_t count = 0;
  while (!lexer_.token().is('}')) {
    if (count > 0 && !lexer_.expect(',', " or '}' in a row of initial values")) return false;
    if (rows.isIncomplete) return lexer_.fail("a row of initial values in front of this one is incomplete");
    if (count == extent && !isOpen)
      return lexer_.fail("more than " + std::to_string(extent) + " initial values in a row");
    const uint64_t at = offset + count++ * rows.strides[level];
    if (isOpen && !growInitial(rows.variable, at + rows.strides[level])) return false;
    if (isInnermost ? !readInitialValue(rows.variable, at) : !readRow(rows, level + 1, at)) return false;
  }
  lexer_.advance();
  if (level == 0) rows.rows = count;
  if (isOpen) return count > 0 || lexer_.fail(brace.at, "an array without an extent has initial values");
  if (count == extent) return true;
  if (isInnermost && rows.variable.vector > 1) return lexer_.fail(brace.at, "too few initial values of a vector");
  rows.isIncomplete = true;
  return true;
}

bool Reader::readInitialValue(Variable& variable, uint64_t offset) {
  const Token token = lexer_.token();
  if (token.is('{')) return lexer_.fail("too many braces around an initial value");
  Relocation relocation;
  relocation.offset = offset;
  relocation.bytes = uint8_t(bytesOf(variable.type));
  const bool isMask = token.kind == TokenKind::Integer && lexer_.peek().is('(');
  if (isMask) {
    Constant mask;
    const int shift = integerValue(token.text, mask) ? maskShift(mask.bits) : -1;
    if (shift < 0) return lexer_.fail("a mask is 0xFF, 0xFF00, ... 0xFF00000000000000");
    if (relocation.bytes != 1) return lexer_.fail("only variables of one byte hold bytes of addresses");
    relocation.shift = uint8_t(shift);
    lexer_.advance();
    lexer_.advance();
    return readInitialAddress(variable, relocation) && lexer_.expect(')', " behind a masked address");
  }
  if (token.kind == TokenKind::Name && !startsConstant(token)) {
    if (!isIntegerType(variable.type) || (relocation.bytes != 4 && relocation.bytes != 8))
      return lexer_.fail("an address does not fit type ." + std::string(nameOf(variable.type)));
    return readInitialAddress(variable, relocation);
  }
  if (!startsConstant(token)) return lexer_.expected("an initial value");
  Constant constant;
  return readConstant(lexer_, constant) && storeConstant(variable, offset, token.at, constant);
}

/// name, name + 4, generic(name) + 4
bool Reader::readInitialAddress(Variable& variable, Relocation relocation) {
  relocation.generic =
      lexer_.token().kind == TokenKind::Name && lexer_.token().text == "generic" && lexer_.peek().is('(');
  if (relocation.generic) {
    lexer_.advance();
    lexer_.advance();
  }
  const Token name = lexer_.token();
  if (name.kind != TokenKind::Name) return lexer_.expected("the name of a variable or function");
  lexer_.advance();
  if (relocation.generic && !lexer_.expect(')', " behind a generic address")) return false;
  if (!readOffset(relocation.addend)) return false;
  const std::optional<Symbol> local = findLocal(name.text);
  if (local && (local->kind != Operand::Kind::Variable || local->isLocal))
    return lexer_.fail(name.at, "the address of " + quoted(name.text) + " is not known before the kernel runs");
  relocation.variable = local ? local->index : refer(name.text, name.at);
  variable.relocations.push_back(relocation);
  return true;
}

bool Reader::storeConstant(Variable& variable, uint64_t offset, Position at, const Constant& constant) {
  const size_t bytes = size_t(bytesOf(variable.type));
  std::byte* to = variable.initial.data() + offset;
  if (constant.isInteger()) {
    if (isRealType(variable.type))
      return lexer_.fail(at, "an integer is no value of type ." + std::string(nameOf(variable.type)));
    // Bits that do not fit are dropped; a negative number fills 128 bits.
    const bool isNegative = constant.kind == Constant::Kind::Signed && constant.integer() < 0;
    std::memset(to, isNegative ? 0xFF : 0, bytes);
    std::memcpy(to, &constant.bits, std::min(bytes, sizeof constant.bits));
    return true;
  }
  const bool isReal = isRealType(variable.type) || variable.type == Type::B32 || variable.type == Type::B64;
  if (!isReal || (bytes == 8 && constant.exactBits == 32))
    return lexer_.fail(at, "a constant of another type than ." + std::string(nameOf(variable.type)));
  const float single = constant.exactBits == 32 ? std::bit_cast<float>(uint32_t(constant.bits)) : float(constant.real);
  const uint64_t wide = constant.exactBits == 64 ? constant.bits : std::bit_cast<uint64_t>(constant.real);
  if (bytes == 4)
    std::memcpy(to, &single, sizeof single);
  else
    std::memcpy(to, &wide, sizeof wide);
  return true;
}

} // namespace tiletwin::sim::ptx
