// sim/cudart/GraphCalls.cpp -- the runtime's graphs, as far as their nodes are not the driver's (RuntimeApi.h).
#include "sim/cudart/Runtime.h"
#include "sim/driver/Api.h"
#include "sim/driver/GraphApi.h"

namespace tiletwin::cudart {
namespace {

/// A copy of bytes as the driver's nodes have it.
Copy3D linear(void* to, const void* from, size_t bytes) {
  Copy3D copy{};
  copy.fromType = copy.toType = kUnifiedMemory;
  copy.fromDevice = reinterpret_cast<DevicePointer>(from);
  copy.toDevice = reinterpret_cast<DevicePointer>(to);
  copy.width = bytes;
  copy.height = copy.depth = 1;
  return copy;
}

/// body(the thread's context).
template <class Body> Error inContextOf(const Body& body) noexcept {
  return inRuntime([&]() -> Error {
    ContextHandle context = nullptr;
    if (const Result result = cuCtxGetCurrent(&context)) return result;
    return body(context);
  });
}

} // namespace

extern "C" {

Error cudaGraphAddKernelNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             const KernelParameters* params) {
  if (!params) return record(cuda::kInvalidValue);
  FunctionHandle function = nullptr;
  if (const Error error = cudaGetFuncBySymbol(&function, params->function)) return error;
  return inRuntime([&] {
    const KernelNodeParams plain{function,           params->grid.x,  params->grid.y,  params->grid.z,
                                 params->block.x,    params->block.y, params->block.z, params->sharedBytes,
                                 params->parameters, params->extra,   nullptr,         nullptr};
    return cuGraphAddKernelNode_v2(node, graph, behind, count, &plain);
  });
}

Error cudaGraphAddMemsetNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             const MemsetNodeParams* params) {
  return inContextOf(
      [&](ContextHandle context) { return cuGraphAddMemsetNode(node, graph, behind, count, params, context); });
}

Error cudaGraphAddMemcpyNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             const Copy3DParameters* copy) {
  return inContextOf([&](ContextHandle context) -> Error {
    if (!copy || copy->fromArray || copy->toArray) return cuda::kInvalidValue;
    Copy3D plain = linear(copy->to.address, copy->from.address, copy->extent.width);
    plain.fromX = copy->fromPosition.x, plain.fromY = copy->fromPosition.y, plain.fromZ = copy->fromPosition.z;
    plain.toX = copy->toPosition.x, plain.toY = copy->toPosition.y, plain.toZ = copy->toPosition.z;
    plain.fromPitch = copy->from.pitch, plain.fromHeight = copy->from.height;
    plain.toPitch = copy->to.pitch, plain.toHeight = copy->to.height;
    plain.height = copy->extent.height, plain.depth = copy->extent.depth;
    return cuGraphAddMemcpyNode(node, graph, behind, count, &plain, context);
  });
}

Error cudaGraphAddMemcpyNode1D(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count, void* to,
                               const void* from, size_t bytes, int kind) {
  return inContextOf([&](ContextHandle context) {
    const Copy3D plain = linear(to, from, bytes);
    return cuGraphAddMemcpyNode(node, graph, behind, count, &plain, context);
  });
}

} // extern "C"
} // namespace tiletwin::cudart
