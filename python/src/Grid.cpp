// python/src/Grid.cpp -- see Grid.h.
#include "Grid.h"
#include "Interned.h"

namespace tiletwin::python {
namespace {

// What CUDA allows in x, y and z; a grid that runs here must run there.
constexpr int64_t kLargest[3] = {2147483647, 65535, 65535};

bool readDimension(const std::string& kernel, PyObject* object, int axis, int32_t& out) {
  constexpr const char* kAxes[] = {"first", "second", "third"};
  PyRef index = PyRef::steal(PyNumber_Index(object));
  if (!index) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s: the grid's %s dimension must be an int, not %s %R", kernel.c_str(), kAxes[axis],
                 qualifiedTypeName(object).c_str(), object);
    return false;
  }
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow < 0 || (!overflow && number < 0)) {
    PyErr_Format(PyExc_ValueError, "%s: the grid's %s dimension is %S; it must not be negative", kernel.c_str(),
                 kAxes[axis], index.get());
    return false;
  }
  if (overflow > 0 || number > kLargest[axis]) {
    PyErr_Format(PyExc_ValueError, "%s: the grid's %s dimension is %S; the largest a GPU takes is %lld", kernel.c_str(),
                 kAxes[axis], index.get(), (long long)kLargest[axis]);
    return false;
  }
  out = int32_t(number);
  return true;
}

} // namespace

bool readGrid(const std::string& kernel, PyObject* grid, std::array<int32_t, 3>& out) {
  out = {1, 1, 1};
  bool isTuple = PyTuple_Check(grid), isList = PyList_Check(grid);
  if (!isTuple && !isList) {
    if (PyIndex_Check(grid)) return readDimension(kernel, grid, 0, out[0]);
    if (PyFloat_Check(grid) || !PySequence_Check(grid) || PyUnicode_Check(grid)) {
      PyErr_Format(PyExc_TypeError,
                   "%s: a grid is an int, a tuple of one to three ints, or a function of the kernel's arguments that "
                   "returns one; this one is %s %R",
                   kernel.c_str(), qualifiedTypeName(grid).c_str(), grid);
      return false;
    }
  }
  Py_ssize_t size = PySequence_Size(grid);
  if (size < 1 || size > 3) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_ValueError, "%s: a grid has one to three dimensions; %R has %zd", kernel.c_str(), grid, size);
    return false;
  }
  for (int axis = 0; axis < size; ++axis) {
    PyRef item = PyRef::steal(PySequence_GetItem(grid, axis));
    if (!item || !readDimension(kernel, item.get(), axis, out[axis])) return false;
  }
  return true;
}

} // namespace tiletwin::python
