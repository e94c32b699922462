// sim/cudart/GraphCalls.cpp -- the runtime's graphs, as far as their nodes are not the driver's (RuntimeApi.h).
#include "sim/cudart/Binaries.h"
#include "sim/cudart/Runtime.h"
#include "sim/driver/Api.h"
#include "sim/driver/GraphApi.h"
#include <cstring>

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

/// use(parameters of a kernel's node as the driver has them). The function may be named by its handle.
template <class Use> Error withKernel(const KernelParameters* params, const Use& use) noexcept {
  return inRuntime([&]() -> Error {
    if (!params || !params->function) return cuda::kInvalidValue;
    FunctionHandle function = nullptr;
    if (Binaries::instance().isKernel(params->function)) {
      if (const Error error = cudaGetFuncBySymbol(&function, params->function)) return error;
    } else {
      function = static_cast<FunctionHandle>(params->function);
    }
    return use(KernelNodeParams{function, params->grid.x, params->grid.y, params->grid.z, params->block.x,
                                params->block.y, params->block.z, params->sharedBytes, params->parameters,
                                params->extra, nullptr, nullptr});
  });
}

/// use(a copy as the driver has it, the thread's context).
template <class Use> Error withCopy(const Copy3DParameters* copy, const Use& use) noexcept {
  return inContextOf([&](ContextHandle context) -> Error {
    if (!copy || copy->fromArray || copy->toArray) return cuda::kInvalidValue;
    Copy3D plain = linear(copy->to.address, copy->from.address, copy->extent.width);
    plain.fromX = copy->fromPosition.x, plain.fromY = copy->fromPosition.y, plain.fromZ = copy->fromPosition.z;
    plain.toX = copy->toPosition.x, plain.toY = copy->toPosition.y, plain.toZ = copy->toPosition.z;
    plain.fromPitch = copy->from.pitch, plain.fromHeight = copy->from.height;
    plain.toPitch = copy->to.pitch, plain.toHeight = copy->to.height;
    plain.height = copy->extent.height, plain.depth = copy->extent.depth;
    return use(plain, context);
  });
}

Copy3DParameters runtimeCopy(const Copy3D& plain) {
  const auto address = [](MemoryType type, const void* host, DevicePointer device) {
    return type == kHostMemory ? const_cast<void*>(host) : reinterpret_cast<void*>(device); // NOLINT: an address
  };
  Copy3DParameters copy{};
  copy.from = {address(plain.fromType, plain.fromHost, plain.fromDevice), plain.fromPitch, plain.width,
               plain.fromHeight};
  copy.to = {address(plain.toType, plain.toHost, plain.toDevice), plain.toPitch, plain.width, plain.toHeight};
  copy.fromPosition = {plain.fromX, plain.fromY, plain.fromZ};
  copy.toPosition = {plain.toX, plain.toY, plain.toZ};
  copy.extent = {plain.width, plain.height, plain.depth};
  copy.kind = kCopyDefault;
  return copy;
}

} // namespace

extern "C" {

Error cudaGraphAddKernelNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             const KernelParameters* params) {
  return withKernel(params, [&](const KernelNodeParams& plain) {
    return cuGraphAddKernelNode_v2(node, graph, behind, count, &plain);
  });
}
Error cudaGraphKernelNodeSetParams(NodeHandle node, const KernelParameters* params) {
  return withKernel(params, [&](const KernelNodeParams& plain) { return cuGraphKernelNodeSetParams_v2(node, &plain); });
}
Error cudaGraphExecKernelNodeSetParams(GraphExecHandle exec, NodeHandle node, const KernelParameters* params) {
  return withKernel(
      params, [&](const KernelNodeParams& plain) { return cuGraphExecKernelNodeSetParams_v2(exec, node, &plain); });
}
// The function is told by its handle, which every call above takes too.
Error cudaGraphKernelNodeGetParams(NodeHandle node, KernelParameters* params) {
  return inRuntime([&]() -> Error {
    KernelNodeParams plain{};
    if (!params) return cuda::kInvalidValue;
    if (const Result result = cuGraphKernelNodeGetParams_v2(node, &plain)) return result;
    *params = {plain.function,
               {plain.gridX, plain.gridY, plain.gridZ},
               {plain.blockX, plain.blockY, plain.blockZ},
               plain.sharedBytes,
               plain.parameters,
               plain.extra};
    return cuda::kSuccess;
  });
}

Error cudaGraphAddMemsetNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             const MemsetNodeParams* params) {
  return inContextOf(
      [&](ContextHandle context) { return cuGraphAddMemsetNode(node, graph, behind, count, params, context); });
}

Error cudaGraphAddMemcpyNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             const Copy3DParameters* copy) {
  return withCopy(copy, [&](const Copy3D& plain, ContextHandle context) {
    return cuGraphAddMemcpyNode(node, graph, behind, count, &plain, context);
  });
}
Error cudaGraphMemcpyNodeSetParams(NodeHandle node, const Copy3DParameters* copy) {
  return withCopy(copy, [&](const Copy3D& plain, ContextHandle) { return cuGraphMemcpyNodeSetParams(node, &plain); });
}
Error cudaGraphExecMemcpyNodeSetParams(GraphExecHandle exec, NodeHandle node, const Copy3DParameters* copy) {
  return withCopy(copy, [&](const Copy3D& plain, ContextHandle context) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, &plain, context);
  });
}
Error cudaGraphMemcpyNodeGetParams(NodeHandle node, Copy3DParameters* copy) {
  return inRuntime([&]() -> Error {
    Copy3D plain{};
    if (!copy) return cuda::kInvalidValue;
    if (const Result result = cuGraphMemcpyNodeGetParams(node, &plain)) return result;
    *copy = runtimeCopy(plain);
    return cuda::kSuccess;
  });
}

Error cudaGraphAddMemcpyNode1D(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count, void* to,
                               const void* from, size_t bytes, int kind) {
  return inContextOf([&](ContextHandle context) {
    const Copy3D plain = linear(to, from, bytes);
    return cuGraphAddMemcpyNode(node, graph, behind, count, &plain, context);
  });
}
Error cudaGraphMemcpyNodeSetParams1D(NodeHandle node, void* to, const void* from, size_t bytes, int kind) {
  return inContextOf([&](ContextHandle) {
    const Copy3D plain = linear(to, from, bytes);
    return cuGraphMemcpyNodeSetParams(node, &plain);
  });
}
Error cudaGraphExecMemcpyNodeSetParams1D(GraphExecHandle exec, NodeHandle node, void* to, const void* from,
                                         size_t bytes, int kind) {
  return inContextOf([&](ContextHandle context) {
    const Copy3D plain = linear(to, from, bytes);
    return cuGraphExecMemcpyNodeSetParams(exec, node, &plain, context);
  });
}

// The driver's structure is the same but for launches and copies.
Error cudaGraphAddNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, const EdgeData* edges,
                       size_t count, RuntimeNodeParams* params) {
  if (!params) return record(cuda::kInvalidValue);
  GraphNodeParams plain{};
  std::memcpy(&plain, params, sizeof plain);
  const auto add = [&] { return cuGraphAddNode_v2(node, graph, behind, edges, count, &plain); };
  if (params->type == kNodeKernel)
    return withKernel(&params->kernel, [&](const KernelNodeParams& kernel) {
      plain.reserved1 = {};
      plain.kernel = kernel;
      return add();
    });
  if (params->type == kNodeMemcpy)
    return withCopy(&params->memcpy.copy, [&](const Copy3D& copy, ContextHandle context) {
      plain.reserved1 = {};
      plain.memcpy = {0, 0, context, copy};
      return add();
    });
  const Error error = inRuntime(add);
  if (!error) std::memcpy(params, &plain, sizeof plain);
  return error;
}

} // extern "C"
} // namespace tiletwin::cudart
