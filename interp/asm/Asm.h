// interp/asm/Asm.h -- inline PTX: text, read once per plan, that runs over the elements of tiles.
//
// Idea:      a register is an array with one value for each of up to 64 groups of elements ("lanes"); an instruction
//            becomes one or more steps, each a strip function over these arrays: those of the tile module where it has
//            the operation, those of Lanes*.cpp elsewhere. A register of two f16 is 128 f16 in a row to the f16 strip
//            functions.
// Here:      what a text needs and what it becomes.
// Not here:  MLIR (plan/AsmOps.cpp), the simulator, memory: no instruction that runs here touches it.
// Invariant: steps of a read program only index its own scratch memory.
#pragma once
#include "interp/tile/TileOps.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::interp {

inline constexpr int64_t kAsmLanes = 64;
inline constexpr uint32_t kAsmSlotBytes = kAsmLanes * 8; ///< of one register

/// Values that a text reads from special registers, taken once per execution.
enum class AsmSpecial : uint8_t {
  Smid,
  Nsmid,
  Clock,
  Clock64,
  GlobalTimer,
  GlobalTimerLow,
  GlobalTimerHigh,
  WarpSize,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
};

/// One strip function over registers. Offsets are into the scratch memory.
struct AsmStep {
  TwStripFn fn = nullptr;
  uint32_t dst = 0, src[4] = {};
  uint8_t perLane = 1;  ///< elements that fn sees in a lane
  uint8_t rounding = 0; ///< of float results: 0 nearest, 1 down, 2 up, 3 toward zero
};

struct AsmProgram {
  /// One operand or result: each lane has `pack` elements, spread over registers.
  struct Port {
    int32_t elementBytes = 0, perRegister = 1;
    std::vector<uint32_t> registers; ///< offsets
    int32_t registerBytes = 0;
    uint32_t tail = 0; ///< room for one lane's elements
  };
  /// A register that holds one value in all lanes.
  struct Fill {
    uint32_t offset = 0;
    int32_t bytes = 0;
    uint64_t bits = 0;
    int32_t special = -1; ///< AsmSpecial, or -1: `bits`
  };
  int64_t pack = 1;
  std::vector<Port> inputs, outputs;
  std::vector<Fill> fills;  ///< constants
  std::vector<Fill> clears; ///< registers that start every strip at 0: those that might be read unwritten
  std::vector<AsmStep> steps;
  uint32_t scratchBytes = 0;
};

struct AsmRequest {
  std::string_view text, constraints; ///< as in LLVM: "=r,=r,r"
  std::vector<DType> results, operands;
  int64_t pack = 1;
  const TwTileOps* tiles = nullptr;
};
/// Reads a text. False: `error` says what is wrong and in which line of the text.
bool readAsm(const AsmRequest& request, AsmProgram& program, std::string& error);

struct AsmEnvironment {
  std::array<int32_t, 3> program{}, grid{1, 1, 1};
};
/// Runs over `elements` contiguous elements of each port; the last lane is padded with zeros. `scratch` is 64-byte
/// aligned.
void runAsm(const AsmProgram& program, const TwTileOps& tiles, int64_t elements, const void* const* inputs,
            void* const* outputs, std::byte* scratch, const AsmEnvironment& environment);

} // namespace tiletwin::interp
