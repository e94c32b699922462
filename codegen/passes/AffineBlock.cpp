// codegen/passes/AffineBlock.cpp -- see AffineBlock.h.
#include "codegen/passes/AffineBlock.h"
#include "codegen/passes/TensorMaps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

constexpr int64_t kAlignment = 16; ///< bytes, of a map's base, of its strides, and of where a block begins in a row
constexpr size_t kMostDimensions = 5;
constexpr int64_t kUnbounded = (int64_t(1) << 31) - 1; ///< an extent that no index reaches

bool isZero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()); }

using Groups = std::map<std::vector<unsigned>, Sum>; ///< terms with the same arguments, without these

/// A term `number * argument` times a group's arguments: a block of that group begins so much later.
struct Moved {
  std::vector<unsigned> group;
  unsigned argument;
  int64_t number;
};

bool hasTileDimension(const Sum& terms) {
  return llvm::any_of(terms,
                      [](const auto& term) { return term.first.along >= 0 && term.first.along < Factors::kIteration; });
}

/// Takes groups of one number that move the blocks of another group, rather than being a dimension of their own.
SmallVector<Moved> takeMoved(Groups& groups, Block* kernel) {
  SmallVector<Moved> moved;
  for (auto group = groups.begin(); group != groups.end();) {
    const auto& [arguments, terms] = *group;
    const std::optional<int64_t> number = numberOf(terms);
    std::optional<Moved> found;
    for (size_t i = 0; number && i < arguments.size() && !found; ++i) {
      std::vector<unsigned> others = arguments;
      others.erase(others.begin() + int64_t(i));
      auto other = groups.find(others);
      const bool isNarrow = kernel->getArgument(arguments[i]).getType().isInteger(32);
      if (other != groups.end() && hasTileDimension(other->second) && isNarrow)
        found = Moved{others, arguments[i], *number};
    }
    if (found) moved.push_back(*found);
    group = found ? groups.erase(group) : std::next(group);
  }
  return moved;
}

/// A stride of a group: its factors are the group's.
Sum strideOf(const std::vector<unsigned>& arguments, int64_t number) {
  return Sum{{Factors{.arguments = arguments}, number}};
}

} // namespace

std::string recipeText(const Sum& sum) {
  std::string text;
  for (const auto& [factors, number] : sum) {
    text += (text.empty() ? "" : "+") + std::to_string(number);
    for (unsigned argument : factors.arguments) text += "*a" + std::to_string(argument);
  }
  return text.empty() ? "0" : text;
}

std::string AffineBlock::recipe() const {
  SmallVector<std::string> extents, strides;
  for (const Dimension& dimension : dimensions_) {
    extents.push_back(dimension.extent ? recipeText(*dimension.extent) : std::to_string(kUnbounded));
    if (&dimension != &dimensions_.back()) strides.push_back(recipeText(dimension.stride));
  }
  return "a" + std::to_string(base_.getArgNumber()) + "; " + llvm::join(extents, "/") + "; " + llvm::join(strides, "/");
}

/// Terms with the same arguments have one stride, or strides that are multiples of each other: each term is counted along the
/// dimension with the longest stride that divides it. A number is as many of each stride as leave something from 0 on: 64 columns
/// of the row before are not 64 - stride columns of this one. Only a few columns in front of a row are no row before it.
bool AffineBlock::findDimensions(const AffinePointers& pointers, ArrayRef<int64_t> shape) {
  Groups groups;
  for (const auto& [factors, number] : pointers.offset) {
    Factors inside = factors;
    inside.arguments.clear();
    groups[factors.arguments][inside] = number;
  }
  const SmallVector<Moved> moved = takeMoved(groups, base_.getOwner());
  for (const auto& [arguments, terms] : groups) {
    std::map<int64_t, Dimension, std::greater<>> strides;
    int64_t divisor = 0;
    for (const auto& [factors, number] : terms) {
      divisor = std::gcd(divisor, number);
      if (factors.along < 0 || factors.along >= Factors::kIteration) continue;
      if (number <= 0 || strides.contains(number)) return false;
      strides[number].along = factors.along;
    }
    if (strides.empty()) strides[divisor] = {};
    for (const auto& [factors, number] : terms) {
      if (factors == Factors()) {
        int64_t rest = number;
        for (auto& [stride, dimension] : strides) {
          const bool isInFront = rest < 0 && -rest < stride / 2;
          const int64_t times = isInFront ? 0 : llvm::divideFloorSigned(rest, stride);
          if (times) dimension.index[factors] += times;
          rest -= times * stride;
        }
        if (rest) return false;
        continue;
      }
      auto dimension = llvm::find_if(strides, [&, whole = number](const auto& one) { return whole % one.first == 0; });
      if (dimension == strides.end()) return false;
      dimension->second.index[factors] += number / dimension->first;
    }
    for (const Moved& one : moved) {
      if (one.group != arguments) continue;
      auto dimension = llvm::find_if(strides, [&](const auto& wide) { return one.number % wide.first == 0; });
      if (dimension == strides.end()) return false;
      dimension->second.index[Factors{.arguments = {one.argument}}] += one.number / dimension->first;
    }
    for (auto& [stride, dimension] : strides) {
      dimension.stride = strideOf(arguments, stride);
      dimensions_.push_back(dimension);
    }
  }
  // Of the tile's own dimensions the contiguous one comes last.
  llvm::stable_sort(dimensions_, [](const Dimension& a, const Dimension& b) {
    auto rank = [](const Dimension& one) { return (one.along >= 0) + (numberOf(one.stride) == 1 && one.along >= 0); };
    return rank(a) < rank(b);
  });
  if (dimensions_.size() < shape.size() || dimensions_.size() > kMostDimensions) return false;
  if (numberOf(dimensions_.back().stride) != 1) return false;
  llvm::SmallDenseSet<int> own; // the tile's dimensions are the last ones, each once
  for (const Dimension& one : ArrayRef(dimensions_).take_back(shape.size()))
    if (one.along < 0 || !own.insert(one.along).second) return false;
  auto isTilesOwn = [](const Dimension& one) { return one.along >= 0; };
  if (size_t(llvm::count_if(dimensions_, isTilesOwn)) != shape.size()) return false;
  return llvm::all_of(dimensions_, [&](const Dimension& one) {
    auto own = one.index.find({.arguments = {}, .scalar = -1, .along = one.along});
    return one.along < 0 || (own != one.index.end() && own->second == 1 && shape[size_t(one.along)] > 1);
  });
}

/// What the launcher does not know as an extent has to be true in the whole tile and in all iterations.
bool AffineBlock::findExtents(const std::vector<Sum>& mask, AffineForms& forms, ArrayRef<int64_t> shape) {
  for (const Sum& sum : mask) {
    bool isFound = false;
    for (Dimension& one : dimensions_) {
      if (one.along < 0) continue;
      auto own = sum.find({.arguments = {}, .scalar = -1, .along = one.along});
      if (own == sum.end() || (own->second != 1 && own->second != -1)) continue;
      std::optional<Sum> rest = plus(sum, one.index, -own->second);
      if (!rest) return false;
      if (own->second > 0) { // index - L >= 0
        if (!rest->empty()) return false;
        one.isMaskedBelow = isFound = true;
      } else { // extent - 1 - index >= 0
        std::optional<Sum> extent = plus(*rest, sumOf(1));
        if (!extent) return false;
        if (!isOfArguments(*extent) || (one.extent && *one.extent != *extent)) continue;
        if (std::optional<int64_t> number = numberOf(*extent); number && (*number < 1 || *number > kUnbounded))
          return false;
        one.extent = extent;
        isFound = true;
      }
    }
    if (!isFound) forms.require(sum, shape);
  }
  return true;
}

/// Whether the hardware may be able to copy the block: strides that arguments decide the launcher looks at.
bool AffineBlock::isAligned(AffineForms& forms, tt::ContiguityAnalysis& contiguity, int64_t bytes) const {
  auto divisor = [&](Value value) { return contiguity.of(value).dimensions[0].divisor; };
  if (divisor(base_) % kAlignment) return false;
  for (const Dimension& one : ArrayRef(dimensions_).drop_back())
    if (auto [factors, number] = *one.stride.begin(); factors.arguments.empty() && number * bytes % kAlignment)
      return false;
  const int64_t elements = std::max<int64_t>(kAlignment / bytes, 1);
  return llvm::all_of(dimensions_.back().index, [&](const auto& term) {
    auto [factors, number] = term;
    if (factors.along >= 0 && factors.along < Factors::kIteration) return true;
    int64_t scalar = factors.scalar < 0 ? 1 : divisor(forms.scalar(factors.scalar));
    for (unsigned argument : factors.arguments) scalar = divisor(base_.getOwner()->getArgument(argument));
    return std::gcd(number, elements) * std::gcd(scalar, elements) % elements == 0;
  });
}

void AffineBlock::require(AffineForms& forms, ArrayRef<int64_t> shape) const {
  for (const Dimension& one : dimensions_) {
    forms.require(plus(one.index, sumOf(one.isMaskedBelow ? int64_t(1) << 31 : 0)), shape);
    forms.require(plus(sumOf(kUnbounded - 1), one.index, -1), shape);
  }
}

std::optional<AffineBlock> AffineBlock::of(tt::LoadOp load, AffineForms& forms, tt::ContiguityAnalysis& contiguity) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!tile || tile.getRank() > 2 || load.getIsVolatile() || load.getCachePolicy()) return std::nullopt;
  if (load.getOther() && !isZero(load.getOther())) return std::nullopt;
  mlir::Type element = tile.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8) return std::nullopt;
  std::optional<AffinePointers> pointers = forms.pointers(load.getPtr());
  if (!pointers) return std::nullopt;
  AffineBlock block;
  block.base_ = pointers->base;
  if (!block.findDimensions(*pointers, tile.getShape())) return std::nullopt;
  if (load.getMask()) {
    std::optional<std::vector<Sum>> mask = forms.mask(load.getMask());
    if (!mask || !block.findExtents(*mask, forms, tile.getShape())) return std::nullopt;
  }
  if (!block.isAligned(forms, contiguity, element.getIntOrFloatBitWidth() / 8)) return std::nullopt;
  SmallVector<int64_t, 5> shape;
  for (const Dimension& one : block.dimensions_) shape.push_back(one.along < 0 ? 1 : tile.getDimSize(one.along));
  block.descriptor_ = tt::TensorDescType::get(shape, element);
  if (!tensorMapOfBlock(block.descriptor_)) return std::nullopt;
  block.require(forms, tile.getShape());
  return block;
}

} // namespace tiletwin::codegen
