// frontend/WalkerReturns.cpp -- the returns of a jit function: one form for what all of them give (rule 56), and the
// tt.return of each.
// Not here:  return statements (WalkerStatements.cpp), calls (WalkerFunctions.cpp).
#include "frontend/Walker.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tiletwin::frontend {
namespace {

/// One form for the values of all returns (rule 56): a leaf that is the same constant everywhere stays compile-time,
/// other numbers become tensors by rule 10, in the block of their return.
struct ReturnUnifier {
  ModuleBuilder& builder;
  llvm::ArrayRef<mlir::Block*> blocks;
  llvm::ArrayRef<mlir::Location> locations;
  std::vector<llvm::SmallVector<Value>> leaves; ///< of each return
  const FunctionInfo& info;

  bool mismatch(llvm::ArrayRef<PyRef> values) {
    std::string text;
    for (const PyRef& value : values) {
      Structure structure;
      if (!takeApart(value.get(), structure, nullptr)) return false;
      if (text.find(structure.describe()) == std::string::npos)
        text += (text.empty() ? "" : " and ") + structure.describe();
    }
    return raiseType(
        "Return type mismatch: the returns of " + info.name + "() give " + text +
        ". All must give the same; convert with .to(...), or return a constant of that type: tl.full((), 1, dtype)");
  }

  bool unify(llvm::ArrayRef<PyRef> values, Structure& out) {
    bool allTuples = llvm::all_of(values, [](const PyRef& v) { return PyTuple_Check(v.get()); });
    Structure first;
    if (!takeApart(values[0].get(), first, nullptr)) return false;
    if (!allTuples && first.kind != Structure::Kind::Object) {
      if (llvm::none_of(values, [](const PyRef& v) { return isTensor(v.get()); }) &&
          llvm::all_of(values, [&](const PyRef& v) { return sameConstant(v.get(), values[0].get()); })) {
        out = std::move(first);
        return true;
      }
      llvm::SmallVector<Value> tensors;
      for (size_t i = 0; i < values.size(); ++i) {
        if (!isTensor(values[i].get()) && !isNumber(unwrap(values[i].get()))) return mismatch(values);
        builder.op().setInsertionPointToEnd(blocks[i]);
        builder.setLocation(locations[i]);
        tensors.push_back(toTensor(builder, values[i].get()));
        if (!tensors.back()) return false;
        if (!(tensors[i].type == tensors[0].type)) {
          llvm::SmallVector<PyRef> made;
          for (const Value& tensor : tensors) made.push_back(makeTensor(tensor));
          return mismatch(made);
        }
        leaves[i].push_back(tensors.back());
      }
      out.kind = Structure::Kind::Tensor;
      out.type = tensors[0].type;
      return true;
    }
    out.kind = first.kind;
    out.object = first.object;
    out.names = first.names;
    std::vector<llvm::SmallVector<PyRef>> parts(first.items.size());
    for (const PyRef& value : values) {
      Structure structure;
      if (!takeApart(value.get(), structure, nullptr)) return false;
      if (structure.kind != first.kind || structure.object.get() != first.object.get() ||
          structure.items.size() != first.items.size())
        return mismatch(values);
      for (size_t i = 0; i < first.items.size(); ++i) {
        parts[i].push_back(wrapConstant(first.kind == Structure::Kind::Tuple
                                            ? PyRef::borrow(PyTuple_GetItem(value.get(), Py_ssize_t(i)))
                                            : attribute(value.get(), first.names[i].get())));
        if (!parts[i].back()) return false;
      }
    }
    out.items.resize(first.items.size());
    for (size_t i = 0; i < first.items.size(); ++i)
      if (!unify(parts[i], out.items[i])) return false;
    return true;
  }
};

/// Blocks that nothing branches to hold what follows a return; they are not part of the program.
void eraseUnreachable(mlir::Region& region) {
  llvm::SmallPtrSet<mlir::Block*, 16> reached;
  llvm::SmallVector<mlir::Block*> work{&region.front()};
  while (!work.empty()) {
    mlir::Block* block = work.pop_back_val();
    if (reached.insert(block).second && !block->empty()) llvm::append_range(work, block->getSuccessors());
  }
  for (mlir::Block& block : region)
    if (!reached.contains(&block)) block.dropAllReferences();
  for (mlir::Block& block : llvm::make_early_inc_range(region))
    if (!reached.contains(&block)) {
      block.dropAllDefinedValueUses();
      block.erase();
    }
}

} // namespace

bool Walker::finishReturns(mlir::Operation* function, Structure& result, bool isKernel) {
  mlir::OpBuilder& op = builder_.op();
  mlir::Block* last = op.getInsertionBlock();
  ReturnUnifier unifier{builder_, {}, {}, std::vector<llvm::SmallVector<Value>>(returns_.size()), *info_};
  llvm::SmallVector<mlir::Block*> blocks;
  llvm::SmallVector<mlir::Location> locations;
  llvm::SmallVector<PyRef> values;
  for (const Return& entry : returns_) {
    blocks.push_back(entry.block);
    locations.push_back(entry.location);
    values.push_back(entry.value);
    if (isKernel && unwrap(entry.value.get()) != Py_None)
      return refuse(entry.node, "a kernel cannot return a value: write it to memory with tl.store",
                    ErrorClass::Compilation);
  }
  unifier.blocks = blocks;
  unifier.locations = locations;
  result = Structure();
  if (values.empty()) {
    result.object = makeConstexpr(Py_None);
  } else if (!unifier.unify(values, result)) {
    locateError(place(returns_.back().node));
    return false;
  }
  llvm::SmallVector<Type> types;
  leafTypes(result, types);
  for (size_t i = 0; i < returns_.size(); ++i) {
    op.setInsertionPointToEnd(blocks[i]);
    builder_.setLocation(locations[i]);
    builder_.createRaw("tt.return", irOf(unifier.leaves[i]), {});
  }
  // Falling off the end gives undefined values where other paths return some.
  op.setInsertionPointToEnd(last);
  builder_.setLocation(info_->location);
  llvm::SmallVector<mlir::Value> undefined;
  for (const Type& type : types) undefined.push_back(builder_.poison(type));
  builder_.createRaw("tt.return", undefined, {});
  if (!llvm::hasSingleElement(*functionRegion_)) eraseUnreachable(*functionRegion_);
  llvm::SmallVector<mlir::Type> inputs(functionRegion_->getArgumentTypes());
  function->setAttr("function_type", mlir::TypeAttr::get(op.getFunctionType(inputs, irOf(types, builder_.context()))));
  return true;
}

} // namespace tiletwin::frontend
