// interp/plan/PlanTable.cpp -- every operation the interpreter can run, one row each, sorted by name.
// Not here:  terminators: ControlFlow.cpp handles those with their regions.
#include "interp/plan/Builder.h"
#include <algorithm>
#include <cstring>
#include <iterator>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;

LogicalResult planAddPtr(PlanBuilder&, Operation*);
LogicalResult planApproximation(PlanBuilder&, Operation*);
LogicalResult planAssert(PlanBuilder&, Operation*);
LogicalResult planAtomicCas(PlanBuilder&, Operation*);
LogicalResult planAtomicLoad(PlanBuilder&, Operation*);
LogicalResult planAtomicPoll(PlanBuilder&, Operation*);
LogicalResult planAtomicRmw(PlanBuilder&, Operation*);
LogicalResult planAtomicStore(PlanBuilder&, Operation*);
LogicalResult planBarrier(PlanBuilder&, Operation*);
LogicalResult planBitcast(PlanBuilder&, Operation*);
LogicalResult planBroadcast(PlanBuilder&, Operation*);
LogicalResult planCast(PlanBuilder&, Operation*);
LogicalResult planCat(PlanBuilder&, Operation*);
LogicalResult planConstant(PlanBuilder&, Operation*);
LogicalResult planDebugBind(PlanBuilder&, Operation*);
LogicalResult planDebugCall(PlanBuilder&, Operation*);
LogicalResult planDebugConstant(PlanBuilder&, Operation*);
LogicalResult planDebugLine(PlanBuilder&, Operation*);
LogicalResult planDescriptorGather(PlanBuilder&, Operation*);
LogicalResult planDescriptorLoad(PlanBuilder&, Operation*);
LogicalResult planDescriptorReduce(PlanBuilder&, Operation*);
LogicalResult planDescriptorScatter(PlanBuilder&, Operation*);
LogicalResult planDescriptorStore(PlanBuilder&, Operation*);
LogicalResult planDivRn(PlanBuilder&, Operation*);
LogicalResult planDot(PlanBuilder&, Operation*);
LogicalResult planDotScaled(PlanBuilder&, Operation*);
LogicalResult planElementwise(PlanBuilder&, Operation*);
LogicalResult planExecuteRegion(PlanBuilder&, Operation*);
LogicalResult planExpandDims(PlanBuilder&, Operation*);
LogicalResult planExternElementwise(PlanBuilder&, Operation*);
LogicalResult planFor(PlanBuilder&, Operation*);
LogicalResult planHistogram(PlanBuilder&, Operation*);
LogicalResult planIf(PlanBuilder&, Operation*);
LogicalResult planInlineAsm(PlanBuilder&, Operation*);
LogicalResult planJoin(PlanBuilder&, Operation*);
LogicalResult planLoad(PlanBuilder&, Operation*);
LogicalResult planMakeRange(PlanBuilder&, Operation*);
LogicalResult planMakeTensorDescriptor(PlanBuilder&, Operation*);
LogicalResult planMapElementwise(PlanBuilder&, Operation*);
LogicalResult planNothing(PlanBuilder&, Operation*);
LogicalResult planNumPrograms(PlanBuilder&, Operation*);
LogicalResult planPoison(PlanBuilder&, Operation*);
LogicalResult planPrint(PlanBuilder&, Operation*);
LogicalResult planProbeCall(PlanBuilder&, Operation*);
LogicalResult planProbeLanes(PlanBuilder&, Operation*);
LogicalResult planProgramId(PlanBuilder&, Operation*);
LogicalResult planPromise(PlanBuilder&, Operation*);
LogicalResult planReduce(PlanBuilder&, Operation*);
LogicalResult planReshape(PlanBuilder&, Operation*);
LogicalResult planScan(PlanBuilder&, Operation*);
LogicalResult planSplat(PlanBuilder&, Operation*);
LogicalResult planSplit(PlanBuilder&, Operation*);
LogicalResult planSqrtRn(PlanBuilder&, Operation*);
LogicalResult planStore(PlanBuilder&, Operation*);
LogicalResult planTileGather(PlanBuilder&, Operation*);
LogicalResult planTrans(PlanBuilder&, Operation*);
LogicalResult planTrunc(PlanBuilder&, Operation*);
LogicalResult planUnsplat(PlanBuilder&, Operation*);
LogicalResult planWhile(PlanBuilder&, Operation*);

static constexpr PlanRow kPlanTable[] = {
    {"arith.addf", planElementwise},
    {"arith.addi", planElementwise},
    {"arith.andi", planElementwise},
    {"arith.bitcast", planBitcast},
    {"arith.cmpf", planElementwise},
    {"arith.cmpi", planElementwise},
    {"arith.constant", planConstant},
    {"arith.divf", planElementwise},
    {"arith.divsi", planElementwise},
    {"arith.divui", planElementwise},
    {"arith.extf", planCast},
    {"arith.extsi", planCast},
    {"arith.extui", planCast},
    {"arith.fptosi", planCast},
    {"arith.fptoui", planCast},
    {"arith.maximumf", planElementwise},
    {"arith.maxnumf", planElementwise},
    {"arith.maxsi", planElementwise},
    {"arith.maxui", planElementwise},
    {"arith.minimumf", planElementwise},
    {"arith.minnumf", planElementwise},
    {"arith.minsi", planElementwise},
    {"arith.minui", planElementwise},
    {"arith.mulf", planElementwise},
    {"arith.muli", planElementwise},
    {"arith.negf", planElementwise},
    {"arith.ori", planElementwise},
    {"arith.remf", planElementwise},
    {"arith.remsi", planElementwise},
    {"arith.remui", planElementwise},
    {"arith.select", planElementwise},
    {"arith.shli", planElementwise},
    {"arith.shrsi", planElementwise},
    {"arith.shrui", planElementwise},
    {"arith.sitofp", planCast},
    {"arith.subf", planElementwise},
    {"arith.subi", planElementwise},
    {"arith.truncf", planCast},
    {"arith.trunci", planCast},
    {"arith.uitofp", planCast},
    {"arith.xori", planElementwise},
    {"llvm.intr.assume", planNothing},
    {"math.absf", planElementwise},
    {"math.absi", planElementwise},
    {"math.ceil", planElementwise},
    {"math.cos", planElementwise},
    {"math.erf", planElementwise},
    {"math.exp", planElementwise},
    {"math.exp2", planElementwise},
    {"math.floor", planElementwise},
    {"math.fma", planElementwise},
    {"math.log", planElementwise},
    {"math.log2", planElementwise},
    {"math.rsqrt", planElementwise},
    {"math.sin", planElementwise},
    {"math.sqrt", planElementwise},
    {"scf.execute_region", planExecuteRegion},
    {"scf.for", planFor},
    {"scf.if", planIf},
    {"scf.while", planWhile},
    {"tt.addptr", planAddPtr},
    {"tt.approx_divf", planElementwise},
    {"tt.assert", planAssert},
    {"tt.atomic_cas", planAtomicCas},
    {"tt.atomic_load", planAtomicLoad},
    {"tt.atomic_poll", planAtomicPoll},
    {"tt.atomic_rmw", planAtomicRmw},
    {"tt.atomic_store", planAtomicStore},
    {"tt.bitcast", planBitcast},
    {"tt.born", planElementwise},
    {"tt.broadcast", planBroadcast},
    {"tt.call", planDebugCall}, // others are inlined before
    {"tt.cat", planCat},
    {"tt.clampf", planElementwise},
    {"tt.debug_bind", planDebugBind},
    {"tt.debug_constant", planDebugConstant},
    {"tt.debug_line", planDebugLine},
    {"tt.descriptor_gather", planDescriptorGather},
    {"tt.descriptor_load", planDescriptorLoad},
    {"tt.descriptor_reduce", planDescriptorReduce},
    {"tt.descriptor_scatter", planDescriptorScatter},
    {"tt.descriptor_store", planDescriptorStore},
    {"tt.dot", planDot},
    {"tt.dot_scaled", planDotScaled},
    {"tt.elementwise_inline_asm", planInlineAsm},
    {"tt.expand_dims", planExpandDims},
    {"tt.extern_elementwise", planExternElementwise},
    {"tt.fp_to_fp", planCast},
    {"tt.gather", planTileGather},
    {"tt.get_num_programs", planNumPrograms},
    {"tt.get_program_id", planProgramId},
    {"tt.grid_dependency_launch_dependents", planNothing},
    {"tt.grid_dependency_wait", planNothing},
    {"tt.histogram", planHistogram},
    {"tt.int_to_ptr", planBitcast},
    {"tt.join", planJoin},
    {"tt.load", planLoad},
    {"tt.make_range", planMakeRange},
    {"tt.make_tensor_descriptor", planMakeTensorDescriptor},
    {"tt.map_elementwise", planMapElementwise},
    {"tt.mulhiui", planElementwise},
    {"tt.nonfinite", planElementwise},
    {"tt.precise_divf", planElementwise},
    {"tt.precise_sqrt", planElementwise},
    {"tt.print", planPrint},
    {"tt.probe_call", planProbeCall},
    {"tt.probe_lanes", planProbeLanes},
    {"tt.promise", planPromise},
    {"tt.ptr_to_int", planBitcast},
    {"tt.reduce", planReduce},
    {"tt.reshape", planReshape},
    {"tt.scan", planScan},
    {"tt.splat", planSplat},
    {"tt.split", planSplit},
    {"tt.store", planStore},
    {"tt.trans", planTrans},
    {"tt.unsplat", planUnsplat},
    {"ttg.barrier", planBarrier},
    {"tw.div_approx", planApproximation},
    {"tw.div_full", planApproximation},
    {"tw.div_rn", planDivRn},
    {"tw.ex2_approx", planApproximation},
    {"tw.rsqrt_approx", planApproximation},
    {"tw.sqrt_approx", planApproximation},
    {"tw.sqrt_rn", planSqrtRn},
    {"tw.trunc", planTrunc},
    {"ub.poison", planPoison},
};

const PlanRow* findPlanRow(llvm::StringRef name) {
  auto it = std::lower_bound(std::begin(kPlanTable), std::end(kPlanTable), name,
                             [](const PlanRow& row, llvm::StringRef n) { return llvm::StringRef(row.name) < n; });
  return it != std::end(kPlanTable) && name == it->name ? it : nullptr;
}

} // namespace tiletwin::interp
