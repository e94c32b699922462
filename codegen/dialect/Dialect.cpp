// codegen/dialect/Dialect.cpp -- registration of twg, the text of the layout attribute, verifiers of layouts.
#include "codegen/dialect/TWG.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using tiletwin::codegen::LinearLayout;
using tiletwin::codegen::Part;

#include "codegen/dialect/TWGDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/dialect/TWGAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "codegen/dialect/TWGOps.cpp.inc"

namespace tiletwin::twg {

namespace {

/// Layouts stand at the top of the text under short names: #layout, #layout1, ...
struct LayoutAliases final : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream& out) const final {
    if (!isa<LinearAttr, SharedAttr>(attribute)) return AliasResult::NoAlias;
    out << (isa<LinearAttr>(attribute) ? "layout" : "shared");
    return AliasResult::FinalAlias;
  }
};

/// Functions that stay functions up to here have notes.
struct NotesInline final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation* op, Region*, bool, IRMapping&) const final { return tt::isNote(op); }
};

} // namespace

void TWGDialect::initialize() {
  registerAttributes();
  registerTypes();
  addInterfaces<LayoutAliases, NotesInline>();
  addOperations<
#define GET_OP_LIST
#include "codegen/dialect/TWGOps.cpp.inc"
      >();
}

void TWGDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/dialect/TWGAttrs.cpp.inc"
      >();
}

LinearAttr LinearAttr::get(MLIRContext* context, const LinearLayout& layout) {
  std::array<SmallVector<int32_t>, 4> bases;
  for (Part part : codegen::kParts)
    for (uint32_t basis : layout.bases(part))
      for (int64_t coordinate : layout.coordinates(basis)) bases[size_t(part)].push_back(int32_t(coordinate));
  return get(context, layout.rank(), bases[0], bases[1], bases[2], bases[3]);
}

LinearLayout LinearAttr::layout(ArrayRef<int64_t> shape) const {
  LinearLayout flat(shape, {});
  std::array<LinearLayout::Bases, 4> bases;
  std::array<ArrayRef<int32_t>, 4> coordinates{getRegisterBases(), getLaneBases(), getWarpBases(), getBlockBases()};
  for (auto [list, part] : llvm::zip_equal(bases, coordinates))
    for (; !part.empty(); part = part.drop_front(getRank()))
      list.push_back(flat.flatIndex(SmallVector<int64_t, 5>(part.take_front(getRank()))));
  return LinearLayout(shape, std::move(bases));
}

namespace {

// `name` `=` `[` (`[` coordinates `]`) , ... `]`
ParseResult parseBases(AsmParser& parser, StringRef name, SmallVectorImpl<int32_t>& bases,
                       std::optional<unsigned>& rank) {
  if (parser.parseKeyword(name) || parser.parseEqual()) return failure();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    size_t before = bases.size();
    auto one = [&]() -> ParseResult { return parser.parseInteger(bases.emplace_back()); };
    SMLoc where = parser.getCurrentLocation();
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one)) return failure();
    unsigned count = bases.size() - before;
    if (count == 0 || count != rank.value_or(count))
      return parser.emitError(where, "every vector of a layout has one coordinate for each dimension"); // C1
    rank = count;
    return success();
  });
}

void printBases(AsmPrinter& printer, StringRef name, ArrayRef<int32_t> bases, unsigned rank) {
  printer << name << " = [";
  for (size_t i = 0; i < bases.size(); i += rank) {
    printer << (i ? ", [" : "[");
    llvm::interleaveComma(bases.slice(i, rank), printer);
    printer << ']';
  }
  printer << ']';
}

} // namespace

Attribute LinearAttr::parse(AsmParser& parser, Type) {
  std::array<SmallVector<int32_t>, 4> bases;
  std::optional<unsigned> rank;
  if (parser.parseLess() || parser.parseLBrace()) return {};
  for (Part part : codegen::kParts) {
    if (part != Part::Register && parser.parseComma()) return {};
    if (parseBases(parser, codegen::partName(part), bases[size_t(part)], rank)) return {};
  }
  if (parser.parseOptionalComma().succeeded()) {
    unsigned given = 0;
    if (parser.parseKeyword("rank") || parser.parseEqual() || parser.parseInteger(given)) return {};
    rank = given;
  }
  if (parser.parseRBrace() || parser.parseGreater()) return {};
  return get(parser.getContext(), rank.value_or(1), bases[0], bases[1], bases[2], bases[3]);
}

void LinearAttr::print(AsmPrinter& printer) const {
  printer << "<{";
  std::array<ArrayRef<int32_t>, 4> all{getRegisterBases(), getLaneBases(), getWarpBases(), getBlockBases()};
  for (Part part : codegen::kParts) {
    if (part != Part::Register) printer << ", ";
    printBases(printer, codegen::partName(part), all[size_t(part)], getRank());
  }
  // A tile of one element may have no vector at all to tell the rank from.
  bool noVector = llvm::all_of(all, [](ArrayRef<int32_t> list) { return list.empty(); });
  if (noVector) printer << ", rank = " << getRank();
  printer << "}>";
}

LogicalResult LinearAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getRank())
    return emitError() << "a layout of rank " << getRank() << " on a tile of rank " << shape.size(); // C1
  std::array<ArrayRef<int32_t>, 4> all{getRegisterBases(), getLaneBases(), getWarpBases(), getBlockBases()};
  for (ArrayRef<int32_t> list : all)
    for (auto [i, coordinate] : llvm::enumerate(list))
      if (coordinate < 0 || coordinate >= shape[i % getRank()])
        return emitError() << "coordinate " << coordinate << " of a layout lies outside of the tile's extent "
                           << shape[i % getRank()]; // C2
  if (std::string fault = layout(shape).fault(); !fault.empty())
    return emitError() << "the layout is not one: " << fault; // C2
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = cast<RankedTensorType>(getSrc().getType()), to = cast<RankedTensorType>(getResult().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "needs one shape and element type, got " << from << " and " << to;    // C1
  if (!hasLayout(from) || !hasLayout(to)) return emitOpError() << "needs a layout on both sides"; // C1
  return success();
}

bool hasLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && isa_and_nonnull<LinearAttr>(tile.getEncoding());
}

LinearLayout layoutOf(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return cast<LinearAttr>(tile.getEncoding()).layout(tile.getShape());
}

Type withLayout(Type type, const LinearLayout& layout) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) return type;
  return RankedTensorType::get(tile.getShape(), tile.getElementType(), LinearAttr::get(type.getContext(), layout));
}

} // namespace tiletwin::twg
