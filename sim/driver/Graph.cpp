// sim/driver/Graph.cpp -- see Graph.h.
#include "sim/driver/Graph.h"
#include "sim/driver/Handles.h"
#include <algorithm>

namespace tiletwin::driver {
namespace {

bool holds(const Nodes& nodes, const GraphNode* node) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == node; });
}

} // namespace

Graph::~Graph() {
  for (const std::shared_ptr<GraphNode>& node : all) Handles<GraphNode>::instance().take(node->handle);
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
  Nodes order, left = all;
  while (!left.empty()) {
    // In the order in which they were made, so that captured work is done as it was given.
    const auto next = std::find_if(left.begin(), left.end(), [&](const auto& node) {
      return std::all_of(node->behind.begin(), node->behind.end(),
                         [&](const auto& other) { return holds(order, other.get()); });
    });
    isCyclic = next == left.end();
    if (isCyclic) return {};
    order.push_back(*next);
    left.erase(next);
  }
  isCyclic = false;
  return order;
}

void Graph::remove(const GraphNode& node) {
  const std::lock_guard lock(mutex);
  for (const std::shared_ptr<GraphNode>& other : all)
    std::erase_if(other->behind, [&](const auto& n) { return n.get() == &node; });
  Handles<GraphNode>::instance().take(node.handle);
  std::erase_if(all, [&](const auto& n) { return n.get() == &node; });
}

Result GraphWork::run(Context& context) {
  for (const std::shared_ptr<Work>& step : steps) {
    if (const Result error = context.error) return error;
    if (const Result result = step->run(context)) return result;
  }
  return cuda::kSuccess;
}

} // namespace tiletwin::driver
