// tests/tools/TestValues.cpp -- values of IR tests as bytes.
#include "TestValues.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include <cstring>

using namespace mlir;

namespace tiletwin::check {

int64_t TestValue::elements() const {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

size_t bytesOf(Type element) {
  if (!element.isIntOrFloat()) return 0;
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

static uint64_t bitsAt(const TestValue& value, int64_t i) {
  size_t size = bytesOf(value.element);
  uint64_t bits = 0;
  std::memcpy(&bits, value.bytes.data() + size_t(i) * size, size);
  return bits;
}

static void append(TestValue& value, const llvm::APInt& bits) {
  uint64_t word = bits.getZExtValue();
  size_t size = bytesOf(value.element), at = value.bytes.size();
  value.bytes.resize(at + size);
  std::memcpy(value.bytes.data() + at, &word, size);
}

std::optional<TestValue> zeroOf(Type type) {
  TestValue value;
  value.element = type;
  if (auto tile = dyn_cast<RankedTensorType>(type)) {
    value.element = tile.getElementType();
    value.shape.assign(tile.getShape().begin(), tile.getShape().end());
  }
  size_t size = bytesOf(value.element);
  if (size == 0 || size > 8) return std::nullopt;
  value.bytes.resize(size * size_t(value.elements()));
  return value;
}

std::optional<TestValue> valueOf(Attribute attribute) {
  auto typed = dyn_cast<TypedAttr>(attribute);
  if (!typed) return std::nullopt;
  std::optional<TestValue> value = zeroOf(typed.getType());
  if (!value) return std::nullopt;
  value->bytes.clear();
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    append(*value, integer.getValue());
  } else if (auto number = dyn_cast<FloatAttr>(attribute)) {
    append(*value, number.getValue().bitcastToAPInt());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    if (isa<FloatType>(dense.getElementType()))
      for (const llvm::APFloat& element : dense.getValues<llvm::APFloat>()) append(*value, element.bitcastToAPInt());
    else
      for (const llvm::APInt& element : dense.getValues<llvm::APInt>()) append(*value, element);
  } else {
    return std::nullopt;
  }
  return value;
}

static std::string text(Type element, uint64_t bits) {
  unsigned width = element.getIntOrFloatBitWidth();
  llvm::APInt integer(width, width < 64 ? bits & ((uint64_t(1) << width) - 1) : bits);
  llvm::SmallString<32> decimal;
  if (auto type = dyn_cast<FloatType>(element)) {
    llvm::SmallString<32> hex;
    llvm::APFloat(type.getFloatSemantics(), integer).toString(decimal);
    integer.toString(hex, 16, /*Signed=*/false, /*formatAsCLiteral=*/true);
    return (decimal + " (" + hex + ")").str();
  }
  integer.toString(decimal, 10, /*Signed=*/width > 1);
  return std::string(decimal);
}

/// Floats as integers in the same order, both zeros 0.
static int64_t ordered(uint64_t bits, unsigned width) {
  const uint64_t sign = uint64_t(1) << (width - 1);
  const int64_t magnitude = int64_t(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

static bool matches(Type element, uint64_t got, uint64_t expected, int64_t ulp) {
  auto type = dyn_cast<FloatType>(element);
  if (!type || got == expected) return got == expected;
  unsigned width = type.getWidth();
  llvm::APFloat a(type.getFloatSemantics(), llvm::APInt(width, got)),
      b(type.getFloatSemantics(), llvm::APInt(width, expected));
  if (a.isNaN() || b.isNaN()) return a.isNaN() && b.isNaN();
  if (ulp == 0 || a.isInfinity() != b.isInfinity()) return false;
  __int128 distance = __int128(ordered(got, width)) - ordered(expected, width);
  return (distance < 0 ? -distance : distance) <= ulp;
}

static std::string indexText(const TestValue& value, int64_t element) {
  std::string text;
  for (size_t d = value.shape.size(); d-- > 0;) {
    text = std::to_string(element % value.shape[d]) + (text.empty() ? "" : ", ") + text;
    element /= value.shape[d];
  }
  return "(" + text + ")";
}

std::string difference(const TestValue& got, const TestValue& expected, int64_t ulp) {
  if (got.element != expected.element || got.shape != expected.shape) return "the types differ";
  std::string first;
  int64_t wrong = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    uint64_t a = bitsAt(got, i), b = bitsAt(expected, i);
    if (matches(got.element, a, b, ulp)) continue;
    if (++wrong > 1) continue;
    first = (got.shape.empty() ? "" : "element " + indexText(got, i) + ": ") + "got " + text(got.element, a) +
            ", expected " + text(got.element, b) + (ulp ? " within " + std::to_string(ulp) + " ulp" : "");
  }
  if (wrong > 1)
    first += "; " + std::to_string(wrong) + " of " + std::to_string(expected.elements()) + " elements differ";
  return first;
}

} // namespace tiletwin::check
