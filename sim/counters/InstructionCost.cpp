#include "sim/counters/InstructionCost.h"
#include "sim/counters/MemoryCost.h"
#include <algorithm>
#include <charconv>

namespace tiletwin::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool hasWord(const Instruction& in, std::string_view word) {
  return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
}

bool isAnyOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void collect(const Operand& operand, std::vector<uint32_t>& registers) {
  if (operand.kind == Operand::Kind::Register && operand.index >= 0) registers.push_back(uint32_t(operand.index));
  for (const Operand& part : operand.parts) collect(part, registers);
}

/// Is the first operand a destination?
bool writesFirst(const Instruction& in) {
  if (isAnyOf(in.opcode, {"bar", "barrier", "nanosleep", "call", "brx", "bra", "st", "red", "ret", "exit"}))
    return false;
  return !in.operands.empty() && in.operands[0].kind != Operand::Kind::Address;
}

void operandsOf(const Instruction& in, InstructionCost& cost) {
  for (size_t i = 0; i < in.operands.size(); ++i)
    collect(in.operands[i], i == 0 && writesFirst(in) ? cost.writes : cost.reads);
  if (in.guard >= 0) {
    cost.reads.push_back(uint32_t(in.guard));
    cost.reads.insert(cost.reads.end(), cost.writes.begin(), cost.writes.end()); // lanes without the guard keep theirs
  }
}

/// Threads that wait for each other at a barrier of the CTA: bar.sync and bar.red name it, and how many if not all.
uint32_t meeting(const Instruction& in) {
  if (!isAnyOf(in.opcode, {"bar", "barrier"}) || hasWord(in, "arrive") || hasWord(in, "warp") || hasWord(in, "cluster"))
    return 0;
  const size_t at = hasWord(in, "red") ? 2 : 1;
  const bool isCounted = in.operands.size() > at && in.operands[at].kind == Operand::Kind::Integer;
  return isCounted ? uint32_t(in.operands[at].integer) : ~uint32_t(0);
}

/// m, n and k of "m64n128k16"; zeros if the instruction has no such word.
std::array<double, 3> shapeOf(const Instruction& in) {
  for (const std::string_view word : in.modifiers) {
    std::array<double, 3> shape{};
    const char* at = word.data();
    const char* end = at + word.size();
    size_t found = 0;
    for (const char letter : {'m', 'n', 'k'}) {
      unsigned value = 0;
      if (at == end || *at != letter) break;
      const auto [next, error] = std::from_chars(at + 1, end, value);
      if (error != std::errc()) break;
      shape[found++] = value;
      at = next;
    }
    if (found == 3) return shape;
  }
  return {};
}

/// Products of the operands' type that a tensor core does in a cycle, as wgmma; mma.sync has about 0.63 of that on Hopper.
double productsPerCycle(const Instruction& in) {
  if (hasWord(in, "tf32")) return 256;
  if (hasWord(in, "f64")) return 32;
  if (hasWord(in, "e4m3") || hasWord(in, "e5m2") || hasWord(in, "s8") || hasWord(in, "u8")) return 1024;
  return 512;
}
constexpr double kShareOfMma = 0.63;

void product(const Instruction& in, InstructionCost& cost) {
  cost.unit = Unit::Tensor;
  const auto [m, n, k] = shapeOf(in);
  const double cycles = m * n * k / productsPerCycle(in);
  if (in.opcode == "wgmma") { // a quarter of it for each of four warps
    cost.busy = float(cycles / 4);
    cost.latency = float(cycles / 4) + 30;
    cost.isAsync = true;
  } else {
    cost.busy = float(cycles / kShareOfMma);
    cost.latency = cost.busy + 25;
  }
}

struct Row {
  Unit unit;
  float issues, busy, latency;
};

/// Of arithmetic by the type that it works on.
Row arithmetic(const Instruction& in) {
  if (hasWord(in, "f64")) return {Unit::Double, 1, 2, 8};
  const bool isFloat =
      hasWord(in, "f32") || hasWord(in, "f16") || hasWord(in, "f16x2") || hasWord(in, "bf16") || hasWord(in, "bf16x2");
  if (in.opcode == "div" && isFloat)
    return hasWord(in, "rn") ? Row{Unit::Special, 10, 8, 60} : Row{Unit::Special, 4, 8, 40};
  if (hasWord(in, "f32x2")) return {Unit::Arithmetic, 2, 2, 5};
  if (isFloat && isAnyOf(in.opcode, {"min", "max", "setp", "set", "abs", "neg"})) return {Unit::Integer, 1, 2, 5};
  if (isFloat) return {Unit::Arithmetic, 1, 1, 4};
  const bool isWide = hasWord(in, "s64") || hasWord(in, "u64") || hasWord(in, "b64");
  if (isAnyOf(in.opcode, {"div", "rem"}))
    return isWide ? Row{Unit::Integer, 80, 160, 300} : Row{Unit::Integer, 16, 24, 70};
  if (isAnyOf(in.opcode, {"mul", "mad"})) { // IMAD runs beside FFMA, at half its rate
    if (isWide && !hasWord(in, "wide")) return {Unit::Arithmetic, 3, 6, 12};
    return {Unit::Arithmetic, 1, 2, 5};
  }
  return isWide ? Row{Unit::Integer, 2, 4, 8} : Row{Unit::Integer, 1, 2, 5};
}

Row rowOf(const Instruction& in) {
  const std::string_view opcode = in.opcode;
  const bool isDouble = hasWord(in, "f64");
  if (isAnyOf(opcode, {"ex2", "lg2", "rsqrt", "rcp", "sqrt", "sin", "cos", "tanh"})) {
    if (isDouble) return {Unit::Double, 20, 40, 160};
    if (hasWord(in, "rn") && isAnyOf(opcode, {"rcp", "sqrt"})) return {Unit::Special, 8, 8, 50};
    const bool keepsDenormals = isAnyOf(opcode, {"ex2", "lg2", "rsqrt", "rcp", "sqrt"}) && !hasWord(in, "ftz");
    return {Unit::Special, keepsDenormals ? 4.0F : 1.0F, 8, keepsDenormals ? 32.0F : 22.0F};
  }
  if (opcode == "cvt") {
    const bool isWide = isDouble || hasWord(in, "s64") || hasWord(in, "u64");
    const bool ofFloat = hasWord(in, "f32") || hasWord(in, "f16") || hasWord(in, "bf16") || hasWord(in, "f16x2") ||
                         hasWord(in, "bf16x2") || isDouble;
    if (!ofFloat) return {Unit::Integer, 1, 2, 5};
    return isWide ? Row{Unit::Special, 1, 8, 20} : Row{Unit::Integer, 1, 2, 8};
  }
  if (isAnyOf(opcode, {"mov", "cvta"})) return {Unit::Issue, hasWord(in, "pred") ? 1.0F : 0.3F, 0, 1};
  if (isAnyOf(opcode, {"shfl", "match", "redux", "movmatrix"})) return {Unit::Memory, 1, 1, 24};
  if (isAnyOf(opcode, {"vote", "elect", "activemask"})) return {Unit::Integer, 1, 2, 12};
  if (isAnyOf(opcode, {"ld", "ldu"}) && (hasWord(in, "param") || hasWord(in, "const")))
    return {Unit::Issue, 0.3F, 0, 4};
  if (isAnyOf(opcode, {"ld", "ldu", "ldmatrix", "atom"})) return {Unit::Memory, 1, 0, 24};
  if (isAnyOf(opcode, {"st", "stmatrix", "red", "cp", "prefetch", "tensormap"})) return {Unit::Memory, 1, 0, 4};
  if (isAnyOf(opcode, {"bar", "barrier", "mbarrier", "membar", "fence", "wgmma"})) return {Unit::Issue, 2, 0, 10};
  return arithmetic(in);
}

} // namespace

std::vector<InstructionCost> costsOf(const ptx::Function& function) {
  std::vector<InstructionCost> costs(function.body.size());
  for (size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& in = function.body[i];
    InstructionCost& cost = costs[i];
    operandsOf(in, cost);
    cost.meets = meeting(in);
    if (isAnyOf(in.opcode, {"bra", "brx", "call", "ret", "exit", "bar", "barrier", "trap"})) cost.ends = true;
    // Products read registers only behind wgmma.fence, which stays behind what writes them: ptxas moves neither.
    const bool isFence = in.opcode == "wgmma" && hasWord(in, "fence");
    cost.ends |= isFence;
    if (in.opcode == "mma" || (in.opcode == "wgmma" && hasWord(in, "mma_async")) ||
        (in.opcode == "wmma" && hasWord(in, "mma"))) {
      product(in, cost);
      continue;
    }
    const Row row = cost.ends && !isFence ? Row{Unit::Issue, 1, 0, 4} : rowOf(in);
    cost.unit = row.unit, cost.issues = row.issues, cost.busy = row.busy, cost.latency = row.latency;
  }
  return costs;
}

} // namespace tiletwin::sim
