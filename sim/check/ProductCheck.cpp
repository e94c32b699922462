#include "sim/check/ProductCheck.h"
#include "sim/check/AsyncHistory.h"
#include "sim/check/Report.h"
#include "sim/isa/Async.h"
#include "sim/machine/Fragments.h"
#include <algorithm>

namespace tiletwin::sim {
namespace {

using Product = WarpProducts::Product;
using Register = WarpProducts::Register;

/// AsyncHistory::Report's third part, behind those of AsyncMistake.
enum class ProductMistake : uint32_t { Written = 100, Read, Touched, NoFence, Shape };

AsyncHistory* historyOf(const Warp& warp) { return warp.cta->async ? warp.cta->async->history.get() : nullptr; }

/// The state of each register that wgmma names in the function that runs.
std::vector<Register>& registersOf(Warp& warp) {
  WarpProducts& products = productsOf(warp);
  const size_t count = warp.running->frame->code->productRegisters.size();
  if (products.frame == warp.base[0] && products.registers.size() == count) return products.registers;
  products.frame = warp.base[0]; // another call: what is on its way is known, who has used what is not
  products.registers.assign(count, {});
  for (const Product& product : products.pending) products.count(product, 1);
  return products.registers;
}

struct ProductReport {
  ProductMistake mistake = ProductMistake::Written;
  const Inst* other = nullptr; ///< null: none
  std::string message, advice, secondText;
  int reg = -1;
  LaneMask lanes = kAllLanes;
};

void reportProduct(Warp& warp, AsyncHistory& history, const ProductReport& r) {
  if (!history.isNew({warp.at, r.other, uint32_t(r.mistake), warp.cta->rank})) return;
  Grid& grid = *warp.cta->cluster->grid;
  Finding finding = findingOf(Check::Async, {&warp, warp.at, r.lanes}, r.message, r.advice);
  if (r.reg >= 0)
    finding.detail = ", register " + std::string(warp.running->frame->code->productRegisters[size_t(r.reg)]);
  if (r.other) addSecond(finding, *grid.program, {&warp, r.other, kAllLanes}, r.secondText);
  report(grid, std::move(finding));
}

/// The oldest product on its way that writes (or, as A, reads) a register.
const Inst* productOf(const Warp& warp, uint16_t reg, bool writes) {
  for (const Product& product : warp.products->pending) {
    const std::vector<uint16_t>& numbers = writes ? product.plan->dNumbers : product.plan->aNumbers;
    if (product.registers == warp.base[0] && std::find(numbers.begin(), numbers.end(), reg) != numbers.end())
      return product.inst;
  }
  return nullptr;
}

constexpr const char* kWait = "wait with wgmma.wait_group for the group of that product first";
constexpr const char* kFence =
    "run wgmma.fence.sync.aligned behind the last access to the registers and in front of the "
    "first product that uses them";

void reportOnItsWay(Warp& warp, AsyncHistory& history, uint16_t reg, bool writes, LaneMask lanes = kAllLanes) {
  ProductReport r;
  r.mistake = writes ? ProductMistake::Written : ProductMistake::Read;
  r.other = productOf(warp, reg, writes);
  r.message = writes ? "uses a register that a wgmma on its way is going to write: nobody has waited for it yet"
                     : "writes a register that a wgmma on its way is going to read";
  r.advice = kWait;
  r.secondText = "is on its way";
  r.reg = reg;
  r.lanes = lanes;
  reportProduct(warp, history, r);
}

bool isSameShape(const WgmmaPlan& a, const WgmmaPlan& b) {
  return a.n == b.n && a.k == b.k && a.unit == b.unit && a.accumulator == b.accumulator;
}

/// Registers of D and A must not have been used since the last wgmma.fence, but for D by products of the same shape.
void checkFence(Warp& warp, AsyncHistory& history, const WgmmaPlan& plan, uint16_t reg, const Register& state,
                bool isD) {
  if (!state.touched) return;
  const bool byProduct = state.touched->run == runWgmmaProduct;
  if (byProduct && isD && isSameShape(plan, *static_cast<const WgmmaPlan*>(state.touched->data))) return;
  ProductReport r;
  r.mistake = byProduct ? ProductMistake::Shape : ProductMistake::Touched;
  r.other = state.touched;
  r.message = byProduct ? "uses a register that a wgmma of another shape has used, with no wgmma.fence between"
                        : "uses a register that another instruction has used, with no wgmma.fence between";
  r.advice = kFence;
  r.secondText = "has used it";
  r.reg = reg;
  reportProduct(warp, history, r);
}

} // namespace

void WarpProducts::count(const Product& product, int by) {
  if (product.registers != frame) return;
  for (const uint16_t reg : product.plan->dNumbers) registers[reg].writers = uint16_t(registers[reg].writers + by);
  for (const uint16_t reg : product.plan->aNumbers) registers[reg].readers = uint16_t(registers[reg].readers + by);
}

void checkProduct(Warp& warp, const Inst& in, const WgmmaPlan& plan) {
  AsyncHistory* history = historyOf(warp);
  if (!history) return;
  std::vector<Register>& registers = registersOf(warp);
  if (!warp.products->isFenced) {
    ProductReport r;
    r.mistake = ProductMistake::NoFence;
    r.message = "is the warp's first product, with no wgmma.fence in front of it";
    r.advice = kFence;
    reportProduct(warp, *history, r);
    warp.products->isFenced = true; // what follows is looked at as if there had been one
    for (Register& reg : registers) reg.touched = nullptr;
  }
  for (const uint16_t reg : plan.aNumbers) {
    if (registers[reg].writers) reportOnItsWay(warp, *history, reg, true);
    checkFence(warp, *history, plan, reg, registers[reg], false);
  }
  for (const uint16_t reg : plan.dNumbers) {
    checkFence(warp, *history, plan, reg, registers[reg], true);
    registers[reg].touched = &in;
  }
}

void checkRegisterUses(Warp& warp, const ProductRegisterUses& uses, LaneMask lanes) {
  AsyncHistory* history = historyOf(warp);
  if (!history) return;
  std::vector<Register>& registers = registersOf(warp);
  for (const uint16_t reg : uses.reads)
    if (registers[reg].writers) reportOnItsWay(warp, *history, reg, true, lanes);
  for (const uint16_t reg : uses.writes) {
    if (registers[reg].writers) reportOnItsWay(warp, *history, reg, true, lanes);
    if (registers[reg].readers) reportOnItsWay(warp, *history, reg, false, lanes);
  }
  for (const std::vector<uint16_t>* list : {&uses.reads, &uses.writes})
    for (const uint16_t reg : *list) registers[reg].touched = warp.at;
}

} // namespace tiletwin::sim
