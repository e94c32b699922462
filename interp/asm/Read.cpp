// interp/asm/Read.cpp -- readAsm(): constraints, declarations, and instructions that are one row of the table.
// Here:      registers and what may stand for a value, guards, modifiers of float results.
// Not here:  moves, comparisons (ReadSpecial.cpp), conversions (ReadConvert.cpp).
// Invariant: a statement's result reaches its register only through store(), so guards hold for every instruction.
#include "interp/asm/Compiler.h"
#include "interp/asm/Lanes.h"
#include <bit>
#include <utility>

namespace tiletwin::interp {
namespace {

constexpr struct {
  char letter;
  int bytes;
} kConstraints[] = {
    {'r', 4}, {'f', 4}, {'h', 2}, {'l', 8}, {'d', 8}, {'n', 0}, {'i', 0}, {'c', 2}, {'b', 1},
};
struct Special {
  const char* name;
  AsmSpecial special;
  int bytes;
};
constexpr Special kSpecials[] = {
    {"%smid", AsmSpecial::Smid, 4},
    {"%nsmid", AsmSpecial::Nsmid, 4},
    {"%clock", AsmSpecial::Clock, 4},
    {"%clock64", AsmSpecial::Clock64, 8},
    {"%globaltimer", AsmSpecial::GlobalTimer, 8},
    {"%globaltimer_lo", AsmSpecial::GlobalTimerLow, 4},
    {"%globaltimer_hi", AsmSpecial::GlobalTimerHigh, 4},
    {"WARP_SZ", AsmSpecial::WarpSize, 4},
    {"%ctaid.x", AsmSpecial::CtaidX, 4},
    {"%ctaid.y", AsmSpecial::CtaidY, 4},
    {"%ctaid.z", AsmSpecial::CtaidZ, 4},
    {"%nctaid.x", AsmSpecial::NctaidX, 4},
    {"%nctaid.y", AsmSpecial::NctaidY, 4},
    {"%nctaid.z", AsmSpecial::NctaidZ, 4},
};
/// Null: the argument is no special register.
const Special* specialOf(const AsmArgument& a) {
  for (const Special& row : kSpecials)
    if (a.kind == AsmArgument::Name && a.name == row.name) return &row;
  return nullptr;
}

} // namespace

bool AsmCompiler::fail(const std::string& why) {
  error_ = asmPlace(request_.text, line_) + why;
  return false;
}
bool AsmCompiler::has(const AsmStatement& s, const char* modifier) {
  for (const std::string& word : s.words)
    if (word == modifier) return true;
  return false;
}
int AsmCompiler::roundingOf(const AsmStatement& s) {
  return has(s, "rm") ? 1 : has(s, "rp") ? 2 : has(s, "rz") ? 3 : 0;
}

uint32_t AsmCompiler::step(TwStripFn fn, std::initializer_list<uint32_t> srcs, int perLane, int rounding) {
  AsmStep s{.fn = fn, .dst = newSlot()};
  std::copy(srcs.begin(), srcs.end(), s.src);
  s.perLane = uint8_t(perLane);
  s.rounding = uint8_t(rounding);
  program_.steps.push_back(s);
  return s.dst;
}

uint32_t AsmCompiler::constant(int bytes, uint64_t bits) {
  if (bytes < 8) bits &= (uint64_t(1) << (8 * bytes)) - 1;
  auto [it, isNew] = constants_.try_emplace({bytes, bits}, 0);
  if (isNew) {
    it->second = newSlot();
    program_.fills.push_back({it->second, bytes, bits, -1});
  }
  return it->second;
}

AsmRegister* AsmCompiler::find(const AsmArgument& a) {
  if (a.kind == AsmArgument::Placeholder) {
    if (size_t(a.placeholder) < placeholders_.size()) return &placeholders_[size_t(a.placeholder)];
    fail("$" + std::to_string(a.placeholder) + " has no constraint: there are " + std::to_string(placeholders_.size()));
    return nullptr;
  }
  if (a.kind == AsmArgument::Name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto it = scope->find(a.name); it != scope->end()) return &it->second;
    fail("`" + a.name + "` is not declared" +
         (a.name[0] == '%' ? " and is no special register that the CPU has (there are no threads or warps)" : ""));
    return nullptr;
  }
  fail("a register was expected");
  return nullptr;
}

bool AsmCompiler::source(const AsmArgument& a, int bytes, bool isFloat, uint32_t& slot) {
  switch (a.kind) {
  case AsmArgument::Integer:
    if (isFloat && bytes >= 4) return fail("a float constant was expected, such as 2.0 or 0f40000000, not an integer");
    slot = constant(bytes, a.bits);
    return true;
  case AsmArgument::Float32:
  case AsmArgument::Float64: {
    const double value =
        a.kind == AsmArgument::Float32 ? double(std::bit_cast<float>(uint32_t(a.bits))) : std::bit_cast<double>(a.bits);
    if (bytes == 8)
      slot = constant(8, a.kind == AsmArgument::Float64 ? a.bits : std::bit_cast<uint64_t>(value));
    else if (bytes == 4)
      slot = constant(4, a.kind == AsmArgument::Float32 ? a.bits : std::bit_cast<uint32_t>(float(value)));
    else
      return fail("a float constant has 32 or 64 bits, not " + std::to_string(bytes * 8));
    return true;
  }
  case AsmArgument::Vector: return fail("a vector of registers stands only in mov");
  case AsmArgument::Sink: return fail("`_` is no value");
  default: break;
  }
  if (a.negated) return fail("`!` stands before predicates only");
  if (const Special* special = specialOf(a)) {
    if (special->bytes != bytes)
      return fail("`" + a.name + "` has " + std::to_string(special->bytes * 8) + " bits, not " +
                  std::to_string(bytes * 8));
    slot = newSlot();
    program_.fills.push_back({slot, bytes, 0, int32_t(special->special)});
    return true;
  }
  AsmRegister* reg = find(a);
  if (!reg) return false;
  if (reg->predicate || reg->bytes != bytes)
    return fail("an operand of " + std::to_string(bytes * 8) + " bits was expected, this one " +
                (reg->predicate ? "is a predicate" : "has " + std::to_string(reg->bytes * 8)));
  slot = reg->slot;
  return true;
}

bool AsmCompiler::sourceLow(const AsmArgument& a, int bytes, bool isFloat, uint32_t& slot) {
  if (a.kind == AsmArgument::Placeholder || a.kind == AsmArgument::Name) {
    if (!specialOf(a)) {
      AsmRegister* reg = find(a);
      if (!reg) return false;
      if (!reg->predicate && reg->bytes > bytes) {
        slot = step(laneIntToInt(asmInt(reg->bytes, false), asmInt(bytes, false), false), {reg->slot});
        return true;
      }
    }
  }
  return source(a, bytes, isFloat, slot);
}

bool AsmCompiler::predicate(const AsmArgument& a, uint32_t& slot) {
  AsmArgument plain = a;
  plain.negated = false;
  AsmRegister* reg = find(plain);
  if (!reg) return false;
  if (!reg->predicate)
    return fail("a predicate was expected, this is a register of " + std::to_string(reg->bytes * 8) + " bits");
  slot = a.negated ? step(laneNot(), {reg->slot}) : reg->slot;
  return true;
}

bool AsmCompiler::target(const AsmArgument& a, int bytes, AsmRegister*& reg) {
  if (!(reg = find(a))) return false;
  if (bytes == 0 ? !reg->predicate : reg->predicate || reg->bytes != bytes)
    return fail(bytes == 0 ? "the result is a predicate, its register has " + std::to_string(reg->bytes * 8) + " bits"
                           : "the result has " + std::to_string(bytes * 8) + " bits, its register " +
                                 (reg->predicate ? "is a predicate" : "has " + std::to_string(reg->bytes * 8)));
  return true;
}

void AsmCompiler::store(AsmRegister& reg, uint32_t from) {
  const int bytes = reg.predicate ? 1 : reg.bytes;
  AsmStep s;
  s.dst = reg.slot;
  if (!guarded_) {
    // The step before wrote `from`, and nothing else reads that: let it write the register itself.
    if (!program_.steps.empty() && program_.steps.back().dst == from && from + kAsmSlotBytes == program_.scratchBytes) {
      program_.steps.back().dst = reg.slot;
      reg.written = true;
      return;
    }
    s.fn = laneCopy(bytes);
    s.src[0] = from;
    reg.written = true;
  } else {
    s.fn = laneBlend(bytes);
    s.src[0] = guard_;
    s.src[1] = guardNegated_ ? reg.slot : from;
    s.src[2] = guardNegated_ ? from : reg.slot;
  }
  program_.steps.push_back(s);
}

bool AsmCompiler::storeExtended(const AsmArgument& a, int bytes, bool isSigned, uint32_t from) {
  AsmRegister* reg = find(a);
  if (!reg) return false;
  if (reg->predicate || reg->bytes < bytes)
    return fail("the result has " + std::to_string(bytes * 8) + " bits, its register " +
                (reg->predicate ? "is a predicate" : "has " + std::to_string(reg->bytes * 8)));
  if (reg->bytes > bytes) {
    from = step(laneIntToInt(asmInt(bytes, isSigned), asmInt(reg->bytes, false), false), {from});
  }
  store(*reg, from);
  return true;
}

bool AsmCompiler::argumentCount(const AsmStatement& s, size_t count) {
  return s.arguments.size() == count || fail("`" + s.opcode + "` takes " + std::to_string(count) + " operands, not " +
                                             std::to_string(s.arguments.size()));
}

bool AsmCompiler::sources(const AsmStatement& s, size_t count, int bytes, bool isFloat,
                          std::initializer_list<uint32_t*> slots) {
  if (!argumentCount(s, count)) return false;
  size_t i = 1;
  for (uint32_t* slot : slots)
    if (!source(s.arguments[i++], bytes, isFloat, *slot)) return false;
  return true;
}

bool AsmCompiler::put(const AsmStatement& s, int bytes, uint32_t from) {
  AsmRegister* reg = nullptr;
  if (!target(s.arguments[0], bytes, reg)) return false;
  store(*reg, from);
  return true;
}

uint32_t AsmCompiler::flushed(uint32_t slot, DType type, int perLane) {
  const TwStripFn flush = laneFlush(type);
  return flush ? step(flush, {slot}, perLane) : slot;
}

uint32_t AsmCompiler::finished(uint32_t slot, DType type, int perLane, const AsmStatement& s) {
  const int bytes = int(sizeOf(type)) * perLane;
  if (has(s, "ftz")) slot = flushed(slot, type, perLane);
  if (has(s, "relu"))
    slot = step(tiles_.elementwise(isFloat(type) ? TwElementwise::MaximumF : TwElementwise::MaxSI, type),
                {slot, constant(bytes, 0)}, perLane);
  if (has(s, "sat")) {
    if (type == DType::F32 || type == DType::F64)
      slot = step(laneSaturate(type), {slot});
    else
      slot = step(tiles_.elementwise(TwElementwise::ClampF, type),
                  {slot, constant(bytes, 0), constant(bytes, perLane == 2 ? 0x3C003C00u : 0x3C00u)}, perLane);
  }
  return slot;
}

bool AsmCompiler::generic(const AsmStatement& s, const AsmForm& form) {
  const bool isTile = form.e != TwElementwise::Count;
  const DType type = isTile ? form.type->type : DType::I32;
  const int perLane = isTile ? form.type->perLane : 1;
  const bool computesFloat = isTile && isFloat(type);
  const bool isExtremum = form.e >= TwElementwise::MaxNumF && form.e <= TwElementwise::MinimumF;
  const bool ofThree = isExtremum && type == DType::F32 && s.arguments.size() == 4; // max.f32 d, a, b, c
  const size_t count = form.shape.size() + ofThree;
  if (!argumentCount(s, count)) return false;
  const std::string& last = s.words.back();
  const bool isFloatText = (last[0] == 'f' && last != "f4e") || last.starts_with("bf");
  uint32_t srcs[4] = {};
  for (size_t i = 1; i < count; ++i) {
    const char width = form.shape[ofThree ? 1 : i];
    const bool isNumber = s.arguments[i].kind == AsmArgument::Integer || s.arguments[i].kind == AsmArgument::Float32 ||
                          s.arguments[i].kind == AsmArgument::Float64;
    if (computesFloat && perLane > 1 && isNumber)
      return fail("`" + s.opcode + "` takes registers only; move the constant into one (mov.b32 t, 0x3C003C00;)");
    if (width == 'p') {
      if (!predicate(s.arguments[i], srcs[i - 1])) return false;
    } else if (!source(s.arguments[i], width - '0', isFloatText, srcs[i - 1])) {
      return false;
    }
    if (computesFloat && has(s, "ftz")) srcs[i - 1] = flushed(srcs[i - 1], type, perLane);
  }
  TwStripFn fn = form.step;
  if (form.e == TwElementwise::Fma) fn = tiles_.elementwiseIeee(form.e, type); // once rounded in the narrow formats too
  if (isTile && !fn) fn = tiles_.elementwise(form.e, type);
  if (!fn) return fail("`" + s.opcode + "` is not an instruction that runs on the CPU");
  uint32_t result = step(fn, {srcs[0], srcs[1], srcs[2], srcs[3]}, perLane, roundingOf(s));
  if (ofThree) result = step(fn, {result, srcs[2]}, perLane);
  if (isTile) result = finished(result, type, perLane, s);
  return put(s, form.shape[0] == 'p' ? 0 : form.shape[0] - '0', result);
}

bool AsmCompiler::declare(const AsmStatement& s) {
  const AsmType* type = findAsmType(s.opcode);
  if (!type || !type->declarable) return fail("registers of type `." + s.opcode + "` are not supported");
  for (const AsmArgument& name : s.arguments) {
    AsmRegister reg{.slot = newSlot(), .bytes = type->bytes(), .predicate = type->kind == AsmType::Predicate};
    if (!scopes_.back().try_emplace(name.name, reg).second) return fail("`" + name.name + "` is declared twice");
    program_.clears.push_back({reg.slot, reg.bytes, 0, -1});
  }
  return true;
}

bool AsmCompiler::statement(const AsmStatement& s) {
  line_ = s.line;
  switch (s.kind) {
  case AsmStatement::Open: scopes_.emplace_back(); return true;
  case AsmStatement::Close:
    if (scopes_.size() == 1) return fail("`}` without `{`");
    scopes_.pop_back();
    return true;
  case AsmStatement::Registers: return declare(s);
  case AsmStatement::Instruction: break;
  }
  const std::optional<AsmForm> form = findAsmForm(s.words);
  if (!form)
    return fail("`" + s.opcode + "` is not a form of `" + s.words[0] + "` that runs on the CPU" +
                (has(s, "rs")
                     ? ": stochastic rounding (.rs) is not modelled; add random low bits, then convert with .rz"
                 : has(s, "cc") ? ": there is no carry register; use 64-bit arithmetic or mad.wide"
                                : ""));
  guarded_ = s.guard.has_value();
  if (guarded_) {
    AsmArgument guard = *s.guard;
    guardNegated_ = std::exchange(guard.negated, false);
    if (!predicate(guard, guard_)) return false;
  }
  if (!s.second.empty() && form->special != &AsmCompiler::compare)
    return fail("`|` stands only between the two results of setp");
  const bool ok = form->special ? (this->*form->special)(s, *form) : generic(s, *form);
  if (!ok && error_.find(s.words[0]) == std::string::npos) error_ += " (in `" + s.opcode + "`)";
  return ok;
}

bool AsmCompiler::refuse(const std::string& why) {
  error_ = why;
  return false;
}

bool AsmCompiler::bindPort(const std::vector<std::string>& letters, size_t& next, DType type, bool isResult) {
  const char *what = isResult ? "result" : "operand", *article = isResult ? "a " : "an ";
  AsmProgram::Port port;
  port.elementBytes = int32_t(sizeOf(type));
  const int64_t pack = request_.pack;
  port.perRegister = port.elementBytes < 4 ? int32_t(std::min<int64_t>(4 / port.elementBytes, pack)) : 1;
  if (pack % port.perRegister) {
    return refuse("pack = " + std::to_string(pack) + " does not fill whole registers of elements of type " +
                  nameOf(type));
  }
  if (type == DType::I1 && pack > 1) { return refuse("elements of type i1 cannot be packed"); }
  const int needed = port.perRegister * port.elementBytes;
  for (int64_t r = 0; r < pack / port.perRegister; ++r, ++next) {
    if (next >= letters.size()) {
      return refuse("the constraints name " + std::to_string(letters.size()) + " registers, but " + article + what +
                    " of type " + nameOf(type) + " with pack = " + std::to_string(pack) + " needs more");
    }
    std::string letter = letters[next];
    if ((letter[0] == '=') != isResult) {
      return refuse("constraint \"" + letter + "\" stands where that of " +
                    (isResult ? "a result (\"=r\")" : "an operand (\"r\")") + " is due");
    }
    letter.erase(0, letter.find_first_not_of("=&"));
    AsmRegister reg;
    bool known = false;
    if (!isResult && !letter.empty() && letter.find_first_not_of("0123456789") == std::string::npos) {
      const size_t tied = size_t(std::atoi(letter.c_str()));
      if (tied >= program_.outputs.size() * 64 || tied >= placeholders_.size()) {
        return refuse("constraint \"" + letter + "\" names no result");
      }
      reg = placeholders_[tied];
      known = true;
      std::erase_if(program_.clears, [&](const AsmProgram::Fill& f) { return f.offset == reg.slot; });
    } else {
      for (const auto& row : kConstraints)
        if (letter.size() == 1 && letter[0] == row.letter) {
          known = true;
          reg.bytes = row.bytes ? row.bytes : std::max(needed, 2);
          reg.predicate = row.letter == 'b';
          reg.slot = newSlot();
        }
    }
    if (!known) {
      if (letter == "v" || letter == "s") {
        return refuse("constraint \"" + letters[next] +
                      "\" names a register of an AMD GPU; the text must be PTX, with r, h, l, f, d or n");
      }
      return refuse("constraint \"" + letters[next] + "\" is not supported; r, h, l, f, d and n are");
    }
    if (reg.bytes < needed) {
      return refuse("constraint \"" + letters[next] + "\" holds " + std::to_string(reg.bytes * 8) + " bits, the " +
                    what + " needs " + std::to_string(needed * 8));
    }
    if (isResult) program_.clears.push_back({reg.slot, reg.bytes, 0, -1});
    port.registerBytes = reg.bytes;
    if (!port.registers.empty() && placeholders_.back().bytes != reg.bytes) {
      return refuse("the registers of one " + std::string(what) + " have different widths");
    }
    port.registers.push_back(reg.slot);
    placeholders_.push_back(reg);
  }
  port.tail = program_.scratchBytes;
  program_.scratchBytes += uint32_t((pack * port.elementBytes + 63) / 64 * 64);
  (isResult ? program_.outputs : program_.inputs).push_back(std::move(port));
  return true;
}

bool AsmCompiler::readConstraints() {
  std::vector<std::string> letters;
  std::string_view text = request_.constraints;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (one.empty()) {
      return refuse("the constraints \"" + std::string(request_.constraints) + "\" hold an empty one");
    }
    if (one.front() != '~') // a clobber
      letters.emplace_back(one);
  }
  size_t next = 0;
  for (DType type : request_.results)
    if (!bindPort(letters, next, type, true)) return false;
  for (DType type : request_.operands)
    if (!bindPort(letters, next, type, false)) return false;
  if (next == letters.size()) return true;
  return refuse("the constraints name " + std::to_string(letters.size()) + " registers, results and operands fill " +
                std::to_string(next));
}

bool AsmCompiler::run() {
  program_.pack = request_.pack;
  if (!readConstraints()) return false;
  std::vector<AsmStatement> statements;
  if (!splitAsm(request_.text, statements, error_)) return false;
  scopes_.emplace_back();
  for (const AsmStatement& s : statements)
    if (!statement(s)) return false;
  return scopes_.size() == 1 || fail("`{` is not closed");
}

bool readAsm(const AsmRequest& request, AsmProgram& program, std::string& error) {
  return AsmCompiler(request, program, error).run();
}

} // namespace tiletwin::interp
