// interp/asm/Run.cpp -- runs a read text: elements into registers, steps, registers back into elements.
// Not here:  reading (Read*.cpp), what steps compute (Lanes*.cpp, interp/tile).
// Invariant: the float rounding mode is to nearest when runAsm() returns.
#include "interp/asm/Asm.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <xmmintrin.h>

namespace tiletwin::interp {
namespace {

uint64_t specialValue(AsmSpecial special, const AsmEnvironment& e) {
  using namespace std::chrono;
  // The emulated GPU's 132 multiprocessors take programs in turn; its clocks tick in nanoseconds.
  constexpr int64_t kProcessors = 132;
  const auto now = [] { return uint64_t(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count()); };
  switch (special) {
  case AsmSpecial::Smid:
    return uint64_t((e.program[0] + int64_t(e.grid[0]) * (e.program[1] + int64_t(e.grid[1]) * e.program[2])) %
                    kProcessors);
  case AsmSpecial::Nsmid: return kProcessors;
  case AsmSpecial::Clock: return uint32_t(now());
  case AsmSpecial::Clock64:
  case AsmSpecial::GlobalTimer: return now();
  case AsmSpecial::GlobalTimerLow: return uint32_t(now());
  case AsmSpecial::GlobalTimerHigh: return now() >> 32;
  case AsmSpecial::WarpSize: return 32;
  case AsmSpecial::CtaidX:
  case AsmSpecial::CtaidY:
  case AsmSpecial::CtaidZ: return uint64_t(uint32_t(e.program[size_t(special) - size_t(AsmSpecial::CtaidX)]));
  case AsmSpecial::NctaidX:
  case AsmSpecial::NctaidY:
  case AsmSpecial::NctaidZ: return uint64_t(uint32_t(e.grid[size_t(special) - size_t(AsmSpecial::NctaidX)]));
  }
  return 0;
}

void fill(std::byte* to, int32_t bytes, uint64_t bits) {
  switch (bytes) {
  case 1: std::memset(to, int(bits & 0xFF), kAsmLanes); break;
  case 2: std::fill_n(reinterpret_cast<uint16_t*>(to), kAsmLanes, uint16_t(bits)); break;
  case 4: std::fill_n(reinterpret_cast<uint32_t*>(to), kAsmLanes, uint32_t(bits)); break;
  default: std::fill_n(reinterpret_cast<uint64_t*>(to), kAsmLanes, bits); break;
  }
}

/// `lanes` lanes, from the elements at the pointers.
void runStrip(const AsmProgram& p, const TwTileOps& tiles, int64_t lanes, const std::byte* const* inputs,
              std::byte* const* outputs, std::byte* scratch) {
  for (const AsmProgram::Fill& f : p.clears) std::memset(scratch + f.offset, 0, size_t(lanes * f.bytes));
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const AsmProgram::Port& port = p.inputs[i];
    const int64_t bytes = int64_t(port.perRegister) * port.elementBytes;
    for (size_t r = 0; r < port.registers.size(); ++r) {
      std::byte* to = scratch + port.registers[r];
      if (bytes < port.registerBytes) std::memset(to, 0, size_t(lanes * port.registerBytes));
      tiles.stridedCopy(bytes)(lanes, to, port.registerBytes, inputs[i] + int64_t(r) * bytes,
                               p.pack * port.elementBytes);
    }
  }
  for (const AsmStep& step : p.steps) {
    const void* src[4] = {scratch + step.src[0], scratch + step.src[1], scratch + step.src[2], scratch + step.src[3]};
    if (step.rounding) {
      const unsigned saved = _mm_getcsr();
      _mm_setcsr((saved & ~0x6000u) | unsigned(step.rounding) << 13);
      step.fn(lanes * step.perLane, scratch + step.dst, src, 0);
      _mm_setcsr(saved);
    } else {
      step.fn(lanes * step.perLane, scratch + step.dst, src, 0);
    }
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const AsmProgram::Port& port = p.outputs[i];
    const int64_t bytes = int64_t(port.perRegister) * port.elementBytes;
    for (size_t r = 0; r < port.registers.size(); ++r)
      tiles.stridedCopy(bytes)(lanes, outputs[i] + int64_t(r) * bytes, p.pack * port.elementBytes,
                               scratch + port.registers[r], port.registerBytes);
  }
}

} // namespace

void runAsm(const AsmProgram& p, const TwTileOps& tiles, int64_t elements, const void* const* inputs,
            void* const* outputs, std::byte* scratch, const AsmEnvironment& environment) {
  for (const AsmProgram::Fill& f : p.fills)
    fill(scratch + f.offset, f.bytes, f.special < 0 ? f.bits : specialValue(AsmSpecial(f.special), environment));
  const size_t ins = p.inputs.size(), outs = p.outputs.size();
  auto** in = static_cast<const std::byte**>(__builtin_alloca((ins + 1) * sizeof(void*)));
  auto** out = static_cast<std::byte**>(__builtin_alloca((outs + 1) * sizeof(void*)));
  const int64_t groups = elements / p.pack, rest = elements % p.pack;
  for (int64_t g = 0; g < groups; g += kAsmLanes) {
    for (size_t i = 0; i < ins; ++i)
      in[i] = static_cast<const std::byte*>(inputs[i]) + g * p.pack * p.inputs[i].elementBytes;
    for (size_t i = 0; i < outs; ++i)
      out[i] = static_cast<std::byte*>(outputs[i]) + g * p.pack * p.outputs[i].elementBytes;
    runStrip(p, tiles, std::min(kAsmLanes, groups - g), in, out, scratch);
  }
  if (!rest) return;
  for (size_t i = 0; i < ins; ++i) {
    const AsmProgram::Port& port = p.inputs[i];
    std::memset(scratch + port.tail, 0, size_t(p.pack * port.elementBytes));
    std::memcpy(scratch + port.tail, static_cast<const std::byte*>(inputs[i]) + groups * p.pack * port.elementBytes,
                size_t(rest * port.elementBytes));
    in[i] = scratch + port.tail;
  }
  for (size_t i = 0; i < outs; ++i) out[i] = scratch + p.outputs[i].tail;
  runStrip(p, tiles, 1, in, out, scratch);
  for (size_t i = 0; i < outs; ++i)
    std::memcpy(static_cast<std::byte*>(outputs[i]) + groups * p.pack * p.outputs[i].elementBytes, out[i],
                size_t(rest * p.outputs[i].elementBytes));
}

} // namespace tiletwin::interp
