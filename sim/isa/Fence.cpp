// sim/isa/Fence.cpp -- membar and fence.
//
// Idea:      what one thread of the host runs is in order by itself; between clusters, which run on several, a fence is one of the
//            host. Proxy fences change nothing in a machine without proxies, but it is noted who has run one and when, and
//            whoever looks on is told.
// Source:    "PTX ISA", NVIDIA, section "membar, fence".
#include "sim/isa/AddressOperand.h"
#include "sim/isa/Async.h"
#include "sim/isa/Scope.h"
#include "sim/machine/Observer.h"
#include <atomic>

namespace tiletwin::sim {

namespace {

struct FenceForm {
  Proxy proxy = Proxy::Generic;
  Semantics semantics = Semantics::AcquireRelease;
  Scope scope = Scope::Cta;
  AddressOperand map; ///< fence.proxy.tensormap::generic.acquire: the tensor map that will be read
  bool hasMap = false;
  bool isOfShared = true; ///< fence.proxy.async.global is not
};

Step runFence(const Inst& in, Warp& warp, LaneMask active) {
  const FenceForm& form = *static_cast<const FenceForm*>(in.data);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!form.isOfShared) return Step::Next; // nobody looks at global memory and proxies
  if (form.proxy == Proxy::Async) {
    WarpAsync& async = asyncOf(warp);
    const uint64_t order = ++asyncOf(*warp.cta).order;
    eachLane(active, [&](int i) { async.proxyFence[size_t(i)] = order; });
  }
  if (form.hasMap) {
    Access access{.bytes = 128, .alignment = 64, .proxy = Proxy::Tensormap};
    const LaneAddresses addresses = form.map.lanes(warp);
    for (LaneMask rest = active; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (!resolveBlock(access, warp, lane, addresses[size_t(lane)], access.bytes)) return Step::Trap;
    }
  }
  for (Observer* observer : warp.cta->cluster->grid->observers)
    observer->fence(warp, active, form.proxy, form.semantics, form.scope);
  return Step::Next;
}

Semantics semanticsNamed(std::string_view word) {
  return word == "acquire" ? Semantics::Acquire : word == "release" ? Semantics::Release : Semantics::AcquireRelease;
}

/// .sync_restrict::shared::cta (release) or ::cluster (acquire), which want .cluster.
bool decodeRestricted(Decoder& decoder, Words& words, FenceForm& form) {
  const std::string_view order = words.takeOneOf({"acquire", "release"});
  const std::string_view restriction =
      words.takeOneOf({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"});
  const bool fits = (order == "acquire" && restriction == "sync_restrict::shared::cluster") ||
                    (order == "release" && restriction == "sync_restrict::shared::cta");
  if (!fits || !words.take("cluster"))
    return decoder.fail("a restricted fence is .acquire.sync_restrict::shared::cluster.cluster or "
                        ".release.sync_restrict::shared::cta.cluster");
  form.semantics = semanticsNamed(order);
  form.scope = Scope::Cluster;
  return true;
}

bool decodeTensormapProxy(Decoder& decoder, const ptx::Instruction& in, Words& words, FenceForm& form) {
  form.proxy = Proxy::Tensormap;
  const std::string_view order = words.takeOneOf({"acquire", "release"});
  if (order.empty()) return decoder.fail("fence.proxy.tensormap::generic wants .acquire or .release");
  form.semantics = semanticsNamed(order);
  if (!takeScope(words, form.scope)) return decoder.fail("fence.proxy.tensormap::generic wants a scope");
  if (order == "release") return decoder.operands(in, 0);
  int64_t bytes = 0;
  if (!decoder.operands(in, 2) || !decoder.constant(in.operands[1], bytes)) return false;
  if (bytes != 128) return decoder.fail(in.operands[1], "a tensor map has 128 bytes");
  form.hasMap = true;
  return form.map.decode(decoder, in.operands[0], Space::None);
}

FenceForm* makeForm(Decoder& decoder, Inst& out) {
  auto* form = decoder.make<FenceForm>();
  out.data = form;
  out.kind = InstClass::Barrier;
  out.run = runFence;
  return form;
}

bool decodeProxy(Decoder& decoder, const ptx::Instruction& in, Words& words, FenceForm& form) {
  if (words.take("tensormap::generic")) return decodeTensormapProxy(decoder, in, words, form);
  if (!decoder.operands(in, 0)) return false;
  if (words.take("alias")) return true;
  form.proxy = Proxy::Async;
  if (words.take("async::generic")) return decodeRestricted(decoder, words, form);
  if (!words.take("async"))
    return decoder.fail("a proxy fence is .alias, .async, .async::generic or .tensormap::generic");
  form.isOfShared = words.takeOneOf({"global", "shared::cta", "shared::cluster"}) != "global";
  return true;
}

bool decodeFence(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  FenceForm* form = makeForm(decoder, out);
  if (words.take("proxy")) return decodeProxy(decoder, in, words, *form);
  if (!decoder.operands(in, 0)) return false;
  if (words.take("mbarrier_init")) {
    form->scope = Scope::Cluster;
    return (words.take("release") && words.take("cluster")) ||
           decoder.fail("fence.mbarrier_init wants .release.cluster");
  }
  for (const std::string_view word : in.modifiers)
    if (word.starts_with("sync_restrict")) return decodeRestricted(decoder, words, *form);
  form->semantics = semanticsNamed(words.takeOneOf({"sc", "acq_rel", "acquire", "release"}));
  return takeScope(words, form->scope) || decoder.fail("fence wants a scope: .cta, .cluster, .gpu or .sys");
}

bool decodeMembar(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  FenceForm* form = makeForm(decoder, out);
  if (words.take("proxy")) return decodeProxy(decoder, in, words, *form);
  const auto scope = words.takeNamed<Scope>({{"cta", Scope::Cta}, {"gl", Scope::Gpu}, {"sys", Scope::Sys}});
  if (!scope) return decoder.fail("membar wants .cta, .gl or .sys");
  form->scope = *scope;
  return decoder.operands(in, 0);
}

constexpr OpcodeRow kRows[] = {{"fence", decodeFence}, {"membar", decodeMembar}};

} // namespace

constinit OpcodeTable kFenceOpcodes = kRows;

} // namespace tiletwin::sim
