// sim/driver/NodeWork.cpp -- see NodeWork.h.
#include "sim/driver/NodeWork.h"
#include "sim/driver/Copies.h"
#include "sim/driver/GraphExec.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/Launch.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>

namespace tiletwin::driver {

// ---- Making -----------------------------------------------------------------------------------------------------------------------

Result makeNodeWork(Context& context, const KernelNodeParams* params, std::shared_ptr<Work>& work) {
  if (!params) return cuda::kInvalidValue;
  LaunchShape shape;
  shape.grid = {params->gridX, params->gridY, params->gridZ};
  shape.block = {params->blockX, params->blockY, params->blockZ};
  shape.sharedBytes = params->sharedBytes;
  const void* function = params->function ? static_cast<const void*>(params->function) : params->kernel;
  const std::shared_ptr<Context> named = params->function ? nullptr : find<Context>(params->context);
  std::shared_ptr<LaunchWork> launch;
  const Result result =
      prepareLaunch(named ? *named : context, function, shape, params->parameters, params->extra, launch);
  work = std::move(launch);
  return result;
}

Result makeNodeWork(Context&, const Copy3D* params, std::shared_ptr<Work>& work) {
  if (!params) return cuda::kInvalidValue;
  std::shared_ptr<CopyWork> made;
  const Result result = makeCopy(*params, made);
  work = std::move(made);
  return result;
}

Result makeNodeWork(Context&, const MemsetNodeParams* params, std::shared_ptr<Work>& work) {
  if (!params) return cuda::kInvalidValue;
  work = std::make_shared<FillWork>(*params);
  return checkFill(*params);
}

Result makeNodeWork(Context&, const HostNodeParams* params, std::shared_ptr<Work>& work) {
  if (!params || !params->function) return cuda::kInvalidValue;
  work = std::make_shared<HostWork>(*params);
  return cuda::kSuccess;
}

Result makeEventWork(NodeType type, EventHandle handle, std::shared_ptr<Work>& work) {
  std::shared_ptr<Event> event = find<Event>(handle);
  if (!event) return cuda::kInvalidValue;
  if (type == kNodeRecordEvent)
    work = std::make_shared<RecordWork>(std::move(event));
  else
    work = std::make_shared<WaitWork>(std::move(event));
  return cuda::kSuccess;
}

Result makeChildWork(const Graph* within, const ChildNodeParams& params, std::shared_ptr<Work>& work) {
  const std::shared_ptr<Graph> named = find<Graph>(params.graph);
  if (!named || named.get() == within) return cuda::kInvalidValue;
  std::shared_ptr<Graph> inner = params.isMoved == 1 ? named : named->clone();
  if (!inner) return cuda::kNotSupported; // memory and conditions are one graph's
  work = std::make_shared<ChildWork>(std::move(inner));
  return cuda::kSuccess;
}

Result makeNodeWork(Context& context, GraphAllocParams* params, std::shared_ptr<Work>& work) {
  if (!params || !params->bytes || (params->accessCount && !params->access)) return cuda::kInvalidValue;
  constexpr int kPinned = 1, kManaged = 2, kOnDevice = 1;
  const PoolProperties& pool = params->properties;
  if (pool.allocationType != kPinned && pool.allocationType != kManaged) return cuda::kInvalidValue;
  if (pool.handleTypes) return cuda::kNotSupported; // for other processes
  if (pool.location.type == kOnDevice && !VirtualDevice::find(pool.location.id)) return cuda::kInvalidDevice;
  std::shared_ptr<GraphMemory> memory = GraphMemory::make(context, *params);
  if (!memory) return cuda::kOutOfMemory;
  params->address = memory->params().address;
  work = std::make_shared<AllocWork>(std::move(memory));
  return cuda::kSuccess;
}

Result makeConditionalWork(const Graph& within, ConditionalNodeParams& params, std::shared_ptr<Work>& work) {
  std::shared_ptr<Condition> condition = within.condition(params.condition);
  const bool mayHave =
      params.kind == kConditionSwitch || params.count == 1 || (params.kind == kConditionIf && params.count == 2);
  if (!condition || params.kind < kConditionIf || params.kind > kConditionSwitch || !params.count || !mayHave)
    return cuda::kInvalidValue;
  auto made = std::make_shared<ConditionalWork>(within, std::move(condition), ConditionKind(params.kind), params.count);
  params.graphs = made->handles.data();
  work = std::move(made);
  return cuda::kSuccess;
}

Result makeAnyWork(Context& context, const Graph& within, GraphNodeParams& params, std::shared_ptr<Work>& work) {
  switch (params.type) {
  case kNodeKernel: return makeNodeWork(context, &params.kernel, work);
  case kNodeMemcpy: return makeNodeWork(context, &params.memcpy.copy, work);
  case kNodeMemset: return makeNodeWork(context, &params.memset, work);
  case kNodeHost: return makeNodeWork(context, &params.host, work);
  case kNodeGraph: return makeChildWork(&within, params.graph, work);
  case kNodeEmpty: work = std::make_shared<EmptyWork>(); return cuda::kSuccess;
  case kNodeWaitEvent:
  case kNodeRecordEvent: return makeEventWork(NodeType(params.type), params.event, work);
  case kNodeMemoryAlloc: return makeNodeWork(context, &params.alloc, work);
  case kNodeMemoryFree:
    if (!params.free) return cuda::kInvalidValue;
    work = std::make_shared<FreeWork>(params.free);
    return cuda::kSuccess;
  case kNodeConditional: return makeConditionalWork(within, params.conditional, work);
  default: return cuda::kNotSupported;
  }
}

// ---- Telling ----------------------------------------------------------------------------------------------------------------------

Result paramsOf(const Work& work, KernelNodeParams& params) {
  const auto* launch = dynamic_cast<const LaunchWork*>(&work);
  if (!launch) return cuda::kInvalidValue;
  const LaunchShape& shape = launch->shape;
  params = {};
  params.gridX = shape.grid[0], params.gridY = shape.grid[1], params.gridZ = shape.grid[2];
  params.blockX = shape.block[0], params.blockY = shape.block[1], params.blockZ = shape.block[2];
  params.sharedBytes = shape.sharedBytes;
  params.parameters = launch->addresses();
  if (find<LibraryKernel>(launch->asked))
    params.kernel = static_cast<KernelHandle>(const_cast<void*>(launch->asked)); // NOLINT: a number
  params.function = launch->function->module->function(launch->function->kernel->name());
  params.context = launch->function->module->context().handle;
  return cuda::kSuccess;
}

Result paramsOf(const Work& work, Copy3D& params) {
  const auto* copy = dynamic_cast<const CopyWork*>(&work);
  if (!copy) return cuda::kInvalidValue;
  params = copy->asked;
  return cuda::kSuccess;
}

Result paramsOf(const Work& work, MemsetNodeParams& params) {
  const auto* fill = dynamic_cast<const FillWork*>(&work);
  if (!fill) return cuda::kInvalidValue;
  params = fill->params;
  return cuda::kSuccess;
}

Result paramsOf(const Work& work, HostNodeParams& params) {
  const auto* host = dynamic_cast<const HostWork*>(&work);
  if (!host) return cuda::kInvalidValue;
  params = host->params;
  return cuda::kSuccess;
}

Result paramsOf(const Work& work, GraphAllocParams& params) {
  const auto* made = dynamic_cast<const AllocWork*>(&work);
  if (!made) return cuda::kInvalidValue;
  params = made->memory->params();
  return cuda::kSuccess;
}

Result paramsOf(const Work& work, DevicePointer& freed) {
  const auto* gone = dynamic_cast<const FreeWork*>(&work);
  if (!gone) return cuda::kInvalidValue;
  freed = gone->address;
  return cuda::kSuccess;
}

Result eventOf(NodeType type, const Work& work, EventHandle& event) {
  if (work.type != type) return cuda::kInvalidValue;
  event = type == kNodeRecordEvent ? dynamic_cast<const RecordWork&>(work).event->handle
                                   : dynamic_cast<const WaitWork&>(work).event->handle;
  return cuda::kSuccess;
}

// ---- Attributes of launches -------------------------------------------------------------------------------------------------------

Result withAttribute(const Work& work, const LaunchAttribute& attribute, std::shared_ptr<Work>& changed) {
  const auto* launch = dynamic_cast<const LaunchWork*>(&work);
  if (!launch) return cuda::kInvalidValue;
  auto copy = std::make_shared<LaunchWork>(*launch);
  const Result result = setAttribute(copy->shape, attribute);
  changed = std::move(copy);
  return result;
}

Result attributeOf(const Work& work, LaunchAttribute& attribute) {
  const auto* launch = dynamic_cast<const LaunchWork*>(&work);
  return launch ? getAttribute(launch->shape, attribute) : cuda::kInvalidValue;
}

Result withAttributesOf(const Work& work, const Work& other, std::shared_ptr<Work>& changed) {
  const auto* launch = dynamic_cast<const LaunchWork*>(&work);
  const auto* from = dynamic_cast<const LaunchWork*>(&other);
  if (!launch || !from) return cuda::kInvalidValue;
  auto copy = std::make_shared<LaunchWork>(*launch);
  copy->shape.cluster = from->shape.cluster;
  copy->shape.cooperative = from->shape.cooperative;
  copy->shape.priority = from->shape.priority;
  changed = std::move(copy);
  return cuda::kSuccess;
}

} // namespace tiletwin::driver
