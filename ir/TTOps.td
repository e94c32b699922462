// ir/TTOps.td -- all operations of tt, by family. tablegen reads this file; people read the families.
#ifndef TILETWIN_TT_OPS
#define TILETWIN_TT_OPS

include "ir/FunctionOps.td"
include "ir/ShapeOps.td"
include "ir/MemoryOps.td"
include "ir/ElementwiseOps.td"
include "ir/ReduceOps.td"
include "ir/DotOps.td"
include "ir/AtomicOps.td"
include "ir/DescriptorOps.td"
include "ir/DebugOps.td"
include "ir/NativeDebugOps.td"
include "ir/ProbeOps.td"
include "ir/ProbeCallOps.td"

#endif
