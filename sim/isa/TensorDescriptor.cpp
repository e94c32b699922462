// sim/isa/TensorDescriptor.cpp -- the bits that describe a product of tcgen05.mma and a matrix of it in shared memory.
// Source:    PTX ISA, "tcgen05 instruction descriptor", "tcgen05 shared memory descriptor", "tcgen05 kind shapes".
#include "sim/isa/TensorWork.h"

namespace tiletwin::sim {
namespace {

uint32_t bitsAt(uint64_t bits, int first, int count) { return uint32_t(bits >> first & ((uint64_t(1) << count) - 1)); }

bool readFloat(TensorKind kind, uint32_t code, TensorFloat& format) {
  switch (kind) {
  case TensorKind::F16: format = code == 0 ? TensorFloat::F16 : TensorFloat::BF16; return code <= 1;
  case TensorKind::TF32: format = TensorFloat::TF32; return code == 2;
  case TensorKind::F8F6F4: format = code == 0 ? TensorFloat::E4M3 : TensorFloat::E5M2; return code <= 1;
  case TensorKind::I8: return code <= 1;
  }
  return false;
}

std::string shapeProblem(int m, int n, int ctas) {
  const bool isHeight = ctas == 1 ? m == 64 || m == 128 : m == 128 || m == 256;
  if (!isHeight)
    return "its instruction descriptor says M = " + std::to_string(m) + "; .cta_group::" + std::to_string(ctas) +
           (ctas == 1 ? " has 64 and 128" : " has 128 and 256");
  const int step = m == 64 ? 8 : 16;
  if (n >= step && n <= 256 && n % step == 0) return {};
  return "its instruction descriptor says N = " + std::to_string(n) + "; for M = " + std::to_string(m) +
         " it is to be a multiple of " + std::to_string(step) + " up to 256";
}

} // namespace

std::string readInstructionDescriptor(uint32_t bits, TensorKind kind, int ctas, InstructionDescriptor& out) {
  const auto field = [&](int first, int count) { return bitsAt(bits, first, count); };
  out.n = int(field(17, 6)) * 8;
  out.m = int(field(24, 5)) * 16;
  if (field(2, 1)) return "its instruction descriptor says that A is sparse, which the instruction is not";
  const uint32_t d = field(4, 2), a = field(7, 3), b = field(10, 3);
  const bool isInteger = kind == TensorKind::I8;
  out.isHalf = d == 0;
  if (d != (isInteger ? 2u : 1u) && !(d == 0 && (kind == TensorKind::F16 || kind == TensorKind::F8F6F4)))
    return "its instruction descriptor names type " + std::to_string(d) + " for D, which the kind does not have";
  if (!readFloat(kind, a, out.aFormat) || !readFloat(kind, b, out.bFormat))
    return "its instruction descriptor names types " + std::to_string(a) + " and " + std::to_string(b) +
           " for A and B" +
           (kind == TensorKind::F8F6F4 ? ": of .kind::f8f6f4 only e4m3 and e5m2 are implemented"
                                       : ", which the kind does not have");
  if (out.isHalf && kind == TensorKind::F16 && (a != 0 || b != 0))
    return "its instruction descriptor names bf16 operands and a D of f16";
  out.aInteger = {8, a == 1}, out.bInteger = {8, b == 1};
  out.saturates = field(3, 1);
  out.negatesA = field(13, 1), out.negatesB = field(14, 1);
  if (isInteger ? out.negatesA || out.negatesB : out.saturates)
    return std::string("its instruction descriptor ") + (isInteger ? "negates integers" : "saturates floats") +
           ", which the kind does not have";
  out.aAcross = field(15, 1), out.bAcross = field(16, 1);
  return shapeProblem(out.m, out.n, ctas);
}

std::string readScaledDescriptor(uint32_t bits, int ctas, InstructionDescriptor& out) {
  constexpr uint32_t kE8M0 = 1;
  if (bitsAt(bits, 23, 1) != kE8M0) return "its instruction descriptor names scales of another type than e8m0";
  // Where other kinds have the type of D, which is f32 here, these have bytes of scales.
  const uint32_t plain = (bits & ~(3u << 4 | 3u << 29 | 1u << 23)) | 1u << 4;
  out.scaleByteOfA = int(bitsAt(bits, 29, 2)), out.scaleByteOfB = int(bitsAt(bits, 4, 2));
  if (const std::string problem = readInstructionDescriptor(plain, TensorKind::F8F6F4, ctas, out); !problem.empty())
    return problem;
  return out.m / ctas == 128 ? std::string() : "block scales for M = " + std::to_string(out.m) + " are not implemented";
}

std::string readMatrixDescriptor(uint64_t bits, MatrixDescriptor& out) {
  constexpr uint32_t kVersion = 1;
  if (bitsAt(bits, 46, 3) != kVersion)
    return "its descriptor of a matrix has " + std::to_string(bitsAt(bits, 46, 3)) +
           " in bits 46 to 48, where sm_100 wants 1: is it one of wgmma?";
  if (bitsAt(bits, 52, 1))
    return "its descriptor of a matrix has an absolute leading dimension, which is not implemented";
  out = {bitsAt(bits, 0, 14) << 4, bitsAt(bits, 16, 14) << 4, bitsAt(bits, 32, 14) << 4, uint8_t(bitsAt(bits, 49, 3)),
         0};
  switch (const uint32_t swizzle = bitsAt(bits, 61, 3)) {
  case 0: return {};
  case 2: out.swizzleBytes = 128; return {};
  case 4: out.swizzleBytes = 64; return {};
  case 6: out.swizzleBytes = 32; return {};
  case 1: return "its descriptor of a matrix has the swizzle of 128 bytes with atoms of 32, which is not implemented";
  default: return "its descriptor of a matrix has swizzle " + std::to_string(swizzle) + ", which there is not";
  }
}

} // namespace tiletwin::sim
