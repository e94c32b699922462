// sim/driver/Graph.h -- graphs: nodes of work and what each comes behind; what a stream's capture makes and a client edits.
// Here:      Graph, GraphNode, UserObject and who holds one; the works that hold other graphs.
// Not here:  capture (StreamCapture.cpp), what is run (GraphExec.h), the driver's functions (Graph*Calls.cpp).
// Invariant: work is never changed once a node has it: an edit gives the node another one.
#pragma once
#include "sim/driver/Stream.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tiletwin::driver {

/// What a client wants to be told of when nobody refers to it any more.
class UserObject {
public:
  static constexpr unsigned kHandleKind = 14;
  UserObject(void* data, HostFunction destroy, unsigned count) : data_(data), destroy_(destroy), count_(count) {}
  UserObjectHandle handle = nullptr;
  void retain(unsigned count) { count_ += count; }
  /// False: there are not so many references. The last one calls the client, so no lock may be held.
  bool release(unsigned count);

private:
  void* data_;
  HostFunction destroy_;
  std::atomic<unsigned> count_;
};

/// The references to user objects that a graph has. A copy has as many of its own.
class HeldObjects {
public:
  HeldObjects() = default;
  HeldObjects(const HeldObjects& other);
  HeldObjects& operator=(HeldObjects other) noexcept;
  ~HeldObjects();
  /// Takes over references that exist.
  void add(const std::shared_ptr<UserObject>& object, unsigned count) { counts_[object] += count; }
  /// Forgets references without giving them back. False: there are not so many.
  bool remove(const std::shared_ptr<UserObject>& object, unsigned count);

private:
  std::map<std::shared_ptr<UserObject>, unsigned> counts_;
};

class GraphNode {
public:
  static constexpr unsigned kHandleKind = 8;
  std::weak_ptr<Graph> graph;
  NodeHandle handle = nullptr;
  std::weak_ptr<GraphNode> original; ///< of a clone's node: what it was made from
  std::shared_ptr<Work> work;        ///< under Graph::mutex
  Nodes behind;                      ///< what it depends on; of its graph, under Graph::mutex
  std::vector<EdgeData> edges;       ///< of each of these, under Graph::mutex
};

/// The number that a conditional node looks at, and kernels write: device memory, whose address is the client's handle.
class Condition {
public:
  /// Null: there is no memory.
  static std::shared_ptr<Condition> make(Context& context, unsigned initial, bool setsInitial);
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition();
  uint64_t address() const { return address_; }
  unsigned value() const { return *reinterpret_cast<const volatile unsigned*>(address_); } // NOLINT: an address
  /// At the start of each launch.
  void begin() const;

private:
  Condition(uint64_t address, unsigned initial, bool setsInitial)
      : address_(address), initial_(initial), setsInitial_(setsInitial) {}
  const uint64_t address_;
  const unsigned initial_;
  const bool setsInitial_;
};

class Graph : public std::enable_shared_from_this<Graph> {
public:
  static constexpr unsigned kHandleKind = 7;
  ~Graph();
  GraphHandle handle = nullptr;
  /// kInvalidValue: a dependency is no node of this graph, or is named twice.
  Result add(std::shared_ptr<Work> work, const Nodes& behind, std::shared_ptr<GraphNode>& node,
             const EdgeData* edges = nullptr);
  /// Takes a node out, and all edges to and from it.
  void remove(const std::shared_ptr<GraphNode>& node);
  /// One edge more, or less. kInvalidValue: it is there already, or is not, or one of them is no node of this graph.
  Result connect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to, const EdgeData& data);
  Result disconnect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to);
  Nodes nodes() const;
  /// Whether one of its nodes makes memory or gives it back. Nothing can be taken out of such a graph.
  bool holdsMemory() const;
  /// The nodes so that each comes behind those that it depends on; empty with `isCyclic` set if there is no such order.
  Nodes ordered(bool& isCyclic) const;
  /// The same nodes and edges, its children cloned too. Null: one of its nodes can be in one graph alone.
  std::shared_ptr<Graph> clone() const;
  /// The condition of a handle that was made for this graph or for one around it, or null.
  std::shared_ptr<Condition> condition(uint64_t handle) const;

  std::weak_ptr<const Graph> around; ///< of a conditional node's graph: the one with the node; set when it is made
  mutable std::mutex mutex;
  Nodes all;                                                 // under mutex
  HeldObjects held;                                          // under mutex
  std::map<uint64_t, std::shared_ptr<Condition>> conditions; // by handle, under mutex
};

/// The handle under which a graph is found; made on first use.
GraphHandle handleOf(const std::shared_ptr<Graph>& graph);

/// A node that holds a graph. It is made ready to run when the graph around it is.
class ChildWork final : public Work {
public:
  explicit ChildWork(std::shared_ptr<Graph> graph) : Work(kNodeGraph), graph(std::move(graph)) {}
  ~ChildWork() override;                                   ///< the graph's handle goes with it
  Result run(Context&) override { return cuda::kUnknown; } // never in this form
  std::shared_ptr<Graph> graph;
};

enum ConditionKind : int { kConditionIf, kConditionWhile, kConditionSwitch };

/// A node that runs one of its graphs, or none, as its condition says.
class ConditionalWork final : public Work {
public:
  ConditionalWork(const Graph& within, std::shared_ptr<Condition> condition, ConditionKind kind, unsigned count);
  ~ConditionalWork() override;
  Result run(Context&) override { return cuda::kUnknown; } // never in this form
  std::shared_ptr<Condition> condition;
  ConditionKind kind;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<GraphHandle> handles; ///< the client reads these
};

} // namespace tiletwin::driver
