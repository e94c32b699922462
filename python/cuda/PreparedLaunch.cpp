// python/cuda/PreparedLaunch.cpp -- see PreparedLaunch.h.
#include "PreparedLaunch.h"
#include "../src/Interned.h"
#include "KernelObject.h"
#include "RaiseError.h"
#include "runtime/FloatFormats.h"
#include "runtime/cuda/Driver.h"
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Stream.h"
#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <vector>

namespace tiletwin::python {
namespace {

enum class SlotKind : uint8_t { Pointer, Signed, Unsigned, Bool, F16, BF16, F32, F64, Structure };
struct Slot {
  SlotKind kind = SlotKind::Pointer;
  uint32_t bytes = 8;
  const char* word = "";
};

/// Words of a signature but pointers, sorted.
struct SlotRow {
  std::string_view word;
  SlotKind kind;
  uint8_t bytes;
};
constexpr SlotRow kSlots[] = {
    {"bf16", SlotKind::BF16, 2},    {"f16", SlotKind::F16, 2},      {"f32", SlotKind::F32, 4},
    {"f64", SlotKind::F64, 8},      {"fp16", SlotKind::F16, 2},     {"fp32", SlotKind::F32, 4},
    {"fp64", SlotKind::F64, 8},     {"i1", SlotKind::Bool, 1},      {"i16", SlotKind::Signed, 2},
    {"i32", SlotKind::Signed, 4},   {"i64", SlotKind::Signed, 8},   {"i8", SlotKind::Signed, 1},
    {"u1", SlotKind::Bool, 1},      {"u16", SlotKind::Unsigned, 2}, {"u32", SlotKind::Unsigned, 4},
    {"u64", SlotKind::Unsigned, 8}, {"u8", SlotKind::Unsigned, 1},
};
static_assert(std::is_sorted(std::begin(kSlots), std::end(kSlots),
                             [](const SlotRow& a, const SlotRow& b) { return a.word < b.word; }));

struct Prepared {
  std::shared_ptr<const cuda::Kernel> kernel;
  cuda::LaunchShape shape;
  std::vector<Slot> slots;
  std::vector<std::string> words; ///< what slots name
  bool severalDevices = false;
};
using PreparedObject = Object<Prepared>;
const Prepared& preparedOf(PyObject* self) { return PreparedObject::of(self); }

PyObject* isCudaName() {
  static PyObject* const name = interned("is_cuda");
  return name;
}
PyObject* getDeviceName() {
  static PyObject* const name = interned("get_device");
  return name;
}

/// One argument of a launch, for errors.
struct Place {
  const Prepared& prepared;
  size_t index;
  bool fail(PyObject* exception, const char* format, PyObject* value) const {
    PyRef rest = PyRef::steal(PyUnicode_FromFormat(format, value));
    if (rest)
      PyErr_Format(exception, "%s(): argument %zu (%s): %U", prepared.kernel->name().c_str(), index,
                   prepared.slots[index].word, rest.get());
    return false;
  }
};

/// 1: the GPU can reach the byte at an address; 0: it cannot; -1 with an exception set.
int reaches(const Prepared& prepared, uint64_t address) {
  if (address == 0) return 1; // an empty tensor
  cuda::PointerFacts facts;
  if (!withoutGil([&] { facts = cuda::pointerFacts(prepared.kernel->device(), address); })) return -1;
  return facts.kind != cuda::PointerFacts::Kind::Unknown;
}

/// False with an exception set: memory that the GPU cannot reach.
bool checkReachable(const Place& place, PyObject* value, uint64_t address) {
  const int reached = reaches(place.prepared, address);
  if (reached != 0) return reached > 0;
  return place.fail(PyExc_ValueError,
                    "%R lies in the host's memory, which the GPU cannot reach: move it to the GPU, .cuda()",
                    typeOf(value));
}

/// False with an exception set: a tensor on another GPU.
bool checkDevice(const Place& place, PyObject* value) {
  PyRef number = callMethod(value, getDeviceName());
  if (!number) {
    PyErr_Clear(); // no torch tensor: the address has to do
    return true;
  }
  const long device = PyLong_AsLong(number.get());
  if (device == place.prepared.kernel->device().ordinal()) return true;
  return place.fail(PyExc_ValueError, "the tensor lies on GPU %S, the kernel on another one: move one of them",
                    number.get());
}

/// The address behind an object with data_ptr(), or __cuda_array_interface__.
bool readAddress(const Place& place, PyObject* value, uint64_t& bits) {
  PyRef address = callMethod(value, names::dataPtr());
  if (!address) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
    PyErr_Clear();
    PyRef interface = PyRef::steal(PyObject_GetAttr(value, names::cudaArrayInterface()));
    PyRef data = PyRef::steal(interface ? PyMapping_GetItemString(interface.get(), "data") : nullptr);
    address = PyRef::steal(data ? PySequence_GetItem(data.get(), 0) : nullptr);
    if (!address) {
      PyErr_Clear();
      return place.fail(PyExc_TypeError, "wants a tensor on the GPU, an address or None, not %R", typeOf(value));
    }
    bits = PyLong_AsUnsignedLongLong(address.get());
    return !PyErr_Occurred();
  }
  bits = PyLong_AsUnsignedLongLong(address.get());
  if (bits == uint64_t(-1) && PyErr_Occurred()) return false;
  PyRef isCuda = attributeIfAny(value, isCudaName());
  if (isCuda.get() != Py_True) return checkReachable(place, value, bits);
  return !place.prepared.severalDevices || checkDevice(place, value);
}

bool readPointer(const Place& place, PyObject* value, uint64_t& bits) {
  if (value == Py_None) {
    bits = 0;
    return true;
  }
  if (!PyLong_Check(value)) return readAddress(place, value, bits);
  bits = PyLong_AsUnsignedLongLong(value);
  if (bits != uint64_t(-1) || !PyErr_Occurred()) return true;
  return place.fail(PyExc_OverflowError, "%R is no address", value);
}

/// Integers may be written signed or unsigned: -1 and 0xffffffff are the same argument of 32 bits.
bool readInteger(const Place& place, PyObject* value, uint64_t& bits) {
  const Slot& slot = place.prepared.slots[place.index];
  PyRef index = PyLong_Check(value) ? PyRef::borrow(value) : PyRef::steal(PyNumber_Index(value));
  if (!index) {
    PyErr_Clear();
    return place.fail(PyExc_TypeError, "wants a whole number, not %R", value);
  }
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow > 0 && slot.bytes == 8) {
    bits = PyLong_AsUnsignedLongLong(index.get());
    if (bits != uint64_t(-1) || !PyErr_Occurred()) return true;
  } else if (overflow == 0) {
    bits = uint64_t(number);
    const int width = 8 * slot.bytes;
    if (width == 64 || (number >= -(int64_t(1) << (width - 1)) && number < int64_t(1) << width)) return true;
  }
  return place.fail(PyExc_OverflowError, "%R does not fit", value);
}

bool readBool(const Place& place, PyObject* value, uint64_t& bits) {
  const int truth = PyObject_IsTrue(value);
  bits = truth > 0;
  return truth >= 0;
}

bool readReal(const Place& place, PyObject* value, uint64_t& bits) {
  const double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return place.fail(PyExc_TypeError, "wants a number, not %R", value);
  }
  switch (place.prepared.slots[place.index].kind) {
  case SlotKind::F16: bits = f32ToF16(f64ToF32Odd(number)); break;
  case SlotKind::BF16: bits = f32ToBF16(f64ToF32Odd(number)); break;
  case SlotKind::F32: bits = std::bit_cast<uint32_t>(float(number)); break;
  default: bits = std::bit_cast<uint64_t>(number); break;
  }
  return true;
}

/// The address of the bytes; they live as long as the argument.
bool readStructure(const Place& place, PyObject* value, uint64_t& bits) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!PyBytes_Check(value)) return place.fail(PyExc_TypeError, "wants bytes, not %R", value);
  if (PyBytes_AsStringAndSize(value, &data, &size) < 0) return false;
  bits = reinterpret_cast<uint64_t>(data);
  if (size_t(size) == place.prepared.slots[place.index].bytes) return true;
  PyRef number = PyRef::steal(PyLong_FromSsize_t(size));
  return number && place.fail(PyExc_ValueError, "got %R bytes", number.get());
}

bool readArgument(const Place& place, PyObject* value, uint64_t& bits) {
  switch (place.prepared.slots[place.index].kind) {
  case SlotKind::Pointer: return readPointer(place, value, bits);
  case SlotKind::Signed:
  case SlotKind::Unsigned: return readInteger(place, value, bits);
  case SlotKind::Bool: return readBool(place, value, bits);
  case SlotKind::Structure: return readStructure(place, value, bits);
  default: return readReal(place, value, bits);
  }
}

bool launchBits(const Prepared& prepared, const uint32_t* grid, uintptr_t stream, uint64_t* bits, size_t count) {
  std::array<void*, cuda::kMostParameters> parameters;
  for (size_t i = 0; i < count; ++i)
    parameters[i] = prepared.slots[i].kind == SlotKind::Structure ? reinterpret_cast<void*>(bits[i]) : &bits[i];
  cuda::LaunchShape shape = prepared.shape;
  shape.grid = {grid[0], grid[1], grid[2]};
  shape.stream = cuda::streamOf(stream);
  return withoutGil([&] { prepared.kernel->launch(shape, parameters.data()); });
}

/// launch(grid x, y, z, stream, *arguments)
PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  const Prepared& prepared = preparedOf(self);
  constexpr Py_ssize_t kFirst = 4;
  if (count != kFirst + Py_ssize_t(prepared.slots.size())) {
    PyErr_Format(PyExc_TypeError, "%s() takes the grid (x, y, z), a stream and %zu arguments: %zd values, not %zd",
                 prepared.kernel->name().c_str(), prepared.slots.size(), kFirst + Py_ssize_t(prepared.slots.size()),
                 count);
    return nullptr;
  }
  uint32_t grid[3];
  for (size_t i = 0; i < 3; ++i) {
    uint64_t number = 0;
    if (!readNumber("grid", args[i], number)) return nullptr;
    grid[i] = uint32_t(std::min<uint64_t>(number, UINT32_MAX)); // more than any GPU takes: the driver refuses it
  }
  uint64_t stream = 0;
  if (!readNumber("stream", args[3], stream)) return nullptr;
  std::array<uint64_t, cuda::kMostParameters> bits;
  for (size_t i = 0; i < prepared.slots.size(); ++i)
    if (!readArgument({prepared, i}, args[size_t(kFirst) + i], bits[i])) return nullptr;
  if (grid[0] && grid[1] && grid[2] && !launchBits(prepared, grid, stream, bits.data(), prepared.slots.size()))
    return nullptr;
  return none().release();
}

Py_ssize_t apiArgumentCount(PyObject* prepared) {
  if (PreparedObject::is(prepared)) return Py_ssize_t(preparedOf(prepared).slots.size());
  PyErr_Format(PyExc_TypeError, "a tiletwin._cuda.Prepared is wanted, not %R", prepared);
  return -1;
}

bool apiLaunch(PyObject* prepared, const uint32_t* grid, uintptr_t stream, uint64_t* bits, size_t count) {
  const Py_ssize_t wanted = apiArgumentCount(prepared);
  if (wanted < 0) return false;
  if (size_t(wanted) == count) return launchBits(preparedOf(prepared), grid, stream, bits, count);
  PyErr_Format(PyExc_SystemError, "%s takes %zd arguments, not %zu", preparedOf(prepared).kernel->name().c_str(),
               wanted, count);
  return false;
}

int apiReaches(PyObject* prepared, uint64_t address) {
  return apiArgumentCount(prepared) < 0 ? -1 : reaches(preparedOf(prepared), address);
}

bool apiEncodeTensorMap(PyObject* prepared, const TensorMapNumbers& numbers, void* map) {
  if (apiArgumentCount(prepared) < 0) return false;
  const cuda::Kernel& kernel = *preparedOf(prepared).kernel;
  return withoutGil([&] {
    encodeTensorMap(kernel.device(), numbers, kernel.name() + "(): the driver refuses the tensor map of a descriptor",
                    map);
  });
}

constexpr LaunchApi kLaunchApi = {sizeof(LaunchApi), apiArgumentCount, apiLaunch, apiReaches, apiEncodeTensorMap};

/// False with ValueError set: an unknown word.
bool readSlot(std::string_view word, Slot& slot) {
  if (word.starts_with("*")) return true;
  if (word.starts_with("bytes:")) {
    slot.kind = SlotKind::Structure;
    const std::string_view digits = word.substr(6);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), slot.bytes);
    if (status == std::errc() && end == digits.data() + digits.size() && slot.bytes > 0) return true;
  }
  const SlotRow* row =
      std::lower_bound(std::begin(kSlots), std::end(kSlots), word,
                       [](const SlotRow& known, std::string_view wanted) { return known.word < wanted; });
  if (row == std::end(kSlots) || row->word != word) {
    PyErr_Format(PyExc_ValueError,
                 "%s is no type of a launch's argument: a pointer such as *fp32, an integer such as "
                 "i32 or u8, fp16, bf16, fp32, fp64, or bytes:128 for a structure",
                 std::string(word).c_str());
    return false;
  }
  slot.kind = row->kind;
  slot.bytes = row->bytes;
  return true;
}

/// False with ValueError set: the driver would read other bytes than the signature has.
bool fitsKernel(const Prepared& prepared) {
  const cuda::Kernel& kernel = *prepared.kernel;
  if (!kernel.knowsParameters()) return true;
  const auto& places = kernel.parameters();
  bool same = places.size() == prepared.slots.size();
  std::string bytes;
  for (size_t i = 0; i < places.size(); ++i) {
    same = same && places[i].bytes == prepared.slots[i].bytes;
    bytes += (i ? ", " : "") + std::to_string(places[i].bytes);
  }
  if (same) return true;
  std::string words;
  for (const std::string& word : prepared.words) words += (words.empty() ? "" : ", ") + word;
  PyErr_Format(PyExc_ValueError, "%s has parameters of %s bytes, which the signature (%s) does not fit",
               kernel.name().c_str(), bytes.empty() ? "no" : bytes.c_str(), words.c_str());
  return false;
}

} // namespace

void encodeTensorMap(cuda::Device& device, const TensorMapNumbers& n, const std::string& refused, void* map) {
  const cuda::Driver& driver = cuda::Driver::get();
  cuda::ContextScope context(device);
  if (!driver.cuTensorMapEncodeTiled) driver.lacks("cuTensorMapEncodeTiled", "a tensor map");
  const cuda::Result result =
      driver.cuTensorMapEncodeTiled(map, n.type, n.rank, reinterpret_cast<void*>(uintptr_t(n.address)), n.sizes,
                                    n.strides, n.box, n.steps, n.interleave, n.swizzle, n.promotion, n.fill);
  if (result == cuda::kInvalidValue)
    throw cuda::Error(cuda::ErrorKind::Argument, refused + ": cuTensorMapEncodeTiled gave " + cuda::describe(result));
  cuda::check(result, "cuTensorMapEncodeTiled");
}

PyRef makePrepared(std::shared_ptr<const cuda::Kernel> kernel, const cuda::LaunchShape& shape, PyObject* signature) {
  Prepared prepared;
  prepared.kernel = std::move(kernel);
  prepared.shape = shape;
  const size_t count = itemsOf(signature).size();
  if (count > cuda::kMostParameters) {
    PyErr_Format(PyExc_ValueError, "a launch has at most %zu arguments, not %zu", cuda::kMostParameters, count);
    return {};
  }
  prepared.slots.resize(count);
  for (PyObject* word : itemsOf(signature)) prepared.words.push_back(stringOf(word));
  for (size_t i = 0; i < count; ++i) {
    if (!readSlot(prepared.words[i], prepared.slots[i])) return {};
    prepared.slots[i].word = prepared.words[i].c_str();
  }
  if (!fitsKernel(prepared)) return {};
  if (!withoutGil([&] {
        prepared.kernel->prepare(shape);
        prepared.severalDevices = cuda::Device::count() > 1;
      }))
    return {};
  return PreparedObject::make(std::move(prepared));
}

bool addPrepared(PyObject* module) {
  PyRef capsule = PyRef::steal(PyCapsule_New(const_cast<LaunchApi*>(&kLaunchApi), kLaunchApiCapsule, nullptr));
  return capsule && PyModule_AddObjectRef(module, "launch_api", capsule.get()) == 0 &&
         addType<Prepared>(module, {.name = "tiletwin._cuda.Prepared",
                                    .doc = "A kernel with all that a launch needs but grid, stream and arguments.",
                                    .methods = {{"launch", anyFunction(launch), METH_FASTCALL,
                                                 "launch(grid x, y, z, stream, *arguments)"}}});
}

} // namespace tiletwin::python
