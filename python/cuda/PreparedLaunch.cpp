// python/cuda/PreparedLaunch.cpp -- see PreparedLaunch.h.
#include "PreparedLaunch.h"
#include "../src/StorageTypes.h"
#include "KernelObject.h"
#include "RaiseError.h"
#include "runtime/cuda/Driver.h"
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Stream.h"
#include <vector>

namespace tiletwin::python {
namespace {

constexpr uint32_t kTensorMapBytes = 128;

struct Prepared {
  std::shared_ptr<const cuda::Kernel> kernel;
  cuda::LaunchShape shape;
  std::vector<uint32_t> bytes; ///< of each argument
};
using PreparedObject = Object<Prepared>;
const Prepared& preparedOf(PyObject* self) { return PreparedObject::of(self); }

Py_ssize_t apiArgumentCount(PyObject* prepared) {
  if (PreparedObject::is(prepared)) return Py_ssize_t(preparedOf(prepared).bytes.size());
  PyErr_Format(PyExc_TypeError, "a tiletwin._cuda.Prepared is wanted, not %R", prepared);
  return -1;
}

bool apiLaunch(PyObject* object, const uint32_t* grid, uintptr_t stream, uint64_t* bits, size_t count) {
  const Py_ssize_t wanted = apiArgumentCount(object);
  if (wanted < 0) return false;
  const Prepared& prepared = preparedOf(object);
  if (size_t(wanted) != count) {
    PyErr_Format(PyExc_SystemError, "%s takes %zd arguments, not %zu", prepared.kernel->name().c_str(), wanted, count);
    return false;
  }
  std::array<void*, cuda::kMostParameters> parameters;
  for (size_t i = 0; i < count; ++i)
    parameters[i] = prepared.bytes[i] == kTensorMapBytes ? reinterpret_cast<void*>(bits[i]) : &bits[i];
  cuda::LaunchShape shape = prepared.shape;
  shape.grid = {grid[0], grid[1], grid[2]};
  shape.stream = cuda::streamOf(stream);
  return withoutGil([&] { prepared.kernel->launch(shape, parameters.data()); });
}

int apiReaches(PyObject* prepared, uint64_t address) {
  if (apiArgumentCount(prepared) < 0) return -1;
  if (address == 0) return 1; // an empty tensor
  cuda::PointerFacts facts;
  if (!withoutGil([&] { facts = cuda::pointerFacts(preparedOf(prepared).kernel->device(), address); })) return -1;
  return facts.kind != cuda::PointerFacts::Kind::Unknown;
}

bool apiEncodeTensorMap(PyObject* prepared, const TensorMapNumbers& numbers, void* map) {
  if (apiArgumentCount(prepared) < 0) return false;
  const cuda::Kernel& kernel = *preparedOf(prepared).kernel;
  return withoutGil([&] {
    encodeTensorMap(kernel.device(), numbers, kernel.name() + "(): the driver refuses the tensor map of a descriptor",
                    map);
  });
}

constexpr LaunchApi kLaunchApi = {sizeof(LaunchApi), apiArgumentCount, apiLaunch, apiReaches, apiEncodeTensorMap};

/// Bytes of an argument of a storage type, or of the tensor map that a tuple describes; 0 with an exception set.
uint32_t bytesOf(PyObject* argument) {
  if (PyTuple_Check(argument)) return kTensorMapBytes;
  const std::optional<DType> type = storageTypeNamed(argument);
  return type ? uint32_t(sizeOf(*type)) : 0;
}

std::string joined(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (uint32_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "no" : text;
}

/// False with ValueError set: the driver would read other bytes than the launch has.
bool fitsKernel(const Prepared& prepared) {
  if (!prepared.kernel->knowsParameters()) return true;
  std::vector<uint32_t> wanted;
  for (const cuda::ParameterPlace& place : prepared.kernel->parameters()) wanted.push_back(place.bytes);
  if (wanted == prepared.bytes) return true;
  PyErr_Format(PyExc_ValueError, "%s has parameters of %s bytes, and the launch arguments of %s bytes",
               prepared.kernel->name().c_str(), joined(wanted).c_str(), joined(prepared.bytes).c_str());
  return false;
}

} // namespace

void encodeTensorMap(cuda::Device& device, const TensorMapNumbers& n, const std::string& refused, void* map) {
  const cuda::Driver& driver = cuda::Driver::get();
  cuda::ContextScope context(device);
  if (!driver.cuTensorMapEncodeTiled) driver.lacks("cuTensorMapEncodeTiled", "a tensor map");
  const cuda::Result result =
      driver.cuTensorMapEncodeTiled(map, n.type, n.rank, reinterpret_cast<void*>(uintptr_t(n.address)), n.sizes,
                                    n.strides, n.box, n.steps, n.interleave, n.swizzle, n.promotion, n.fill);
  if (result == cuda::kInvalidValue)
    throw cuda::Error(cuda::ErrorKind::Argument, refused + ": cuTensorMapEncodeTiled gave " + cuda::describe(result));
  cuda::check(result, "cuTensorMapEncodeTiled");
}

PyRef makePrepared(std::shared_ptr<const cuda::Kernel> kernel, const cuda::LaunchShape& shape, PyObject* arguments) {
  Prepared prepared{std::move(kernel), shape, {}};
  for (PyObject* argument : itemsOf(arguments)) {
    prepared.bytes.push_back(bytesOf(argument));
    if (!prepared.bytes.back()) return {};
  }
  if (prepared.bytes.size() > cuda::kMostParameters) {
    PyErr_Format(PyExc_ValueError, "a launch has at most %zu arguments, not %zu", cuda::kMostParameters,
                 prepared.bytes.size());
    return {};
  }
  if (!fitsKernel(prepared) || !withoutGil([&] { prepared.kernel->prepare(shape); })) return {};
  return PreparedObject::make(std::move(prepared));
}

bool addPrepared(PyObject* module) {
  PyRef capsule = PyRef::steal(PyCapsule_New(const_cast<LaunchApi*>(&kLaunchApi), kLaunchApiCapsule, nullptr));
  return capsule && PyModule_AddObjectRef(module, "launch_api", capsule.get()) == 0 &&
         addType<Prepared>(module, {.name = "tiletwin._cuda.Prepared",
                                    .doc = "A kernel with all that a launch needs but grid, stream and arguments."});
}

} // namespace tiletwin::python
