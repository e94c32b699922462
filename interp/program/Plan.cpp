// interp/program/Plan.cpp -- a plan's text and sizes; Program's trivial members.
#include "interp/program/Plan.h"
#include <algorithm>

namespace tiletwin::interp {

size_t Plan::arenaBytes(bool withOptional) const {
  const size_t own = frameBytes + (withOptional ? optionalBytes : 0);
  return fallback ? std::max(own, fallback->arenaBytes(withOptional)) : own;
}

std::string Plan::dump() const {
  std::string text =
      "plan " + name + " frame " + std::to_string(frameBytes) + " template " + std::to_string(templateBytes) + "\n";
  for (const PlanArgument& a : arguments)
    text += "  argument " + a.name + ": " + nameOf(a.type) + (a.isTile ? " x " + std::to_string(a.elements) : "") +
            " at " + std::to_string(a.slot) + "\n";
  auto list = [&](const char* title, const std::vector<std::string>& lines) {
    text += std::string(title) + ":\n";
    for (size_t i = 0; i < lines.size(); ++i) text += "  " + std::to_string(i) + "  " + lines[i] + "\n";
  };
  list("prologue", prologueText);
  list("code", codeText);
  return text + forms;
}

Program::Program(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}
Program::~Program() = default;
const std::string& Program::name() const { return plan_->name; }
std::span<const DType> Program::argumentTypes() const { return plan_->argumentTypes; }
size_t Program::frameBytes() const { return plan_->arenaBytes(); }
std::string Program::dump() const { return plan_->dump(); }

} // namespace tiletwin::interp
