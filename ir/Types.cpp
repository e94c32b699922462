// ir/Types.cpp -- the types !tt.ptr and !tt.tensordesc, and the attribute #tt.cache_policy.
#include "ir/TT.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tiletwin::tt;

#define GET_ATTRDEF_CLASSES
#include "ir/TTAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/TTTypes.cpp.inc"

namespace tiletwin::tt {

void TTDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/TTTypes.cpp.inc"
      >();
}

void TTDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TTAttrs.cpp.inc"
      >();
}

// `<` type (`,` (string | integer))? `>`: the second part is the address space.
Type PointerType::parse(AsmParser& parser) {
  Type pointee;
  AddressSpace space = AddressSpace::Global;
  if (parser.parseLess() || parser.parseType(pointee)) return {};
  if (succeeded(parser.parseOptionalComma())) {
    llvm::SMLoc where = parser.getCurrentLocation();
    std::string word;
    int32_t number = 0;
    std::optional<AddressSpace> known;
    if (OptionalParseResult result = parser.parseOptionalInteger(number); result.has_value())
      known = failed(*result) ? std::nullopt : symbolizeAddressSpace(uint32_t(number));
    else if (succeeded(parser.parseOptionalString(&word)))
      known = symbolizeAddressSpace(word);
    if (!known) {
      parser.emitError(where, "the address space of a pointer is \"constant\" or absent");
      return {};
    }
    space = *known;
  }
  if (parser.parseGreater()) return {};
  return parser.getChecked<PointerType>(parser.getContext(), pointee, space);
}

void PointerType::print(AsmPrinter& printer) const {
  printer << '<' << getPointeeType();
  if (getAddressSpace() != AddressSpace::Global) printer << ", \"" << stringifyAddressSpace(getAddressSpace()) << '"';
  printer << '>';
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee, AddressSpace) {
  auto integer = dyn_cast<IntegerType>(pointee);
  bool goodInteger = integer && integer.isSignless() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  if (!goodInteger && !isa<FloatType, PointerType>(pointee))
    return emitError()
           << "a pointer points to a signless integer of 1, 8, 16, 32 or 64 bits, a float or a pointer, not "
           << pointee; // C1
  return success();
}

Type TensorDescType::parse(AsmParser& parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<TensorDescType>(parser.getContext(), shape, element);
}

void TensorDescType::print(AsmPrinter& printer) const {
  printer << '<';
  for (int64_t extent : getShape()) printer << extent << 'x';
  printer << getElementType() << '>';
}

LogicalResult TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                     Type element) {
  if (shape.empty() || shape.size() > 5)
    return emitError() << "a tensor descriptor has 1 to 5 dimensions, got " << shape.size(); // C1
  for (int64_t extent : shape)
    if (extent <= 0 || !llvm::isPowerOf2_64(uint64_t(extent)))
      return emitError() << "a descriptor's block has extents that are powers of two, got " << extent; // C2
  if (!isa<IntegerType, FloatType>(element))
    return emitError() << "a descriptor's elements are integers or floats, not " << element;
  return success();
}

RankedTensorType TensorDescType::getBlockType() const {
  Type element = getElementType();
  if (auto integer = dyn_cast<IntegerType>(element)) element = IntegerType::get(getContext(), integer.getWidth());
  return RankedTensorType::get(getShape(), element);
}

} // namespace tiletwin::tt
