// sim/driver/Graph.cpp -- see Graph.h.
#include "sim/driver/Graph.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tiletwin::driver {
namespace {

bool holds(const Nodes& nodes, const GraphNode* node) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == node; });
}

/// The work of a clone's node. Null: it cannot be in two graphs.
std::shared_ptr<Work> cloneOf(const std::shared_ptr<Work>& work) {
  if (work->type == kNodeMemoryAlloc || work->type == kNodeConditional) return nullptr;
  const auto child = std::dynamic_pointer_cast<ChildWork>(work);
  if (!child) return work;
  std::shared_ptr<Graph> inner = child->graph->clone();
  return inner ? std::make_shared<ChildWork>(std::move(inner)) : nullptr;
}

} // namespace

// ---- User objects ---------------------------------------------------------------------------------------------------------------

bool UserObject::release(unsigned count) {
  unsigned before = count_;
  do
    if (before < count) return false;
  while (!count_.compare_exchange_weak(before, before - count));
  if (before == count) {
    const std::shared_ptr<UserObject> self = Handles<UserObject>::instance().take(handle);
    destroy_(data_);
  }
  return true;
}

HeldObjects::HeldObjects(const HeldObjects& other) : counts_(other.counts_) {
  for (const auto& [object, count] : counts_) object->retain(count);
}
HeldObjects& HeldObjects::operator=(HeldObjects other) noexcept {
  counts_.swap(other.counts_);
  return *this;
}
HeldObjects::~HeldObjects() {
  for (const auto& [object, count] : counts_) object->release(count);
}
bool HeldObjects::remove(const std::shared_ptr<UserObject>& object, unsigned count) {
  const auto at = counts_.find(object);
  if (at == counts_.end() || at->second < count) return false;
  at->second -= count;
  if (!at->second) counts_.erase(at);
  return true;
}

// ---- Conditions -----------------------------------------------------------------------------------------------------------------

std::shared_ptr<Condition> Condition::make(Context& context, unsigned initial, bool setsInitial) {
  Allocation wanted;
  wanted.bytes = sizeof(unsigned);
  wanted.kind = MemoryKind::Host; // kernels reach it on every device
  wanted.device = &context.device;
  wanted.context = context.id;
  uint64_t at = 0;
  if (DeviceMemory::instance().allocate(std::move(wanted), at)) return nullptr;
  return std::shared_ptr<Condition>(new Condition(at, initial, setsInitial));
}
Condition::~Condition() {
  DeviceMemory::instance().release(address_, [](const Allocation&) { return true; });
}
void Condition::begin() const {
  if (setsInitial_) *reinterpret_cast<volatile unsigned*>(address_) = initial_; // NOLINT: an address
}

ConditionalWork::ConditionalWork(const Graph& within, std::shared_ptr<Condition> condition, ConditionKind kind,
                                 unsigned count)
    : Work(kNodeConditional), condition(std::move(condition)), kind(kind) {
  for (unsigned i = 0; i < count; ++i) {
    bodies.push_back(std::make_shared<Graph>());
    bodies.back()->around = within.weak_from_this();
    handles.push_back(handleOf(bodies.back()));
  }
}
ChildWork::~ChildWork() { Handles<Graph>::instance().take(graph->handle); }

ConditionalWork::~ConditionalWork() {
  for (GraphHandle handle : handles) Handles<Graph>::instance().take(handle);
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------------------

std::shared_ptr<Condition> Graph::condition(uint64_t handle) const {
  {
    const std::lock_guard lock(mutex);
    if (const auto at = conditions.find(handle); at != conditions.end()) return at->second;
  }
  const std::shared_ptr<const Graph> outer = around.lock();
  return outer ? outer->condition(handle) : nullptr;
}

GraphHandle handleOf(const std::shared_ptr<Graph>& graph) {
  const std::lock_guard lock(graph->mutex);
  if (!graph->handle) graph->handle = static_cast<GraphHandle>(Handles<Graph>::instance().add(graph));
  return graph->handle;
}

Graph::~Graph() {
  for (const std::shared_ptr<GraphNode>& node : all) {
    Handles<GraphNode>::instance().take(node->handle);
    node->behind.clear();
  }
}

Result Graph::add(std::shared_ptr<Work> work, const Nodes& behind, std::shared_ptr<GraphNode>& node,
                  const EdgeData* edges) {
  const std::lock_guard lock(mutex);
  for (size_t i = 0; i < behind.size(); ++i)
    if (!holds(all, behind[i].get()) || std::count(behind.begin(), behind.begin() + std::ptrdiff_t(i), behind[i]))
      return cuda::kInvalidValue;
  node = std::make_shared<GraphNode>();
  node->graph = weak_from_this();
  node->work = std::move(work);
  node->behind = behind;
  node->edges.resize(behind.size());
  if (edges) std::copy_n(edges, behind.size(), node->edges.begin());
  node->handle = static_cast<NodeHandle>(Handles<GraphNode>::instance().add(node));
  all.push_back(node);
  return cuda::kSuccess;
}

void Graph::remove(const std::shared_ptr<GraphNode>& gone) {
  Handles<GraphNode>::instance().take(gone->handle);
  const std::lock_guard lock(mutex);
  std::erase(all, gone);
  for (const std::shared_ptr<GraphNode>& node : all)
    if (const auto at = std::ranges::find(node->behind, gone); at != node->behind.end()) {
      node->edges.erase(node->edges.begin() + (at - node->behind.begin()));
      node->behind.erase(at);
    }
  gone->behind.clear();
}

Result Graph::connect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to,
                      const EdgeData& data) {
  const std::lock_guard lock(mutex);
  if (from == to || !holds(all, from.get()) || !holds(all, to.get()) || holds(to->behind, from.get()))
    return cuda::kInvalidValue;
  to->behind.push_back(from);
  to->edges.push_back(data);
  return cuda::kSuccess;
}

Result Graph::disconnect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to) {
  const std::lock_guard lock(mutex);
  const auto at = std::ranges::find(to->behind, from);
  if (!holds(all, to.get()) || at == to->behind.end()) return cuda::kInvalidValue;
  to->edges.erase(to->edges.begin() + (at - to->behind.begin()));
  to->behind.erase(at);
  return cuda::kSuccess;
}

Nodes Graph::nodes() const {
  const std::lock_guard lock(mutex);
  return all;
}

bool Graph::holdsMemory() const {
  const std::lock_guard lock(mutex);
  return std::ranges::any_of(all, [](const std::shared_ptr<GraphNode>& node) {
    return node->work->type == kNodeMemoryAlloc || node->work->type == kNodeMemoryFree;
  });
}

Nodes Graph::ordered(bool& isCyclic) const {
  const std::lock_guard lock(mutex);
  // In the order in which nodes were made where that is one, so that captured work is done as it was given.
  std::unordered_set<const GraphNode*> done;
  Nodes order, left = all;
  isCyclic = false;
  while (!left.empty() && !isCyclic) {
    Nodes later;
    for (const std::shared_ptr<GraphNode>& node : left) {
      const bool isReady = std::all_of(node->behind.begin(), node->behind.end(),
                                       [&](const auto& other) { return done.contains(other.get()); });
      if (isReady) done.insert(node.get());
      (isReady ? order : later).push_back(node);
    }
    isCyclic = later.size() == left.size();
    left = std::move(later);
  }
  return order;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto made = std::make_shared<Graph>();
  std::unordered_map<const GraphNode*, std::shared_ptr<GraphNode>> clones;
  const std::lock_guard lock(mutex);
  for (const std::shared_ptr<GraphNode>& node : all) {
    std::shared_ptr<Work> work = cloneOf(node->work);
    if (!work || made->add(std::move(work), {}, clones[node.get()])) return nullptr;
    clones[node.get()]->original = node;
  }
  for (const std::shared_ptr<GraphNode>& node : all) {
    GraphNode& clone = *clones[node.get()];
    for (const std::shared_ptr<GraphNode>& other : node->behind) clone.behind.push_back(clones[other.get()]);
    clone.edges = node->edges;
  }
  made->held = held;
  return made;
}

} // namespace tiletwin::driver
