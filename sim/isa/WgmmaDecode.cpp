// sim/isa/WgmmaDecode.cpp -- wgmma.fence, .commit_group, .wait_group, .mma_async: words and operands.
// Not here:  what they do (Wgmma.cpp).
// Source:    PTX ISA, "wgmma.mma_async".
#include "sim/isa/MatrixFragment.h"
#include "sim/isa/Wgmma.h"
#include <charconv>

namespace tiletwin::sim {
namespace {

/// N of "m64nNkK", and K; false: the word is no such shape.
bool readShape(std::string_view word, int& n, int& k) {
  constexpr std::string_view prefix = "m64n";
  if (!word.starts_with(prefix)) return false;
  const char* const end = word.data() + word.size();
  const auto rows = std::from_chars(word.data() + prefix.size(), end, n);
  if (rows.ec != std::errc() || rows.ptr == end || *rows.ptr != 'k') return false;
  const auto depth = std::from_chars(rows.ptr + 1, end, k);
  return depth.ec == std::errc() && depth.ptr == end;
}

/// Integer products leave out some widths beyond 32 columns.
bool isWidth(int n, bool isInteger) {
  if (n < 8 || n > 256 || n % 8) return false;
  return !isInteger || n <= 32 || n % 16 == 0;
}

struct WgmmaWords {
  std::string_view shape, d, a, b;
};

bool setTypes(Decoder& decoder, const WgmmaWords& words, WgmmaPlan& plan) {
  using Unit = TileProduct::Unit;
  const TileType *a = findTileType(words.a), *b = findTileType(words.b);
  const bool known = a && b && a->unit != Unit::Double && a->bits != 4 && a->unit == b->unit && a->bits == b->bits;
  const bool mayDiffer = known && (a->unit == Unit::WidenedFp8 || a->unit == Unit::Integer);
  if (!known || (!mayDiffer && a->name != b->name))
    return decoder.fail("wgmma has no product of ." + std::string(words.a) + " and ." + std::string(words.b));
  const bool isFloat = a->unit == Unit::Float || a->unit == Unit::WidenedFp8;
  const bool isHalf = words.d == "f16" && (a->name == "f16" || a->bits == 8);
  if (isFloat ? words.d != "f32" && !isHalf : words.d != "s32")
    return decoder.fail("wgmma of ." + std::string(words.a) + " does not give ." + std::string(words.d));
  int n = 0, k = 0;
  const int kOfB = plan.isSparse ? 512 : 256;
  if (!readShape(words.shape, n, k) || !isWidth(n, !isFloat) || k != kOfB / a->bits)
    return decoder.fail("wgmma has no shape ." + std::string(words.shape) + " for ." + std::string(words.a));
  plan.unit = isFloat                 ? WgmmaPlan::Unit::Float
              : a->unit == Unit::Bits ? WgmmaPlan::Unit::Bits
                                      : WgmmaPlan::Unit::Integer;
  plan.aFormat = a->format, plan.bFormat = b->format;
  plan.aInteger = a->integer, plan.bInteger = b->integer;
  plan.accumulator = isFloat && words.d == "f16" ? Accumulator::F16 : Accumulator::F32;
  plan.n = uint16_t(n);
  plan.k = uint8_t(plan.unit == WgmmaPlan::Unit::Bits ? k / 32 : plan.isSparse ? k / 2 : k);
  plan.sparse = {kOfB / 8, a->bits > 8 ? 2 : 1, 0};
  return !plan.isSparse || plan.unit != WgmmaPlan::Unit::Bits ||
         decoder.fail("wgmma.mma_async.sp has no products of .b1");
}

/// One of two values that an immediate operand may have.
bool readFlag(Decoder& decoder, const ptx::Operand& operand, const char* name, int64_t no, int64_t yes, bool& flag) {
  int64_t value = 0;
  if (!decoder.constant(operand, value)) return false;
  if (value != no && value != yes)
    return decoder.fail(operand, std::string(name) + " is " + std::to_string(no) + " or " + std::to_string(yes) +
                                     ", got " + std::to_string(value));
  flag = value == yes;
  return true;
}

bool decodeRegistersOfD(Decoder& decoder, const ptx::Operand& operand, WgmmaPlan& plan) {
  const size_t count = plan.n / (plan.accumulator == Accumulator::F16 ? 4 : 2);
  if (operand.kind != ptx::Operand::Kind::Vector || operand.parts.size() != count)
    return decoder.fail(operand, "D of this product has " + std::to_string(count) + " registers");
  for (const ptx::Operand& part : operand.parts) {
    Slot read, written; // D is a source as well
    if (!decoder.source(part, ptx::Type::B32, read) || !decoder.destination(part, ptx::Type::B32, written))
      return false;
    plan.d.push_back(written);
    if (const int number = decoder.productRegister(part); number >= 0) plan.dNumbers.push_back(uint16_t(number));
  }
  return true;
}

bool decodeA(Decoder& decoder, const ptx::Operand& operand, WgmmaPlan& plan) {
  plan.aInRegisters = operand.kind == ptx::Operand::Kind::Vector;
  if (!plan.aInRegisters) return decoder.source(operand, ptx::Type::B64, plan.a[0]);
  FragmentSlots slots;
  if (!decodeFragment(decoder, operand, ptx::Type::B32, 4, slots)) return false;
  for (size_t i = 0; i < 4; ++i) plan.a[i] = slots[i];
  for (const ptx::Operand& part : operand.parts)
    if (const int number = decoder.productRegister(part); number >= 0) plan.aNumbers.push_back(uint16_t(number));
  return true;
}

/// The metadata and the selector of a sparse A.
bool decodeMetadata(Decoder& decoder, const ptx::Instruction& in, WgmmaPlan& plan) {
  int64_t selector = 0;
  if (!decoder.source(in.operands[3], ptx::Type::B32, plan.metadata) || !decoder.constant(in.operands[4], selector))
    return false;
  const int most = plan.sparse.pieceBytes == 1 ? 0 : 1;
  if (selector < 0 || selector > most)
    return decoder.fail(in.operands[4], "the selector is to be at most " + std::to_string(most));
  plan.sparse.selector = int(selector);
  return true;
}

/// scale-d, and for floats signs and major orders, from operand `next` on.
bool decodeScales(Decoder& decoder, const ptx::Instruction& in, size_t next, WgmmaPlan& plan) {
  if (!decoder.predicate(in.operands[next], plan.scaleD)) return false;
  if (plan.unit != WgmmaPlan::Unit::Float) return true;
  if (!readFlag(decoder, in.operands[next + 1], "imm-scale-a", 1, -1, plan.negateA) ||
      !readFlag(decoder, in.operands[next + 2], "imm-scale-b", 1, -1, plan.negateB))
    return false;
  if (bitsOf(plan.aFormat) != 16) return true;
  if (!plan.aInRegisters && !readFlag(decoder, in.operands[next + 3], "imm-trans-a", 0, 1, plan.aAcross)) return false;
  return readFlag(decoder, in.operands[next + (plan.aInRegisters ? 3 : 4)], "imm-trans-b", 0, 1, plan.bAcross);
}

size_t operandCount(const WgmmaPlan& plan, bool aInRegisters) {
  const size_t count = plan.isSparse ? 6 : 4;
  if (plan.unit != WgmmaPlan::Unit::Float) return count;
  if (bitsOf(plan.aFormat) != 16) return count + 2;
  return count + (aInRegisters ? 3 : 4);
}

bool decodeProduct(Decoder& decoder, const ptx::Instruction& in, Words& words, bool isSparse, Inst& out) {
  auto* plan = decoder.make<WgmmaPlan>();
  plan->isSparse = isSparse;
  plan->saturate = words.take("satfinite");
  const bool isAnd = words.take("and"), isPopc = words.take("popc");
  WgmmaWords text;
  for (std::string_view* word : {&text.shape, &text.d, &text.a, &text.b})
    if ((*word = words.takeNext()).empty()) return decoder.fail("wgmma.mma_async wants a shape and three types");
  if (!setTypes(decoder, text, *plan)) return false;
  if (plan->saturate && plan->unit != WgmmaPlan::Unit::Integer)
    return decoder.fail(".satfinite is for integer products");
  if (isAnd != isPopc || isAnd != (plan->unit == WgmmaPlan::Unit::Bits))
    return decoder.fail("wgmma of .b1 wants .and.popc, and no other one takes it");
  const bool aInRegisters = in.operands.size() > 1 && in.operands[1].kind == ptx::Operand::Kind::Vector;
  if (!decoder.operands(in, operandCount(*plan, aInRegisters))) return false;
  out.run = runWgmmaProduct;
  out.kind = InstClass::Tensor;
  out.data = plan;
  return decodeRegistersOfD(decoder, in.operands[0], *plan) && decodeA(decoder, in.operands[1], *plan) &&
         decoder.source(in.operands[2], ptx::Type::B64, plan->b) && (!isSparse || decodeMetadata(decoder, in, *plan)) &&
         decodeScales(decoder, in, isSparse ? 5 : 3, *plan);
}

bool decodeWgmma(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string_view what = words.takeNext();
  const bool isSparse = what == "mma_async" && !words.takeOneOf({"sp", "sp::ordered_metadata"}).empty();
  if (!words.take("sync") || !words.take("aligned")) return decoder.refuse("wants .sync.aligned");
  if (what == "mma_async") return decodeProduct(decoder, in, words, isSparse, out);
  out.kind = InstClass::Async;
  if (what == "wait_group") {
    out.run = runWgmmaWait;
    return decoder.operands(in, 1) && decoder.constant(in.operands[0], out.immediate) &&
           (out.immediate >= 0 || decoder.fail(in.operands[0], "the number of groups is not negative"));
  }
  if (what != "fence" && what != "commit_group") return decoder.refuse("no such wgmma");
  out.run = what == "fence" ? runWgmmaFence : runWgmmaCommit;
  return decoder.operands(in, 0);
}

constexpr OpcodeRow kRows[] = {{"wgmma", decodeWgmma}};

} // namespace

constinit OpcodeTable kWgmmaOpcodes = kRows;

} // namespace tiletwin::sim
