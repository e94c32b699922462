// ir/Ops.cpp -- the generated operation classes and nothing else: the slowest file of this folder to compile.
#include "ir/TT.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

#include "ir/TTInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "ir/TTOps.cpp.inc"
#define GET_OP_CLASSES
#include "ir/TTGOps.cpp.inc"
