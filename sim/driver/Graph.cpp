// sim/driver/Graph.cpp -- see Graph.h.
#include "sim/driver/Graph.h"
#include "sim/driver/Handles.h"
#include <algorithm>
#include <unordered_set>

namespace tiletwin::driver {
namespace {

bool holds(const Nodes& nodes, const GraphNode* node) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == node; });
}

} // namespace

Graph::~Graph() {
  for (const std::shared_ptr<GraphNode>& node : all) Handles<GraphNode>::instance().take(node->handle);
  for (const std::shared_ptr<GraphNode>& node : all) node->behind.clear();
}

Result Graph::add(std::shared_ptr<Work> work, const Nodes& behind, std::shared_ptr<GraphNode>& node) {
  const std::lock_guard lock(mutex);
  for (size_t i = 0; i < behind.size(); ++i)
    if (!holds(all, behind[i].get()) || std::count(behind.begin(), behind.begin() + std::ptrdiff_t(i), behind[i]))
      return cuda::kInvalidValue;
  node = std::make_shared<GraphNode>();
  node->graph = weak_from_this();
  node->work = std::move(work);
  node->behind = behind;
  node->handle = static_cast<NodeHandle>(Handles<GraphNode>::instance().add(node));
  all.push_back(node);
  return cuda::kSuccess;
}

Nodes Graph::nodes() const {
  const std::lock_guard lock(mutex);
  return all;
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

Result workOf(const Graph& graph, std::shared_ptr<GraphWork>& work) {
  bool isCyclic = false;
  std::vector<std::shared_ptr<Work>> steps;
  for (const std::shared_ptr<GraphNode>& node : graph.ordered(isCyclic)) steps.push_back(node->work);
  if (isCyclic) return cuda::kInvalidValue;
  work = std::make_shared<GraphWork>(std::move(steps));
  return cuda::kSuccess;
}

Result GraphWork::run(Context& context) {
  for (const std::shared_ptr<Work>& step : steps) {
    if (const Result error = context.error) return error;
    if (const Result result = step->run(context)) return result;
  }
  return cuda::kSuccess;
}

} // namespace tiletwin::driver
