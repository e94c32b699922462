// sim/driver/ArrayApi.h -- the driver's functions on arrays, textures and surfaces, as Api.h has the others.
#pragma once
#include "sim/driver/Api.h"
#include "sim/driver/Arrays.h"

#define TILETWIN_GPU_ARRAYS(X)                                                                                         \
  X(cuArrayCreate, 3020, cuArrayCreate_v2, (ArrayHandle * array, const ArrayDescription* asked))                       \
  X(cuArrayDestroy, 2000, cuArrayDestroy, (ArrayHandle array))                                                         \
  X(cuArrayGetDescriptor, 3020, cuArrayGetDescriptor_v2, (ArrayDescription * asked, ArrayHandle array))                \
  X(cuArray3DCreate, 3020, cuArray3DCreate_v2, (ArrayHandle * array, const Array3DDescription* asked))                 \
  X(cuArray3DGetDescriptor, 3020, cuArray3DGetDescriptor_v2, (Array3DDescription * asked, ArrayHandle array))          \
  X(cuMipmappedArrayCreate, 5000, cuMipmappedArrayCreate,                                                              \
    (MipmappedHandle * array, const Array3DDescription* asked, unsigned levels))                                       \
  X(cuMipmappedArrayDestroy, 5000, cuMipmappedArrayDestroy, (MipmappedHandle array))                                   \
  X(cuMipmappedArrayGetLevel, 5000, cuMipmappedArrayGetLevel,                                                          \
    (ArrayHandle * array, MipmappedHandle mipmapped, unsigned level))                                                  \
  X(cuTexObjectCreate, 5000, cuTexObjectCreate,                                                                        \
    (uint64_t* texture, const ResourceDescription* resource, const TextureDescription* asked,                          \
     const ViewDescription* view))                                                                                     \
  X(cuTexObjectDestroy, 5000, cuTexObjectDestroy, (uint64_t texture))                                                  \
  X(cuTexObjectGetResourceDesc, 5000, cuTexObjectGetResourceDesc, (ResourceDescription * resource, uint64_t texture))  \
  X(cuTexObjectGetTextureDesc, 5000, cuTexObjectGetTextureDesc, (TextureDescription * asked, uint64_t texture))        \
  X(cuTexObjectGetResourceViewDesc, 5000, cuTexObjectGetResourceViewDesc, (ViewDescription * view, uint64_t texture))  \
  X(cuSurfObjectCreate, 5000, cuSurfObjectCreate, (uint64_t* surface, const ResourceDescription* resource))            \
  X(cuSurfObjectDestroy, 5000, cuSurfObjectDestroy, (uint64_t surface))                                                \
  X(cuSurfObjectGetResourceDesc, 5000, cuSurfObjectGetResourceDesc, (ResourceDescription * resource, uint64_t surface))

namespace tiletwin::driver {

TILETWIN_GPU_ARRAYS(TILETWIN_GPU_DECLARE)

} // namespace tiletwin::driver
