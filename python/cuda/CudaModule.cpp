// python/cuda/CudaModule.cpp -- the extension module tiletwin._cuda: NVIDIA GPUs as tiletwin/cuda calls them.
// Here:      the driver, devices, loading and assembling, streams, tensor maps. Plain values in and out.
// Not here:  kernels and launches (KernelObject.h, PreparedLaunch.h), memory and events (MemoryObjects.h); arrays, defaults and
//            the choice of ptxas (tiletwin/cuda/).
// Idea:      a module of its own: it is opened when a GPU is asked for, and the driver when it is first called.
#include "KernelObject.h"
#include "MemoryObjects.h"
#include "PreparedLaunch.h"
#include "RaiseError.h"
#include "runtime/cuda/Stream.h"
#include <algorithm>

namespace tiletwin::python {
namespace {

PyObject* none() { return PyRef::borrow(Py_None).release(); }

/// driver() -> {"path", "version", "ptx_version"}: 13000 is CUDA 13.0, 90 is PTX 9.0.
PyObject* driver(PyObject*, PyObject*) {
  const cuda::Driver* opened = nullptr;
  if (!withoutGil([&] { opened = &cuda::Driver::get(); })) return nullptr;
  return Py_BuildValue("{s:s,s:i,s:i}", "path", opened->path().c_str(), "version", opened->version(), "ptx_version",
                       opened->ptxVersion());
}

PyObject* driverCandidates(PyObject*, PyObject*) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const std::string& name : cuda::Driver::candidates()) {
    PyRef word = PyRef::steal(PyUnicode_DecodeFSDefault(name.c_str()));
    if (!list || !word || PyList_Append(list.get(), word.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* ptxVersionOfCuda(PyObject*, PyObject* args) {
  int version;
  if (!PyArg_ParseTuple(args, "i:ptx_version_of_cuda", &version)) return nullptr;
  return PyLong_FromLong(cuda::ptxVersionOfCuda(version));
}

PyObject* deviceCount(PyObject*, PyObject*) {
  int count = 0;
  return withoutGil([&] { count = cuda::Device::count(); }) ? PyLong_FromLong(count) : nullptr;
}

PyObject* currentDevice(PyObject*, PyObject*) {
  int device = -1;
  return withoutGil([&] { device = cuda::Device::current(); }) ? PyLong_FromLong(device) : nullptr;
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
PyObject* device(PyObject*, PyObject* args) {
  int ordinal;
  if (!PyArg_ParseTuple(args, "i:device", &ordinal)) return nullptr;
  const cuda::Device* device = nullptr;
  std::array<int, std::size(kDeviceNumbers)> values{};
  if (!withoutGil([&] {
        device = &cuda::Device::get(ordinal);
        for (size_t i = 0; i < values.size(); ++i) values[i] = device->attribute(kDeviceNumbers[i].attribute);
      }))
    return nullptr;
  PyRef dict =
      PyRef::steal(Py_BuildValue("{s:s,s:i,s:K}", "name", device->name().c_str(), "capability", device->capability(),
                                 "memory_bytes", (unsigned long long)device->memoryBytes()));
  for (size_t i = 0; dict && i < values.size(); ++i) {
    PyRef number = PyRef::steal(PyLong_FromLong(values[i]));
    if (!number || PyDict_SetItemString(dict.get(), kDeviceNumbers[i].name, number.get()) < 0) return nullptr;
  }
  return dict.release();
}

/// A module's image and the driver's options for PTX, as load() and assemble() take them.
struct LoadArguments {
  const char* bytes = nullptr;
  Py_ssize_t size = 0;
  const char* file = "";
  int device = 0;
  cuda::JitOptions options;
  std::span<const std::byte> image() const { return {reinterpret_cast<const std::byte*>(bytes), size_t(size)}; }
};

/// load(image, device, file[, max registers, optimization level, line info]) -> Module
PyObject* load(PyObject*, PyObject* args) {
  LoadArguments given;
  int lineInfo = 0;
  if (!PyArg_ParseTuple(args, "y#is|iip:load", &given.bytes, &given.size, &given.device, &given.file,
                        &given.options.maxRegisters, &given.options.optimizationLevel, &lineInfo))
    return nullptr;
  given.options.lineInfo = lineInfo != 0;
  std::shared_ptr<const cuda::Module> module;
  if (!withoutGil([&] {
        module = cuda::Module::load(cuda::Device::get(given.device), given.image(), given.file, given.options);
      }))
    return nullptr;
  return makeModule(std::move(module));
}

PyRef parametersOf(const cuda::PtxEntry& entry) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const cuda::PtxParameter& p : entry.parameters) {
    PyRef row = PyRef::steal(Py_BuildValue("(ssIIOI)", p.name.c_str(), p.type.c_str(), p.bytes, p.offset,
                                           p.isPointer ? Py_True : Py_False, p.pointerAlignment));
    if (!list || !row || PyList_Append(list.get(), row.get()) < 0) return {};
  }
  return list;
}

/// ptx_header(text) -> (version, target, {entry: {"parameters": [(name, type, bytes, offset, is pointer, its alignment)], ...}})
PyObject* ptxHeader(PyObject*, PyObject* args) {
  const char* text;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "s#:ptx_header", &text, &size)) return nullptr;
  const cuda::PtxHeader header = cuda::readPtxHeader({text, size_t(size)});
  PyRef entries = PyRef::steal(PyDict_New());
  auto triple = [](const std::array<uint32_t, 3>& a) { return Py_BuildValue("(III)", a[0], a[1], a[2]); };
  for (const cuda::PtxEntry& entry : header.entries) {
    PyRef parameters = parametersOf(entry);
    PyRef facts =
        PyRef::steal(parameters ? Py_BuildValue("{s:O,s:I,s:N,s:N,s:N}", "parameters", parameters.get(),
                                                "parameter_bytes", entry.parameterBytes, "required_threads",
                                                triple(entry.requiredThreads), "max_threads", triple(entry.maxThreads),
                                                "required_cluster", triple(entry.requiredCluster))
                                : nullptr);
    if (!entries || !facts || PyDict_SetItemString(entries.get(), entry.name.c_str(), facts.get()) < 0) return nullptr;
  }
  return entries ? Py_BuildValue("(isO)", header.version, header.target.c_str(), entries.get()) : nullptr;
}

/// describe_image(bytes) -> "PTX 9.0 for sm_90a", "a cubin for sm_90", ...
PyObject* describeImage(PyObject*, PyObject* args) {
  LoadArguments given;
  if (!PyArg_ParseTuple(args, "y#:describe_image", &given.bytes, &given.size)) return nullptr;
  return PyUnicode_FromString(cuda::readImage(given.image()).text().c_str());
}

/// assemble(ptx, device, file[, max registers, optimization level, line info]) -> (cubin, log): the driver's own compiler.
PyObject* assemble(PyObject*, PyObject* args) {
  LoadArguments given;
  int lineInfo = 0;
  if (!PyArg_ParseTuple(args, "s#is|iip:assemble", &given.bytes, &given.size, &given.device, &given.file,
                        &given.options.maxRegisters, &given.options.optimizationLevel, &lineInfo))
    return nullptr;
  given.options.lineInfo = lineInfo != 0;
  cuda::Assembled made;
  if (!withoutGil([&] {
        made = cuda::assemble(cuda::Device::get(given.device), {given.bytes, size_t(given.size)}, given.file,
                              given.options);
      }))
    return nullptr;
  PyRef log = PyRef::steal(PyUnicode_DecodeUTF8(made.log.data(), Py_ssize_t(made.log.size()), "replace"));
  return log ? Py_BuildValue("(y#O)", reinterpret_cast<const char*>(made.cubin.data()), Py_ssize_t(made.cubin.size()),
                             log.get())
             : nullptr;
}

/// synchronize(device[, stream]): waits for a stream, or for everything.
PyObject* synchronize(PyObject*, PyObject* args) {
  int ordinal;
  PyObject* stream = Py_None;
  if (!PyArg_ParseTuple(args, "i|O:synchronize", &ordinal, &stream)) return nullptr;
  uint64_t number = 0;
  if (stream != Py_None && !readNumber("stream", stream, number)) return nullptr;
  return withoutGil([&] {
    cuda::Device& device = cuda::Device::get(ordinal);
    if (stream == Py_None)
      cuda::synchronize(device);
    else
      cuda::synchronize(device, cuda::streamOf(number));
  })
             ? none()
             : nullptr;
}

PyObject* isCapturing(PyObject*, PyObject* args) {
  int ordinal;
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "iK:is_capturing", &ordinal, &stream)) return nullptr;
  bool capturing = false;
  if (!withoutGil([&] { capturing = cuda::isCapturing(cuda::Device::get(ordinal), cuda::streamOf(stream)); }))
    return nullptr;
  return PyBool_FromLong(capturing);
}

/// False with an exception set. Numbers that do not fit into T stay too large.
template <class T> bool readNumbers(PyObject* tuple, std::vector<T>& numbers) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    uint64_t number = 0;
    if (!readNumber("a tensor map's number", PyTuple_GetItem(tuple, i), number)) return false;
    numbers.push_back(T(std::min<uint64_t>(number, T(~T(0)))));
  }
  return true;
}

/// encode_tensor_map(device, type, address, sizes, strides, box, element strides, interleave, swizzle, promotion, fill) -> 128 bytes
PyObject* encodeTensorMap(PyObject*, PyObject* args) {
  unsigned long long address;
  PyObject *sizeList, *strideList, *boxList, *stepList;
  int ordinal, type, interleave, swizzle, promotion, fill;
  if (!PyArg_ParseTuple(args, "iiKO!O!O!O!iiii:encode_tensor_map", &ordinal, &type, &address, &PyTuple_Type, &sizeList,
                        &PyTuple_Type, &strideList, &PyTuple_Type, &boxList, &PyTuple_Type, &stepList, &interleave,
                        &swizzle, &promotion, &fill))
    return nullptr;
  std::vector<uint64_t> sizes, strides;
  std::vector<uint32_t> box, steps;
  if (!readNumbers(sizeList, sizes) || !readNumbers(strideList, strides) || !readNumbers(boxList, box) ||
      !readNumbers(stepList, steps))
    return nullptr;
  if (box.size() != sizes.size() || steps.size() != sizes.size() || strides.size() + 1 != sizes.size()) {
    PyErr_SetString(PyExc_ValueError,
                    "a tensor map has as many boxes and element strides as sizes, and one stride less");
    return nullptr;
  }
  alignas(64) char map[128];
  if (!withoutGil([&] {
        const cuda::Driver& opened = cuda::Driver::get();
        cuda::ContextScope context(cuda::Device::get(ordinal));
        if (!opened.cuTensorMapEncodeTiled) opened.lacks("cuTensorMapEncodeTiled", "a tensor map");
        const cuda::Result result = opened.cuTensorMapEncodeTiled(
            map, type, uint32_t(sizes.size()), reinterpret_cast<void*>(uintptr_t(address)), sizes.data(),
            strides.data(), box.data(), steps.data(), interleave, swizzle, promotion, fill);
        if (result == cuda::kInvalidValue)
          throw cuda::Error(cuda::ErrorKind::Argument,
                            "the driver refuses the tensor map: cuTensorMapEncodeTiled gave " + cuda::describe(result));
        cuda::check(result, "cuTensorMapEncodeTiled");
      }))
    return nullptr;
  return PyBytes_FromStringAndSize(map, sizeof map);
}

PyMethodDef kFunctions[] = {
    {"driver", driver, METH_NOARGS, "The driver: path, version, ptx_version."},
    {"driver_candidates", driverCandidates, METH_NOARGS, "Where the driver is looked for."},
    {"ptx_version_of_cuda", ptxVersionOfCuda, METH_VARARGS, "ptx_version_of_cuda(13000) -> 90"},
    {"device_count", deviceCount, METH_NOARGS, "GPUs that this process sees."},
    {"current_device", currentDevice, METH_NOARGS, "The GPU that is current in this thread, or -1."},
    {"device", device, METH_VARARGS, "device(number): its name, capability and limits."},
    {"load", load, METH_VARARGS, "load(image, device, file[, max_registers, optimization_level, line_info]) -> Module"},
    {"ptx_header", ptxHeader, METH_VARARGS, "ptx_header(text) -> (version, target, entries)"},
    {"describe_image", describeImage, METH_VARARGS, "describe_image(bytes): what code it is."},
    {"assemble", assemble, METH_VARARGS,
     "assemble(ptx, device, file[, max_registers, optimization_level, line_info]) -> (cubin, log)"},
    {"synchronize", synchronize, METH_VARARGS, "synchronize(device[, stream])"},
    {"is_capturing", isCapturing, METH_VARARGS, "is_capturing(device, stream)"},
    {"encode_tensor_map", encodeTensorMap, METH_VARARGS,
     "encode_tensor_map(device, type, address, sizes, strides, box, element_strides, interleave, swizzle, promotion, "
     "fill)"},
    {"allocate", allocate, METH_VARARGS, "allocate(bytes, device) -> Memory"},
    {"event", makeEvent, METH_VARARGS, "event(device) -> Event"},
    {"copy_in", copyIn, METH_VARARGS, "copy_in(device, address, buffer, stream)"},
    {"copy_out", copyOut, METH_VARARGS, "copy_out(device, buffer, address, stream)"},
    {"pointer", pointer, METH_VARARGS, "pointer(device, address) -> (kind, device, begin, bytes)"},
    {nullptr, nullptr, 0, nullptr},
};

int executeModule(PyObject* module) {
  return addKernel(module) < 0 || addPrepared(module) < 0 || addMemoryObjects(module) < 0 ? -1 : 0;
}
PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(executeModule)},
    {0, nullptr},
};
PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT,
    "_cuda",
    "NVIDIA GPUs through their driver.",
    0,
    kFunctions,
    kSlots,
    nullptr,
    nullptr,
    nullptr,
};

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__cuda() { return PyModuleDef_Init(&tiletwin::python::kModule); }
