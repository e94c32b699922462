// frontend/LoopRange.cpp -- arguments and bounds of a `for`, for both modes.
#include "frontend/LoopRange.h"
#include "frontend/Raise.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

constexpr const char* kPartNames[3] = {"start", "end", "step"};

/// A bound in the loop's type. Widening goes by the sign of the loop's type, not of the bound's: an unsigned bound of
/// fewer bits than a signed loop's is read as a signed number, as on the GPU.
Value castBound(Builder& builder, const Value& bound, const Type& type) {
  if (bound.type.bits() >= type.bits()) return cast(builder, bound, type);
  return builder.create1(type.isSigned() ? "arith.extsi" : "arith.extui", bound, type);
}

} // namespace

bool readRange(PyObject* function, llvm::ArrayRef<PyRef> arguments,
               llvm::ArrayRef<std::pair<PyObject*, PyRef>> keywords, RangeArguments& out) {
  PyRef first, second;
  const std::pair<const char*, PyRef*> kNames[] = {
      {"arg1", &first},
      {"arg2", &second},
      {"step", &out.step},
      {"num_stages", &out.numStages},
      {"loop_unroll_factor", &out.unroll},
      {"disallow_acc_multi_buffer", &out.noMultiBuffer},
      {"flatten", &out.flatten},
      {"warp_specialize", &out.specialize},
      {"disable_licm", &out.noLicm},
  };
  bool isPythons = function == reinterpret_cast<PyObject*>(&PyRange_Type);
  if (isPythons && !keywords.empty())
    return raiseType("range() takes no keyword arguments, and this one has '" + stringOf(keywords.front().first) +
                     "', which Triton ignores: write range(start, end, step), or use tl.range");
  if (arguments.size() > (isPythons ? 3 : std::size(kNames)))
    return raiseType("range takes at most start, end and step");
  for (size_t i = 0; i < arguments.size(); ++i) *kNames[i].second = arguments[i];
  for (const auto& [name, value] : keywords) {
    auto* row = llvm::find_if(kNames, [text = stringOf(name)](const auto& r) { return text == r.first; });
    if (row == std::end(kNames) || *row->second)
      return raiseType("range has no argument '" + stringOf(name) +
                       "' here; it takes start, end, step and the options of tl.range");
    *row->second = value;
  }
  if (!first) return raiseType("range needs an end");
  bool one = !second || unwrap(second.get()) == Py_None;
  out.end = one ? first : second;
  out.start = one ? PyRef() : first;
  if (out.step && unwrap(out.step.get()) == Py_None) out.step = {};
  return true;
}

bool loopBounds(Builder& builder, const RangeArguments& range, LoopBounds& out) {
  PyRef zero = PyRef::steal(PyLong_FromLong(0)), one = PyRef::steal(PyLong_FromLong(1));
  PyRef parts[3] = {range.start ? range.start : makeConstexpr(zero.get()), range.end,
                    range.step ? range.step : makeConstexpr(one.get())};
  out.backwards = false;
  PyObject* plainStep = unwrap(parts[2].get());
  if (PyLong_Check(plainStep)) {
    long step = PyLong_AsLong(plainStep);
    if (step == -1 && PyErr_Occurred()) return false;
    if (step == 0) return raiseValue("the step of a loop must not be 0");
    if (step < 0) {
      PyRef positive = PyRef::steal(PyNumber_Negative(plainStep));
      parts[2] = makeConstexpr(positive.get());
      std::swap(parts[0], parts[1]);
      out.backwards = true;
    }
  }
  for (int i = 0; i < 3; ++i) {
    Value& bound = out.values[i];
    bound = toTensor(builder, parts[i].get());
    if (!bound) return false;
    if (!bound.type.isInt() || bound.type.isBlock())
      return raiseType(llvm::Twine("the ") + kPartNames[out.backwards && i < 2 ? 1 - i : i] +
                       " of a loop's range must be an integer, and this is " + bound.type.str() +
                       (bound.type.isBlock() ? ", a block" : "; convert it with .to(tl.int32)"));
  }
  if (!promote(out.values[0].type, out.values[1].type, false, out.type) ||
      !promote(out.type, out.values[2].type, false, out.type))
    return false;
  for (Value& bound : out.values)
    if (bound = castBound(builder, bound, out.type); !bound) return false;
  return true;
}

bool staticBounds(const RangeArguments& range, long (&bounds)[3]) {
  const PyRef* parts[3] = {&range.start, &range.end, &range.step};
  for (int i = 0; i < 3; ++i) {
    if (!*parts[i]) continue;
    PyObject* plain = unwrap(parts[i]->get());
    if (isTensor(plain))
      return raiseType(llvm::Twine("tl.static_range is unrolled while compiling: its ") + kPartNames[i] +
                       " must be a compile-time int (tl.constexpr), and this is a run-time value of type " +
                       tensorValue(plain).type.str() + ". Use range or tl.range for a run-time loop");
    bounds[i] = PyLong_AsLong(plain);
    if (bounds[i] == -1 && PyErr_Occurred())
      return raiseType(llvm::Twine("tl.static_range: ") + kPartNames[i] + " must be an int, not a " + typeName(plain));
  }
  return bounds[2] != 0 || raiseValue("tl.static_range: step must not be 0");
}

} // namespace tiletwin::frontend
