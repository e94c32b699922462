// python/cuda/KernelObject.cpp -- see KernelObject.h.
#include "KernelObject.h"
#include "PreparedLaunch.h"
#include "RaiseError.h"
#include "runtime/cuda/Stream.h"

namespace tiletwin::python {
namespace {

using KernelHandle = std::shared_ptr<const cuda::Kernel>;
using ModuleHandle = std::shared_ptr<const cuda::Module>;
using KernelObject = Object<KernelHandle>;
using ModuleObject = Object<ModuleHandle>;

PyRef kernel(const ModuleHandle& module, const char* entry) {
  auto found = madeWithoutGil([&] { return cuda::Kernel::find(module, entry); });
  return found ? KernelObject::make(*std::move(found)) : PyRef();
}

PyRef entries(const ModuleHandle& module) {
  auto names = madeWithoutGil([&] { return module->entries(); });
  return names ? pyList(*names) : PyRef();
}

PyRef variable(const ModuleHandle& module, const char* name) {
  auto place = madeWithoutGil([&] { return module->variable(name); });
  return place ? pyTuple(place->first, place->second) : PyRef();
}

PyRef log(const ModuleHandle& module) { return repairedText(module->log()); }

/// (x, y, z) of a tuple, each below 2^32. False with an exception set.
bool readSizes(const char* what, PyObject* tuple, std::array<uint32_t, 3>& sizes) {
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 3) {
    PyErr_Format(PyExc_TypeError, "%s has to be a tuple of three numbers, not %R", what, tuple);
    return false;
  }
  for (size_t i = 0; i < 3; ++i) {
    uint64_t number = 0;
    if (!readNumber(what, itemsOf(tuple)[i], number)) return false;
    if (number > UINT32_MAX) {
      PyErr_Format(PyExc_ValueError, "%s has to have numbers below 2^32, not %R", what, tuple);
      return false;
    }
    sizes[i] = uint32_t(number);
  }
  return true;
}

/// What 32 bits cannot hold becomes the largest number, which the driver refuses like any size beyond its limit.
uint32_t sharedBytes(uint64_t bytes) { return uint32_t(std::min<uint64_t>(bytes, UINT32_MAX)); }

/// `parameters` is one block of bytes.
bool launch(const KernelHandle& kernel, PyObject* grid, PyObject* block, PyObject* cluster, uint64_t shared,
            PyObject* stream, std::span<const std::byte> parameters, std::optional<bool> cooperative,
            std::optional<bool> programmatic) {
  cuda::LaunchShape shape{.sharedBytes = sharedBytes(shared),
                          .cooperative = cooperative.value_or(false),
                          .programmatic = programmatic.value_or(false)};
  uint64_t number = 0;
  if (!readSizes("grid", grid, shape.grid) || !readSizes("block", block, shape.block) ||
      !readSizes("cluster", cluster, shape.cluster) || !readNumber("stream", stream, number))
    return false;
  shape.stream = cuda::streamOf(number);
  return withoutGil([&] { kernel->launchBlock(shape, parameters); });
}

PyRef prepare(const KernelHandle& kernel, TupleArgument arguments, PyObject* block, uint64_t shared,
              std::optional<bool> cooperative, std::optional<bool> programmatic) {
  cuda::LaunchShape shape{.sharedBytes = sharedBytes(shared),
                          .cooperative = cooperative.value_or(false),
                          .programmatic = programmatic.value_or(false)};
  return readSizes("block", block, shape.block) ? makePrepared(kernel, shape, arguments.get()) : PyRef();
}

PyRef attributes(const KernelHandle& kernel) {
  const cuda::KernelAttributes& a = kernel->attributes();
  return pyDict("registers", a.registers, "local_bytes", a.localBytes, "shared_bytes", a.sharedBytes, "const_bytes",
                a.constBytes, "max_threads", a.maxThreads, "capability", a.capability, "max_dynamic_shared",
                a.maxDynamicShared);
}

/// The driver's handle of the function.
uint64_t handle(const KernelHandle& kernel) { return uint64_t(reinterpret_cast<uintptr_t>(kernel->handle())); }

/// [(offset, bytes)], or None where nobody tells.
PyRef parameters(const KernelHandle& kernel) {
  if (!kernel->knowsParameters()) return none();
  return pyList(kernel->parameters(),
                [](const cuda::ParameterPlace& place) { return pyTuple(place.offset, place.bytes); });
}

} // namespace

bool addKernel(PyObject* module) {
  return addType<KernelHandle>(
             module,
             {.name = "tiletwin._cuda.Kernel",
              .doc = "An entry of a module, loaded on a GPU.",
              .methods = {method<"launch", launch>(
                              "launch(grid, block, cluster, shared, stream, parameters[, cooperative, programmatic])"),
                          method<"prepare", prepare>(
                              "prepare(arguments, block, shared[, cooperative, programmatic]) -> Prepared")},
              .properties = {property<"attributes", attributes>("What the compiler made of it, a dict."),
                             property<"handle", handle>("The driver's CUfunction, as a number."),
                             property<"parameters", parameters>(
                                 "(offset, bytes) of each parameter; None: unknown.")}}) &&
         addType<ModuleHandle>(
             module,
             {.name = "tiletwin._cuda.Module",
              .doc = "PTX or a cubin, loaded on a GPU.",
              .methods = {method<"kernel", kernel>("kernel(entry) -> Kernel"),
                          method<"entries", entries>("Names of the module's entries."),
                          method<"variable", variable>("variable(name) -> (address, bytes) of a .global variable.")},
              .properties = {property<"log", log>("What the driver's compiler said.")}});
}

PyRef makeModule(std::shared_ptr<const cuda::Module> module) { return ModuleObject::make(std::move(module)); }

bool readNumber(const char* what, PyObject* object, uint64_t& number) {
  number = PyLong_AsUnsignedLongLong(object);
  if (number != uint64_t(-1) || !PyErr_Occurred()) return true;
  PyErr_Format(PyExc_ValueError, "%s has to be a whole number from 0 to 2^64 - 1, not %R", what, object);
  return false;
}

} // namespace tiletwin::python
