// python/cuda/MemoryObjects.cpp -- see MemoryObjects.h.
#include "MemoryObjects.h"
#include "RaiseError.h"
#include "frontend/PyFunctions.h"
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Stream.h"
#include <memory>

namespace tiletwin::python {
namespace {

struct DeleteWithoutGil {
  template <class T> void operator()(T* owned) const {
    withoutGil([&] { delete owned; }); // freeing may wait for the GPU
  }
};
using Memory = std::unique_ptr<cuda::DeviceMemory, DeleteWithoutGil>;

uint64_t address(const Memory& memory) { return memory->address(); }

PyRef allocate(uint64_t size, int ordinal) {
  auto memory = madeWithoutGil([&] { return new cuda::DeviceMemory(cuda::Device::get(ordinal), size_t(size)); });
  return memory ? Object<Memory>::make(*memory) : PyRef();
}

bool copyIn(int ordinal, uint64_t to, std::span<const std::byte> from, uint64_t stream) {
  return withoutGil(
      [&] { cuda::copyToDevice(cuda::Device::get(ordinal), to, from.data(), from.size(), cuda::streamOf(stream)); });
}

bool copyOut(int ordinal, PyObject* to, uint64_t from, uint64_t stream) {
  HeldBytes host;
  return host.take(to, PyBUF_WRITABLE) && withoutGil([&] {
           cuda::copyToHost(cuda::Device::get(ordinal), host.data(), from, host.size(), cuda::streamOf(stream));
         });
}

PyRef pointer(int ordinal, uint64_t number) {
  auto facts = madeWithoutGil([&] { return cuda::pointerFacts(cuda::Device::get(ordinal), number); });
  constexpr const char* kWords[] = {"unknown", "host", "device", "managed"};
  return facts ? pyTuple(kWords[size_t(facts->kind)], facts->device, facts->begin, facts->bytes) : PyRef();
}

} // namespace

bool addMemory(PyObject* module) {
  return addType<Memory>(module, {.name = "tiletwin._cuda.Memory",
                                  .doc = "Memory on a GPU, freed with the object.",
                                  .properties = {property<"address", address>("Of the first byte.")}}) &&
         addFunctions(
             module, {function<"allocate", allocate>("allocate(bytes, device) -> Memory"),
                      function<"copy_in", copyIn>(
                          "copy_in(device, address, buffer, stream): host to device, in the stream's order."),
                      function<"copy_out", copyOut>(
                          "copy_out(device, writable buffer, address, stream): device to host, in the stream's order."),
                      function<"pointer", pointer>(
                          "pointer(device, address) -> (\"host\", \"device\", \"managed\" or \"unknown\"; device; "
                          "begin; bytes)")});
}

} // namespace tiletwin::python
