// interp/plan/Forms.cpp -- the forms of a function's values as text, for `tiletwin ir --stage plan`.
// Here:      one line a value: place, name, operation, form.
// Not here:  who chooses a form (the functions that plan operations), the plan's instructions as text (Plan.cpp).
// Invariant: it is made after planning, and only where somebody wants to read it.
#include "interp/plan/Builder.h"
#include "llvm/ADT/StringExtras.h"

namespace tiletwin::interp {

/// What a value costs: bytes for each program that holds it.
static std::string bytesOf(const Rep& r) { return std::to_string(uint64_t(elementsOf(r.shape)) * sizeOf(r.type)); }

/// A constant: integers as numbers, others by their bits.
static std::string constantOf(int64_t value, DType type) {
  if (isInteger(type) || !value) return std::to_string(value);
  return "0x" + llvm::utohexstr(uint64_t(value), /*LowerCase=*/true);
}

static std::string sumOf(DType type, const Uniform& base, llvm::ArrayRef<Uniform> strides) {
  std::string text = base.constant ? constantOf(base.value, type) : "base";
  for (size_t d = 0; d < strides.size(); ++d) {
    const Uniform& s = strides[d];
    if (s.is(0)) continue;
    text += " + " + (s.constant ? std::to_string(s.value) : std::string("stride")) + " * i" + std::to_string(d);
  }
  return text;
}

static std::string boxOf(const Rep& r) {
  std::string text;
  for (size_t d = 0; d < r.lo.size(); ++d) {
    auto bound = [](const Uniform& u) { return u.constant ? std::to_string(u.value) : std::string("n"); };
    text += (d ? ", " : "") + bound(r.lo[d]) + " <= i" + std::to_string(d) + " < " + bound(r.hi[d]);
  }
  return text;
}

static std::string formOf(const Rep& r) {
  switch (r.kind) {
  case Rep::None: return "none";
  case Rep::Scalar: return "scalar" + (r.base.constant ? ": " + constantOf(r.base.value, r.type) : std::string());
  case Rep::Affine: return (r.isSplat() ? "splat: " : "affine: ") + sumOf(r.type, r.base, r.strides);
  case Rep::Box: return "box mask: " + boxOf(r);
  case Rep::Rows: return "rows: table along dimension " + std::to_string(r.tableDim);
  case Rep::Descriptor: return "descriptor";
  case Rep::Tile:
    if (r.tile.view) return "memory view";
    return r.tile.base == kNoReg ? "strip" : "dense: " + bytesOf(r) + " bytes"; // nothing outside its group reads it
  }
  return "none";
}

std::string PlanBuilder::formsText() {
  std::string text = "forms:\n";
  auto line = [&](mlir::Value v, llvm::StringRef by) {
    if (!has(v)) return;
    const SourceLocation& where = placeAt(v.getLoc());
    text += "  " + std::to_string(where.line) + ":" + std::to_string(where.column) + "  " + by.str();
    text += (where.variable.empty() ? "" : " (" + where.variable + ")") + "  " + formOf(rep(v)) + "\n";
  };
  func_->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    for (mlir::Value result : op->getResults()) line(result, op->getName().getStringRef());
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region)
        for (mlir::BlockArgument argument : block.getArguments()) line(argument, "argument");
  });
  return text;
}

} // namespace tiletwin::interp
