// tests/tools/TestValues.h -- values of IR tests as bytes: from attributes, to text, compared.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tiletwin::check {

/// Scalars and tiles, dense and row-major as the interpreter stores them: an i1 takes one byte.
struct TestValue {
  mlir::Type element;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  int64_t elements() const;
};

/// Bytes of one element in memory; 0 for types that tests cannot hold.
size_t bytesOf(mlir::Type element);
/// The value of dense<...>, an integer or a float attribute.
std::optional<TestValue> valueOf(mlir::Attribute attribute);
/// A value of a type, all bytes zero.
std::optional<TestValue> zeroOf(mlir::Type type);

/// The first element that differs by more than `ulp` representable values: "element (1, 2): got 3.0, expected 4.0";
/// empty if none does. NaN equals NaN; with ulp 0 the sign of zero counts.
std::string difference(const TestValue& got, const TestValue& expected, int64_t ulp);

} // namespace tiletwin::check
