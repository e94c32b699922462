// codegen/passes/Steps.cpp -- see Steps.h.
#include "codegen/passes/Steps.h"
#include "codegen/passes/AffineLoads.h"
#include "codegen/passes/Barriers.h"
#include "codegen/passes/CarriedIndices.h"
#include "codegen/passes/CopiesAtOnce.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/DotOperands.h"
#include "codegen/passes/DotPrecision.h"
#include "codegen/passes/Groups.h"
#include "codegen/passes/HeldOperands.h"
#include "codegen/passes/LateWidenings.h"
#include "codegen/passes/Layouts.h"
#include "codegen/passes/LoadsAhead.h"
#include "codegen/passes/LoadsOfOperands.h"
#include "codegen/passes/LoopHints.h"
#include "codegen/passes/MovedLoads.h"
#include "codegen/passes/Notes.h"
#include "codegen/passes/OwnedNumbers.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/Phases.h"
#include "codegen/passes/Pipeline.h"
#include "codegen/passes/PipelineTma.h"
#include "codegen/passes/Producer.h"
#include "codegen/passes/ProductsEarly.h"
#include "codegen/passes/RepeatedLoads.h"
#include "codegen/passes/SharedMemory.h"
#include "codegen/passes/SinkConversions.h"
#include "codegen/passes/TensorCopies.h"
#include "codegen/passes/TensorMaps.h"
#include "codegen/passes/TensorSums.h"
#include "codegen/passes/ThreadReductions.h"
#include "codegen/passes/TileLoop.h"
#include "codegen/passes/Turns.h"
#include "codegen/passes/VerifyProtocol.h"
#include "ir/Numerics.h"
#include "ir/PassSteps.h"
#include "ir/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

LogicalResult readNotes(ModuleOp module, const Target&, const Options&) {
  takeNotes(module);
  return success();
}

LogicalResult inlineEverything(ModuleOp module, const Target&, const Options&) {
  if (succeeded(tt::makeTtir(module, /*inlineEverything=*/true))) return success();
  return module.emitError("inlining failed");
}

LogicalResult followHints(ModuleOp module, const Target& target, const Options&) {
  warnOfHints(kernelOf(module), target);
  unrollLoops(kernelOf(module));
  return success();
}

LogicalResult rewriteDotPrecisions(ModuleOp module, const Target& target, const Options&) {
  return rewriteDots(kernelOf(module), target);
}

LogicalResult divide(ModuleOp module, const Target& target, const Options& options) {
  dividePrograms(kernelOf(module), target, options);
  return success();
}

LogicalResult makeNumerics(ModuleOp module, const Target& target, const Options& options) {
  const bool isAmd = target.backend == "hip";
  return tt::makeNumericsExplicit(module, {.capability = target.capability,
                                           .enableFpFusion = options.fpFusion,
                                           .flushDenormals = !isAmd && options.flushDenormals,
                                           .family = isAmd ? tt::GpuFamily::Amd : tt::GpuFamily::Nvidia});
}

LogicalResult loadOnce(ModuleOp module, const Target&, const Options&) {
  loadRepeatedOnce(kernelOf(module));
  return success();
}

LogicalResult copyLoads(ModuleOp module, const Target& target, const Options& options) {
  makeAffineLoads(kernelOf(module), target, options);
  return success();
}

LogicalResult loopOverPrograms(ModuleOp module, const Target& target, const Options& options) {
  makeTileLoop(kernelOf(module), target, options);
  pairPrograms(kernelOf(module), options);
  return success();
}

LogicalResult chooseMaps(ModuleOp module, const Target& target, const Options&) {
  chooseTensorMaps(kernelOf(module), target);
  return success();
}

LogicalResult carryNumbers(ModuleOp module, const Target&, const Options&) {
  carryDistances(kernelOf(module));
  return success();
}

LogicalResult chooseLayouts(ModuleOp module, const Target& target, const Options& options) {
  const std::string what = target.backend == "cuda" ? std::to_string(target.capability) : target.arch;
  module->setAttr("twg.target", StringAttr::get(module.getContext(), target.backend + ":" + what));
  if (failed(assignLayouts(kernelOf(module), threadsOf(target, options), target))) return failure();
  hoistConversions(kernelOf(module));
  return success();
}

LogicalResult placeSums(ModuleOp module, const Target&, const Options&) {
  placeTensorSums(kernelOf(module));
  return success();
}

LogicalResult addUpInThreads(ModuleOp module, const Target&, const Options&) {
  reduceInThreads(kernelOf(module));
  return success();
}

LogicalResult shareOperands(ModuleOp module, const Target& target, const Options& options) {
  tt::removeCommonSubexpressions(kernelOf(module));
  if (target.features().matrixLoads) shareDotOperands(kernelOf(module));
  shareTransposed(kernelOf(module));
  shareLoadedOperands(kernelOf(module), target, options);
  shareLoadsOfOperands(kernelOf(module), target, options);
  if (target.features().asyncCopies) loadAhead(kernelOf(module), options);
  return success();
}

LogicalResult copyTensors(ModuleOp module, const Target&, const Options&) {
  makeTensorCopies(kernelOf(module));
  return success();
}

LogicalResult addProducer(ModuleOp module, const Target& target, const Options& options) {
  if (isDivided(kernelOf(module))) return success(); // all threads of both CTAs meet at each product
  makeProducer(kernelOf(module), target, options);
  if (!target.features().tcgen05) shareCopies(kernelOf(module), options);
  return success();
}

LogicalResult pipelineTensors(ModuleOp module, const Target& target, const Options& options) {
  pipelineTensorCopies(kernelOf(module), target, options);
  return success();
}

LogicalResult pipeline(ModuleOp module, const Target& target, const Options& options) {
  pipelineLoops(kernelOf(module), target, options);
  copyAtOnce(kernelOf(module), target, options);
  loadInFrontOfLoops(kernelOf(module), target, options);
  beginProductsEarly(kernelOf(module));
  moveNotesBehindWaits(kernelOf(module));
  return success();
}

LogicalResult keepOperands(ModuleOp module, const Target& target, const Options& options) {
  widenLate(kernelOf(module));
  if (target.backend != "cuda") return success();
  shareNumbersLate(kernelOf(module));
  keepLargeOperands(kernelOf(module), target);
  readOperandsLate(kernelOf(module), target, options);
  return success();
}

LogicalResult placeSharedMemory(ModuleOp module, const Target& target, const Options& options) {
  tt::removeCommonSubexpressions(kernelOf(module));
  assignSharedMemory(kernelOf(module), target, threadsOf(target, options));
  divideRegisters(kernelOf(module), target, options);
  return success();
}

LogicalResult findPhases(ModuleOp module, const Target&, const Options&) {
  derivePhases(kernelOf(module));
  return success();
}

LogicalResult placeBarriers(ModuleOp module, const Target&, const Options&) {
  insertBarriers(kernelOf(module));
  return success();
}

LogicalResult giveTurns(ModuleOp module, const Target& target, const Options& options) {
  takeTurns(kernelOf(module), target, options);
  return success();
}

LogicalResult groupAndWait(ModuleOp module, const Target& target, const Options& options) {
  makeGroups(kernelOf(module));
  return options.verify ? verifyProtocol(kernelOf(module), target, threadsOf(target, options)) : success();
}

constexpr Step kSteps[] = {
    {"twg-notes", "notes for a debugger, as operations that only look", readNotes},
    {"twg-inline", "all calls inlined, canonical: the ttir that code is made from", inlineEverything},
    {"twg-loop-hints", "loops that are to be unrolled, unrolled", followHints},
    {"twg-dot-precision", "dots that no instruction computes, as dots that one does", rewriteDotPrecisions},
    {"twg-divide", "a program that two CTAs run together, as what one of them computes", divide},
    {"twg-numerics", "roundings that the target would choose, as operations that say them", makeNumerics},
    {"twg-repeated-loads", "loads that read each element several times, as loads that read it once", loadOnce},
    {"twg-affine-loads",
     "tiles of pointers that loops read for dots, as blocks of tensors where the launcher makes maps", copyLoads},
    {"twg-tile-loop", "programs that one CTA runs one after the other, where copies then go on between them",
     loopOverPrograms},
    {"twg-tensor-maps", "arguments that are descriptors, as tensor maps where copies can use them", chooseMaps},
    {"twg-carried-indices", "tiles of indices that loops move on, as a tile that stays and a number", carryNumbers},
    {"twg-layouts", "a layout for every tile, and conversions between layouts", chooseLayouts},
    {"twg-tensor-sums", "sums in tensor memory: as long as only products change them, and their columns", placeSums},
    {"twg-thread-reductions", "reductions that a loop adds up, in each thread first", addUpInThreads},
    {"twg-dot-operands", "operands of dots through shared memory, where ldmatrix reads them or loops copy them",
     shareOperands},
    {"twg-tensor-copies", "accesses through tensor maps, as copies to and from shared memory", copyTensors},
    {"twg-producer", "tensor copies of loops that ask for it, begun by warps of their own", addProducer},
    {"twg-tensor-pipeline", "tensor copies of loops, begun some iterations ahead", pipelineTensors},
    {"twg-pipeline", "loads that feed dots, as copies some iterations ahead", pipeline},
    {"twg-large-operands",
     "operands that registers cannot hold, in shared memory until they are used; numbers widened, or told to all "
     "threads, where they are used",
     keepOperands},
    {"twg-phases", "the phases that waits for tensor copies are for, as values", findPhases},
    {"twg-shared-memory", "places in shared memory, of tiles and of what operations use", placeSharedMemory},
    {"twg-barriers", "barriers wherever threads share memory", placeBarriers},
    {"twg-turns", "turns of two groups of warps at the tensor cores, in loops that do other work beside", giveTurns},
    {"twg-groups", "fences in front of products, groups of products and of stores to tensors, waits for them",
     groupAndWait},
};

/// One diagnostic that says after which step, at the place of the verifier's first.
LogicalResult verifyAfter(const Step& step, ModuleOp module) {
  std::optional<Location> where;
  std::string problem;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic& diagnostic) {
      if (where || diagnostic.getSeverity() != DiagnosticSeverity::Error) return success();
      where = diagnostic.getLocation();
      problem = diagnostic.str();
      return success();
    });
    if (succeeded(verify(module))) return success();
  }
  return emitError(where.value_or(module.getLoc())) << "after " << step.name << " the module is not valid: " << problem;
}

} // namespace

llvm::ArrayRef<Step> ttgirSteps() { return kSteps; }

LogicalResult runSteps(llvm::ArrayRef<Step> steps, ModuleOp module, const Target& target, const Options& options) {
  for (const Step& step : steps) {
    if (failed(step.run(module, target, options))) return failure();
    if (options.verify && failed(verifyAfter(step, module))) return failure();
  }
  return success();
}

ThreadBits threadsOf(const Target& target, const Options& options) {
  return {llvm::Log2_32(uint32_t(target.warpSize)), llvm::Log2_32(uint32_t(options.numWarps))};
}

tt::FuncOp kernelOf(ModuleOp module) {
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    if (function.isPublic()) return function;
  return {};
}

} // namespace tiletwin::codegen
