// benchmarks/driver_launches.cpp -- what a launch costs through the virtual GPU's driver beyond the simulator's own launch.
// Here:      one row a case: microseconds of a launch by the simulator, by the driver, and the difference. Both run the same
//            kernel with the same parameters and the same memory, in turns.
// Not here:  clients' own cost; Python is not involved.
// Usage: tw_driver_launches [libcuda.so.1]; ends with 1 if the driver adds more than 100 us anywhere.
#include "sim/Sim.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <string>

namespace {

using namespace tiletwin;
using Handle = void*;
using Address = unsigned long long;

constexpr int kRounds = 15, kLaunches = 200;
constexpr double kMostAdded = 100e-6;
constexpr uint32_t kThreads = 64;

void* library = nullptr;

/// Calls a function of the driver; ends the program if it fails.
template <class... Given> void call(const char* name, Given... given) {
  const auto function = reinterpret_cast<int (*)(Given...)>(dlsym(library, name));
  const int code = function ? function(given...) : -1;
  if (code == 0) return;
  std::fprintf(stderr, "%s returned %d\n", name, code);
  std::exit(2);
}

/// A kernel of `count` numbers as parameters, which counts its launches at the address that the first one is, if there is one.
std::string textOf(int count) {
  std::string list, body;
  for (int i = 0; i < count; ++i) list += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  if (count)
    body = "ld.param.u64 %d, [p0]; mov.u32 %a, %tid.x; mov.u32 %b, %ctaid.x; or.b32 %a, %a, %b; setp.ne.u32 %p, %a, 0; "
           "@%p ret; "
           "ld.global.u32 %a, [%d]; add.u32 %a, %a, 1; st.global.u32 [%d], %a; ";
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(" + list +
         ")\n{ .reg .pred %p; .reg .b32 %a, %b; .reg .b64 %d; " + body + "ret; }\n";
}

double secondsOf(const std::function<void()>& launch) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  launch();
  return std::chrono::duration<double>(Clock::now() - start).count() / kLaunches;
}

/// Memory of the driver's that counts launches.
class Counter {
public:
  Counter() {
    call("cuMemAlloc_v2", &at, size_t(4));
    call("cuMemsetD32_v2", at, 0U, size_t(1));
  }
  uint32_t launches() const {
    uint32_t count = 0;
    call("cuMemcpyDtoH_v2", static_cast<void*>(&count), at, size_t(4));
    return count;
  }
  Address at = 0;
};

struct Case {
  const char* name;
  int parameters = 1;
  uint32_t blocks = 1;
  int allocations = 0; ///< besides the one that is used
  int modules = 1;     ///< whose kernels take turns
  int streams = 0;     ///< which take turns; 0: the default one
  int inGraph = 0;     ///< launches of a graph; 0: none
};

constexpr Case kCases[] = {
    {.name = "no parameters", .parameters = 0},
    {.name = "1 parameter"},
    {.name = "100 parameters", .parameters = 100},
    {.name = "64 blocks", .blocks = 64},
    {.name = "1,000 allocations", .allocations = 1000},
    {.name = "10,000 allocations", .allocations = 10000},
    {.name = "20 modules", .modules = 20},
    {.name = "8 streams", .streams = 8},
    {.name = "graph of 1 launch", .streams = 1, .inGraph = 1},
    {.name = "graph of 100 launches, each", .streams = 1, .inGraph = 100},
};

/// Launches of a case by both; a context of its own.
class Run {
public:
  explicit Run(const Case& of) : case_(of) {
    call("cuCtxCreate_v2", &context_, 0U, 0);
    counter_.emplace();
    values_.assign(size_t(std::max(of.parameters, 1)), counter_->at);
    for (Address& value : values_) pointers_.push_back(&value);
    others_.resize(size_t(of.allocations));
    for (Address& other : others_) call("cuMemAlloc_v2", &other, size_t(256));
    const std::string text = textOf(of.parameters);
    for (int i = 0; i < of.modules; ++i) {
      Handle module = nullptr;
      call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
      functions_.push_back(nullptr);
      call("cuModuleGetFunction", &functions_.back(), module, "k");
    }
    for (int i = 0; i < of.streams; ++i) {
      streams_.push_back(nullptr);
      call("cuStreamCreate", &streams_.back(), 0U);
    }
    if (streams_.empty()) streams_.push_back(nullptr);
    if (of.inGraph) capture();
    prepareSimulator(text);
  }
  ~Run() { call("cuCtxDestroy_v2", context_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void byDriver() {
    if (graph_) {
      for (int i = 0; i < kLaunches; i += case_.inGraph) call("cuGraphLaunch", graph_, streams_[0]);
      return;
    }
    for (int i = 0; i < kLaunches; ++i)
      launch(functions_[size_t(i) % functions_.size()], streams_[size_t(i) % streams_.size()]);
  }
  void bySimulator() {
    for (int i = 0; i < kLaunches; ++i) {
      const sim::Result result = sim::launch(*module_->find("k"), params_);
      if (!result.trap) continue;
      std::fprintf(stderr, "the simulator: %s\n", result.trap.message.c_str());
      std::exit(2);
    }
  }
  /// Whether each launch that was counted has run.
  bool haveAllRun(uint32_t expected) const {
    return case_.parameters == 0 || (counter_ && counter_->launches() == expected);
  }

private:
  void launch(Handle function, Handle stream) {
    call("cuLaunchKernel", function, case_.blocks, 1U, 1U, kThreads, 1U, 1U, 0U, stream, pointers_.data(),
         static_cast<void**>(nullptr));
  }
  void capture() {
    Handle graph = nullptr;
    call("cuStreamBeginCapture_v2", streams_[0], 0);
    for (int i = 0; i < case_.inGraph; ++i) launch(functions_[0], streams_[0]);
    call("cuStreamEndCapture", streams_[0], &graph);
    call("cuGraphInstantiateWithFlags", &graph_, graph, 0ULL);
  }
  void prepareSimulator(const std::string& text) {
    sim::ptx::Diagnostic error;
    module_ = sim::Module::load(text, {}, error);
    if (!module_) std::exit(2);
    const auto known = [&](Address at, uint64_t bytes) {
      Buffer buffer;
      buffer.name = "device memory " + std::to_string(buffers_.size());
      buffer.begin = buffer.viewBegin = at;
      buffer.end = buffer.viewEnd = at + bytes;
      buffers_.push_back(std::move(buffer));
    };
    if (counter_) known(counter_->at, 4);
    for (const Address other : others_) known(other, 256);
    params_.grid = {case_.blocks, 1, 1};
    params_.block = {kThreads, 1, 1};
    params_.parameters = std::as_bytes(std::span(values_)).first(module_->find("k")->parameterBytes());
    params_.buffers = buffers_;
  }

  const Case& case_;
  Handle context_ = nullptr, graph_ = nullptr;
  std::optional<Counter> counter_;
  std::vector<Address> values_, others_;
  std::vector<void*> pointers_;
  std::vector<Handle> functions_, streams_;
  std::shared_ptr<const sim::Module> module_;
  std::vector<Buffer> buffers_;
  sim::LaunchParams params_;
};

/// What the driver adds, in seconds.
double measure(const Case& of) {
  Run run(of);
  run.byDriver();
  run.bySimulator();
  double simulator = 1, driver = 1; // the best rounds, which other work on the machine disturbs least
  for (int i = 0; i < kRounds; ++i) {
    simulator = std::min(simulator, secondsOf([&] { run.bySimulator(); }));
    driver = std::min(driver, secondsOf([&] { run.byDriver(); }));
  }
  if (!run.haveAllRun(2 * kLaunches * (kRounds + 1))) {
    std::fprintf(stderr, "%s: not every launch has run\n", of.name);
    std::exit(2);
  }
  const double added = driver - simulator;
  std::printf("%-28s %9.1f %9.1f %9.1f\n", of.name, simulator * 1e6, driver * 1e6, added * 1e6);
  return added;
}

} // namespace

int main(int argc, char** argv) {
  library = dlopen(argc > 1 ? argv[1] : TILETWIN_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  call("cuInit", 0U);
  std::printf("%-28s %9s %9s %9s\n", "us a launch", "simulator", "driver", "added");
  double most = 0;
  for (const Case& one : kCases) most = std::max(most, measure(one));
  return most <= kMostAdded ? 0 : 1;
}
