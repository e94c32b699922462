// codegen/emit/amdgcn/KernelOps.cpp -- the kernel, where a thread is in the grid, and which operations have code.
// Here:      warps are wavefronts, CTAs work-groups, shared memory is LDS, whose size is fixed when all is emitted.
#include "codegen/emit/amdgcn/Amdgcn.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include <algorithm>

using namespace llvm::Intrinsic;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

/// Operations whose emitters make no PTX of their own. Sorted by name; a test says so.
constexpr llvm::StringLiteral kCompiled[] = {
    "arith.addf",
    "arith.addi",
    "arith.andi",
    "arith.bitcast",
    "arith.cmpf",
    "arith.cmpi",
    "arith.constant",
    "arith.divsi",
    "arith.divui",
    "arith.extf",
    "arith.extsi",
    "arith.extui",
    "arith.fptosi",
    "arith.fptoui",
    "arith.index_cast",
    "arith.maximumf",
    "arith.maxnumf",
    "arith.maxsi",
    "arith.maxui",
    "arith.minimumf",
    "arith.minnumf",
    "arith.minsi",
    "arith.minui",
    "arith.mulf",
    "arith.muli",
    "arith.negf",
    "arith.ori",
    "arith.remsi",
    "arith.remui",
    "arith.select",
    "arith.shli",
    "arith.shrsi",
    "arith.shrui",
    "arith.sitofp",
    "arith.subf",
    "arith.subi",
    "arith.truncf",
    "arith.trunci",
    "arith.uitofp",
    "arith.xori",
    "cf.br",
    "cf.cond_br",
    "llvm.intr.assume",
    "math.absf",
    "math.absi",
    "math.ceil",
    "math.floor",
    "math.fma",
    "scf.execute_region",
    "scf.for",
    "scf.if",
    "scf.while",
    "tt.addptr",
    "tt.bitcast",
    "tt.broadcast",
    "tt.cat",
    "tt.clampf",
    "tt.dot",
    "tt.expand_dims",
    "tt.extern_elementwise",
    "tt.fp_to_fp",
    "tt.gather",
    "tt.get_num_programs",
    "tt.get_program_id",
    "tt.int_to_ptr",
    "tt.join",
    "tt.load",
    "tt.make_range",
    "tt.map_elementwise",
    "tt.mulhiui",
    "tt.ptr_to_int",
    "tt.reduce",
    "tt.reshape",
    "tt.return",
    "tt.scan",
    "tt.splat",
    "tt.split",
    "tt.store",
    "tt.trans",
    "tt.unsplat",
    "ttg.barrier",
    "tw.div_approx",
    "tw.div_full",
    "tw.div_rn",
    "tw.ex2_approx",
    "tw.rsqrt_approx",
    "tw.sqrt_approx",
    "tw.sqrt_rn",
    "tw.trunc",
    "twg.convert_layout",
    "ub.poison",
};

/// What a kernel never asks the runtime for; else it would pay registers and arguments for it.
constexpr llvm::StringLiteral kUnused[] = {
    "amdgpu-no-completion-action", "amdgpu-no-default-queue", "amdgpu-no-dispatch-id",   "amdgpu-no-dispatch-ptr",
    "amdgpu-no-heap-ptr",          "amdgpu-no-hostcall-ptr",  "amdgpu-no-lds-kernel-id", "amdgpu-no-multigrid-sync-arg",
    "amdgpu-no-queue-ptr",         "amdgpu-no-workitem-id-y", "amdgpu-no-workitem-id-z",
};

} // namespace

bool Amdgcn::compiles(llvm::StringRef operation) const {
  return std::binary_search(std::begin(kCompiled), std::end(kCompiled), operation);
}

void Amdgcn::declareKernel(const Emitter& e, llvm::Function& kernel) const {
  kernel.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  const int threads = e.options().numWarps * e.target().warpSize;
  const std::string count = std::to_string(threads);
  kernel.addFnAttr("amdgpu-flat-work-group-size", count + "," + count);
  kernel.addFnAttr("uniform-work-group-size", "true");
  kernel.addFnAttr("denormal-fp-math", "ieee,ieee");
  if (e.options().wavesPerUnit > 0) kernel.addFnAttr("amdgpu-waves-per-eu", std::to_string(e.options().wavesPerUnit));
  for (llvm::StringRef attribute : kUnused) kernel.addFnAttr(attribute);
  auto number = [&](int extent) {
    return llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(kernel.getContext()), uint64_t(extent)));
  };
  kernel.setMetadata("reqd_work_group_size",
                     llvm::MDNode::get(kernel.getContext(), {number(threads), number(1), number(1)}));
}

/// LDS has a fixed size in the kernel's descriptor: another variable takes the place of the one without a size.
void Amdgcn::sizeShared(llvm::GlobalVariable& memory, uint32_t bytes) const {
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(memory.getContext()), bytes);
  auto* sized = new llvm::GlobalVariable(*memory.getParent(), type, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::PoisonValue::get(type), "", nullptr, llvm::GlobalValue::NotThreadLocal,
                                         memory.getAddressSpace());
  sized->setAlignment(llvm::Align(16));
  sized->takeName(&memory);
  memory.replaceAllUsesWith(sized);
  memory.eraseFromParent();
}

Value* Amdgcn::thread(Emitter& e) const { return e.intrinsic(amdgcn_workitem_id_x, {}, {}); }

Value* Amdgcn::programId(Emitter& e, unsigned axis) const {
  constexpr ID kIds[] = {amdgcn_workgroup_id_x, amdgcn_workgroup_id_y, amdgcn_workgroup_id_z};
  return e.intrinsic(kIds[axis], {}, {});
}

/// The first three words behind the kernel's arguments (code object version 5).
Value* Amdgcn::numPrograms(Emitter& e, unsigned axis) const {
  llvm::IRBuilder<>& b = e.ir();
  Value* hidden = e.intrinsic(amdgcn_implicitarg_ptr, {}, {});
  Value* address = b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), hidden, axis);
  return b.CreateAlignedLoad(b.getInt32Ty(), address, llvm::Align(4));
}

} // namespace tiletwin::codegen
