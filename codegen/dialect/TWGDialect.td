// codegen/dialect/TWGDialect.td -- the dialect twg: what a kernel for a GPU says that tt does not: where tiles live.
#ifndef TILETWIN_TWG_DIALECT
#define TILETWIN_TWG_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TWG_Dialect : Dialect {
  let name = "twg";
  let cppNamespace = "::tiletwin::twg";
  let summary = "tiles spread over the threads of a CTA";
  let description = [{
    Between layout choice and the emission of LLVM IR every tile type carries a `#twg.linear` encoding. Operations of tt,
    tw, arith and math stay as they are, with operands and results in layouts that fit each other; what moves elements
    between threads is an operation of this dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class TWG_Op<string mnemonic, list<Trait> traits = []> : Op<TWG_Dialect, mnemonic, traits>;

#endif
