// codegen/passes/ProductsEarly.h -- products of an iteration that begin behind its first one and are waited for where they
// are used.
//
// Here:      products that need nothing of what the first one gives: gradients of attention have two such.
// Not here:  sums that stay in flight across iterations (DotsInFlight.h).
//
// Idea: while tensor cores compute the second product, threads work on what the first one gave.
// Invariant: a product moves over nothing that writes what it reads; its result has registers of its own until it is used.
#pragma once
#include "codegen/Codegen.h"
#include "ir/TT.h"

namespace tiletwin::codegen {

/// In loops whose sums are in flight, if registers have room for one more tile of sums.
void beginProductsEarly(tt::FuncOp kernel);

} // namespace tiletwin::codegen
