#include "sim/isa/WaitText.h"

namespace tiletwin::sim {

std::string waitText(Warp& warp, const Fragment& fragment, const Inst* at) {
  const RegistersOf registers(warp, fragment);
  std::string text = barrierWaitText(warp, fragment, at);
  if (text.empty()) text = clusterWaitText(warp, at);
  if (text.empty()) text = mbarrierWaitText(warp, fragment, at);
  if (text.empty()) text = registerWaitText(warp, at);
  if (text.empty()) text = tensorWaitText(warp, at);
  return text;
}

} // namespace tiletwin::sim
