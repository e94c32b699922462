// sim/driver/NodeWork.h -- from the parameters of a graph's node to its work, and back.
// Here:      one function a kind of node, in each direction.
// Not here:  who calls them: to make a node, to change it, to change what is ready to run (GraphNodeCalls.cpp).
#pragma once
#include "sim/driver/Graph.h"

namespace tiletwin::driver {

Result makeNodeWork(Context& context, const KernelNodeParams* params, std::shared_ptr<Work>& work);
Result makeNodeWork(Context& context, const Copy3D* params, std::shared_ptr<Work>& work);
Result makeNodeWork(Context& context, const MemsetNodeParams* params, std::shared_ptr<Work>& work);
Result makeNodeWork(Context& context, const HostNodeParams* params, std::shared_ptr<Work>& work);
/// type: kNodeRecordEvent, kNodeWaitEvent.
Result makeEventWork(NodeType type, EventHandle event, std::shared_ptr<Work>& work);
/// A clone of the graph as it is now.
Result makeChildWork(const Graph* within, const ChildNodeParams& params, std::shared_ptr<Work>& work);
/// Sets the address in `params`.
Result makeNodeWork(Context& context, GraphAllocParams* params, std::shared_ptr<Work>& work);
/// Sets the graphs in `params`. kInvalidValue: the condition was made for a graph that is not `within`, nor around it.
Result makeConditionalWork(const Graph& within, ConditionalNodeParams& params, std::shared_ptr<Work>& work);
/// Any of them. `params` gets what the driver tells.
Result makeAnyWork(Context& context, const Graph& within, GraphNodeParams& params, std::shared_ptr<Work>& work);

/// kInvalidValue: it is another kind of work.
Result paramsOf(const Work& work, KernelNodeParams& params);
Result paramsOf(const Work& work, Copy3D& params);
Result paramsOf(const Work& work, MemsetNodeParams& params);
Result paramsOf(const Work& work, HostNodeParams& params);
Result paramsOf(const Work& work, GraphAllocParams& params);
Result paramsOf(const Work& work, DevicePointer& freed);
Result eventOf(NodeType type, const Work& work, EventHandle& event);

/// A launch with another attribute. kInvalidValue: it is no launch, or has no such attribute.
Result withAttribute(const Work& work, const LaunchAttribute& attribute, std::shared_ptr<Work>& changed);
Result attributeOf(const Work& work, LaunchAttribute& attribute);
/// `work` with the attributes of `other`.
Result withAttributesOf(const Work& work, const Work& other, std::shared_ptr<Work>& changed);

} // namespace tiletwin::driver
