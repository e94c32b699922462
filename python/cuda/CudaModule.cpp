// python/cuda/CudaModule.cpp -- the extension module tiletwin._cuda: NVIDIA GPUs as tiletwin/cuda calls them.
// Here:      the driver, devices, loading and assembling, streams, tensor maps. Plain values in and out.
// Not here:  kernels and launches (KernelObject.h, PreparedLaunch.h), memory (MemoryObjects.h); arrays, defaults and
//            the choice of ptxas (tiletwin/cuda/).
// Idea:      a module of its own: Python opens it when something needs a GPU, and its first call opens the driver.
#include "KernelObject.h"
#include "MemoryObjects.h"
#include "PreparedLaunch.h"
#include "RaiseError.h"
#include "runtime/cuda/Stream.h"

namespace tiletwin::python {
namespace {

/// driver() -> {"path", "version", "ptx_version"}: 13000 is CUDA 13.0, 90 is PTX 9.0.
PyRef driver() {
  const cuda::Driver* opened = nullptr;
  if (!withoutGil([&] { opened = &cuda::Driver::get(); })) return {};
  return pyDict("path", opened->path(), "version", opened->version(), "ptx_version", opened->ptxVersion());
}

std::optional<int> deviceCount() {
  return madeWithoutGil([] { return cuda::Device::count(); });
}

std::optional<int> currentDevice() {
  return madeWithoutGil([] { return cuda::Device::current(); });
}

/// Numbers of a device by the names that Triton's driver module has for them, and some more.
struct DeviceNumber {
  const char* name;
  cuda::DeviceAttribute attribute;
};
constexpr DeviceNumber kDeviceNumbers[] = {
    {"max_shared_mem", cuda::kMaxSharedPerBlockOptin},
    {"max_num_regs", cuda::kMaxRegistersPerBlock},
    {"multiprocessor_count", cuda::kMultiprocessorCount},
    {"warpSize", cuda::kWarpSize},
    {"sm_clock_rate", cuda::kClockRate},
    {"mem_clock_rate", cuda::kMemoryClockRate},
    {"mem_bus_width", cuda::kMemoryBusWidth},
    {"max_threads", cuda::kMaxThreadsPerBlock},
    {"shared_per_multiprocessor", cuda::kMaxSharedPerMultiprocessor},
    {"registers_per_multiprocessor", cuda::kMaxRegistersPerMultiprocessor},
    {"threads_per_multiprocessor", cuda::kMaxThreadsPerMultiprocessor},
    {"l2_bytes", cuda::kL2CacheSize},
    {"cooperative_launch", cuda::kCooperativeLaunch},
    {"cluster_launch", cuda::kClusterLaunch},
};

/// device(number) -> {"name", "capability", "memory_bytes", limits}
PyRef device(int ordinal) {
  const cuda::Device* device = nullptr;
  std::array<int, std::size(kDeviceNumbers)> values{};
  if (!withoutGil([&] {
        device = &cuda::Device::get(ordinal);
        for (size_t i = 0; i < values.size(); ++i) values[i] = device->attribute(kDeviceNumbers[i].attribute);
      }))
    return {};
  PyRef dict =
      pyDict("name", device->name(), "capability", device->capability(), "memory_bytes", device->memoryBytes());
  for (size_t i = 0; dict && i < values.size(); ++i)
    if (!putItems(dict, kDeviceNumbers[i].name, values[i])) return {};
  return dict;
}

/// The driver's options for PTX, as load() and assemble() take them.
cuda::JitOptions jitOptions(std::optional<int> maxRegisters, std::optional<int> level, std::optional<bool> lineInfo) {
  cuda::JitOptions options;
  if (maxRegisters) options.maxRegisters = *maxRegisters;
  if (level) options.optimizationLevel = *level;
  options.lineInfo = lineInfo.value_or(false);
  return options;
}

PyRef load(std::span<const std::byte> image, int device, const char* file, std::optional<int> maxRegisters,
           std::optional<int> level, std::optional<bool> lineInfo) {
  auto module = madeWithoutGil([&] {
    return cuda::Module::load(cuda::Device::get(device), image, file, jitOptions(maxRegisters, level, lineInfo));
  });
  return module ? makeModule(*std::move(module)) : PyRef();
}

PyRef entryFacts(const cuda::PtxEntry& entry) {
  PyRef parameters = pyList(entry.parameters, [](const cuda::PtxParameter& p) {
    return pyTuple(p.name, p.type, p.bytes, p.offset, p.isPointer, p.pointerAlignment);
  });
  return pyDict("parameters", parameters, "parameter_bytes", entry.parameterBytes, "required_threads",
                entry.requiredThreads, "max_threads", entry.maxThreads, "required_cluster", entry.requiredCluster);
}

/// ptx_header(text) -> (version, target, {entry: {"parameters": [(name, type, bytes, offset, is pointer, its alignment)], ...}})
PyRef ptxHeader(std::string_view text) {
  const cuda::PtxHeader header = cuda::readPtxHeader(text);
  PyRef entries = pyDict();
  for (const cuda::PtxEntry& entry : header.entries)
    if (!putItems(entries, entry.name.c_str(), entryFacts(entry))) return {};
  return pyTuple(header.version, header.target, entries);
}

/// describe_image(bytes) -> "PTX 9.0 for sm_90a", "a cubin for sm_90", ...
std::string describeImage(std::span<const std::byte> image) { return cuda::readImage(image).text(); }

/// The driver's own compiler.
PyRef assemble(std::string_view ptx, int device, const char* file, std::optional<int> maxRegisters,
               std::optional<int> level, std::optional<bool> lineInfo) {
  auto made = madeWithoutGil(
      [&] { return cuda::assemble(cuda::Device::get(device), ptx, file, jitOptions(maxRegisters, level, lineInfo)); });
  return made ? pyTuple(pyBytes(made->cubin.data(), made->cubin.size()), repairedText(made->log)) : PyRef();
}

/// Waits for a stream, or for everything.
bool synchronize(int ordinal, std::optional<PyObject*> stream) {
  uint64_t number = 0;
  if (stream && !readNumber("stream", *stream, number)) return false;
  return withoutGil([&] {
    cuda::Device& device = cuda::Device::get(ordinal);
    if (stream)
      cuda::synchronize(device, cuda::streamOf(number));
    else
      cuda::synchronize(device);
  });
}

std::optional<bool> isCapturing(int ordinal, uint64_t stream) {
  return madeWithoutGil([&] { return cuda::isCapturing(cuda::Device::get(ordinal), cuda::streamOf(stream)); });
}

PyRef tensorMap(int ordinal, PyObject* tuple) {
  TensorMapLists lists;
  alignas(64) char map[128];
  if (!lists.read(tuple) || !withoutGil([&] {
        encodeTensorMap(cuda::Device::get(ordinal), lists.numbers(), "the driver refuses the tensor map", map);
      }))
    return {};
  return pyBytes(map, sizeof map);
}

bool execute(PyObject* module) {
  return addFunctions(
             module,
             {function<"driver", driver>("The driver: path, version, ptx_version."),
              function<"ptx_version_of_cuda", cuda::ptxVersionOfCuda>("ptx_version_of_cuda(13000) -> 90"),
              function<"device_count", deviceCount>("GPUs that this process sees."),
              function<"current_device", currentDevice>("The GPU that is current in this thread, or -1."),
              function<"device", device>("device(number): its name, capability and limits."),
              function<"load", load>(
                  "load(image, device, file[, max_registers, optimization_level, line_info]) -> Module"),
              function<"ptx_header", ptxHeader>("ptx_header(text) -> (version, target, entries)"),
              function<"describe_image", describeImage>("describe_image(bytes): what code it is."),
              function<"assemble", assemble>(
                  "assemble(ptx, device, file[, max_registers, optimization_level, line_info]) -> (cubin, log)"),
              function<"synchronize", synchronize>("synchronize(device[, stream])"),
              function<"is_capturing", isCapturing>("is_capturing(device, stream)"),
              function<"encode_tensor_map", tensorMap>(
                  "encode_tensor_map(device, numbers) -> 128 bytes: what TensorMap.numbers gives")}) &&
         addKernel(module) && addPrepared(module) && addMemory(module);
}

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__cuda() {
  return tiletwin::defineModule<tiletwin::python::execute>("_cuda", "NVIDIA GPUs through their driver.");
}
