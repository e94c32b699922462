// python/src/CopiedLoads.h -- arguments that a kernel has behind its own: tensor maps of the launch's other arguments.
// Here:      what a compiled kernel says of them, their numbers at a launch, the last launch's maps.
// Not here:  which loads become copies (codegen/passes/AffineLoads.h); launches on the simulator
//            (tiletwin/launch/copied_loads.py, which makes the same numbers, and says what the parts mean).
#pragma once
#include "TensorMapArguments.h"
#include "runtime/DType.h"
#include <optional>
#include <vector>

namespace tiletwin::python {

/// Products of a number and of arguments.
struct ArgumentSum {
  struct Term {
    int64_t number = 0;
    std::vector<uint32_t> arguments;
  };
  std::vector<Term> terms;
};

class CopiedLoads {
public:
  /// Reads one of CopiedLoads.native of tiletwin.launch.copied_loads: a map, or the flag. False with an exception set.
  bool read(PyObject* numbers);
  /// Whether a described argument is the flag or such a map, and no descriptor's map.
  static bool isCopied(PyObject* numbers) { return PyTuple_Size(numbers) != 3; }
  static bool isFlag(PyObject* numbers) { return PyTuple_Size(numbers) == 2; }

  bool empty() const { return maps_.empty(); }
  size_t mapCount() const { return maps_.size(); }
  /// Of all that stands behind the kernel's own arguments: maps, the flag, sizes of the grid.
  size_t argumentCount() const { return empty() ? 0 : maps_.size() + 1 + (loops_ ? 3 : 0); }
  /// Whether a CTA runs one program after the other (codegen/passes/TileLoop.h).
  bool loops() const { return loops_; }
  /// Writes a launch's maps. `flag` is 1 if they can be made, else 0 and they are zeros. types: of the kernel's own
  /// arguments. Under the GIL. False with an exception set.
  bool encode(const LaunchApi& api, PyObject* prepared, const std::string& kernel, const Call& call,
              const std::vector<DType>& types, TensorMapBytes* maps, uint64_t& flag) const;

private:
  struct Map {
    TensorMapArgument argument; ///< without an index
    uint32_t base = 0;
    std::vector<ArgumentSum> extents, strides; ///< dimension 0 first; strides are bytes
  };
  /// Extents, and strides in bytes; false: no map describes that memory.
  static bool numbersOf(const Map& map, const Call& call, const std::vector<DType>& types, std::vector<uint64_t>& out);

  std::vector<Map> maps_;
  std::vector<ArgumentSum> positive_;
  bool loops_ = false;
  // Of the last launch: most launches are of the same tensors.
  mutable std::vector<uint64_t> lastNumbers_;
  mutable std::vector<TensorMapBytes> lastMaps_;
};

} // namespace tiletwin::python
