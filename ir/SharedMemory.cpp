// ir/SharedMemory.cpp -- see SharedMemory.h.
// Idea: a loop with num_stages > 1 copies what its dots read into shared memory ahead of time, in several buffers: one for
// each stage but one where the tensor cores read registers (mma), one for each stage where they read shared memory (wgmma,
// tcgen05). A load takes part if it can be copied in units of 4 bytes. All the buffers of a loop live at once. Where nothing
// is copied ahead, cores that read shared memory need each operand there once.
#include "ir/SharedMemory.h"
#include "ir/Contiguity.h"
#include "ir/GpuFeatures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tiletwin::tt {
namespace {

using namespace mlir;

constexpr int64_t kLeastCopy = 4; ///< bytes that an asynchronous copy moves at the least

/// How the tensor cores of a GPU read a dot's operands.
enum class Cores : uint8_t { None, Registers, Shared };

int64_t bytesOf(Type type) {
  int64_t elements = 1;
  for (int64_t extent : shapeOf(type)) elements *= extent;
  Type element = elementTypeOf(type);
  return elements * (element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 0);
}

int64_t elementBytes(Type type) { return (elementTypeOf(type).getIntOrFloatBitWidth() + 7) / 8; }

bool isNarrow(Type type) { return elementTypeOf(type).getIntOrFloatBitWidth() == 8; }

Cores coresOf(DotOp dot, const SharedMemoryQuery& query, const GpuFeatures& features) {
  Type a = elementTypeOf(dot.getA().getType()), b = elementTypeOf(dot.getB().getType());
  if (a.isF64() || !features.mmaAmpere) return Cores::None;
  if (a.isF32() && dot.getInputPrecision() == InputPrecision::IEEE) return Cores::None;
  llvm::ArrayRef<int64_t> shape = shapeOf(dot.getD().getType());
  if (shape.size() != 2) return Cores::Registers;
  bool plain = !a.isF32() || dot.getInputPrecision() == InputPrecision::TF32;
  int64_t k = shapeOf(dot.getA().getType())[1];
  bool hopper = features.wgmma && shape[0] >= 64 && shape[1] >= 8 && query.numWarps % 4 == 0;
  bool blackwell = features.tcgen05 && shape[0] >= 64 && shape[1] >= 16 && (query.numWarps == 4 || query.numWarps == 8);
  return plain && a == b && k * elementBytes(dot.getA().getType()) >= 32 && (hopper || blackwell) ? Cores::Shared
                                                                                                  : Cores::Registers;
}

/// One operand of a dot, as far back as it is computed element by element.
struct Operand {
  Value value;
  Operation* load = nullptr; ///< the load it comes from, if there is one
  bool direct = true;        ///< nothing but transpositions in between
  bool swapped = false;      ///< an odd number of them
};

Operand trace(Value value) {
  Operand operand{value};
  for (Value at = value; Operation* op = at.getDefiningOp();) {
    if (isa<LoadOp, DescriptorLoadOp>(op)) {
      operand.load = op;
      break;
    }
    if (isa<TransOp>(op))
      operand.swapped = !operand.swapped;
    else if (isa<FpToFpOp, BitcastOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::ExtSIOp,
                 arith::ExtUIOp, arith::TruncIOp>(op))
      operand.direct = false;
    else
      break;
    at = op->getOperand(0);
  }
  return operand;
}

class Estimate {
public:
  Estimate(FuncOp function, const SharedMemoryQuery& query)
      : function_(function), query_(query), features_(featuresOf(query.capability)) {}
  std::optional<SharedMemoryNeed> run();

private:
  SharedMemoryNeed needOfLoop(scf::ForOp loop, llvm::ArrayRef<DotOp> dots);
  SharedMemoryNeed needOfDot(DotOp dot);
  bool canBeCopiedAhead(Operation* load, scf::ForOp loop);
  std::string describe(Value tile, int64_t copies);
  void add(SharedMemoryNeed& need, Value tile, int64_t copies);

  FuncOp function_;
  SharedMemoryQuery query_;
  GpuFeatures features_;
  ContiguityAnalysis contiguity_;
};

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << shapeText(type) << ' ' << elementTypeOf(type);
  return text;
}

/// The Python variable of a value, or "".
llvm::StringRef variableOf(Value value) {
  auto named = dyn_cast<NameLoc>(value.getLoc());
  return named ? named.getName().getValue() : "";
}

std::string Estimate::describe(Value tile, int64_t copies) {
  llvm::StringRef variable = variableOf(tile);
  std::string text = copies > 1 ? std::to_string(copies) + " x " : "";
  return text + (variable.empty() ? "" : variable.str() + ": ") + typeText(tile.getType());
}

void Estimate::add(SharedMemoryNeed& need, Value tile, int64_t copies) {
  if (copies <= 0) return;
  need.bytes += copies * bytesOf(tile.getType());
  need.parts += (need.parts.empty() ? "" : ", ") + describe(tile, copies);
}

/// True if the load's memory is copied in units of 4 bytes or more, and does not depend on another load in the loop.
bool Estimate::canBeCopiedAhead(Operation* load, scf::ForOp loop) {
  if (load->getBlock() != loop.getBody()) return false;
  llvm::SetVector<Value> inputs(load->operand_begin(), load->operand_end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Operation* op = inputs[i].getDefiningOp();
    if (!op) {
      auto argument = dyn_cast<BlockArgument>(inputs[i]);
      if (argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar())
        inputs.insert(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    if (!loop->isAncestor(op)) continue;
    if (op->getNumRegions() || isa<LoadOp, DescriptorLoadOp>(op)) return false;
    inputs.insert(op->operand_begin(), op->operand_end());
  }
  Type type = load->getResult(0).getType();
  if (isa<DescriptorLoadOp>(load) && features_.tensorCopies) return true;
  if (bytesOf(type) / (int64_t(query_.numWarps) * 32) < kLeastCopy) return false;
  auto plain = dyn_cast<LoadOp>(load);
  if (!plain) return elementBytes(type) >= kLeastCopy; // a descriptor's block, copied with masks
  const Contiguity pointer = contiguity_.of(plain.getPtr());
  for (size_t d = 0; d < pointer.dimensions.size(); ++d) {
    int64_t run = std::min(pointer.dimensions[d].contiguous * elementBytes(type), pointer.dimensions[d].divisor);
    if (plain.getMask())
      run = std::min(run, contiguity_.of(plain.getMask()).dimensions[d].constant * elementBytes(type));
    if (run >= kLeastCopy) return true;
  }
  return elementBytes(type) >= kLeastCopy;
}

SharedMemoryNeed Estimate::needOfLoop(scf::ForOp loop, llvm::ArrayRef<DotOp> dots) {
  SharedMemoryNeed need;
  need.dot = dots.front();
  int64_t stages = query_.numStages;
  if (auto own = loop->getAttrOfType<IntegerAttr>("tt.num_stages")) stages = own.getInt();
  // Loads by the most buffers that a dot wants of them, and tiles that are needed once.
  llvm::MapVector<Operation*, int64_t> copies;
  llvm::SetVector<Value> once;
  bool ahead = stages > 1;
  for (Operation& op : *loop.getBody())
    if (op.getNumRegions() && !isa<ReduceOp, ScanOp>(op)) ahead = false; // loops inside, branches
  for (DotOp dot : dots) {
    Cores cores = coresOf(dot, query_, features_);
    if (cores == Cores::None) continue;
    const Value operands[] = {dot.getA(), dot.getB()};
    for (auto [index, value] : llvm::enumerate(operands)) {
      Operand operand = trace(value);
      if (!operand.load) continue;
      bool inLoop = loop->isProperAncestor(operand.load);
      if (!inLoop) {
        if (operand.direct) once.insert(operand.load->getResult(0));
        continue;
      }
      bool copied = ahead && canBeCopiedAhead(operand.load, loop);
      if (copied && features_.wgmma && cores == Cores::Shared && isNarrow(value.getType()) &&
          isa<LoadOp>(operand.load)) {
        // Cores that read 8-bit numbers want them along K, and a tile that runs the other way is turned first.
        auto pointer = contiguity_.of(cast<LoadOp>(operand.load).getPtr());
        size_t alongK = size_t(index == 0) ^ size_t(operand.swapped);
        copied = pointer.dimensions[alongK].contiguous >= pointer.dimensions[1 - alongK].contiguous;
      }
      bool reads = cores == Cores::Shared && operand.direct;
      if (copied) {
        int64_t& most = copies[operand.load];
        most = std::max(most, reads ? stages : stages - 1);
      }
      if (cores == Cores::Shared && !(copied && operand.direct) && (index == 1 || operand.direct)) once.insert(value);
    }
  }
  for (auto [load, count] : copies) add(need, load->getResult(0), count);
  // Tiles needed once are there at the same time only if one dot reads them: take the largest.
  Value largest;
  for (Value tile : once) {
    bool outside = !loop->isProperAncestor(tile.getDefiningOp());
    if (outside)
      add(need, tile, 1);
    else if (!largest || bytesOf(tile.getType()) > bytesOf(largest.getType()))
      largest = tile;
  }
  if (largest) add(need, largest, 1);
  return need;
}

/// What a dot's operands take if nothing is copied ahead.
SharedMemoryNeed Estimate::needOfDot(DotOp dot) {
  SharedMemoryNeed need;
  need.dot = dot;
  if (!features_.mmaAmpere) { // multiplied without tensor cores, from tiles that were widened to f32
    Value larger = bytesOf(dot.getA().getType()) > bytesOf(dot.getB().getType()) ? dot.getA() : dot.getB();
    add(need, larger, 1);
    if (elementBytes(larger.getType()) < 4 && isa<FloatType>(elementTypeOf(larger.getType()))) {
      need.bytes = need.bytes / elementBytes(larger.getType()) * 4;
      need.parts += " as f32";
    }
    return need;
  }
  if (coresOf(dot, query_, features_) != Cores::Shared) return need;
  if (trace(dot.getA()).load && trace(dot.getA()).direct) add(need, dot.getA(), 1);
  add(need, dot.getB(), 1);
  return need;
}

std::optional<SharedMemoryNeed> Estimate::run() {
  std::optional<SharedMemoryNeed> most;
  auto take = [&](SharedMemoryNeed&& need) {
    if (!most || need.bytes > most->bytes) most = std::move(need);
  };
  llvm::MapVector<Operation*, llvm::SmallVector<DotOp>> loops;
  function_.walk([&](DotOp dot) {
    take(needOfDot(dot));
    if (auto loop = dyn_cast<scf::ForOp>(dot->getParentOp())) loops[loop].push_back(dot);
  });
  for (auto& [loop, dots] : loops) take(needOfLoop(cast<scf::ForOp>(loop), dots));
  return most;
}

} // namespace

std::optional<SharedMemoryNeed> leastSharedMemory(FuncOp function, const SharedMemoryQuery& query) {
  return Estimate(function, query).run();
}

} // namespace tiletwin::tt
