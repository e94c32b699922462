// sim/driver/GraphExec.cpp -- see GraphExec.h.
#include "sim/driver/GraphExec.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/Launch.h"
#include <unordered_map>

namespace tiletwin::driver {
namespace {

Result readyWork(const Work& work, std::shared_ptr<Work>& ready) {
  if (const auto* child = dynamic_cast<const ChildWork*>(&work)) {
    std::shared_ptr<GraphWork> inner;
    const Result result = workOf(*child->graph, inner);
    ready = std::move(inner);
    return result;
  }
  if (const auto* conditional = dynamic_cast<const ConditionalWork*>(&work)) {
    auto choice = std::make_shared<ChoiceWork>(conditional->condition, conditional->kind);
    for (const std::shared_ptr<Graph>& body : conditional->bodies)
      if (const Result result = workOf(*body, choice->bodies.emplace_back())) return result;
    ready = std::move(choice);
  }
  return cuda::kSuccess;
}

/// Edits a copy of `work`, down to the step of `node`. False: it is not in there.
bool editIn(std::shared_ptr<GraphWork>& work, const std::shared_ptr<GraphNode>& node,
            const std::function<Result(Step&)>& change, Result& result) {
  const auto replace = [&](size_t i, std::shared_ptr<Work> inner) {
    auto copy = std::make_shared<GraphWork>(*work);
    copy->steps[i].work = std::move(inner);
    work = std::move(copy);
    return true;
  };
  for (size_t i = 0; i < work->steps.size(); ++i) {
    if (work->steps[i].node.lock() == node) {
      auto copy = std::make_shared<GraphWork>(*work);
      result = change(copy->steps[i]);
      if (!result) work = std::move(copy);
      return true;
    }
    if (auto inner = std::dynamic_pointer_cast<GraphWork>(work->steps[i].work);
        inner && editIn(inner, node, change, result))
      return replace(i, inner);
    if (const auto choice = std::dynamic_pointer_cast<ChoiceWork>(work->steps[i].work)) {
      auto copy = std::make_shared<ChoiceWork>(*choice);
      for (std::shared_ptr<GraphWork>& body : copy->bodies)
        if (editIn(body, node, change, result)) return replace(i, copy);
    }
  }
  return false;
}

bool holdsMemory(const Work& work) { return work.type == kNodeMemoryAlloc || work.type == kNodeMemoryFree; }

/// Why `now` cannot take the place of `before`; kUpdateSuccess: it can. Its nodes are those of `before` from then on.
UpdateResult match(const GraphWork& before, GraphWork& now, NodeHandle& wrong);

UpdateResult matchWork(const Work& before, Work& now, NodeHandle& wrong) {
  if (before.type != now.type) return kUpdateTypeChanged;
  if (holdsMemory(before)) return kUpdateNotSupported;
  if (const auto* launch = dynamic_cast<const LaunchWork*>(&before)) {
    const auto& other = dynamic_cast<const LaunchWork&>(now);
    if (&launch->function->module->context() != &other.function->module->context()) return kUpdateFunctionChanged;
  }
  if (const auto* copy = dynamic_cast<const CopyWork*>(&before)) {
    const Copy3D &a = copy->asked, &b = dynamic_cast<const CopyWork&>(now).asked;
    if (a.fromType != b.fromType || a.toType != b.toType) return kUpdateParametersChanged;
  }
  if (const auto* inner = dynamic_cast<const GraphWork*>(&before))
    return match(*inner, dynamic_cast<GraphWork&>(now), wrong);
  if (const auto* choice = dynamic_cast<const ChoiceWork*>(&before)) {
    auto& other = dynamic_cast<ChoiceWork&>(now);
    if (choice->kind != other.kind || choice->bodies.size() != other.bodies.size()) return kUpdateParametersChanged;
    for (size_t i = 0; i < choice->bodies.size(); ++i)
      if (const UpdateResult why = match(*choice->bodies[i], *other.bodies[i], wrong)) return why;
  }
  return kUpdateSuccess;
}

UpdateResult match(const GraphWork& before, GraphWork& now, NodeHandle& wrong) {
  if (before.steps.size() != now.steps.size()) return kUpdateTopologyChanged;
  for (size_t i = 0; i < now.steps.size(); ++i) {
    const Step& old = before.steps[i];
    Step& step = now.steps[i];
    const std::shared_ptr<GraphNode> node = step.node.lock();
    wrong = node ? node->handle : nullptr;
    if (old.behind != step.behind) return kUpdateTopologyChanged;
    if (const UpdateResult why = matchWork(*old.work, *step.work, wrong)) return why;
    step.node = old.node;
    step.isEnabled = old.isEnabled;
  }
  wrong = nullptr;
  return kUpdateSuccess;
}

/// Gives back what an earlier launch has left in use.
void freeLeft(const GraphWork& work) {
  for (const Step& step : work.steps) {
    if (const auto* made = dynamic_cast<const AllocWork*>(step.work.get()); made && made->memory->isInUse())
      made->memory->giveBack();
    if (const auto* inner = dynamic_cast<const GraphWork*>(step.work.get())) freeLeft(*inner);
  }
}

} // namespace

Result workOf(const Graph& graph, std::shared_ptr<GraphWork>& work) {
  bool isCyclic = false;
  auto made = std::make_shared<GraphWork>();
  std::unordered_map<const GraphNode*, size_t> places;
  for (const std::shared_ptr<GraphNode>& node : graph.ordered(isCyclic)) {
    Step step;
    step.node = node;
    {
      const std::lock_guard lock(graph.mutex);
      step.work = node->work;
      for (const std::shared_ptr<GraphNode>& other : node->behind) step.behind.push_back(places[other.get()]);
    }
    places[node.get()] = made->steps.size();
    if (const Result result = readyWork(*step.work, step.work)) return result;
    made->steps.push_back(std::move(step));
  }
  if (isCyclic) return cuda::kInvalidValue;
  const std::lock_guard lock(graph.mutex);
  made->held = graph.held;
  for (const auto& [handle, condition] : graph.conditions) made->conditions.push_back(condition);
  work = std::move(made);
  return cuda::kSuccess;
}

Result GraphWork::run(Context& context) {
  for (const std::shared_ptr<Condition>& condition : conditions) condition->begin();
  for (const Step& step : steps) {
    if (!step.isEnabled) continue;
    if (const Result error = context.error) return error;
    if (const Result result = step.work->run(context)) return result;
  }
  return cuda::kSuccess;
}

Result ChoiceWork::run(Context& context) {
  switch (kind) {
  case kConditionIf: {
    const size_t chosen = condition->value() ? 0 : 1;
    return chosen < bodies.size() ? bodies[chosen]->run(context) : cuda::kSuccess;
  }
  case kConditionWhile:
    while (condition->value()) {
      if (const Result result = bodies[0]->run(context)) return result;
      if (const Result error = context.error) return error;
    }
    return cuda::kSuccess;
  case kConditionSwitch: break;
  }
  const unsigned chosen = condition->value();
  return chosen < bodies.size() ? bodies[chosen]->run(context) : cuda::kSuccess;
}

std::shared_ptr<GraphWork> GraphExec::work() const {
  const std::lock_guard lock(mutex_);
  if (flags & kFreesOnLaunch) freeLeft(*work_);
  return work_;
}

Result GraphExec::edit(const std::shared_ptr<GraphNode>& node, const std::function<Result(Step&)>& change) {
  Result result = cuda::kInvalidValue;
  std::shared_ptr<GraphWork> gone; // whose user objects may be the last ones, outside of the lock
  const std::lock_guard lock(mutex_);
  gone = work_;
  editIn(work_, node, change, result);
  return result;
}

Result GraphExec::updateChild(const std::shared_ptr<GraphNode>& node, const Graph& graph) {
  return edit(node, [&](Step& step) {
    const auto before = std::dynamic_pointer_cast<GraphWork>(step.work);
    std::shared_ptr<GraphWork> now;
    NodeHandle wrong = nullptr;
    if (!before || workOf(graph, now) || match(*before, *now, wrong)) return cuda::kInvalidValue;
    step.work = std::move(now);
    return cuda::kSuccess;
  });
}

Result GraphExec::update(const Graph& graph, UpdateInfo& info) {
  info = {};
  std::shared_ptr<GraphWork> now, gone;
  if (workOf(graph, now)) {
    info.result = kUpdateError;
    return kGraphUpdateFailure;
  }
  const std::lock_guard lock(mutex_);
  info.result = match(*work_, *now, info.node);
  if (info.result) return kGraphUpdateFailure;
  gone = std::move(work_);
  work_ = std::move(now);
  return cuda::kSuccess;
}

} // namespace tiletwin::driver
