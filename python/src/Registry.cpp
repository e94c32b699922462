// python/src/Registry.cpp -- tiletwin.register: memory that kernels may reach through addresses they load or compute, and
// memory that nobody has written yet.
#include "Arrays.h"
#include "Elements.h"
#include "Parts.h"
#include "TorchGuard.h"
#include "frontend/PyFunctions.h"
#include "interp/Interp.h"
#include "interp/check/FreshMemory.h"
#include "runtime/Buffer.h"

namespace tiletwin::python {
namespace {

/// Address of the storage's first byte. The caller keeps the array alive.
std::optional<uintptr_t> registerMemory(PyObject* object, const char* name) {
  Array array;
  if (!readArray(object, factsOf(object), array)) return {};
  if (!array.extentsKnown || array.onDevice) {
    PyErr_Format(PyExc_ValueError, "a %s %s, so it cannot be registered", qualifiedTypeName(object).c_str(),
                 array.onDevice ? "is not in host memory" : "does not say how long its memory is");
    return {};
  }
  BufferRegistry::instance().add({name, array.begin, array.end, array.viewBegin, array.viewEnd, array.readOnly});
  return array.begin;
}

void unregisterMemory(uintptr_t address) { BufferRegistry::instance().remove(address); }

/// The address of `array`, whose storage nobody has written yet; 0: it has none in host memory.
std::optional<uintptr_t> addFreshMemory(PyObject* object, const char* maker, const char* file, int line) {
  Array array;
  if (!readArray(object, factsOf(object), array)) return {};
  if (!array.extentsKnown || array.onDevice || array.begin == array.end) return 0;
  SourceLocation made;
  made.file = file;
  made.line = line;
  interp::FreshMemory::instance().add(array.begin, array.end, maker, std::move(made));
  return array.begin;
}

void removeFreshMemory(uintptr_t address) { interp::FreshMemory::instance().remove(address); }

std::optional<std::string> instructionSet() {
  try {
    return interp::instructionSet();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return {};
  }
}

/// What a launch would learn about an array; for tests and `tiletwin doctor`.
PyRef arrayInfo(PyObject* object) {
  Array array;
  if (!readArray(object, factsOf(object), array)) return {};
  return pyDict("type", element(array.element).typeName, "data", array.data, "begin", array.begin, "end", array.end,
                "view_begin", array.viewBegin, "view_end", array.viewEnd, "read_only", array.readOnly, "on_device",
                array.onDevice);
}

} // namespace

bool addRegistry(PyObject* module) {
  return addFunctions(
      module,
      {function<"register_memory", registerMemory>("register_memory(array, name) -> address"),
       function<"unregister_memory", unregisterMemory>("unregister_memory(address)"),
       function<"add_fresh_memory", addFreshMemory>("add_fresh_memory(array, maker, file, line) -> address"),
       function<"remove_fresh_memory", removeFreshMemory>("remove_fresh_memory(address)"),
       function<"instruction_set", instructionSet>("Name of the instruction set in use."),
       function<"set_torch_guard", setTorchGuard>(
           "set_torch_guard(type): a context manager that keeps torch function modes out of launches, or None."),
       function<"array_info", arrayInfo>("Element type, address and extents of an array.")});
}

} // namespace tiletwin::python
