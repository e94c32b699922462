// codegen/emit/TurnOps.cpp -- turns of two groups of warps: a named barrier for each group, at which it waits for the other one.
#include "codegen/emit/Emitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// The barrier of group 0; that of group 1 follows. Those below are of all threads (nvptx/WarpOps.cpp).
constexpr uint32_t kFirstBarrier = 2;

llvm::Value* groupOf(Emitter& e) {
  return e.ir().CreateLShr(e.warp(), llvm::Log2_32(uint32_t(e.options().numWarps) / 2));
}
std::string threadsOf(Emitter& e) { return std::to_string(e.options().numWarps * e.target().warpSize); }

} // namespace

template <> LogicalResult emit(Emitter& e, twg::TurnWaitOp) {
  llvm::Value* own = e.ir().CreateAdd(groupOf(e), e.int32(kFirstBarrier));
  e.inlinePtx("bar.sync $0, " + threadsOf(e) + ";", "r,~{memory}", {}, {own}, true);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TurnPassOp pass) {
  llvm::Value* group = groupOf(e);
  llvm::Value* others = e.ir().CreateSub(e.int32(kFirstBarrier + 1), group);
  std::string text = "bar.arrive $0, " + threadsOf(e) + ";", constraints = "r,~{memory}";
  Values inputs{others};
  if (std::optional<uint32_t> by = pass.getBy()) {
    text = "{ .reg .pred p; setp.eq.u32 p, $1, " + std::to_string(*by) + "; @p " + text + " }";
    constraints = "r," + constraints;
    inputs.push_back(group);
  }
  e.inlinePtx(text, constraints, {}, inputs, true);
  return success();
}

} // namespace tiletwin::codegen
