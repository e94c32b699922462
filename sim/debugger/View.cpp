#include "sim/debugger/View.h"
#include "sim/machine/Memory.h"
#include <charconv>

namespace tiletwin::sim::debugger {
namespace {

std::string hex(uint64_t value) {
  std::array<char, 16> digits{};
  const auto [end, status] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return "0x" + std::string(digits.data(), end);
}

/// Bytes of a block of memory whose first byte has offset 0.
Bytes inside(std::byte* base, uint64_t size, uint64_t offset, uint64_t bytes, std::string_view what) {
  if (offset <= size && bytes <= size - offset) return {base + offset, {}};
  return {nullptr, std::to_string(bytes) + " bytes at " + hex(offset) + " are not in " + std::string(what) +
                       ", which has " + std::to_string(size)};
}

} // namespace

std::vector<Group> groupsOf(Warp& warp, const Warp* running, const Inst* now) {
  std::vector<Group> groups;
  for (const Fragment& fragment : warp.fragments->list) {
    Group group{fragment.lanes, Group::State::Ready, fragment.frame, fragment.next, &fragment};
    if (&warp == running && warp.running == &fragment) {
      group.at = now;
      group.state = Group::State::Runs;
    } else if (fragment.asleep || fragment.retries) {
      group.state = Group::State::Waits;
      // A sleeping fragment stands behind the instruction that it waits at.
      if (fragment.asleep && fragment.next != fragment.frame->code->code.data()) --group.at;
    }
    groups.push_back(group);
  }
  for (const Join& join : warp.fragments->joins)
    if (join.arrived) groups.push_back({join.arrived, Group::State::Joins, join.frame, join.at, nullptr});
  return groups;
}

const Group* groupOf(const std::vector<Group>& groups, int lane) {
  for (const Group& group : groups)
    if (group.lanes >> lane & 1) return &group;
  return nullptr;
}

std::vector<Call> stackOf(const Group& group) {
  std::vector<Call> stack;
  const Inst* at = group.at;
  for (const Frame* frame = group.frame; frame; frame = frame->caller) {
    stack.push_back({frame, at});
    at = frame->callSite;
  }
  return stack;
}

uint64_t linearCta(const Grid& grid, const std::array<uint32_t, 3>& id) {
  const auto& size = grid.params->grid;
  return id[0] + uint64_t(size[0]) * (id[1] + uint64_t(size[1]) * id[2]);
}

std::span<const std::byte> lanesOf(const Frame& frame, size_t reg, int component) {
  const FunctionCode& code = *frame.code;
  const uint32_t offset = code.registerOffset[size_t(code.firstNumber[reg]) + size_t(std::max(component, 0))];
  if (offset == Slot::kNone) return {};
  const int bytes = ptx::bytesOf(code.source->registers[reg].type);
  const bool isPredicate = code.source->registers[reg].type == ptx::Type::Pred;
  return {frame.registers.data() + offset, isPredicate ? sizeof(LaneMask) : size_t(std::max(bytes, 2)) * kLanes};
}

Bytes bytesAt(const Focus& focus, const Frame* frame, std::string_view space, uint64_t address, uint64_t bytes) {
  Cta& cta = *focus.cta;
  Grid& grid = *cta.cluster->grid;
  if (space == "generic" && (address & kWindowMask)) {
    const uint64_t offset = address & ~kWindowMask;
    switch (address & kWindowMask) {
    case kSharedWindow: return bytesAt(focus, frame, "shared", offset, bytes);
    case kLocalWindow:
      return inside(cta.local.data() + linearThread(focus) * cta.localBytes, cta.localBytes, offset, bytes,
                    "the thread's local memory");
    case kParameterWindow: return bytesAt(focus, frame, "param", offset, bytes);
    default: break;
    }
  }
  if (space == "shared") {
    const uint64_t rank = address >> kSharedRankShift;
    Cta& owner = rank && rank < cta.cluster->ctas.size() ? cta.cluster->ctas[size_t(rank)] : cta;
    const uint64_t offset =
        &owner == &cta && address >> kSharedRankShift != cta.rank ? address : address & kSharedOffsetMask;
    return inside(owner.shared.data(), owner.shared.size(), offset, bytes, "shared memory");
  }
  if (space == "local")
    return inside(cta.local.data() + linearThread(focus) * cta.localBytes, cta.localBytes,
                  address + (frame ? frame->localBase : 0), bytes, "the thread's local memory");
  if (space == "param") return inside(grid.parameters.data(), grid.parameters.size(), address, bytes, "the parameters");
  if (grid.addresses.find(address, address + bytes) >= 0 && address + bytes >= address)
    // NOLINTNEXTLINE(performance-no-int-to-ptr): global addresses are host addresses
    return {reinterpret_cast<std::byte*>(address), {}};
  return {nullptr, "the launch has no memory of " + std::to_string(bytes) + " bytes at " + hex(address)};
}

} // namespace tiletwin::sim::debugger
