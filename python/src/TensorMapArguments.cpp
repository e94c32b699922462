// python/src/TensorMapArguments.cpp -- see TensorMapArguments.h.
#include "TensorMapArguments.h"
#include "Elements.h"
#include <algorithm>

namespace tiletwin::python {
namespace {

constexpr int kRoundedToTf32 = 11; ///< CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
constexpr int kFirstFloat = 6;     ///< types from float16 on may be filled with NaN
constexpr int kPromotedTo128Bytes = 2;
constexpr int64_t kLongestStride = int64_t(1) << 40;
constexpr uint32_t kEveryElement[5] = {1, 1, 1, 1, 1};

bool refuse(const std::string& kernel, size_t index, const char* what) {
  PyErr_Format(
      PyExc_ValueError,
      "%s(): the tensor descriptor that is argument %zu: %s; on sm_90 and later the kernel is compiled to copy "
      "its blocks with the hardware (TMA)",
      kernel.c_str(), index, what);
  return false;
}

} // namespace

bool readTensorMap(PyObject* numbers, TensorMapArgument& out) {
  PyObject* box;
  if (!PyArg_ParseTuple(numbers, "iO!i", &out.elementType, &PyTuple_Type, &box, &out.swizzle)) return false;
  out.rank = uint32_t(PyTuple_Size(box));
  if (out.rank < 1 || out.rank > out.box.size()) {
    PyErr_SetString(PyExc_SystemError, "a tensor map has one to five dimensions");
    return false;
  }
  for (uint32_t d = 0; d < out.rank; ++d)
    out.box[d] = uint32_t(PyLong_AsUnsignedLong(PyTuple_GetItem(box, Py_ssize_t(d))));
  return !PyErr_Occurred();
}

bool encodeTensorMap(const LaunchApi& api, PyObject* prepared, const std::string& kernel, const TensorMapArgument& map,
                     const Call& call, TensorMapBytes& out) {
  const Leaf& tensor = call.leaves[map.index];
  if (call.leaves.size() < map.index + 1 + 2 * map.rank || tensor.kind != Leaf::Kind::Descriptor) {
    PyErr_Format(PyExc_SystemError,
                 "%s: argument %zu of the compiled kernel is a tensor map and that of the launch none", kernel.c_str(),
                 map.index);
    return false;
  }
  const int64_t bytes = element(tensor.element).bytes;
  uint64_t sizes[5], steps[5];
  TensorMapNumbers numbers;
  numbers.type = tensor.roundsToTf32 ? kRoundedToTf32 : map.elementType;
  numbers.rank = map.rank;
  numbers.address = tensor.bits ? tensor.bits : 16; // without elements, see below
  numbers.sizes = sizes;
  numbers.strides = steps + 1; // along dimension 0 elements lie side by side
  numbers.box = map.box.data();
  numbers.steps = kEveryElement;
  numbers.swizzle = map.swizzle;
  numbers.promotion = kPromotedTo128Bytes;
  numbers.fill = tensor.padsWithNan;
  if (tensor.padsWithNan && map.elementType < kFirstFloat)
    return refuse(kernel, map.index,
                  "padding='nan' has no meaning for a tensor map of 8-bit floats: use padding='zero' and a mask");
  const Leaf* extents = &call.leaves[map.index + 1];
  const Leaf* strides = extents + map.rank;
  for (uint32_t d = 0; d < map.rank; ++d) {
    // Of a tensor without elements the kernel copies nothing, but a map has at least one.
    sizes[d] = uint64_t(std::max<int64_t>(int64_t(extents[map.rank - 1 - d].bits), 1));
    if (d == 0) continue;
    const int64_t stride = int64_t(strides[map.rank - 1 - d].bits) * bytes;
    if (stride < 0 || stride >= kLongestStride)
      return refuse(kernel, map.index, "strides of a tensor map lie from 0 to 2^40 bytes");
    steps[d] = uint64_t(stride);
  }
  return api.encodeTensorMap(prepared, numbers, out.bytes.data());
}

} // namespace tiletwin::python
