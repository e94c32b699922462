// ir/OpTable.h -- tables with one row an operation, whose completeness the build checks.
//
// Here:      lists of operations as types, tables.
// Not here:  which operations there are (Registry.h), what a table's functions do (its own file).
//
// Idea:      a stage declares one function template, `template <class Op> LogicalResult plan(PlanBuilder&, Op);`, and defines
//            it nowhere. The file of a family gives the specialization for each of its operations. The stage's table is made
//            from lists of operations, so it asks for all of these functions: one that is missing ends the build as an
//            undefined symbol, `plan<tt::LoadOp>`. What a stage leaves out is a list too.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <string_view>
#include <vector>

namespace tiletwin {

/// Classes of operations.
template <class... Op> struct OpList {};

/// Whether a class stands in one of the lists.
template <class Op, class... List> inline constexpr bool isListed = (isListed<Op, List> || ...);
template <class Op, class... Listed>
inline constexpr bool isListed<Op, OpList<Listed...>> = (std::is_same_v<Op, Listed> || ...);

/// Whether an operation is of a class of the list.
template <class... Op> bool isAnyOf(mlir::Operation* op, OpList<Op...>) { return llvm::isa<Op...>(op); }

/// What is known of operations, by their class.
template <class Value> class OpTable {
public:
  /// Of all operations of `Lists` but those of `LeftOut`. `rowOf`: a lambda whose only template parameter is the class.
  template <class LeftOut, class... Lists, class RowOf> static OpTable of(RowOf rowOf) {
    OpTable table;
    requireListed<Lists...>(LeftOut{});
    (table.addAll<LeftOut>(Lists{}, rowOf), ...);
    llvm::sort(table.names_);
    return table;
  }
  /// The row of an operation; null: none.
  const Value* find(mlir::Operation* op) const {
    auto row = rows_.find(op->getName().getTypeID());
    return row == rows_.end() ? nullptr : &row->second;
  }
  /// The operations' names ("tt.load"), sorted.
  const std::vector<std::string_view>& names() const { return names_; }

private:
  template <class... Lists, class... Op> static void requireListed(OpList<Op...>) {
    static_assert((isListed<Op, Lists...> && ...), "an operation that is left out is in no list");
  }
  template <class LeftOut, class... Op, class RowOf> void addAll(OpList<Op...>, RowOf rowOf) {
    (add<LeftOut, Op>(rowOf), ...);
  }
  template <class LeftOut, class Op, class RowOf> void add(RowOf rowOf) {
    if constexpr (!isListed<Op, LeftOut>) {
      names_.push_back(std::string_view(Op::getOperationName()));
      rows_.try_emplace(mlir::TypeID::get<Op>(), rowOf.template operator()<Op>());
    }
  }

  std::vector<std::string_view> names_;
  llvm::DenseMap<mlir::TypeID, Value> rows_;
};

} // namespace tiletwin
