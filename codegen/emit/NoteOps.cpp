// codegen/emit/NoteOps.cpp -- notes of what variables hold, as LLVM's debug values: one for each register.
// Here:      what is kept of a note as text, for who shows variables (python/tiletwin/debugger/kernel_variables.py).
// Not here:  which registers of PTX they become (ptx/Variables.h).
// Idea:      a debug value changes no code, and LLVM keeps it right or gives it up. Each note has variables of its own, "12"
//            where it is reached and "12.3" for register 3 of its tile, so that what an earlier note said is not mixed in.
#include "codegen/emit/Emitter.h"
#include "codegen/passes/Notes.h"
#include "codegen/ptx/Variables.h"
#include "llvm/IR/DIBuilder.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << type;
  return text;
}

/// What the value is an element of, and where it begins there in bits: registers hold pairs, which LLVM never takes apart.
std::pair<llvm::Value*, unsigned> wholeOf(llvm::Value* value) {
  unsigned bits = 0;
  while (true) {
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) {
      value = cast->getOperand(0);
    } else if (auto* part = llvm::dyn_cast<llvm::ExtractElementInst>(value)) {
      auto* index = llvm::dyn_cast<llvm::ConstantInt>(part->getIndexOperand());
      if (!index) return {value, bits};
      bits += unsigned(index->getZExtValue()) * part->getType()->getScalarSizeInBits();
      value = part->getVectorOperand();
    } else {
      return {value, bits};
    }
  }
}

/// Notes of a function that has debug information, in the order of emission.
class Noter {
public:
  explicit Noter(Emitter& e)
      : e_(e), subprogram_(e.ir().GetInsertBlock()->getParent()->getSubprogram()),
        table_(*e.module().getOrInsertNamedMetadata(kVariableTable)),
        builder_(e.module(), false, subprogram_ ? subprogram_->getUnit() : nullptr) {}

  bool isWanted() const { return subprogram_ != nullptr; }

  /// what: behind the variable's name and its calls.
  void add(twg::NoteOp note, const std::string& what, ArrayRef<llvm::Value*> registers) {
    llvm::LLVMContext& context = e_.module().getContext();
    const std::string number = std::to_string(table_.getNumOperands());
    std::string text;
    llvm::raw_string_ostream(text) << note.getNumber() << '|' << note.getName() << '|' << callersOf(note->getLoc())
                                   << '|' << what;
    table_.addOperand(llvm::MDNode::get(context, llvm::MDString::get(context, text)));
    insert(number, e_.ir().getInt32(1));
    for (auto [r, value] : llvm::enumerate(registers)) {
      const auto [whole, bits] = wholeOf(value);
      insert(number + "." + std::to_string(r) + (bits ? "+" + std::to_string(bits) : ""), whole);
    }
  }

private:
  void insert(const std::string& name, llvm::Value* value) {
    auto* variable = builder_.createAutoVariable(subprogram_, name, subprogram_->getFile(), 1, nullptr);
    auto* where = llvm::DILocation::get(e_.module().getContext(), 1, 1, subprogram_);
    builder_.insertDbgValueIntrinsic(value, variable, builder_.createExpression(), where,
                                     llvm::InsertPosition(e_.ir().GetInsertPoint()));
  }

  Emitter& e_;
  llvm::DISubprogram* subprogram_;
  llvm::NamedMDNode& table_;
  llvm::DIBuilder builder_;
};

} // namespace

/// "16x16 0,1;..." of a tile: the shape, and the bases of registers, lanes, warps and CTAs.
static std::string layoutText(const LinearLayout& layout) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(layout.shape(), out, "x");
  for (Part part : kParts) {
    out << (part == Part::Register ? " " : ";");
    llvm::interleave(layout.bases(part), out, ",");
  }
  return text;
}

template <> LogicalResult emit(Emitter& e, twg::NoteOp note) {
  Noter noter(e);
  if (!noter.isWanted()) return success();
  std::string what;
  llvm::raw_string_ostream out(what);
  out << note.getLanguageType() << '|';
  Values registers;
  if (std::optional<Attribute> constant = note.getConstant()) {
    out << "constant|" << *constant;
  } else if (mlir::Value value = note.getValue(); value && isa<RankedTensorType>(value.getType())) {
    const LinearLayout layout = twg::layoutOf(value);
    registers = Values(e.values(value));
    // Between a fence and a wait several elements share a word.
    if (registers.size() != layout.registers()) registers.clear();
    out << (registers.empty() ? "lost" : textOf(tt::elementTypeOf(value.getType()))) << '|' << layoutText(layout);
  } else if (value && (value.getType().isIntOrFloat() || isa<tt::PointerType>(value.getType()))) {
    registers = Values(e.values(value));
    out << textOf(value.getType()) << '|';
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp()) && argument.getOwner()->isEntryBlock())
      out << "parameter " << argument.getArgNumber(); // in the launch's memory for good
    else
      out << (note->hasAttr(kRound) ? "round" : "scalar");
  } else {
    out << "lost|";
  }
  noter.add(note, what, registers);
  return success();
}

} // namespace tiletwin::codegen
