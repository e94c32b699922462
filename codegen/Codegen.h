// codegen/Codegen.h -- the code generator's public face: TTIR text in, the texts of the later stages out.
//
// Read next: layout/LinearLayout.h (where a tile's elements live), passes/Layouts.h (who decides that), emit/Emitter.h
// (how an operation becomes LLVM IR), emit/TargetCode.h (in what NVIDIA's and AMD's GPUs differ there), ptx/Ptx.h and
// amdgcn/Amdgcn.h (LLVM IR to assembly).
#pragma once
#include "ir/GpuFeatures.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tiletwin::codegen {

/// What code is made for.
struct Target {
  std::string backend = "cuda"; ///< "cuda" or "hip"
  int capability = 90;          ///< 75, 80, 86, 89, 90, 100, 120: ten times the compute capability; "hip": 0
  std::string arch = "sm_90a";
  int ptxVersion = 87; ///< ten times the PTX ISA version
  int warpSize = 32;   ///< threads of a warp; "hip": 64 or 32

  tt::GpuFeatures features() const; ///< what code for it may use
};

struct Options {
  int numWarps = 4;           ///< a power of two
  int numStages = 3;          ///< buffers of a pipelined loop
  int numCtas = 1;            ///< of a program
  int maxRegisters = 0;       ///< of a thread; 0: as ptxas likes
  int wavesPerUnit = 0;       ///< "hip": wavefronts that a SIMD unit shall have room for; 0: as LLVM likes
  bool fpFusion = true;       ///< products and sums become fused multiply-adds
  bool flushDenormals = true; ///< exp2, sqrt, rsqrt and libdevice's functions of f32 take and give zeros for denormals
  bool lineInfo = true;       ///< .loc directives that name the kernel's source
  bool verify = false;        ///< the module after every pass
  /// Tiles of pointers may be copied as blocks of tensors, by maps in arguments that the kernel gets behind its own: only
  /// for a launcher that knows the recipes (Code::arguments).
  bool copiedLoads = false;
  bool decideApart = true; ///< each loop that may have such copies decides by itself
  bool tileLoops = true;   ///< beside copied loads: CTAs that run one program after the other
  bool isAlone = false;    ///< each CTA has a multiprocessor of its own: no other one works while it waits
  bool deepRings = true;   ///< there, more buffers than num_stages where shared memory has room
  const char* undivided =
      nullptr;              ///< why two CTAs do not run a program together where numCtas asks for it; null: they may
  bool pairs = true;        ///< CTAs that run one program after the other run neighbours, and copy for both
  bool producers = true;    ///< loops that ask for it have warps of their own that copy
  bool dotsInFlight = true; ///< matrix products go on while what follows them runs; their operands stay until then
};

/// The last one is the target's: Ptx for "cuda", Amdgcn for "hip".
enum class Stage : uint8_t { Ttir, Ttgir, Llir, Ptx, Amdgcn };

/// What is said to the user at a place in the source. Line and column are 1-based, 0 if unknown.
struct Message {
  std::string message, file;
  int line = 0, column = 0;
};
/// Why a kernel was not compiled.
using CompileError = Message;

/// A kernel's stages as text, and what a launcher must know.
struct Code {
  std::string ttgir, llir, ptx, amdgcn;
  std::string name; ///< of the entry
  /// Storage types of the parameters: "ptr", "i32", "f16", ...; "tensormap<float16, 64x32, 64>" for 128 bytes by value that
  /// the host makes of a tensor descriptor, with that element type, box (along the tensor's dimensions) and swizzle.
  /// Behind them "tensormap<float16, 64x32, 64; a0; 1*a3/1*a4; 1*a6>" and "copies<1*a3/1*a6>" with recipes
  /// (passes/AffineLoads.h); three times "programs" of a kernel that takes any number of CTAs (passes/TileLoop.h).
  std::vector<std::string> arguments;
  uint32_t sharedBytes = 0;      ///< shared memory: dynamic for "cuda", in the kernel's descriptor for "hip"
  uint32_t scratchBytes = 0;     ///< of global memory for each program; if not 0 a last parameter points to all of it
  int numWarps = 4;              ///< of a CTA: the program's, and others that copy for it
  int clusterCtas = 1;           ///< CTAs of a cluster: a launch has a multiple of them, along the first dimension
  int programCtas = 1;           ///< CTAs that run a program together: one, or a cluster
  std::vector<Message> warnings; ///< of what the source asks for and the code does not do
};

/// Compiles text of stage `from` (Ttir, Ttgir or Llir) down to `to`. Null if it succeeded. Thread-safe.
std::optional<CompileError> compile(std::string_view text, Stage from, Stage to, std::string_view fileName,
                                    const Target& target, const Options& options, Code& code);

/// Names of the operations that have code ("tt.load"), sorted.
const std::vector<std::string_view>& emittedOperations();

/// The text of stage Amdgcn as an object file, which a linker makes a code object of. Null if it succeeded. Thread-safe.
std::optional<CompileError> assembleAmdgcn(std::string_view text, std::string_view fileName, const Target& target,
                                           std::string& object);

} // namespace tiletwin::codegen
