// python/src/CopiedLoads.cpp -- see CopiedLoads.h.
#include "CopiedLoads.h"
#include "Elements.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::python {
namespace {

constexpr int64_t kAlignment = 16, kLongestStride = int64_t(1) << 40; // bytes
constexpr int64_t kMostElements = (int64_t(1) << 31) - 1, kMostPositive = (int64_t(1) << 30) - 1;
constexpr int kPromotedTo128Bytes = 2;
constexpr uint32_t kEveryElement[5] = {1, 1, 1, 1, 1};

bool readSum(PyObject* terms, ArgumentSum& out) {
  for (PyObject* item : itemsOf(terms)) {
    ArgumentSum::Term& term = out.terms.emplace_back();
    PyObject* arguments;
    long long number;
    if (!PyArg_ParseTuple(item, "LO!", &number, &PyTuple_Type, &arguments)) return false;
    term.number = number;
    for (PyObject* argument : itemsOf(arguments)) term.arguments.push_back(uint32_t(PyLong_AsUnsignedLong(argument)));
  }
  return !PyErr_Occurred();
}

bool readSums(PyObject* sums, std::vector<ArgumentSum>& out) {
  for (PyObject* item : itemsOf(sums))
    if (!readSum(item, out.emplace_back())) return false;
  return true;
}

/// 0, which no map has, where a product or sum passes 64 bits.
int64_t valueOf(const ArgumentSum& sum, const Call& call, const std::vector<DType>& types) {
  int64_t total = 0;
  for (const ArgumentSum::Term& term : sum.terms) {
    int64_t product = term.number;
    for (uint32_t argument : term.arguments) {
      int64_t value = int64_t(call.leaves[argument].bits);
      if (types[argument] == DType::I32) value = int32_t(value);
      if (__builtin_mul_overflow(product, value, &product)) return 0;
    }
    if (__builtin_add_overflow(total, product, &total)) return 0;
  }
  return total;
}

bool isWithin(int64_t number, int64_t most) { return number > 0 && number <= most; }

} // namespace

bool CopiedLoads::read(PyObject* numbers) {
  if (isFlag(numbers)) {
    loops_ = PyTuple_GetItem(numbers, 1) == Py_True;
    return readSums(PyTuple_GetItem(numbers, 0), positive_);
  }
  Map& map = maps_.emplace_back();
  PyRef shape = PyRef::steal(PyTuple_GetSlice(numbers, 0, 3));
  const unsigned long base = PyLong_AsUnsignedLong(PyTuple_GetItem(numbers, 3));
  map.base = uint32_t(base);
  return shape && !PyErr_Occurred() && readTensorMap(shape.get(), map.argument) &&
         readSums(PyTuple_GetItem(numbers, 4), map.extents) && readSums(PyTuple_GetItem(numbers, 5), map.strides);
}

bool CopiedLoads::numbersOf(const Map& map, const Call& call, const std::vector<DType>& types,
                            std::vector<uint64_t>& out) {
  const Leaf& base = call.leaves[map.base];
  if (base.bits == 0 || base.bits % kAlignment) return false;
  out.push_back(base.bits);
  for (const ArgumentSum& extent : map.extents) {
    const int64_t number = valueOf(extent, call, types);
    if (!isWithin(number, kMostElements)) return false;
    out.push_back(uint64_t(number));
  }
  for (const ArgumentSum& stride : map.strides) {
    const int64_t number = valueOf(stride, call, types);
    if (!isWithin(number, kLongestStride - 1) || number % kAlignment) return false;
    out.push_back(uint64_t(number));
  }
  return true;
}

bool CopiedLoads::encode(const LaunchApi& api, PyObject* prepared, const std::string& kernel, const Call& call,
                         const std::vector<DType>& types, TensorMapBytes* maps, uint64_t& flag) const {
  flag = 0;
  std::memset(maps, 0, maps_.size() * sizeof *maps);
  for (const ArgumentSum& sum : positive_)
    if (!isWithin(valueOf(sum, call, types), kMostPositive)) return true;
  std::vector<uint64_t> all;
  all.reserve(lastNumbers_.size());
  for (const Map& map : maps_)
    if (!numbersOf(map, call, types, all)) return true;
  flag = 1;
  if (all == lastNumbers_) {
    std::copy(lastMaps_.begin(), lastMaps_.end(), maps);
    return true;
  }
  const uint64_t* next = all.data();
  for (size_t i = 0; i < maps_.size(); ++i) {
    const TensorMapArgument& argument = maps_[i].argument;
    TensorMapNumbers numbers;
    numbers.type = argument.elementType;
    numbers.rank = argument.rank;
    numbers.address = *next;
    numbers.sizes = next + 1;
    numbers.strides = next + 1 + argument.rank;
    next += 2 * argument.rank;
    numbers.box = argument.box.data();
    numbers.steps = kEveryElement;
    numbers.swizzle = argument.swizzle;
    numbers.promotion = kPromotedTo128Bytes;
    if (api.encodeTensorMap(prepared, numbers, maps[i].bytes.data())) continue;
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return false;
    PyErr_Clear(); // the driver takes no such tensor: the loads are made without copies
    flag = 0;
    return true;
  }
  lastNumbers_ = std::move(all);
  lastMaps_.assign(maps, maps + maps_.size());
  return true;
}

} // namespace tiletwin::python
