// python/src/Dlpack.h -- memory layout of DLPack's structures (https://dmlc.github.io/dlpack), as far as arrays are
// read.
#pragma once
#include <cstdint>

namespace tiletwin::python::dlpack {

inline constexpr int32_t kCpu = 1, kCudaHost = 3;
inline constexpr uint64_t kReadOnlyFlag = 1;

struct Device {
  int32_t type, id;
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides; ///< in elements; null: row-major
  uint64_t byteOffset;
};
struct Version {
  uint32_t major, minor;
};
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  Tensor tensor;
};

/// The C function table that a type offers as `__dlpack_c_exchange_api__` (DLPack 1.x).
struct ExchangeTable {
  Version version;
  const ExchangeTable* previous;
  void* allocate;
  void* managedFromPython;
  void* managedToPython;
  int (*tensorFromPython)(void* object, Tensor* out); ///< borrows; 0 on success
  void* currentStream;
};

} // namespace tiletwin::python::dlpack
