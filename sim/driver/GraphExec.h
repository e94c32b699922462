// sim/driver/GraphExec.h -- a graph made ready to run: its work in order, and what a client changes of it afterwards.
// Here:      GraphWork, ChoiceWork, GraphExec.
// Not here:  graphs (Graph.h), the driver's functions (GraphCalls.cpp, GraphNodeCalls.cpp).
// Idea:      a launch does one piece of work after the other, in an order in which each comes behind what it depends on. What is
//            ready to run never changes: an edit makes another one, so a launch that is under way knows nothing of it.
#pragma once
#include "sim/driver/Graph.h"
#include <functional>

namespace tiletwin::driver {

struct Step {
  std::shared_ptr<Work> work;
  std::weak_ptr<GraphNode> node;
  std::vector<size_t> behind; ///< steps before it
  bool isEnabled = true;
};

/// All of a graph as one piece of work: a launch, or a child's node.
class GraphWork final : public Work {
public:
  GraphWork() : Work(kNodeGraph) {}
  GraphWork(const GraphWork& other)
      : Work(kNodeGraph), steps(other.steps), conditions(other.conditions), held(other.held) {}
  GraphWork& operator=(const GraphWork&) = delete;
  Result run(Context& context) override;
  std::vector<Step> steps;
  std::vector<std::shared_ptr<Condition>> conditions;
  HeldObjects held;
};

/// A conditional node.
class ChoiceWork final : public Work {
public:
  ChoiceWork(std::shared_ptr<Condition> condition, ConditionKind kind)
      : Work(kNodeConditional), condition(std::move(condition)), kind(kind) {}
  ChoiceWork(const ChoiceWork& other)
      : Work(kNodeConditional), condition(other.condition), kind(other.kind), bodies(other.bodies) {}
  ChoiceWork& operator=(const ChoiceWork&) = delete;
  Result run(Context& context) override;
  std::shared_ptr<Condition> condition;
  ConditionKind kind;
  std::vector<std::shared_ptr<GraphWork>> bodies;
};

/// The work of a graph in order. kInvalidValue: it has a circle.
Result workOf(const Graph& graph, std::shared_ptr<GraphWork>& work);

/// CUgraphExecUpdateResult.
enum UpdateResult : int {
  kUpdateSuccess,
  kUpdateError,
  kUpdateTopologyChanged,
  kUpdateTypeChanged,
  kUpdateFunctionChanged,
  kUpdateParametersChanged,
  kUpdateNotSupported,
};

class GraphExec {
public:
  static constexpr unsigned kHandleKind = 9;
  static constexpr uint64_t kFreesOnLaunch = 1; ///< CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
  uint64_t flags = 0;
  /// What a launch does. A launch that is under way keeps it.
  std::shared_ptr<GraphWork> work() const;
  /// Called once, when it is made.
  void begin(std::shared_ptr<GraphWork> work) { work_ = std::move(work); }
  /// change(a node's step). kInvalidValue: the node is not of the graph that this was made from.
  Result edit(const std::shared_ptr<GraphNode>& node, const std::function<Result(Step&)>& change);
  /// The same for the graph in a node. kInvalidValue: it has other nodes or edges.
  Result updateChild(const std::shared_ptr<GraphNode>& node, const Graph& graph);
  /// Takes over the work of a graph with the same nodes and edges. kGraphUpdateFailure: `info` says what differs.
  Result update(const Graph& graph, UpdateInfo& info);

private:
  mutable std::mutex mutex_;
  std::shared_ptr<GraphWork> work_; // under mutex_
};

} // namespace tiletwin::driver
