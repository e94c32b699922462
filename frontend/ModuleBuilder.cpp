// frontend/ModuleBuilder.cpp -- appending operations and filling their regions.
#include "frontend/ModuleBuilder.h"
#include "frontend/FunctionTable.h"
#include "frontend/Semantic.h"
#include "ir/Passes.h"

namespace tiletwin::frontend {

ModuleBuilder::ModuleBuilder(mlir::ModuleOp module, const SemanticOptions& options)
    : module_(module), options_(options), op_(module.getContext()),
      location_(mlir::UnknownLoc::get(module.getContext())), functions_(std::make_unique<FunctionTable>()) {}

ModuleBuilder::~ModuleBuilder() = default;

mlir::Operation* ModuleBuilder::createRaw(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                                          llvm::ArrayRef<mlir::Type> resultTypes,
                                          llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                          llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions,
                                          llvm::ArrayRef<mlir::Block*> successors) {
  mlir::OperationState state(location_, name);
  state.addOperands(operands);
  state.addTypes(resultTypes);
  state.addAttributes(attributes);
  for (std::unique_ptr<mlir::Region>& region : regions) state.addRegion(std::move(region));
  state.addSuccessors(mlir::BlockRange(successors));
  return op_.create(state);
}

/// Integers of the IR have no sign: TILETWIN_CHECK=overflow wants to know it.
static void addSigns(mlir::Operation* made, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> resultTypes) {
  llvm::StringRef name = made->getName().getStringRef();
  if (operands.empty() || resultTypes.size() != 1 || !(name.starts_with("arith.") || name.starts_with("math."))) return;
  if (!operands.back().type.isInt() && !resultTypes[0].isInt()) return;
  const int32_t signs = int32_t(operands.back().type.isSigned()) | int32_t(resultTypes[0].isSigned()) << 1;
  made->setDiscardableAttr("tt.signs", mlir::IntegerAttr::get(mlir::IntegerType::get(made->getContext(), 32), signs));
}

bool ModuleBuilder::create(llvm::StringRef name, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> resultTypes,
                           llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::SmallVectorImpl<Value>& results,
                           const RegionSpec* region) {
  if (name.starts_with("llvm.")) tt::loadDialectOf(*context(), name); // rare, and large: not loaded in advance
  mlir::OperationState state(location_, name);
  for (const Value& operand : operands) state.operands.push_back(operand.ir);
  state.addAttributes(attributes);
  if (region) {
    mlir::Block* block = nullptr;
    std::unique_ptr<mlir::Region> body = regionWithBlock(block);
    llvm::SmallVector<Value> arguments;
    for (const Type& type : region->arguments)
      arguments.push_back(runTimeValue(type, block->addArgument(type.toMlir(context()), location_)));
    mlir::OpBuilder::InsertionGuard guard(op_);
    op_.setInsertionPointToEnd(block);
    mlir::Location here = location_;
    llvm::SmallVector<Value> yielded;
    bool done = region->body(*this, arguments, yielded);
    location_ = here;
    if (!done) return false;
    createRaw(region->terminator, irOf(yielded), {});
    state.addRegion(std::move(body));
  }
  if (region && region->resultTypes) resultTypes = *region->resultTypes;
  state.addTypes(irOf(resultTypes, context()));
  mlir::Operation* made = op_.create(state);
  if (options_.checked) addSigns(made, operands, resultTypes);
  results.append(runTimeValues(resultTypes, made->getResults()));
  return true;
}

mlir::Value ModuleBuilder::poison(const Type& type) {
  return createRaw("ub.poison", {}, {type.toMlir(context())})->getResult(0);
}

} // namespace tiletwin::frontend
