// ir/OpTable.h -- tables with one row an operation, whose completeness the compiler checks.
//
// Here:      lists of operations as types, rows, tables.
// Not here:  which operations there are (Registry.h), what a table's functions do (its own file).
//
// Idea:      a row names an operation's class, and so does the function that it holds: a function for another operation does
//            not compile. completeTable() ends the build where an operation has no row; the error names it.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <string_view>
#include <vector>

namespace tiletwin {

/// Classes of operations.
template <class... Op> struct OpList {};

/// Whether a class stands in a list.
template <class Op, class List> inline constexpr bool isListed = false;
template <class Op, class... Listed>
inline constexpr bool isListed<Op, OpList<Listed...>> = (std::is_same_v<Op, Listed> || ...);

/// A row of a table: what it holds, and for which operation.
template <class Op, class Value> struct OpRow {
  using Operation = Op;
  Value value;
};

/// What is known of operations, by their class.
template <class Value> class OpTable {
public:
  template <class... Op>
  explicit OpTable(OpRow<Op, Value>... rows) : names_{std::string_view(Op::getOperationName())...} {
    (rows_.try_emplace(mlir::TypeID::get<Op>(), rows.value), ...);
  }
  /// The row of an operation; null: none.
  const Value* find(mlir::Operation* op) const {
    auto row = rows_.find(op->getName().getTypeID());
    return row == rows_.end() ? nullptr : &row->second;
  }
  /// The operations' names ("tt.load"), in the order of the rows.
  const std::vector<std::string_view>& names() const { return names_; }

private:
  std::vector<std::string_view> names_;
  llvm::DenseMap<mlir::TypeID, Value> rows_;
};

namespace detail {
template <class Operation, bool hasRow, bool isLeftOut> constexpr void requireRow() {
  static_assert(hasRow || isLeftOut, "a table has no row for the operation that the next note names");
  static_assert(!hasRow || !isLeftOut,
                "a table has a row for the operation that the next note names, and leaves it out");
}
template <class Rows, class Without, class... Op> constexpr void requireRows(OpList<Op...>) {
  (requireRow<Op, isListed<Op, Rows>, isListed<Op, Without>>(), ...);
}
} // namespace detail

/// A table that has a row for each operation of `Ops`, a list of lists, but those of the list `Without`.
template <class Value, class Without, class... Ops, class... Op>
OpTable<Value> completeTable(OpRow<Op, Value>... rows) {
  (detail::requireRows<OpList<Op...>, Without>(Ops{}), ...);
  return OpTable<Value>(rows...);
}

} // namespace tiletwin
