// ir/TTInterfaces.td -- what operations of several families have in common, so that code asks for it and not for their names.
// Not here:  traits of shapes (TTDialect.td), effects on memory, which operations declare themselves.
#ifndef TILETWIN_TT_INTERFACES
#define TILETWIN_TT_INTERFACES

include "mlir/IR/OpBase.td"

def TT_MemoryAccess : OpInterface<"MemoryAccess"> {
  let description = [{ An operation that reads or writes the memory behind the kernel's arguments. }];
  let cppNamespace = "::tiletwin::tt";
  let methods = [
    InterfaceMethod<"The pointers, or the descriptor.", "::mlir::Value", "getAddress", (ins), [{}],
                    [{ return $_op->getOperand(0); }]>,
    InterfaceMethod<"Which lanes take part; null: all.", "::mlir::Value", "getMask", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"Whether the program gets to know what memory holds.", "bool", "reads", (ins), [{}],
                    [{ return ::mlir::hasEffect<::mlir::MemoryEffects::Read>($_op.getOperation()); }]>,
    InterfaceMethod<"Whether memory may hold something else afterwards.", "bool", "writes", (ins), [{}],
                    [{ return ::mlir::hasEffect<::mlir::MemoryEffects::Write>($_op.getOperation()); }]>
  ];
}

// One step for all who look at the memory: no access of others comes in between.
def TT_Atomic : NativeOpTrait<"Atomic"> { let cppNamespace = "::tiletwin::tt"; }

#endif
