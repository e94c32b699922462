#include "sim/isa/Contract.h"
#include "sim/machine/FlowGraph.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace tiletwin::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr std::string_view kFloatTypes[] = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};

bool has(const Instruction& in, std::string_view word) {
  return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
}

/// The float type of an instruction that has no modifiers but .ftz and, where `maySaturate`, .sat; empty: it has others.
std::string_view bareType(const Instruction& in, bool maySaturate) {
  std::string_view type;
  for (const std::string_view word : in.modifiers) {
    if (word == "ftz" || (maySaturate && word == "sat")) continue;
    if (!type.empty() || std::find(std::begin(kFloatTypes), std::end(kFloatTypes), word) == std::end(kFloatTypes))
      return {};
    type = word;
  }
  return type;
}

/// div.approx or div.full: the last step is a product with a reciprocal.
bool isQuotient(const Instruction& in) { return in.opcode == "div" && (has(in, "full") || has(in, "approx")); }
/// The type of a product or an approximate quotient, as bareType() has it.
std::string_view productType(const Instruction& in) {
  if (in.opcode != "div") return bareType(in, false);
  return isQuotient(in) && has(in, "f32") ? "f32" : std::string_view();
}

bool isRegister(const Operand& o) { return o.kind == Operand::Kind::Register && o.component < 0 && !o.negated; }
bool isProduct(const Instruction& in) {
  return (in.opcode == "mul" || in.opcode == "div") && in.guard < 0 && in.operands.size() == 3 &&
         isRegister(in.operands[0]) && !productType(in).empty();
}
bool isSum(const Instruction& in) {
  return (in.opcode == "add" || in.opcode == "sub") && in.operands.size() == 3 && !bareType(in, true).empty();
}
/// mov, or neg of a float, from register to register.
bool isCopy(const Instruction& in) {
  return (in.opcode == "mov" || (in.opcode == "neg" && !bareType(in, false).empty())) && in.guard < 0 &&
         in.operands.size() == 2 && isRegister(in.operands[0]) && isRegister(in.operands[1]);
}

class Contraction {
public:
  explicit Contraction(ptx::Function& function)
      : function_(function), graph_(function), mentions_(function.registers.size()) {
    for (size_t i = 0; i < function.body.size(); ++i) {
      for (const Operand& o : function.body[i].operands) mention(o, int32_t(i));
      if (function.body[i].guard >= 0) mentions_[size_t(function.body[i].guard)].push_back(int32_t(i));
    }
  }

  void invertDivisors() {
    for (Instruction& in : function_.body) invertDivisor(in);
  }

  void run() {
    std::vector<int32_t> products;
    for (size_t i = 0; i < function_.body.size(); ++i)
      if (isProduct(function_.body[i]) && onlySummed(int32_t(i), int32_t(i), 0)) products.push_back(int32_t(i));
    // A product that gives its place to another one in some sum is needed as a number, and stays one in all of its sums.
    for (size_t i = 0; i < function_.body.size(); ++i)
      if (isSum(function_.body[i])) keepSecond(int32_t(i), products);
    for (size_t i = 0; i < function_.body.size(); ++i)
      if (isSum(function_.body[i])) fuse(int32_t(i), products);
    std::vector<bool> dead(function_.body.size());
    for (const int32_t product : products) retire(product, dead);
    if (!products.empty()) erase(dead);
  }

private:
  struct Source {
    int32_t product = -1;
    bool negated = false;
  };

  void mention(const Operand& o, int32_t at) {
    if (o.kind == Operand::Kind::Register && o.index >= 0) mentions_[size_t(o.index)].push_back(at);
    for (const Operand& part : o.parts) mention(part, at);
  }

  /// All mentions of the register that instruction `at` writes, but for its own, are sums of `product` or copies on the way.
  bool onlySummed(int32_t at, int32_t product, int depth) {
    const Instruction& in = function_.body[size_t(at)];
    const int32_t reg = in.operands[0].index;
    const Instruction& mul = function_.body[size_t(product)];
    int own = 0;
    bool isUsed = false;
    for (const int32_t user : mentions_[size_t(reg)]) {
      if (user == at) {
        if (++own > 1) return false;
        continue;
      }
      const Instruction& use = function_.body[size_t(user)];
      if (user < at || graph_.blockOf(user) != graph_.blockOf(at) || (!use.operands.empty() && writes(use, reg)))
        return false;
      isUsed = true;
      if (isCopy(use) && depth < 8) {
        if (use.opcode == "neg" && (bareType(use, false) != productType(mul) || has(use, "ftz") != has(mul, "ftz")))
          return false;
        if (!onlySummed(user, product, depth + 1)) return false;
      } else if (!isSum(use) || !matches(mul, use) || !factorsStay(product, user) ||
                 std::count_if(use.operands.begin() + 1, use.operands.end(),
                               [&](const Operand& o) { return names(o, reg); }) != 1) {
        return false;
      }
    }
    return isUsed;
  }

  static bool names(const Operand& o, int32_t reg) { return isRegister(o) && o.index == reg; }
  static bool matches(const Instruction& mul, const Instruction& sum) {
    return productType(mul) == bareType(sum, true) && has(mul, "ftz") == has(sum, "ftz");
  }
  /// What an instruction may write is a register, or several, in front of its sources.
  static bool writes(const Instruction& in, int32_t reg) {
    const auto any = [&](const auto& self, const Operand& o) -> bool {
      if (o.kind == Operand::Kind::Register) return o.index == reg;
      if (o.kind == Operand::Kind::Address) return false;
      return std::any_of(o.parts.begin(), o.parts.end(), [&](const Operand& part) { return self(self, part); });
    };
    return !in.operands.empty() && any(any, in.operands[0]);
  }
  bool factorsStay(int32_t product, int32_t sum) const {
    const Instruction& mul = function_.body[size_t(product)];
    for (int32_t i = product + 1; i < sum; ++i)
      for (size_t f = 1; f < 3; ++f)
        if (isRegister(mul.operands[f]) && writes(function_.body[size_t(i)], mul.operands[f].index)) return false;
    return true;
  }

  /// The product that an operand of a sum is, looking through copies.
  Source sourceOf(const Operand& operand, int32_t sum, const std::vector<int32_t>& products) const {
    Source source;
    if (!isRegister(operand)) return source;
    int32_t reg = operand.index;
    for (int depth = 0; depth < 10; ++depth) {
      const auto& places = mentions_[size_t(reg)];
      const auto writer = std::find_if(places.begin(), places.end(),
                                       [&](int32_t i) { return i < sum && writes(function_.body[size_t(i)], reg); });
      if (writer == places.end()) return source;
      const Instruction& in = function_.body[size_t(*writer)];
      if (isProduct(in)) {
        if (std::find(products.begin(), products.end(), *writer) != products.end()) source.product = *writer;
        return source;
      }
      if (!isCopy(in)) return source;
      source.negated ^= in.opcode == "neg";
      reg = in.operands[1].index;
    }
    return source;
  }

  /// The f32 that an operand is, as it stands or by the one instruction that writes its register: a float, or its bits as
  /// an integer.
  std::optional<float> numberOf(const Operand& operand) const {
    const Operand* number = &operand;
    if (isRegister(operand)) {
      number = nullptr;
      for (const int32_t i : mentions_[size_t(operand.index)]) {
        const Instruction& in = function_.body[size_t(i)];
        if (!writes(in, operand.index)) continue;
        if (number || in.opcode != "mov" || in.guard >= 0 || in.operands.size() != 2) return std::nullopt;
        number = &in.operands[1];
      }
    }
    if (!number) return std::nullopt;
    const bool isBits = number->kind == Operand::Kind::Integer || number->floatBits == 32;
    if (isBits && !number->negated) return std::bit_cast<float>(uint32_t(number->integer));
    if (number->kind == Operand::Kind::Float) return float(number->number);
    return std::nullopt;
  }

  /// A quotient by a number whose reciprocal is normal is a product with that, to nearest, and fused like one.
  void invertDivisor(Instruction& in) const {
    if (!isQuotient(in) || productType(in).empty() || in.operands.size() != 3) return;
    const std::optional<float> divisor = numberOf(in.operands[2]);
    if (!divisor) return;
    const float inverse = 1 / *divisor;
    if (!std::isnormal(*divisor) || !std::isnormal(inverse)) return;
    Operand factor;
    factor.kind = Operand::Kind::Float;
    factor.number = double(inverse);
    factor.integer = std::bit_cast<uint32_t>(inverse);
    factor.floatBits = 32;
    in.opcode = "mul";
    std::erase_if(in.modifiers, [](std::string_view word) { return word == "full" || word == "approx"; });
    in.operands[2] = factor;
  }

  void keepSecond(int32_t at, std::vector<int32_t>& products) const {
    const Instruction& sum = function_.body[size_t(at)];
    if (sourceOf(sum.operands[1], at, products).product < 0) return;
    const int32_t second = sourceOf(sum.operands[2], at, products).product;
    if (second >= 0) products.erase(std::find(products.begin(), products.end(), second));
  }

  void fuse(int32_t at, const std::vector<int32_t>& products) {
    Instruction& sum = function_.body[size_t(at)];
    Source source = sourceOf(sum.operands[1], at, products);
    const bool isFirst = source.product >= 0;
    if (!isFirst) source = sourceOf(sum.operands[2], at, products);
    if (source.product < 0) return;
    const Instruction& mul = function_.body[size_t(source.product)];
    const Operand addend = sum.operands[isFirst ? 2 : 1];
    if (sum.opcode == "sub") {
      if (isFirst)
        sum.modifiers.push_back(kNegatedAddend);
      else
        source.negated = !source.negated;
    }
    if (source.negated) sum.modifiers.push_back(kNegatedProduct);
    if (isQuotient(mul))
      sum.modifiers.insert(sum.modifiers.begin(), {has(mul, "full") ? "full" : "approx", kQuotientSum});
    else
      sum.modifiers.insert(sum.modifiers.begin(), "rn");
    sum.opcode = isQuotient(mul) ? "div" : "fma";
    sum.operands = {sum.operands[0], mul.operands[1], mul.operands[2], addend};
  }

  /// Takes a product out, and the copies of it on the way to its sums.
  void retire(int32_t at, std::vector<bool>& dead) const {
    dead[size_t(at)] = true;
    for (const int32_t user : mentions_[size_t(function_.body[size_t(at)].operands[0].index)])
      if (user > at && isCopy(function_.body[size_t(user)])) retire(user, dead);
  }

  void erase(const std::vector<bool>& dead) {
    std::vector<int32_t> place(function_.body.size() + 1);
    size_t kept = 0;
    for (size_t i = 0; i < function_.body.size(); ++i) {
      place[i] = int32_t(kept);
      if (dead[i]) continue;
      if (kept != i) function_.body[kept] = std::move(function_.body[i]);
      ++kept;
    }
    place.back() = int32_t(kept);
    function_.body.resize(kept);
    for (ptx::Label& label : function_.labels) label.instruction = place[size_t(label.instruction)];
  }

  ptx::Function& function_;
  FlowGraph graph_;
  std::vector<std::vector<int32_t>> mentions_; ///< instructions that name a register, in order, once for each time
};

} // namespace

void invertDivisors(ptx::Function& function) {
  if (std::any_of(function.body.begin(), function.body.end(), isQuotient)) Contraction(function).invertDivisors();
}

void contractProducts(ptx::Function& function) {
  if (function.hasBody) Contraction(function).run();
}

} // namespace tiletwin::sim
