// sim/driver/Copies.h -- copies and fills from the driver's structures, for streams and for graphs' nodes.
#pragma once
#include "sim/driver/Work.h"

namespace tiletwin::driver {

/// kInvalidValue: rows that overlap, addresses that are in no memory; kInvalidHandle: no array.
Result makeCopy(const Copy3D& copy, std::shared_ptr<CopyWork>& work);
/// A copy of one row, as a graph's node tells it.
Copy3D askedOf(const CopyShape& shape, bool fromDevice, bool toDevice);
Result checkFill(const MemsetNodeParams& params);

} // namespace tiletwin::driver
