// python/src/GpuLaunch.cpp -- see GpuLaunch.h. Steps 2 to 4 of the path in python/cuda/LaunchApi.h.
#include "GpuLaunch.h"
#include "../cuda/LaunchApi.h"
#include "StorageTypes.h"
#include "frontend/PackageObject.h"
#include <algorithm>

namespace tiletwin::python {
namespace {

/// The table of tiletwin._cuda. Null with an exception set.
const LaunchApi* launchApi() {
  static const LaunchApi* api = nullptr;
  if (api) return api;
  PyRef capsule = packageObject("launch_api");
  const auto* found =
      capsule ? static_cast<const LaunchApi*>(PyCapsule_GetPointer(capsule.get(), kLaunchApiCapsule)) : nullptr;
  if (found && found->bytes != sizeof(LaunchApi)) {
    PyErr_SetString(PyExc_SystemError, "tiletwin._C and tiletwin._cuda are of different builds");
    return nullptr;
  }
  return api = found;
}

/// What tells the current GPU, and the current stream of a GPU: torch's own functions once torch uses CUDA. Never
/// destroyed: Python is gone when static objects go.
struct CurrentPlace {
  PyRef device, stream;
};
const CurrentPlace* currentPlace() {
  static CurrentPlace& place = *new CurrentPlace;
  if (place.device) return &place;
  PyRef pair = call(packageObject("current_gpu_place"));
  PyObject *device, *stream;
  int lasting;
  if (!pair || !PyArg_ParseTuple(pair.get(), "OOp", &device, &stream, &lasting)) return nullptr;
  static CurrentPlace& passing = *new CurrentPlace;
  CurrentPlace& chosen = lasting ? place : passing;
  chosen = {PyRef::borrow(device), PyRef::borrow(stream)};
  return &chosen;
}

bool readTypes(PyObject* words, LoadedKernel& out) {
  std::vector<DType>& types = out.types;
  for (PyObject* item : itemsOf(words)) {
    if (PyTuple_Check(item) && CopiedLoads::isCopied(item)) {
      if (!out.copied.read(item)) return false;
      continue;
    }
    if (PyTuple_Check(item)) {
      out.maps.push_back({.index = types.size()});
      if (!readTensorMap(item, out.maps.back())) return false;
      types.push_back(DType::Ptr);
      continue;
    }
    const std::optional<DType> type = storageTypeNamed(item);
    if (!type) return false;
    types.push_back(*type);
  }
  return true;
}

/// The kernel, loaded on the GPU. loops: its CTAs may run one program after the other. Null with an exception set.
GpuKernel prepareFor(PyObject* kernel, int device, bool loops) {
  PyRef found = call(packageObject("prepare_gpu_kernel"), kernel, device, loops);
  PyObject *prepared, *words;
  unsigned int ctas, programCtas;
  int isForAll;
  if (!found ||
      !PyArg_ParseTuple(found.get(), "OO!IIp", &prepared, &PyTuple_Type, &words, &ctas, &programCtas, &isForAll))
    return nullptr;
  return readLoaded(prepared, words, ctas, programCtas, isForAll);
}

/// Arrays in host memory that the GPU cannot reach are errors that name the parameter. The driver is asked at every launch:
/// memory that was pinned when it was asked last may have been freed, and be ordinary memory at the same address now.
bool checkHostArrays(const std::string& name, const Call& call, const LaunchApi& api, PyObject* prepared) {
  for (size_t i = 0; i < call.leaves.size(); ++i) {
    const Leaf& leaf = call.leaves[i];
    if (leaf.buffer < 0) continue;
    const int reached = api.reaches(prepared, leaf.bits);
    if (reached > 0) continue;
    if (reached == 0)
      PyErr_Format(PyExc_ValueError,
                   "%s(): Pointer argument cannot be accessed from Triton (cpu tensor?): %s lies in the host's memory, "
                   "which the GPU cannot reach, and the launch runs on the GPU: move it there, .cuda(); or set "
                   "TILETWIN_INTERPRET=1 to run all of it on the CPU",
                   name.c_str(), call.buffers[size_t(leaf.buffer)].name.c_str());
    return false;
  }
  return true;
}

/// What kernels are compiled for on a GPU; -1 with an exception set.
int capabilityOf(int device) {
  static std::vector<int> known;
  if (known.size() > size_t(device) && known[size_t(device)]) return known[size_t(device)];
  PyRef number = call(packageObject("gpu_capability"), device);
  const long capability = number ? PyLong_AsLong(number.get()) : -1;
  if (capability <= 0) return -1;
  known.resize(std::max(known.size(), size_t(device) + 1));
  return known[size_t(device)] = int(capability);
}

/// CTAs that a GPU runs at one time if one is on each multiprocessor; 0 with an exception set.
uint32_t multiprocessorsOf(int device) {
  static std::vector<uint32_t> known;
  if (known.size() > size_t(device) && known[size_t(device)]) return known[size_t(device)];
  PyRef number = call(packageObject("gpu_multiprocessors"), device);
  const long count = number ? PyLong_AsLong(number.get()) : -1;
  if (count <= 0) return 0;
  known.resize(std::max(known.size(), size_t(device) + 1));
  return known[size_t(device)] = uint32_t(count);
}

/// What runs a grid, loaded by the first launch that wants it: a kernel that loops over programs, if there are more of them
/// than multiprocessors and it can count them. A kernel that has the same code either way is loaded once, and one for small grids
/// alone is not compiled for large ones. Null with an exception set.
const LoadedKernel* chosenFor(PyObject* kernel, int device, std::vector<GpuForms>& loaded,
                              const std::array<uint32_t, 3>& grid) {
  constexpr uint64_t kMostPrograms = uint64_t(1) << 30;
  const uint32_t ctas = multiprocessorsOf(device);
  if (!ctas) return nullptr;
  const uint64_t rows = uint64_t(grid[1]) * grid[2];
  const bool isCounted = rows == 0 || grid[0] <= kMostPrograms / rows;
  const bool loops = isCounted && rows * grid[0] > ctas;
  loaded.resize(std::max(loaded.size(), size_t(device) + 1));
  {
    const GpuForms& known = loaded[size_t(device)];
    for (const auto& [form, wanted] : {std::pair(&known.single, !loops), std::pair(&known.looping, loops)})
      if (*form && (wanted || (*form)->isForAll)) return form->get();
  }
  GpuKernel made = prepareFor(kernel, device, loops); // other threads may launch meanwhile, and be first
  if (!made) return nullptr;
  GpuForms& forms = loaded[size_t(device)];
  GpuKernel& place = loops ? forms.looping : forms.single;
  if (!place) place = std::move(made);
  return place.get();
}

} // namespace

bool readGpuPlace(GpuPlace& out) {
  const CurrentPlace* place = currentPlace();
  PyRef number = place ? call(place->device) : PyRef();
  const long device = number ? PyLong_AsLong(number.get()) : -1;
  if (device < 0) return false;
  out.device = int(device);
  out.capability = capabilityOf(out.device);
  return out.capability > 0;
}

GpuKernel readLoaded(PyObject* prepared, PyObject* words, uint32_t ctas, uint32_t programCtas, bool isForAll) {
  auto made = std::make_unique<LoadedKernel>();
  if (!readTypes(words, *made)) return nullptr;
  made->prepared = PyRef::borrow(prepared);
  made->ctas = ctas;
  made->programCtas = programCtas;
  made->isForAll = isForAll;
  return made;
}

bool launchOnGpu(const std::string& name, PyObject* kernel, std::vector<GpuForms>& loaded, const Call& call,
                 const std::array<int32_t, 3>& grid, int device) {
  const CurrentPlace* place = currentPlace();
  const std::array<uint32_t, 3> sizes = {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
  const LoadedKernel* found = place ? chosenFor(kernel, device, loaded, sizes) : nullptr;
  if (!found) return false;
  PyRef stream = tiletwin::call(place->stream, device);
  const unsigned long long number = stream ? PyLong_AsUnsignedLongLong(stream.get()) : 0;
  if (!stream || PyErr_Occurred()) return false;
  return launchLoaded(name, *found, call, sizes, uintptr_t(number));
}

bool launchLoaded(const std::string& name, const LoadedKernel& ready, const Call& call,
                  const std::array<uint32_t, 3>& grid, uintptr_t stream) {
  const LaunchApi* api = launchApi();
  if (!api) return false;
  if (!call.buffers.empty() && !checkHostArrays(name, call, *api, ready.prepared.get())) return false;
  if (!takesArguments(name, ready.types.size(), call)) return false;
  std::array<uint64_t, 64> few;
  std::vector<uint64_t> many;
  uint64_t* bits = few.data();
  const size_t copied = ready.copied.mapCount(), count = call.leaves.size() + ready.copied.argumentCount();
  if (count > few.size()) {
    many.resize(count);
    bits = many.data();
  }
  for (size_t i = 0; i < call.leaves.size(); ++i) {
    if (!argumentBits(call.leaves[i], ready.types[i], bits[i])) return false;
    bits[i] |= descriptorFacts(call.leaves[i]);
  }
  std::vector<TensorMapBytes> maps(ready.maps.size() + copied);
  for (size_t i = 0; i < ready.maps.size(); ++i) {
    if (!encodeTensorMap(*api, ready.prepared.get(), name, ready.maps[i], call, maps[i])) return false;
    bits[ready.maps[i].index] = reinterpret_cast<uint64_t>(&maps[i]);
  }
  if (copied) {
    TensorMapBytes* made = maps.data() + ready.maps.size();
    uint64_t* behind = bits + call.leaves.size();
    if (!ready.copied.encode(*api, ready.prepared.get(), name, call, ready.types, made, behind[copied])) return false;
    for (size_t i = 0; i < copied; ++i) behind[i] = reinterpret_cast<uint64_t>(made + i);
  }
  std::array<uint32_t, 3> ctas{grid[0] * ready.programCtas, grid[1], grid[2]};
  if (ready.copied.loops()) {
    std::copy(grid.begin(), grid.end(), bits + count - grid.size());
    ctas = {ready.ctas, 1, 1};
  }
  return api->launch(ready.prepared.get(), ctas.data(), stream, bits, count);
}

} // namespace tiletwin::python
