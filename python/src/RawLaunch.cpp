// python/src/RawLaunch.cpp -- the Python type RawLaunch: a prepared kernel that the caller gives grid and stream with each
// launch, as `CompiledKernel.run` of Triton is called.
// Here:      the object, one call of it.
// Not here:  what the kernel was compiled for and which arguments it keeps (tiletwin/launch/raw_launch.py), the rest of the
//            way to the driver (GpuLaunch.h).
// Invariant: nothing is compiled or specialized; arguments have to fit the types that the kernel has.
#include "Binding.h"
#include "GpuLaunch.h"
#include "Parts.h"
#include "frontend/PyFunctions.h"

namespace tiletwin::python {
namespace {

struct RawLaunch {
  std::string name;
  std::vector<Parameter> parameters;
  GpuKernel kernel;
  PyRef null; ///< the number 0, which None stands for among pointers
};

/// A number of the grid. False with an exception set.
bool readSize(const RawLaunch& raw, PyObject* object, uint32_t& out) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) return false;
  out = uint32_t(number);
  if (out == number) return true;
  PyErr_Format(PyExc_ValueError, "%s: a grid has numbers below 2^32, not %R", raw.name.c_str(), object);
  return false;
}

/// launch(x, y, z, stream, *arguments)
PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  constexpr Py_ssize_t before = 4;
  const RawLaunch& raw = Object<RawLaunch>::of(self);
  const auto taken = Py_ssize_t(raw.parameters.size());
  if (count != before + taken) {
    PyErr_Format(PyExc_TypeError, "%s takes a grid of three numbers, a stream and %zd arguments, not %zd values",
                 raw.name.c_str(), taken, count);
    return nullptr;
  }
  std::array<uint32_t, 3> grid;
  for (int i = 0; i < 3; ++i)
    if (!readSize(raw, args[i], grid[size_t(i)])) return nullptr;
  const unsigned long long stream = PyLong_AsUnsignedLongLong(args[3]);
  if (PyErr_Occurred()) return nullptr;
  Call call;
  for (Py_ssize_t i = 0; i < taken; ++i) {
    const Parameter& parameter = raw.parameters[size_t(i)];
    const bool isPointer = parameter.annotatedType && parameter.annotatedElement < 0;
    call.values.push_back(isPointer && args[before + i] == Py_None ? raw.null.get() : args[before + i]);
  }
  PyRef constants = pyDict();
  if (!constants || !classify(raw.name, raw.parameters, constants.get(), call) ||
      !launchLoaded(raw.name, *raw.kernel, call, grid, uintptr_t(stream)))
    return nullptr;
  return none().release();
}

/// RawLaunch(name, parameters, prepared, types)
PyObject* newRawLaunch(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *parameters, *prepared, *words;
  const char* name;
  if (!PyArg_ParseTuple(args, "sOOO!:RawLaunch", &name, &parameters, &prepared, &PyTuple_Type, &words)) return nullptr;
  RawLaunch raw;
  raw.name = name;
  raw.null = toPython(0);
  raw.kernel = readLoaded(prepared, words, 0, 1, true);
  if (!raw.null || !raw.kernel || !readParameters(parameters, raw.parameters)) return nullptr;
  return Object<RawLaunch>::makeOf(type, std::move(raw)).release();
}

} // namespace

bool addRawLaunch(PyObject* module) {
  return addType<RawLaunch>(
      module, {.name = "tiletwin._C.RawLaunch",
               .doc = "RawLaunch(name, parameters, prepared, types): a kernel that is ready on a GPU.",
               .methods = {{"launch", anyFunction(launch), METH_FASTCALL,
                            "launch(x, y, z, stream, *arguments): launches it, and looks at no hook."}},
               .slots = {slot(Py_tp_new, newRawLaunch)},
               .flags = 0});
}

} // namespace tiletwin::python
