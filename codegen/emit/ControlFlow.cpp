// codegen/emit/ControlFlow.cpp -- loops, branches and blocks: values carried around become PHIs, one each register.
#include "codegen/emit/Emitter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

namespace {

/// Makes PHIs for values of these types at the builder's place (the top of a block) and defines `values` as them.
void definePhis(Emitter& e, ValueRange values) {
  for (mlir::Value value : values) {
    Values phis;
    for (llvm::Type* type : e.registerTypesOf(value.getType())) phis.push_back(e.ir().CreatePHI(type, 2));
    e.define(value, std::move(phis));
  }
}

/// Adds what comes in from the block `from` to PHIs that definePhis made.
void addIncoming(Emitter& e, ValueRange phis, ValueRange incoming, BasicBlock* from) {
  for (auto [phi, value] : llvm::zip_equal(phis, incoming))
    for (auto [node, in] : llvm::zip_equal(e.values(phi), e.values(value))) cast<PHINode>(node)->addIncoming(in, from);
}

/// What a loop asks of LLVM (disable_licm of tl.range and tl.condition), on the branch back to its head.
void annotate(llvm::Instruction* back, Operation* loop) {
  auto annotation = loop->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
  if (!annotation || !annotation.getLicm() || !annotation.getLicm().getDisable().getValue()) return;
  llvm::LLVMContext& context = back->getContext();
  auto* licm = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.licm.disable"));
  auto* self = llvm::MDNode::getDistinct(context, {nullptr, licm});
  self->replaceOperandWith(0, self);
  back->setMetadata(llvm::LLVMContext::MD_loop, self);
}

} // namespace

template <> LogicalResult emit(Emitter& e, scf::ForOp loop) {
  llvm::IRBuilder<>& b = e.ir();
  Value* lower = e.scalar(loop.getLowerBound());
  Value* upper = e.scalar(loop.getUpperBound());
  Value* step = e.scalar(loop.getStep());
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock *head = e.newBlock("for"), *body = e.newBlock("for.body"), *after = e.newBlock("for.end");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  PHINode* induction = b.CreatePHI(lower->getType(), 2);
  induction->addIncoming(lower, before);
  definePhis(e, loop.getRegionIterArgs());
  addIncoming(e, loop.getRegionIterArgs(), loop.getInitArgs(), before);
  e.define(loop.getInductionVar(), induction);
  Value* more = loop.getUnsignedCmp() ? b.CreateICmpULT(induction, upper) : b.CreateICmpSLT(induction, upper);
  b.CreateCondBr(more, body, after);
  b.SetInsertPoint(body);
  if (failed(e.emitBody(*loop.getBody()))) return failure();
  Value* next = b.CreateAdd(induction, step);
  BasicBlock* last = b.GetInsertBlock();
  induction->addIncoming(next, last);
  addIncoming(e, loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands(), last);
  annotate(b.CreateBr(head), loop);
  b.SetInsertPoint(after);
  for (auto [result, carried] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    e.define(result, Values(e.values(carried)));
  return success();
}

template <> LogicalResult emit(Emitter& e, scf::IfOp branch) {
  llvm::IRBuilder<>& b = e.ir();
  bool hasElse = !branch.getElseRegion().empty();
  BasicBlock* then = e.newBlock("if.then");
  BasicBlock* otherwise = hasElse ? e.newBlock("if.else") : nullptr;
  BasicBlock* after = e.newBlock("if.end");
  b.CreateCondBr(e.scalar(branch.getCondition()), then, hasElse ? otherwise : after);
  b.SetInsertPoint(then);
  if (failed(e.emitBody(*branch.thenBlock()))) return failure();
  BasicBlock* thenEnd = b.GetInsertBlock();
  b.CreateBr(after);
  BasicBlock* elseEnd = nullptr;
  if (hasElse) {
    b.SetInsertPoint(otherwise);
    if (failed(e.emitBody(*branch.elseBlock()))) return failure();
    elseEnd = b.GetInsertBlock();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  definePhis(e, branch.getResults());
  if (branch.getNumResults() == 0) return success();
  addIncoming(e, branch.getResults(), branch.thenBlock()->getTerminator()->getOperands(), thenEnd);
  addIncoming(e, branch.getResults(), branch.elseBlock()->getTerminator()->getOperands(), elseEnd);
  return success();
}

template <> LogicalResult emit(Emitter& e, scf::WhileOp loop) {
  llvm::IRBuilder<>& b = e.ir();
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock *head = e.newBlock("while"), *body = e.newBlock("while.body"), *after = e.newBlock("while.end");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  definePhis(e, loop.getBeforeArguments());
  addIncoming(e, loop.getBeforeArguments(), loop.getInits(), before);
  if (failed(e.emitBody(*loop.getBeforeBody()))) return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  b.CreateCondBr(e.scalar(condition.getCondition()), body, after);
  b.SetInsertPoint(body);
  for (auto [argument, value] : llvm::zip_equal(loop.getAfterArguments(), condition.getArgs()))
    e.define(argument, Values(e.values(value)));
  if (failed(e.emitBody(*loop.getAfterBody()))) return failure();
  addIncoming(e, loop.getBeforeArguments(), loop.getYieldOp().getOperands(), b.GetInsertBlock());
  annotate(b.CreateBr(head), loop);
  b.SetInsertPoint(after);
  for (auto [result, value] : llvm::zip_equal(loop.getResults(), condition.getArgs()))
    e.define(result, Values(e.values(value)));
  return success();
}

template <> LogicalResult emit(Emitter& e, scf::ExecuteRegionOp region) {
  if (region.getRegion().hasOneBlock()) {
    Block& block = region.getRegion().front();
    if (failed(e.emitBody(block))) return failure();
    for (auto [result, value] : llvm::zip_equal(region.getResults(), block.getTerminator()->getOperands()))
      e.define(result, Values(e.values(value)));
    return success();
  }
  // Several ways out: all go to one block, where what each yields meets.
  BasicBlock* after = e.newBlock("region.end");
  {
    llvm::IRBuilderBase::InsertPointGuard guard(e.ir());
    e.ir().SetInsertPoint(after);
    definePhis(e, region.getResults());
  }
  auto leave = [&](Operation* yield) {
    addIncoming(e, region.getResults(), yield->getOperands(), e.ir().GetInsertBlock());
    e.ir().CreateBr(after);
    return success();
  };
  if (failed(e.emitBlocks(region.getRegion(), leave))) return failure();
  e.ir().SetInsertPoint(after);
  return success();
}

LogicalResult Emitter::emitBlocks(Region& region, llvm::function_ref<LogicalResult(Operation*)> leave) {
  // Blocks but the first get their PHIs before anything branches to them. Dominators come first in the list.
  for (Block& block : llvm::drop_begin(region)) {
    BasicBlock* made = newBlock("block");
    blocks_[&block] = made;
    llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(made);
    definePhis(*this, block.getArguments());
  }
  for (Block& block : region) {
    if (!block.isEntryBlock()) builder_.SetInsertPoint(blocks_[&block]);
    if (failed(emitBody(block))) return failure();
    Operation* last = block.getTerminator();
    if (failed(isa<BranchOpInterface>(last) ? emitOperation(last) : leave(last))) return failure();
  }
  return success();
}

void Emitter::branchTo(Block* block, ValueRange operands) {
  addIncoming(*this, block->getArguments(), operands, builder_.GetInsertBlock());
}

template <> LogicalResult emit(Emitter& e, cf::BranchOp branch) {
  e.branchTo(branch.getDest(), branch.getDestOperands());
  e.ir().CreateBr(e.blockOf(branch.getDest()));
  return success();
}

template <> LogicalResult emit(Emitter& e, cf::CondBranchOp branch) {
  e.branchTo(branch.getTrueDest(), branch.getTrueDestOperands());
  if (branch.getTrueDest() != branch.getFalseDest()) {
    e.branchTo(branch.getFalseDest(), branch.getFalseDestOperands());
    e.ir().CreateCondBr(e.scalar(branch.getCondition()), e.blockOf(branch.getTrueDest()),
                        e.blockOf(branch.getFalseDest()));
    return success();
  }
  // One block with two sets of operands: a block of its own tells the edges apart.
  BasicBlock* between = e.newBlock("edge");
  e.ir().CreateCondBr(e.scalar(branch.getCondition()), e.blockOf(branch.getTrueDest()), between);
  e.ir().SetInsertPoint(between);
  e.branchTo(branch.getFalseDest(), branch.getFalseDestOperands());
  e.ir().CreateBr(e.blockOf(branch.getFalseDest()));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::ReturnOp) {
  e.ir().CreateRetVoid();
  return success();
}

} // namespace tiletwin::codegen
