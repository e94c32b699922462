// interp/run/ExecuteDebug.cpp -- assertions and prints.
// Here:      the texts a kernel's print produces.
// Not here:  when they reach the user (SchedulerPrints.cpp), trap messages (runtime/TrapText.cpp).
#include "interp/run/Instructions.h"
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tiletwin::interp {

InstructionRef execAssert(InstructionRef in, Frame& f) {
  const AssertOp& op = *static_cast<const AssertOp*>(in->data);
  const uint8_t* condition = &f.at<uint8_t>(op.condition.v);
  for (int64_t i = 0; i < op.elements; ++i)
    if (!condition[i]) [[unlikely]] {
      raise(in, f, TrapKind::Assert, "tt.assert", op.message);
      if (!op.shape.empty()) {
        f.trap.element = i;
        f.trap.index = indexText(op.shape, i);
      }
      return nullptr;
    }
  return in + 1;
}

namespace {

std::string format(const char* how, auto value) {
  char text[64];
  std::snprintf(text, sizeof text, how, value);
  return text;
}

/// One element as C's printf would show it: integers in full, floats with six decimals.
std::string elementText(const std::byte* at, DType type, bool isSigned, bool hex) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, sizeOf(type));
  if (hex || type == DType::Ptr) {
    int digits = int(sizeOf(type)) * 2;
    char text[32];
    std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(bits));
    return text;
  }
  if (isInteger(type)) {
    if (type == DType::I1) return std::to_string(bits & 1);
    int shift = 64 - int(sizeOf(type)) * 8;
    return isSigned ? std::to_string(int64_t(bits << shift) >> shift) : std::to_string(bits);
  }
  double value = 0;
  switch (type) {
  case DType::F64: std::memcpy(&value, &bits, 8); break;
  case DType::F32: {
    float x;
    std::memcpy(&x, &bits, 4);
    value = double(x);
    break;
  }
  default: {
    alignas(64) float x = 0;
    const void* src[1] = {at};
    if (TwStripFn widen = tileOps().cast(type, DType::F32, TwCastKind::SignedInt)) widen(1, &x, src, 0);
    value = double(x);
  }
  }
  return format("%f", value);
}

} // namespace

InstructionRef execPrint(InstructionRef in, Frame& f) {
  const PrintOp& op = *static_cast<const PrintOp*>(in->data);
  std::string head = "pid (" + std::to_string(f.program[0]) + ", " + std::to_string(f.program[1]) + ", " +
                     std::to_string(f.program[2]) + ")";
  if (op.items.empty()) {
    f.printed += head + op.prefix + "\n";
    return in + 1;
  }
  for (size_t k = 0; k < op.items.size(); ++k) {
    const PrintOp::Item& item = op.items[k];
    int64_t elements = 1;
    for (int64_t s : item.shape) elements *= s;
    std::string operand = op.items.size() > 1 ? "(operand " + std::to_string(k) + ") " : "";
    for (int64_t e = 0; e < elements; ++e)
      f.printed += head + " idx " + (item.isTile ? indexText(item.shape, e) : "()") + op.prefix + operand +
                   elementText(f.arena + item.at.v + e * int64_t(sizeOf(item.type)), item.type, item.isSigned, op.hex) +
                   "\n";
  }
  return in + 1;
}

} // namespace tiletwin::interp
