// interp/asm/Instructions.cpp -- every form of an instruction that inline assembly may use.
// Here:      rows for operations of the tile module, and for instructions with a function of their own.
// Not here:  what the rows do (Read*.cpp, interp/tile), instructions that are one step (the rows of Lanes*.cpp).
// Approximate instructions (ex2.approx) are computed accurately; instructions that only order threads do nothing, as a
// program's operations run one after the other.
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"
#include <algorithm>
#include <array>

namespace tiletwin::interp {
namespace {

using E = TwElementwise;
using C = AsmCompiler;

struct Row {
  const char* op;       ///< with the modifiers it must have: "mul.lo"; alternatives separated by |
  const char* types;    ///< the end of the opcode, alternatives separated by |: "u32|s32"; *: any two
  const char* optional; ///< modifiers it may have: "rn rz ftz"
  int sources;          ///< operands of the form's type, as the result is
  std::array<E, 3> e;   ///< the tile module's operation for each alternative of `op`
  bool (C::*special)(const AsmStatement&, const AsmForm&); ///< else this does it all
};
constexpr Row tile(const char* op, const char* types, int sources, std::array<E, 3> e, const char* optional = "") {
  return {op, types, optional, sources, e, nullptr};
}
constexpr Row tile(const char* op, const char* types, int sources, E e, const char* optional = "") {
  return tile(op, types, sources, std::array{e, e, e}, optional);
}
constexpr Row own(const char* op, const char* types, const char* optional,
                  bool (C::*special)(const AsmStatement&, const AsmForm&)) {
  return {op, types, optional, 0, {}, special};
}

constexpr const char* kWhole = "u16|s16|u32|s32|u64|s64";
constexpr const char* kWholeAndPairs = "u16|s16|u32|s32|u64|s64|u16x2|s16x2";
constexpr const char* kBits = "b16|b32|b64|pred";
constexpr const char *kHalf = "f16|f16x2", *kBrain = "bf16|bf16x2";
constexpr const char* kFlushable = "f32|f16|f16x2";
constexpr const char* kArithmetic32 = "rn rz rm rp ftz sat";
constexpr const char* kArithmetic32x2 = "rn rz rm rp ftz";
constexpr const char* kArithmetic64 = "rn rz rm rp";
constexpr const char* kArithmetic16 = "rn ftz sat";
constexpr const char* kComparisons = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";

constexpr Row kRows[] = {
    // integers
    tile("add", kWholeAndPairs, 2, E::AddI),
    tile("sub", kWhole, 2, E::SubI),
    tile("mul.lo", kWhole, 2, E::MulI),
    tile("div", "u16|u32|u64", 2, E::DivUI),
    tile("div", "s16|s32|s64", 2, E::DivSI),
    tile("abs", "s16|s32|s64", 1, E::AbsI),
    tile("min|max", "u16|u32|u64|u16x2", 2, {E::MinUI, E::MaxUI}),
    tile("min|max", "s16|s64", 2, {E::MinSI, E::MaxSI}),
    tile("min|max", "s32|s16x2", 2, {E::MinSI, E::MaxSI}, "relu"),
    own("vadd|vadd2|vadd4|vsub|vsub2|vsub4|vabsdiff|vabsdiff2|vabsdiff4|vavrg2|vavrg4|vmin|vmin2|vmin4|vmax|vmax2|"
        "vmax4",
        "", "u32 s32 sat add", &C::video),
    // bits
    tile("and|or|xor", kBits, 2, {E::AndI, E::OrI, E::XorI}),
    // floats
    tile("add|sub|mul", "f32", 2, {E::AddF, E::SubF, E::MulF}, kArithmetic32),
    tile("add|sub|mul", "f64", 2, {E::AddF, E::SubF, E::MulF}, kArithmetic64),
    tile("add|sub|mul", "f32x2", 2, {E::AddF, E::SubF, E::MulF}, kArithmetic32x2),
    tile("add|sub|mul", kHalf, 2, {E::AddF, E::SubF, E::MulF}, kArithmetic16),
    tile("add|sub|mul", kBrain, 2, {E::AddF, E::SubF, E::MulF}, "rn"),
    tile("fma|mad", "f32", 3, E::Fma, kArithmetic32),
    tile("fma|mad", "f64", 3, E::Fma, kArithmetic64),
    tile("fma", "f32x2", 3, E::Fma, kArithmetic32x2),
    tile("fma.rn", kHalf, 3, E::Fma, "ftz sat relu"),
    tile("fma.rn", kBrain, 3, E::Fma, "relu"),
    tile("div", "f32", 2, E::DivF, "approx full rn rz rm rp ftz"),
    tile("div", "f64", 2, E::DivF, kArithmetic64),
    tile("abs|neg", kFlushable, 1, {E::AbsF, E::NegF}, "ftz"),
    tile("abs|neg", "f64|bf16|bf16x2", 1, {E::AbsF, E::NegF}),
    tile("min|max", kFlushable, 2, {E::MinNumF, E::MaxNumF}, "ftz"),
    tile("min|max", "f64|bf16|bf16x2", 2, {E::MinNumF, E::MaxNumF}),
    tile("min.NaN|max.NaN", kFlushable, 2, {E::MinimumF, E::MaximumF}, "ftz"),
    tile("min.NaN|max.NaN", kBrain, 2, {E::MinimumF, E::MaximumF}),
    own("min.xorsign.abs|max.xorsign.abs", "f32|f16|f16x2|bf16|bf16x2", "ftz NaN", &C::byMagnitude),
    tile("sqrt", "f32", 1, E::Sqrt, "approx rn rz rm rp ftz"),
    tile("sqrt", "f64", 1, E::Sqrt, kArithmetic64),
    tile("rsqrt.approx", "f32|f64", 1, E::Rsqrt, "ftz"),
    tile("sin.approx|cos.approx|lg2.approx", "f32", 1, {E::Sin, E::Cos, E::Log2}, "ftz"),
    tile("ex2.approx", "f32", 1, E::Exp2, "ftz"),
    tile("ex2.approx", kHalf, 1, E::Exp2),
    tile("ex2.approx.ftz", kBrain, 1, E::Exp2),
    own("tanh.approx", "f32|f16|f16x2|bf16|bf16x2", "", &C::throughF32),
    own("rcp", "f32", "approx rn rz rm rp ftz", &C::reciprocal),
    own("rcp", "f64", kArithmetic64, &C::reciprocal),
    // comparison
    own("setp", "u16|u32|u64|s16|s32|s64|b16|b32|b64|f16|f16x2|bf16|bf16x2|f32|f64", kComparisons, &C::compare),
    own("set", "*", kComparisons, &C::compareInto),
    // movement and conversion
    own("mov", "b8|b16|b32|b64|u16|u32|u64|s16|s32|s64|f16|bf16|f32|f64|f16x2|pred", "", &C::move),
    own("cvt",
        "f16x2.f32|bf16x2.f32|e4m3x2.f32|e5m2x2.f32|e4m3x2.f16x2|e5m2x2.f16x2|e4m3x2.bf16x2|e5m2x2.bf16x2|f16x2.e4m3x2|"
        "f16x2.e5m2x2|bf16x2.e4m3x2|bf16x2.e5m2x2",
        "rn rz relu satfinite", &C::convertPacked),
    own("cvt",
        "e2m1x2.f32|e2m1x2.f16x2|e2m1x2.bf16x2|e2m3x2.f32|e2m3x2.f16x2|e2m3x2.bf16x2|e3m2x2.f32|e3m2x2.f16x2|e3m2x2."
        "bf16x2|"
        "ue8m0x2.f32|ue8m0x2.bf16x2",
        "rn rz rp relu satfinite", &C::convertToNarrow),
    own("cvt", "f16x2.e2m1x2|f16x2.e2m3x2|f16x2.e3m2x2|bf16x2.e2m1x2|bf16x2.e2m3x2|bf16x2.e3m2x2|bf16x2.ue8m0x2",
        "rn relu", &C::convertFromNarrow),
    own("cvt", "*", "rn rz rm rp rna rni rzi rmi rpi ftz sat relu satfinite", &C::convert),
    // order between threads and hints
    own("bar.sync|barrier.sync", "", "aligned cta", &C::nothing),
    own("bar.warp.sync", "", "", &C::nothing),
    own("barrier.cluster", "", "arrive wait release acquire relaxed aligned", &C::nothing),
    own("membar", "gl|sys|cta", "", &C::nothing),
    own("fence", "gpu|sys|cta|cluster", "acq_rel sc acquire release", &C::nothing),
    own("fence.proxy", "",
        "async alias global shared::cta shared::cluster tensormap::generic acquire release cta cluster gpu sys",
        &C::nothing),
    own("fence.mbarrier_init", "", "release cluster", &C::nothing),
    own("nanosleep", "u32", "", &C::nothing),
    own("griddepcontrol", "", "wait launch_dependents", &C::nothing),
    own("prefetch", "", "global local L1 L2 L2::evict_last L2::evict_normal", &C::nothing),
    own("prefetchu", "", "L1", &C::nothing),
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

using Words = std::vector<std::string>;
/// Whether an opcode begins as `op` demands, ends as `types` does, and has of the optional modifiers only between.
bool matches(const Words& words, std::string_view op, std::string_view types, std::string_view optional) {
  const std::vector<std::string_view> required = split(op, '.'), mayHave = split(optional, ' ');
  if (types == "*" && words.size() < 3) return false;
  const auto ends = types == "*" ? std::vector<std::string_view>(words.end() - 2, words.end()) : split(types, '.');
  if (words.size() < ends.size() + 1 || words[0] != required[0] ||
      !std::equal(ends.rbegin(), ends.rend(), words.rbegin()))
    return false;
  size_t have = 1;
  for (size_t i = 1; i < words.size() - ends.size(); ++i) {
    if (have < required.size() && words[i] == required[have])
      ++have;
    else if (std::ranges::find(mayHave, words[i]) == mayHave.end())
      return false;
  }
  return have == required.size();
}
struct Alternatives {
  size_t op, type;
};
/// Those that an opcode matches.
std::optional<Alternatives> alternatives(const Words& words, const char* ops, const char* types, const char* optional) {
  const std::vector<std::string_view> first = split(ops, '|'),
                                      last = *types ? split(types, '|') : std::vector<std::string_view>{""};
  for (size_t op = 0; op < first.size(); ++op)
    for (size_t type = 0; type < last.size(); ++type)
      if (matches(words, first[op], last[type], optional)) return Alternatives{op, type};
  return std::nullopt;
}

AsmForm formOf(const Row& row, size_t op, const Words& words) {
  AsmForm form;
  form.e = row.special ? E::Count : row.e[op];
  form.special = row.special;
  form.type = words.size() > 1 ? findAsmType(words.back()) : nullptr;
  if (form.e != E::Count)
    form.shape.assign(size_t(row.sources) + 1,
                      form.type->kind == AsmType::Predicate ? 'p' : char('0' + form.type->bytes()));
  return form;
}

} // namespace

std::optional<AsmForm> findAsmForm(const Words& words) {
  for (const auto& rows : {laneBitRows(), laneFloatRows()})
    for (const LaneRow& row : rows)
      if (const auto at = alternatives(words, row.op, row.types, "")) {
        const LaneStep& step = row.steps[row.steps[1].fn ? at->type : 0];
        AsmForm form;
        form.step = step.fn;
        form.shape = step.shape;
        return form;
      }
  for (const Row& row : kRows)
    if (const auto at = alternatives(words, row.op, row.types, row.optional)) return formOf(row, at->op, words);
  return std::nullopt;
}

bool asmKnows(std::string_view word) {
  const auto begins = [&](std::string_view op) { return op.substr(0, op.find('.')) == word; };
  for (const auto& rows : {laneBitRows(), laneFloatRows()})
    if (std::ranges::any_of(rows, begins, &LaneRow::op)) return true;
  return std::ranges::any_of(kRows, [&](const Row& row) { return std::ranges::any_of(split(row.op, '|'), begins); });
}

} // namespace tiletwin::interp
