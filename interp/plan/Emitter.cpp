// interp/plan/Emitter.cpp -- see Emitter.h: emission, scopes, source positions, and the layout of the final code.
#include "interp/plan/Emitter.h"
#include "interp/program/TileModule.h"
#include <algorithm>

namespace tiletwin::interp {

Emitter::Emitter(const PlanOptions& options, mlir::Location location)
    : options_(options), tiles_(tileOps()), plan_(std::make_unique<Plan>()), location_(location) {
  scopes_.resize(2);
  plan_->locations.emplace_back();
}

BuildInstruction& Emitter::emitAt(int level, ExecFn fn, llvm::StringRef text) {
  auto& code = scopes_[level].code;
  code.push_back(std::make_unique<BuildInstruction>(location_));
  BuildInstruction& in = *code.back();
  in.in.fn = fn;
  in.text = text.str();
  if (debug_) in.debug.statement = debug_->statement;
  nextInstruction();
  return in;
}

void Emitter::read(BuildInstruction& in, uint32_t& field, Reg reg) {
  in.fixes.push_back({&field, reg});
  noteRead(reg);
  if (&field == &in.in.r[0] || &field == &in.in.r[1] || &field == &in.in.r[2] || &field == &in.in.r[3])
    in.text += " %" + std::to_string(reg);
}
void Emitter::write(BuildInstruction& in, uint32_t& field, Reg reg) {
  in.fixes.push_back({&field, reg});
  noteWritten(reg);
  in.text += " -> %" + std::to_string(reg);
}
void Emitter::read(BuildInstruction& in, UniformOperand& field, const Uniform& u) {
  field.constant = u.constant;
  field.value = u.value;
  if (!u.constant) read(in, field.cell.v, u.reg);
}
void Emitter::read(BuildInstruction& in, std::vector<UniformOperand>& fields, llvm::ArrayRef<Uniform> from) {
  fields.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) read(in, fields[i], from[i]);
}

bool Emitter::readIfAny(BuildInstruction& in, Off& field, Reg reg) {
  if (reg != kNoReg) read(in, field, reg);
  return reg != kNoReg;
}

void Emitter::read(BuildInstruction& in, Access& access, const Uniform& base, llvm::ArrayRef<Uniform> strides,
                   llvm::ArrayRef<Uniform> lo, llvm::ArrayRef<Uniform> hi) {
  access.masked = !lo.empty();
  read(in, access.base, base);
  read(in, access.strides, strides);
  read(in, access.lo, lo);
  read(in, access.hi, hi);
}

void Emitter::read(BuildInstruction& in, TileOperand& field, const TileRef& ref) {
  read(in, field.base.v, ref.base);
  field.view = ref.view;
  field.offset = ref.offset;
  field.strides.assign(ref.strides.begin(), ref.strides.end());
  if (ref.viewTile != kNoReg) {
    in.keep.push_back(ref.viewTile);
    noteRead(ref.viewTile);
  }
}

void Emitter::noteWrite(int root) {
  scopes_.back().wrote = true;
  plan_->storesMemory = true;
  std::vector<int32_t>& written = plan_->written;
  const auto at = std::lower_bound(written.begin(), written.end(), root);
  if (at == written.end() || *at != root) written.insert(at, root);
}

void Emitter::placeLabel(int label) {
  auto in = std::make_unique<BuildInstruction>(location_);
  in->label = label;
  scopes_.back().code.push_back(std::move(in));
}
BuildInstruction& Emitter::emitJump(ExecFn fn, int label, llvm::StringRef text) {
  BuildInstruction& in = emit(fn, text);
  in.target = label;
  return in;
}

void emitCopy(Emitter& plan, llvm::ArrayRef<int64_t> shape, DType type, const TileRef& src, const TileRef& dst) {
  BuildInstruction& in = plan.emit(execCopy, "Copy");
  CopyOp& data = plan.newData<CopyOp>(in);
  data.shape.assign(shape.begin(), shape.end());
  data.elementBytes = int32_t(sizeOf(type));
  plan.read(in, data.src, src);
  plan.write(in, data.dst.base, dst.base);
  data.dst.offset = dst.offset;
  data.dst.strides.assign(dst.strides.begin(), dst.strides.end());
}

// ---- scopes ----

void Emitter::pushScope(bool isLoop, bool writes) {
  const uint32_t around = outermostLoop();
  scopes_.emplace_back();
  scopes_.back().repeatsWrites = writes;
  scopes_.back().loop = around || !isLoop ? around : ++loops_;
}
Code Emitter::popScope() {
  Code code = std::move(scopes_.back().code);
  bool wrote = scopes_.back().wrote;
  scopes_.pop_back();
  scopes_.back().wrote |= wrote; // the caller appends the code
  return code;
}
void Emitter::append(Code code) {
  for (auto& in : code) scopes_.back().code.push_back(std::move(in));
}
void Emitter::repeatScope(bool writes) {
  scopes_.back().repeatsWrites = writes;
  if (!scopes_.back().loop) scopes_.back().loop = ++loops_;
}

Emitter::Snapshot Emitter::snapshot() const {
  Snapshot s;
  for (const Scope& scope : scopes_) {
    s.code.push_back(scope.code.size());
    s.memo.push_back(scope.memo);
    s.wrote.push_back(scope.wrote);
  }
  return s;
}
void Emitter::rollback(const Snapshot& s) {
  scopes_.resize(s.code.size());
  for (size_t i = 0; i < scopes_.size(); ++i) {
    scopes_[i].code.resize(s.code[i]);
    scopes_[i].memo = s.memo[i];
    scopes_[i].wrote = s.wrote[i];
  }
}

bool Emitter::writeMayPrecede(int place) const {
  for (int l = 1; l <= place; ++l)
    if (scopes_[l].wrote || scopes_[l].repeatsWrites) return true;
  return false;
}

// ---- source positions ----

void Emitter::comeBackTo(mlir::Operation* op) {
  location_ = op->getLoc();
  if (debug_) debug_->statement = debug_->statementOf.lookup(op);
}

static void describe(mlir::Location l, SourceLocation& out) {
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(l)) {
    for (mlir::Location part : fused.getLocations())
      if (!out.line) describe(part, out);
  } else if (auto name = llvm::dyn_cast<mlir::NameLoc>(l)) {
    if (out.variable.empty()) out.variable = name.getName().str();
    describe(name.getChildLoc(), out);
  } else if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(l)) {
    describe(call.getCallee(), out);
  } else if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(l)) {
    out.file = file.getFilename().str();
    out.line = int(file.getLine());
    out.column = int(file.getColumn());
  }
}

uint32_t Emitter::placeOf(mlir::Location l) {
  SourceLocation where;
  describe(l, where);
  if (where.file.empty() && !where.line) return 0;
  auto [it, isNew] = locationIndices_.try_emplace(
      {where.file + ":" + where.variable, where.line, unsigned(where.column)}, uint32_t(plan_->locations.size()));
  if (isNew) plan_->locations.push_back(std::move(where));
  return it->second;
}

// ---- finishing ----

DebugPlan& Emitter::startDebug() {
  debug_ = std::make_unique<DebugPlan>();
  return *debug_;
}

bool Emitter::finish() {
  struct Loop {
    int64_t begin, end;
  };
  std::vector<Loop> loops;
  auto layOut = [&](const Code& from, bool isCode) {
    std::map<int, int64_t> labels;
    int64_t n = 0;
    for (auto& in : from) {
      if (in->label >= 0)
        labels[in->label] = n;
      else
        ++n;
    }
    int64_t position = 0;
    for (auto& in : from) {
      if (in->label >= 0) continue;
      if (in->target >= 0) {
        in->in.imm = labels.at(in->target) - position;
        in->text += " => " + std::to_string(labels.at(in->target));
        if (in->in.imm <= 0) loops.push_back({position + in->in.imm, position});
      }
      for (auto& fix : in->fixes) isCode ? usedAt(fix.reg, position) : usedInPrologue(fix.reg, true);
      for (Reg r : in->keep) isCode ? usedAt(r, position) : usedInPrologue(r, false);
      ++position;
    }
  };
  layOut(scopes_[0].code, false);
  layOut(scopes_[1].code, true);
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.end - a.begin < b.end - b.begin; });
  for (const Loop& loop : loops) stretchOver(loop.begin, loop.end);
  place(*plan_);
  if (plan_->frameBytes + plan_->optionalBytes > UINT32_MAX) return false;

  auto emitFinal = [&](const Code& from, std::vector<Instruction>& to, std::vector<uint32_t>& locations,
                       std::vector<std::string>& text) {
    for (auto& in : from) {
      if (in->label >= 0) continue;
      for (auto& fix : in->fixes) *fix.field = offsetOf(fix.reg);
      to.push_back(in->in);
      locations.push_back(placeOf(in->location));
      text.push_back(in->text);
    }
  };
  emitFinal(scopes_[0].code, plan_->prologue, plan_->prologueLocations, plan_->prologueText);
  emitFinal(scopes_[1].code, plan_->code, plan_->codeLocations, plan_->codeText);
  if (debug_)
    for (auto& in : scopes_[1].code) {
      if (in->label >= 0) continue;
      if (in->target >= 0) in->debug.kind = DebugStep::Jump;
      debug_->info->steps.push_back(in->debug);
    }
  return true;
}

} // namespace tiletwin::interp
