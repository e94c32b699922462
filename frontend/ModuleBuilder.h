// frontend/ModuleBuilder.h -- the Builder of compiled mode: appends operations, by name, to tt functions of one module.
// Here:      insertion point, current location and variable name, regions; the table of emitted private functions.
// Not here:  what to emit (Semantic.h, Walker.h); whether the module is right (the verifier runs in Frontend.cpp).
#pragma once
#include "frontend/Builder.h"
#include "frontend/Probes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <memory>

namespace tiletwin::frontend {

struct FunctionTable;

inline Value runTimeValue(const Type& type, mlir::Value ir) {
  Value value;
  value.type = type;
  value.ir = ir;
  return value;
}

inline llvm::SmallVector<mlir::Value> irOf(llvm::ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](const Value& value) { return value.ir; });
}
inline llvm::SmallVector<mlir::Type> irOf(llvm::ArrayRef<Type> types, mlir::MLIRContext* context) {
  return llvm::map_to_vector(types, [&](const Type& type) { return type.toMlir(context); });
}
/// What an operation, a block or a function gives, as values of these types.
inline llvm::SmallVector<Value> runTimeValues(llvm::ArrayRef<Type> types, mlir::ValueRange values) {
  return llvm::map_to_vector(llvm::zip(types, values),
                             [](auto pair) { return runTimeValue(std::get<0>(pair), std::get<1>(pair)); });
}
/// `place`, with the name of the variable that holds the value.
inline mlir::Location namedPlace(llvm::StringRef name, mlir::Location place) {
  return mlir::NameLoc::get(mlir::StringAttr::get(place.getContext(), name), place);
}

/// A detached region with one empty block.
inline std::unique_ptr<mlir::Region> regionWithBlock(mlir::Block*& block) {
  auto region = std::make_unique<mlir::Region>();
  block = new mlir::Block;
  region->push_back(block);
  return region;
}

class ModuleBuilder final : public Builder {
public:
  /// `module` and `options` must outlive the builder. Who makes a function or region sets the insertion point.
  ModuleBuilder(mlir::ModuleOp module, const SemanticOptions& options);
  ~ModuleBuilder() override;

  mlir::MLIRContext* context() override { return op_.getContext(); }
  bool isEager() const override { return false; }
  const SemanticOptions& options() const override { return options_; }
  bool create(llvm::StringRef name, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> resultTypes,
              llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::SmallVectorImpl<Value>& results,
              const RegionSpec* region = nullptr) override;
  void setLocation(mlir::Location loc) override { location_ = loc; }
  mlir::Location location() override { return location_; }

  /// As `create`, with ready-made regions and MLIR types; returns the operation.
  mlir::Operation* createRaw(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                             llvm::ArrayRef<mlir::Type> resultTypes,
                             llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                             llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions = {},
                             llvm::ArrayRef<mlir::Block*> successors = {});
  mlir::Value poison(const Type& type);

  mlir::ModuleOp module() { return module_; }
  mlir::OpBuilder& op() { return op_; }
  FunctionTable& functions() { return *functions_; }
  /// By tt.probe_call's `site`.
  std::vector<ProbeRecipe>& probes() { return probes_; }

private:
  mlir::ModuleOp module_;
  const SemanticOptions& options_;
  mlir::OpBuilder op_;
  mlir::Location location_;
  std::unique_ptr<FunctionTable> functions_;
  std::vector<ProbeRecipe> probes_;
};

} // namespace tiletwin::frontend
