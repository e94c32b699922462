// codegen/passes/ProducerRegisters.cpp -- how a producer and the program's warps divide a multiprocessor's registers.
#include "codegen/passes/Producer.h"
#include "codegen/passes/SharedMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// As few as there may be: copies need an address, coordinates and a loop's numbers.
constexpr int kProducerRegisters = 24;
constexpr int kMostRegisters = 240; ///< of a thread
constexpr int kRegisterStep = 8;

int registersOf(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || !type.getElementType().isIntOrFloat()) return 0;
  return int(llvm::divideCeil(twg::layoutOf(type).registers() * type.getElementTypeBitWidth(), 32));
}

/// True for a sum that the next iteration goes on with.
bool isCarried(Value sum) {
  return llvm::any_of(sum.getUsers(), [](Operation* user) {
    if (isa<twg::WarpgroupDotOp, twg::WarpgroupWaitOp>(user)) return llvm::any_of(user->getResults(), isCarried);
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Registers of a sum that one instruction adds to: 64 rows.
int registersOfInstruction(twg::WarpgroupDotOp dot) {
  constexpr int64_t kRows = 64;
  const LinearLayout layout = twg::layoutOf(dot.getD());
  int registers = registersOf(dot.getD());
  for (uint32_t basis : layout.bases(Part::Register))
    if (layout.coordinates(basis)[dot.getTransposed() ? 1 : 0] >= kRows) registers /= 2;
  return registers;
}

/// Registers that tiles take in a loop with products: what it carries, and beside that the sums and first matrices of all
/// products, since these may be in flight together.
int registersOfTiles(scf::ForOp loop) {
  int registers = 0;
  llvm::SmallDenseSet<Value> matrices;
  for (Value value : loop.getRegionIterArgs()) registers += registersOf(value);
  for (auto dot : loop.getBody()->getOps<twg::WarpgroupDotOp>()) {
    if (!isCarried(dot.getD())) registers += registersOf(dot.getD());
    if (Value first = dot.first().get(); matrices.insert(first).second) registers += registersOf(first);
  }
  return registers;
}

int roundedDown(int registers) { return registers / kRegisterStep * kRegisterStep; }

} // namespace

bool leavesRegisters(scf::ForOp loop) { return registersOfTiles(loop) + kRegistersBesideTiles <= kMostRegisters; }

bool fillsMultiprocessor(scf::ForOp loop, int threads) {
  return 2 * threads * (registersOfTiles(loop) + kRegistersBesideTiles) > kRegisters;
}

void divideRegisters(tt::FuncOp kernel, const Target& target, const Options& options) {
  twg::ProducerOp producer = producerOf(kernel);
  if (!producer || options.maxRegisters) return;
  const int warps = warpsOf(kernel, options), threads = warps * target.warpSize;
  int needed = kRegistersBesideTiles;
  kernel.walk([&](scf::ForOp loop) {
    if (loop.getBody()->getOps<twg::WarpgroupDotOp>().empty()) return;
    needed = std::max(needed, registersOfTiles(loop) + kRegistersBesideTiles);
  });
  int atLeast = kProducerRegisters; // when the kernel begins: an assembler wants room for each of its instructions
  kernel.walk([&](twg::WarpgroupDotOp dot) {
    atLeast = std::max(atLeast, registersOfInstruction(dot) + kRegistersBesideTiles);
  });
  const uint32_t shared = target.features().sharedKilobytesMost * 1024 + kSharedOfSystem;
  int ctas = std::max(1, int(shared / (sharedBytesOf(kernel) + kSharedOfSystem)));
  for (; ctas > 0; --ctas) {
    const int atStart = roundedDown(kRegisters / (threads * ctas));
    if (atStart > kMostRegisters) return; // enough for all
    const int left = atStart * warps - kProducerRegisters * int(producer.getWarps());
    const int ofProgram = std::min(roundedDown(left / options.numWarps), kMostRegisters);
    if (atStart < atLeast || (ofProgram < needed && ctas > 1)) continue;
    producer.setRegisters(ArrayRef<int32_t>{kProducerRegisters, ofProgram});
    return;
  }
}

int registersAtStart(tt::FuncOp kernel, const Options& options) {
  twg::ProducerOp producer = producerOf(kernel);
  std::optional<ArrayRef<int32_t>> divided = producer ? producer.getRegisters() : std::nullopt;
  if (!divided) return 0;
  ArrayRef<int32_t> registers = *divided;
  const int warps = warpsOf(kernel, options), own = int(producer.getWarps());
  return int(
      llvm::alignTo(llvm::divideCeil(registers[0] * own + registers[1] * options.numWarps, warps), kRegisterStep));
}

} // namespace tiletwin::codegen
