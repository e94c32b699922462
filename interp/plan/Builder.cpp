// interp/plan/Builder.cpp -- emission of instructions, and what turns them into a Plan: layout of the code and of the arena.
// Here:      scopes, labels, liveness, colouring, source positions.
// Not here:  operations; representations of values (Values.cpp).
// Invariant: two registers share arena bytes only if their lives, stretched over the loops they cross, do not meet.
#include "interp/plan/Builder.h"
#include "interp/plan/Followers.h"
#include "interp/program/TileModule.h"
#include "interp/program/ProbeAccess.h"
#include "mlir/IR/Location.h"
#include <algorithm>
#include <cstring>

namespace tiletwin::interp {

PlanBuilder::PlanBuilder(mlir::Operation* func, const PlanOptions& options)
    : func_(func), options_(options), tiles_(tileOps()), plan_(std::make_unique<Plan>()), location_(func->getLoc()) {
  scopes_.resize(2);
  plan_->locations.emplace_back();
}

BuildInstruction& PlanBuilder::emitAt(int level, ExecFn fn, llvm::StringRef text) {
  auto& code = scopes_[level].code;
  code.push_back(std::make_unique<BuildInstruction>(location_));
  BuildInstruction& in = *code.back();
  in.in.fn = fn;
  in.text = text.str();
  if (debug_) in.debug.statement = debug_->statement;
  ++sequence_;
  return in;
}

void PlanBuilder::read(BuildInstruction& in, uint32_t& field, Reg reg) {
  in.fixes.push_back({&field, reg});
  regs_[reg].lastRead = sequence_;
  if (&field == &in.in.r[0] || &field == &in.in.r[1] || &field == &in.in.r[2] || &field == &in.in.r[3])
    in.text += " %" + std::to_string(reg);
}
void PlanBuilder::write(BuildInstruction& in, uint32_t& field, Reg reg) {
  in.fixes.push_back({&field, reg});
  if (!regs_[reg].firstWrite) regs_[reg].firstWrite = sequence_;
  in.text += " -> %" + std::to_string(reg);
}
void PlanBuilder::read(BuildInstruction& in, UniformOperand& field, const Uniform& u) {
  field.constant = u.constant;
  field.value = u.value;
  if (!u.constant) read(in, field.cell.v, u.reg);
}
void PlanBuilder::read(BuildInstruction& in, TileOperand& field, const TileRef& ref) {
  read(in, field.base.v, ref.base);
  field.view = ref.view;
  field.offset = ref.offset;
  field.strides.assign(ref.strides.begin(), ref.strides.end());
  if (ref.viewTile != kNoReg) {
    in.keep.push_back(ref.viewTile);
    regs_[ref.viewTile].lastRead = sequence_;
  }
}

void PlanBuilder::placeLabel(int label) {
  auto in = std::make_unique<BuildInstruction>(location_);
  in->label = label;
  scopes_.back().code.push_back(std::move(in));
}
BuildInstruction& PlanBuilder::emitJump(ExecFn fn, int label, llvm::StringRef text) {
  BuildInstruction& in = emit(fn, text);
  in.target = label;
  return in;
}

void PlanBuilder::comeBackTo(mlir::Operation* op) {
  location_ = op->getLoc();
  if (debug_) debug_->statement = debug_->statementOf.lookup(op);
}

void PlanBuilder::pushScope(mlir::Operation* loop) {
  const uint32_t around = outermostLoop();
  scopes_.emplace_back();
  scopes_.back().repeatsWrites = loop && mayWrite(loop);
  scopes_.back().loop = around || !loop ? around : ++loops_;
}
std::vector<std::unique_ptr<BuildInstruction>> PlanBuilder::popScope() {
  auto code = std::move(scopes_.back().code);
  bool wrote = scopes_.back().wrote;
  scopes_.pop_back();
  scopes_.back().wrote |= wrote; // the caller appends the code
  return code;
}
void PlanBuilder::append(std::vector<std::unique_ptr<BuildInstruction>> code) {
  for (auto& in : code) scopes_.back().code.push_back(std::move(in));
}

PlanBuilder::Snapshot PlanBuilder::snapshot() const {
  Snapshot s;
  for (const Scope& scope : scopes_) {
    s.code.push_back(scope.code.size());
    s.memo.push_back(scope.memo);
    s.wrote.push_back(scope.wrote);
  }
  return s;
}
void PlanBuilder::rollback(const Snapshot& s) {
  scopes_.resize(s.code.size());
  for (size_t i = 0; i < scopes_.size(); ++i) {
    scopes_[i].code.resize(s.code[i]);
    scopes_[i].memo = s.memo[i];
    scopes_[i].wrote = s.wrote[i];
  }
  for (auto& g : groups_) g->open = false;
}

bool PlanBuilder::coalesce(Reg from, Reg into, uint64_t intoLiveFrom) {
  from = root(from);
  into = root(into);
  if (from == into) return true;
  RegInfo &f = regs_[from], &t = regs_[into];
  if (f.persistent || t.persistent || f.bytes != t.bytes || !f.firstWrite || f.firstWrite < intoLiveFrom) return false;
  if (f.firstWrite < t.lastRead) return false;
  if (f.firstWrite == t.lastRead) {
    auto reader = lastReader_.find({f.firstWrite, into});
    auto writer = writerNode_.find({f.firstWrite, from});
    if (reader == lastReader_.end() || writer == writerNode_.end() || writer->second < reader->second) return false;
  }
  f.alias = into;
  t.lastRead = std::max(t.lastRead, f.lastRead);
  t.firstWrite = t.firstWrite ? std::min(t.firstWrite, f.firstWrite) : f.firstWrite;
  // What is known of `from` at its instructions now holds for `into`.
  for (auto* table : {&lastReader_, &writerNode_})
    for (auto it = table->begin(); it != table->end(); ++it)
      if (it->first.second == from) table->insert({{it->first.first, into}, it->second});
  return true;
}

// ---- locations ----

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

uint32_t PlanBuilder::locationIndex(mlir::Location l) {
  SourceLocation where;
  describe(l, where);
  if (where.file.empty() && !where.line) return 0;
  auto [it, isNew] = locationIndices_.try_emplace(
      {where.file + ":" + where.variable, where.line, unsigned(where.column)}, uint32_t(plan_->locations.size()));
  if (isNew) plan_->locations.push_back(std::move(where));
  return it->second;
}

// ---- finishing ----

namespace {
/// First-fit allocation of [offset, offset + bytes) for lives [first, last].
class Arena {
public:
  explicit Arena(uint64_t start) : start_(start), top_(start) {}
  uint64_t place(int64_t first, int64_t last, uint64_t bytes, uint64_t align) {
    std::erase_if(live_, [&](const Block& b) { return b.last < first; });
    uint64_t at = (start_ + align - 1) / align * align;
    for (const Block& b : live_) { // sorted by offset
      if (b.offset >= at + bytes) break;
      if (b.offset + b.bytes > at) at = (b.offset + b.bytes + align - 1) / align * align;
    }
    auto pos = std::find_if(live_.begin(), live_.end(), [&](const Block& b) { return b.offset > at; });
    live_.insert(pos, {at, bytes, last});
    top_ = std::max(top_, at + bytes);
    return at;
  }
  uint64_t top() const { return top_; }

private:
  struct Block {
    uint64_t offset, bytes;
    int64_t last;
  };
  std::vector<Block> live_;
  uint64_t start_, top_;
};
} // namespace

void PlanBuilder::finish() {
  struct Loop {
    int64_t begin, end;
  };
  std::vector<Loop> loops;
  auto layOut = [&](std::vector<std::unique_ptr<BuildInstruction>>& from, bool isCode) {
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
      if (isCode) {
        auto touch = [&](Reg r) {
          RegInfo& info = regs_[root(r)];
          if (info.first < 0) info.first = position;
          info.last = std::max(info.last, position);
        };
        for (auto& fix : in->fixes) touch(fix.reg);
        for (Reg r : in->keep) touch(r);
      } else {
        for (auto& fix : in->fixes) regs_[root(fix.reg)].persistent = true;
      }
      ++position;
    }
  };
  layOut(scopes_[0].code, false);
  layOut(scopes_[1].code, true);

  // A register defined before a loop and used in it lives to the loop's end. Inner loops (shorter) first.
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.end - a.begin < b.end - b.begin; });
  for (const Loop& loop : loops)
    for (RegInfo& r : regs_)
      if (r.first >= 0 && r.first < loop.begin && r.last >= loop.begin) r.last = std::max(r.last, loop.end);

  // Template area: constants, arguments, launch-invariant values. Then cells, then tiles, by liveness.
  std::vector<bool> used(regs_.size(), false);
  for (auto* code : {&scopes_[0].code, &scopes_[1].code})
    for (auto& in : *code) {
      for (auto& fix : in->fixes) used[root(fix.reg)] = true;
      for (Reg r : in->keep) used[root(r)] = true;
    }
  uint64_t at = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (size_t r = 0; r < regs_.size(); ++r)
      if (regs_[r].persistent && used[r] && (regs_[r].bytes <= 8) == (pass == 0)) {
        uint64_t align = regs_[r].bytes <= 8 ? 8 : 64;
        at = (at + align - 1) / align * align;
        regs_[r].offset = uint32_t(at);
        at += regs_[r].bytes;
      }
  plan_->templateBytes = (at + 63) / 64 * 64;
  std::vector<Reg> order;
  for (size_t r = 0; r < regs_.size(); ++r)
    if (!regs_[r].persistent && used[r] && regs_[r].alias == kNoReg) order.push_back(Reg(r));
  std::sort(order.begin(), order.end(),
            [&](Reg a, Reg b) { return std::make_pair(regs_[a].first, a) < std::make_pair(regs_[b].first, b); });
  Arena cells(plan_->templateBytes);
  for (Reg r : order)
    if (regs_[r].bytes <= 8) regs_[r].offset = uint32_t(cells.place(regs_[r].first, regs_[r].last, 8, 8));
  Arena tiles((cells.top() + 63) / 64 * 64);
  for (Reg r : order)
    if (regs_[r].bytes > 8) regs_[r].offset = uint32_t(tiles.place(regs_[r].first, regs_[r].last, regs_[r].bytes, 64));
  plan_->frameBytes = (tiles.top() + 64 + 63) / 64 * 64;
  if (plan_->frameBytes > UINT32_MAX) return; // offsets have 32 bits: build() says so

  auto emitFinal = [&](std::vector<std::unique_ptr<BuildInstruction>>& from, std::vector<Instruction>& to,
                       std::vector<uint32_t>& locations, std::vector<std::string>& text) {
    for (auto& in : from) {
      if (in->label >= 0) continue;
      for (auto& fix : in->fixes) { *fix.field = regs_[root(fix.reg)].offset; }
      to.push_back(in->in);
      locations.push_back(locationIndex(in->location));
      text.push_back(in->text);
    }
  };
  emitFinal(scopes_[0].code, plan_->prologue, plan_->prologueLocations, plan_->prologueText);
  emitFinal(scopes_[1].code, plan_->code, plan_->codeLocations, plan_->codeText);
  if (debug_) {
    for (auto& in : scopes_[1].code) {
      if (in->label >= 0) continue;
      if (in->target >= 0) in->debug.kind = DebugStep::Jump;
      debug_->info->steps.push_back(in->debug);
    }
    finishDebug();
  }
  for (GroupOp* group : sealLater_) group->seal();
  for (auto& [reg, bytes] : constants_)
    if (used[reg]) plan_->constants.push_back({regs_[reg].offset, bytes});
}

std::unique_ptr<Plan> PlanBuilder::build() {
  if (failed(planFunction())) return nullptr;
  finish();
  if (plan_->probes.size() > kMostProbes) {
    func_->emitError()
        << "interpreter: " << plan_->name << " makes " << plan_->probes.size()
        << " accesses to memory that TILETWIN_CHECK looks at, and " << kMostProbes
        << " are the most; unroll less, or check it without bounds, uninitialized, races, barriers and order";
    return nullptr;
  }
  plan_->followers = findFollowers(*plan_);
  if (options_.forms) plan_->forms = formsText();
  if (plan_->frameBytes > UINT32_MAX) {
    func_->emitError() << "interpreter: the tiles of one program of " << plan_->name << " take " << plan_->frameBytes
                       << " bytes at a time, and 4294967295 are the most; use smaller blocks";
    return nullptr;
  }
  return std::move(plan_);
}

} // namespace tiletwin::interp
