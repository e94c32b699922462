// python/cuda/MemoryObjects.cpp -- see MemoryObjects.h.
#include "MemoryObjects.h"
#include "KernelObject.h"
#include "RaiseError.h"
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
using Event = std::unique_ptr<cuda::Event, DeleteWithoutGil>;

uint64_t address(const Memory& memory) { return memory->address(); }
size_t bytes(const Memory& memory) { return memory->bytes(); }
int device(const Memory& memory) { return memory->device().ordinal(); }

bool record(const Event& event, PyObject* stream) {
  uint64_t number = 0;
  return readNumber("stream", stream, number) && withoutGil([&] { event->record(cuda::streamOf(number)); });
}

bool synchronize(const Event& event) {
  return withoutGil([&] { event->synchronize(); });
}

std::optional<double> since(const Event& event, PyObject* start) {
  if (Object<Event>::is(start)) return madeWithoutGil([&] { return event->since(*Object<Event>::of(start)); });
  PyErr_Format(PyExc_TypeError, "since() wants an Event, not %R", start);
  return {};
}

PyRef allocate(uint64_t size, int ordinal) {
  auto memory = madeWithoutGil([&] { return new cuda::DeviceMemory(cuda::Device::get(ordinal), size_t(size)); });
  return memory ? Object<Memory>::make(*memory) : PyRef();
}

PyRef makeEvent(int ordinal) {
  auto event = madeWithoutGil([&] { return new cuda::Event(cuda::Device::get(ordinal)); });
  return event ? Object<Event>::make(*event) : PyRef();
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
                                  .properties = {property<"address", address>("Of the first byte."),
                                                 property<"bytes", bytes>("How many."),
                                                 property<"device", device>("Number of the GPU.")}}) &&
         addType<Event>(
             module,
             {.name = "tiletwin._cuda.Event",
              .doc = "A point in the order of a stream, with its time.",
              .methods = {method<"record", record>("record(stream)"),
                          method<"synchronize", synchronize>("Waits for it."),
                          method<"since", since>("since(start): milliseconds between two events; waits for both.")}}) &&
         addFunctions(
             module, {function<"allocate", allocate>("allocate(bytes, device) -> Memory"),
                      function<"event", makeEvent>("event(device) -> Event"),
                      function<"copy_in", copyIn>(
                          "copy_in(device, address, buffer, stream): host to device, in the stream's order."),
                      function<"copy_out", copyOut>(
                          "copy_out(device, writable buffer, address, stream): device to host, in the stream's order."),
                      function<"pointer", pointer>(
                          "pointer(device, address) -> (\"host\", \"device\", \"managed\" or \"unknown\"; device; "
                          "begin; bytes)")});
}

} // namespace tiletwin::python
