// tests/tools/CodegenPasses.cpp -- see CodegenPasses.h.
#include "CodegenPasses.h"
#include "TargetName.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> arch{*this, "arch", llvm::cl::desc("target"), llvm::cl::init("sm_80")};
  Option<int> numWarps{*this, "num-warps", llvm::cl::desc("of a program"), llvm::cl::init(4)};
  Option<int> numStages{*this, "num-stages", llvm::cl::desc("buffers of a pipelined loop"), llvm::cl::init(3)};
  Option<bool> fpFusion{*this, "fp-fusion", llvm::cl::desc("fuse products and sums"), llvm::cl::init(true)};
  Option<bool> copiedLoads{*this, "copied-loads", llvm::cl::desc("copies by maps of other arguments"), llvm::cl::init(false)};
};

class StepPass : public PassWrapper<StepPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StepPass)
  explicit StepPass(const Step& step) : step_(step) {}
  StepPass(const Step& step, const PipelineOptions& options) : step_(step) {
    arch = options.arch.getValue();
    numWarps = options.numWarps.getValue();
    numStages = options.numStages.getValue();
    fpFusion = options.fpFusion.getValue();
    copiedLoads = options.copiedLoads.getValue();
  }
  StepPass(const StepPass& other) : PassWrapper(other), step_(other.step_) {}

  StringRef getArgument() const override { return step_.name; }
  StringRef getDescription() const override { return step_.summary; }
  void getDependentDialects(DialectRegistry& registry) const override { registry.insert<twg::TWGDialect, ttg::TTGDialect, arith::ArithDialect>(); }
  void runOnOperation() override {
    Options options;
    options.numWarps = numWarps, options.numStages = numStages, options.fpFusion = fpFusion;
    options.copiedLoads = copiedLoads;
    if (!kernelOf(getOperation()) || failed(step_.run(getOperation(), targetOf(arch.getValue()), options)))
      signalPassFailure();
  }

private:
  const Step& step_;
  Option<std::string> arch{*this, "arch", llvm::cl::desc("target"), llvm::cl::init("sm_80")};
  Option<int> numWarps{*this, "num-warps", llvm::cl::desc("of a program"), llvm::cl::init(4)};
  Option<int> numStages{*this, "num-stages", llvm::cl::desc("buffers of a pipelined loop"), llvm::cl::init(3)};
  Option<bool> fpFusion{*this, "fp-fusion", llvm::cl::desc("fuse products and sums"), llvm::cl::init(true)};
  Option<bool> copiedLoads{*this, "copied-loads", llvm::cl::desc("copies by maps of other arguments"), llvm::cl::init(false)};
};

class DropLayouts : public PassWrapper<DropLayouts, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropLayouts)
  StringRef getArgument() const override { return "test-drop-layouts"; }
  StringRef getDescription() const override { return "makes the module invalid: twg.convert_layout without layouts"; }
  void runOnOperation() override {
    getOperation().walk([](twg::ConvertLayoutOp convert) {
      auto type = cast<RankedTensorType>(convert.getResult().getType());
      convert.getResult().setType(RankedTensorType::get(type.getShape(), type.getElementType()));
    });
  }
};

} // namespace

void registerCodegenPasses() {
  for (const Step& step : ttgirSteps())
    registerPass([&step] { return std::unique_ptr<Pass>(std::make_unique<StepPass>(step)); });
  registerPass([] { return std::unique_ptr<Pass>(std::make_unique<DropLayouts>()); });
  PassPipelineRegistration<PipelineOptions>("twg-make-ttgir", "ttir to ttgir: all the steps",
                                            [](OpPassManager& manager, const PipelineOptions& options) {
                                              for (const Step& step : ttgirSteps())
                                                manager.addPass(std::make_unique<StepPass>(step, options));
                                            });
}

} // namespace tiletwin::codegen
