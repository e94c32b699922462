// interp/run/FloatState.h -- the floating-point state programs run under: denormals kept, round to nearest, no
// exceptions. Invariant: the thread's own state comes back when the guard goes.
#pragma once
#include <xmmintrin.h>

namespace tiletwin::interp {

class FloatState {
public:
  FloatState() : saved_(_mm_getcsr()) { _mm_setcsr(kMasked); }
  ~FloatState() { _mm_setcsr(saved_); }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

private:
  static constexpr unsigned kMasked = 0x1f80; // every exception masked, FTZ and DAZ off, nearest even
  unsigned saved_;
};

} // namespace tiletwin::interp
