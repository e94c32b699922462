// python/sim/TensorMaps.cpp -- see TensorMaps.h.
#include "TensorMaps.h"
#include "sim/Tensormap.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tiletwin::python {
namespace {

/// False with an exception set: no whole number that is positive or 0.
bool readNumbers(TupleArgument tuple, std::vector<uint64_t>& numbers) {
  for (PyObject* item : itemsOf(tuple.get())) {
    numbers.push_back(PyLong_AsUnsignedLongLong(item));
    if (PyErr_Occurred()) return false;
  }
  return true;
}

/// Numbers that do not fit stay too large.
std::vector<uint32_t> narrowed(const std::vector<uint64_t>& numbers) {
  std::vector<uint32_t> result;
  for (uint64_t n : numbers) result.push_back(uint32_t(std::min<uint64_t>(n, ~uint32_t(0))));
  return result;
}

} // namespace

PyRef encodeTensorMap(uint8_t type, uint64_t address, TupleArgument sizeList, TupleArgument strideList,
                      TupleArgument boxList, TupleArgument stepList, uint8_t interleave, uint8_t swizzle,
                      uint8_t promotion, uint8_t fill) {
  std::vector<uint64_t> sizes, strides, box, steps;
  if (!readNumbers(sizeList, sizes) || !readNumbers(strideList, strides) || !readNumbers(boxList, box) ||
      !readNumbers(stepList, steps))
    return {};
  if (box.size() != sizes.size() || steps.size() != sizes.size() || strides.size() + 1 != sizes.size()) {
    PyErr_SetString(PyExc_ValueError,
                    "a tensor map has as many boxes and element strides as sizes, and one stride less");
    return {};
  }
  alignas(64) char map[sim::kTensorMapBytes];
  std::string error;
  if (!sim::encodeTensorMap(map, sim::TensorMapType(type), uint32_t(sizes.size()),
                            reinterpret_cast<const void*>(uintptr_t(address)), sizes.data(), strides.data(),
                            narrowed(box).data(), narrowed(steps).data(), sim::TensorMapInterleave(interleave),
                            sim::TensorMapSwizzle(swizzle), sim::TensorMapPromotion(promotion),
                            sim::TensorMapFill(fill), error)) {
    PyErr_SetString(PyExc_ValueError, error.c_str());
    return {};
  }
  return pyBytes(map, sizeof map);
}

} // namespace tiletwin::python
