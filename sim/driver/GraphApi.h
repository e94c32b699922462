// sim/driver/GraphApi.h -- the driver's functions on graphs and captures, as Api.h has the others.
#pragma once
#include "sim/driver/Api.h"

#define TILETWIN_GPU_GRAPHS(X)

namespace tiletwin::driver {

TILETWIN_GPU_GRAPHS(TILETWIN_GPU_DECLARE)

} // namespace tiletwin::driver
