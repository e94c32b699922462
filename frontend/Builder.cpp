// frontend/Builder.cpp -- which builder language operations go to on this thread, and the one-result shorthand.
#include "frontend/Builder.h"
#include "frontend/Objects.h"

namespace tiletwin::frontend {
namespace {
thread_local Builder* tlsBuilder = nullptr;
}

Value Builder::create1(llvm::StringRef name, llvm::ArrayRef<Value> operands, Type resultType,
                       llvm::ArrayRef<mlir::NamedAttribute> attributes, const RegionSpec* region) {
  if (llvm::any_of(operands, [](const Value& operand) { return !operand; })) return {};
  llvm::SmallVector<Value, 1> results;
  if (!create(name, operands, resultType, attributes, results, region) || results.empty()) return {};
  return std::move(results.front());
}

Builder* Builder::current() {
  if (!tlsBuilder && eagerHooks().defaultBuilder) return eagerHooks().defaultBuilder();
  return tlsBuilder;
}

Builder::Scope::Scope(Builder* builder) : previous(tlsBuilder) { tlsBuilder = builder; }
Builder::Scope::~Scope() { tlsBuilder = previous; }

} // namespace tiletwin::frontend
