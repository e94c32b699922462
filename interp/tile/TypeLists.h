// interp/tile/TypeLists.h -- element types in lists, and the way from a type known at run time to a template's argument.
#pragma once
#include "runtime/DType.h"

namespace tiletwin::tile {

template <DType... T> struct TypeList {};
using Ints = TypeList<DType::I1, DType::I8, DType::I16, DType::I32, DType::I64>;
using Float8s = TypeList<DType::F8E5M2, DType::F8E4M3FN, DType::F8E4M3B11FNUZ, DType::F8E5M2FNUZ, DType::F8E4M3FNUZ>;
using Floats = TypeList<DType::F8E5M2, DType::F8E4M3FN, DType::F8E4M3B11FNUZ, DType::F8E5M2FNUZ, DType::F8E4M3FNUZ,
                        DType::F16, DType::BF16, DType::F32, DType::F64>;

/// What find.operator()<T>() gives for the type of the list that `type` is; null: it is none of them.
template <DType First, DType... Rest, class Find> auto forType(TypeList<First, Rest...>, DType type, Find find) {
  decltype(find.template operator()<First>()) found = nullptr;
  const auto tryOne = [&]<DType T>() {
    if (type == T) found = find.template operator()<T>();
  };
  tryOne.template operator()<First>();
  (tryOne.template operator()<Rest>(), ...);
  return found;
}

} // namespace tiletwin::tile
