// python/src/TensorMapNumbers.h -- what cuTensorMapEncodeTiled takes, for the simulator and for a GPU's driver.
#pragma once
#include "frontend/PyValues.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tiletwin::python {

/// Dimension 0 comes first. `box` and `steps`, the element strides, have `rank` numbers as `sizes` has; `strides` are bytes,
/// from dimension 1 on.
struct TensorMapNumbers {
  int type = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  uint32_t rank = 0;
  uint64_t address = 0;
  const uint64_t *sizes = nullptr, *strides = nullptr;
  const uint32_t *box = nullptr, *steps = nullptr;
};

/// The same with the lists themselves, as TensorMap.numbers of tiletwin/sim/tensor_maps.py gives them.
class TensorMapLists {
public:
  /// False with an exception set. Numbers that do not fit stay too large.
  bool read(PyObject* tuple) {
    unsigned long long address = 0;
    PyObject* lists[4];
    if (!PyArg_ParseTuple(tuple, "iKO!O!O!O!iiii", &numbers_.type, &address, &PyTuple_Type, &lists[0], &PyTuple_Type,
                          &lists[1], &PyTuple_Type, &lists[2], &PyTuple_Type, &lists[3], &numbers_.interleave,
                          &numbers_.swizzle, &numbers_.promotion, &numbers_.fill) ||
        !readList(lists[0], sizes_) || !readList(lists[1], strides_) || !readList(lists[2], box_) ||
        !readList(lists[3], steps_))
      return false;
    const size_t rank = sizes_.size();
    numbers_.address = address;
    numbers_.rank = uint32_t(rank);
    numbers_.sizes = sizes_.data();
    numbers_.strides = strides_.data();
    numbers_.box = box_.data();
    numbers_.steps = steps_.data();
    if (box_.size() == rank && steps_.size() == rank && strides_.size() + 1 == rank) return true;
    PyErr_SetString(PyExc_ValueError,
                    "a tensor map has as many boxes and element strides as sizes, and one stride less");
    return false;
  }
  const TensorMapNumbers& numbers() const { return numbers_; }

private:
  template <class T> static bool readList(PyObject* tuple, std::vector<T>& list) {
    for (PyObject* item : itemsOf(tuple))
      list.push_back(T(std::min<uint64_t>(PyLong_AsUnsignedLongLong(item), T(~T(0)))));
    return !PyErr_Occurred();
  }

  TensorMapNumbers numbers_;
  std::vector<uint64_t> sizes_, strides_;
  std::vector<uint32_t> box_, steps_;
};

} // namespace tiletwin::python
