// interp/run/ExecuteDebug.cpp -- assertions, prints, and calls of debugging helpers.
// Here:      the texts a kernel's print produces, the records of print_if and breakpoint_if.
// Not here:  when they reach the user (SchedulerPrints.cpp), trap messages (runtime/TrapText.cpp).
#include "interp/run/Execute.h"
#include <algorithm>
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

/// Text that a program may keep while it prints.
constexpr size_t kPrintsAtOnce = 64 << 10;

template <class... Values> void append(std::string& out, const char* how, Values... values) {
  char text[400]; // the largest f64 has 309 digits before its point
  int length = std::snprintf(text, sizeof text, how, values...);
  out.append(text, size_t(std::max(length, 0)));
}

double floatValue(const std::byte* at, DType type) {
  if (type == DType::F64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  alignas(64) float value = 0;
  const void* src[1] = {at};
  if (type == DType::F32)
    std::memcpy(&value, at, sizeof value);
  else if (TwStripFn widen = tileOps().cast(type, DType::F32, TwCastKind::SignedInt))
    widen(1, &value, src, 0);
  return double(value);
}

/// One element as the GPU's printf shows it: integers in full, floats with six decimals, addresses from their first
/// digit. In hexadecimal, signed integers of 8 and 16 bits come with the 32 bits that C passes them in; of floats, the
/// bits are shown (a GPU shows those of a wider float, or a part of them).
void appendElement(std::string& out, const std::byte* at, DType type, bool isSigned, bool hex) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, sizeOf(type));
  const int unused = 64 - int(sizeOf(type)) * 8, digits = type == DType::I1 ? 1 : int(sizeOf(type)) * 2;
  if (type == DType::I1) bits &= 1;
  const bool isInt = isInteger(type);
  const int64_t number = int64_t(bits << unused) >> unused;
  if (isInt && isSigned && hex && sizeOf(type) < 4) bits = uint32_t(number);
  if (hex)
    append(out, "0x%0*llx", digits, static_cast<unsigned long long>(bits));
  else if (type == DType::Ptr)
    append(out, "0x%llx", static_cast<unsigned long long>(bits));
  else if (isInt && isSigned && type != DType::I1)
    append(out, "%lld", static_cast<long long>(number));
  else if (isInt)
    append(out, "%llu", static_cast<unsigned long long>(bits));
  else
    append(out, "%f", floatValue(at, type));
}

int digitsOf(int64_t number) {
  int digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

/// "(0,  7)": each index as wide as the largest of its dimension.
void appendIndex(std::string& out, const std::vector<int64_t>& shape, int64_t element) {
  int64_t index[kMaxRank];
  const size_t rank = std::min(shape.size(), size_t(kMaxRank));
  for (size_t d = rank; d-- > 0; element /= shape[d]) index[d] = element % shape[d];
  out += '(';
  for (size_t d = 0; d < rank; ++d)
    append(out, d ? ", %*lld" : "%*lld", digitsOf(shape[d] - 1), static_cast<long long>(index[d]));
  out += ')';
}

/// Text that came before the program started again is not given out a second time.
void dropRepeated(Frame& f) {
  if (!f.printedTwice) return;
  const size_t repeated = std::min(f.printedTwice, f.printed.size());
  f.printed.erase(0, repeated);
  f.printedTwice -= repeated;
}

/// Hands over what is printed so far if it is much. False: the program has to stop.
bool handOver(Frame& f) {
  dropRepeated(f);
  if (f.printed.size() < kPrintsAtOnce || !f.takePrinted) return true;
  f.printedAway += f.printed.size();
  return f.takePrinted(f.pollContext);
}

} // namespace

InstructionRef execPrint(InstructionRef in, Frame& f) {
  const PrintOp& op = *static_cast<const PrintOp*>(in->data);
  const PrintSelection* selection = f.launch->prints;
  if (selection && !selection->shows(f.program)) return in + 1;
  std::string head;
  append(head, "pid (%d, %d, %d)", f.program[0], f.program[1], f.program[2]);
  if (op.items.empty()) {
    f.printed += head + op.prefix + "\n";
    dropRepeated(f);
    return in + 1;
  }
  head += " idx ";
  for (size_t k = 0; k < op.items.size(); ++k) {
    const PrintOp::Item& item = op.items[k];
    int64_t elements = 1;
    for (int64_t s : item.shape) elements *= s;
    std::string tail = op.prefix;
    if (op.items.size() > 1) tail += "(operand " + std::to_string(k) + ") ";
    const ShownElements shown = selection && item.isTile ? selection->elements(f.program, item.shape) : ShownElements();
    for (int64_t e = 0; e < elements; ++e) {
      if (!shown.all() && !shown.has(e)) continue;
      f.printed += head;
      appendIndex(f.printed, item.shape, e);
      f.printed += tail;
      appendElement(f.printed, f.arena + item.at.v + e * int64_t(sizeOf(item.type)), item.type, item.isSigned, op.hex);
      f.printed += '\n';
      if (f.printed.size() >= kPrintsAtOnce && !handOver(f)) [[unlikely]]
        return raise(in, f, TrapKind::Interrupted, "tt.print", {});
    }
  }
  dropRepeated(f);
  return in + 1;
}

InstructionRef execProbeCondition(InstructionRef in, Frame& f) {
  f.at<int64_t>(in->r[0]) = std::memchr(&f.at<char>(in->r[1]), 1, size_t(in->imm)) != nullptr;
  return in + 1;
}

InstructionRef execProbeCall(InstructionRef in, Frame& f) {
  const ProbeCallOp& op = *static_cast<const ProbeCallOp*>(in->data);
  ProbeRecord record{&op.site, f.program, 0, 0};
  if (op.site.isBreak && f.launch->params->startsAgain && !f.stored && !f.storedBefore && !f.printedAway) {
    f.printed.clear(); // it will be printed once more
    record.startsAgain = 1;
  } else {
    const PrintSelection* selection = f.launch->prints;
    if (!op.site.isBreak && selection && !selection->shows(f.program)) return in + 1;
    for (const ProbeSite::Item& item : op.site.items) record.bytes += item.bytes;
  }
  f.printed += '\0';
  f.printed.append(reinterpret_cast<const char*>(&record), sizeof record);
  if (record.startsAgain) return nullptr;
  for (size_t i = 0; i < op.values.size(); ++i) f.printed.append(&f.at<char>(op.values[i].v), op.site.items[i].bytes);
  if (!handOver(f)) [[unlikely]]
    return raise(in, f, TrapKind::Interrupted, "tt.probe_call", {});
  return in + 1;
}

} // namespace tiletwin::interp
