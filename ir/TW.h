// ir/TW.h -- operations of the dialect tw: float operations as a target rounds them.
// Here:      the generated classes.
// Not here:  the pass that makes them (Numerics.h). What each one computes: TWOps.td, and docs/tw.md made from it.
#pragma once
#include "ir/TT.h"

#include "ir/TWDialect.h.inc"
#define GET_OP_CLASSES
#include "ir/TWOps.h.inc"
