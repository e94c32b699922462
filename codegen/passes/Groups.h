// codegen/passes/Groups.h -- fences, groups and waits of what tensor cores and the tensor unit do on their own.
// Here:      those of products and of stores to tensors. Not here: copies by threads, which the passes that make rings group
//            (Ring.h), products that a loop leaves in flight, which it waits for itself (DotsInFlight.h).
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Puts a fence in front of each product of warpgroups and makes it a group of its own, as it does with each store to a
/// tensor. Products that are not in flight are waited for at once, stores where StoreWaits.h says. Barriers have their places.
void makeGroups(tt::FuncOp kernel);

} // namespace tiletwin::codegen
