// sim/driver/compilers/Behind.h -- functions of a library of NVIDIA's that one of ours stands in front of.
#pragma once
#include <cstdint>
#include <dlfcn.h>

namespace tiletwin::compilers {

/// A parameter or a result. A caller puts words where it likes and takes them away again, so one shape of function serves all.
using Word = uintptr_t;
using Function = Word (*)(Word, Word, Word, Word, Word, Word);

template <class T> Word word(T* pointer) { return reinterpret_cast<Word>(pointer); }

/// `open` finds NVIDIA's library, once; null: it is not there, and every call gives `failure`.
template <void* (*open)(), Word failure> class Behind {
public:
  static Function find(const char* name) {
    static void* const library = open();
    return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr; // NOLINT: a function's address
  }
  static Word call(const char* name, Word a = 0, Word b = 0, Word c = 0, Word d = 0, Word e = 0, Word f = 0) {
    const Function function = find(name);
    return function ? uint32_t(function(a, b, c, d, e, f)) : failure; // they give int, whose upper half is nobody's
  }
};

} // namespace tiletwin::compilers

#define TILETWIN_IN_FRONT extern "C" [[gnu::visibility("default")]]
#define TILETWIN_PASSES(library, name)                                                                                 \
  TILETWIN_IN_FRONT Word name(Word a, Word b, Word c, Word d, Word e, Word f) {                                        \
    return library::call(#name, a, b, c, d, e, f);                                                                     \
  }
