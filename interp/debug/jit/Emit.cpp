// interp/debug/jit/Emit.cpp -- see Emit.h.
// Here:      control flow, calls back into the plan, copies to variables, lines, scopes and variables for gdb.
// Not here:  machine code and its registration (Compile.cpp); types (Types.cpp).
// Idea:      a statement is a call of `run` over its instructions; jumps ask `jump` where they lead. A variable's copy is
//            native code, so that a watchpoint stops in the kernel's line.
// Invariant: every instruction has the location of its statement, whose scope shows the names that are bound before it.
#include "interp/debug/jit/Emit.h"
#include "interp/debug/jit/Types.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Path.h"
#include <map>

namespace tiletwin::interp::debug {
namespace {

using namespace llvm;

class Emitter {
public:
  Emitter(LLVMContext& context, const DebugInfo& info, RunFn run, JumpFn jump)
      : context_(context), info_(info), module_(std::make_unique<Module>("tiletwin", context)), builder_(*module_),
        types_(builder_), ir_(context), pointer_(PointerType::get(context, 0)), i32_(Type::getInt32Ty(context)),
        run_(constant(reinterpret_cast<const void*>(run))), jump_(constant(reinterpret_cast<const void*>(jump))) {}

  std::unique_ptr<Module> emit() {
    module_->addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
    module_->addModuleFlag(Module::Warning, "Dwarf Version", 4);
    for (const std::string& path : info_.files)
      files_.push_back(builder_.createFile(sys::path::filename(path), sys::path::parent_path(path)));
    // gdb takes the end of prologues from the line table of what clang made.
    builder_.createCompileUnit(dwarf::DW_LANG_C11, files_[size_t(info_.functions[0].file)], "clang (tiletwin)", false,
                               "", 0);
    emitFunction(0);
    builder_.finalize();
    return std::move(module_);
  }

private:
  struct Body {
    Function* function = nullptr;
    DISubprogram* scope = nullptr;
    std::map<int32_t, DIScope*> blocks; ///< by DebugScope
    AllocaInst *frame = nullptr, *arena = nullptr;
    BasicBlock* left = nullptr; ///< the program has ended early
  };

  Constant* constant(const void* address) {
    return ConstantExpr::getIntToPtr(ConstantInt::get(Type::getInt64Ty(context_), reinterpret_cast<uintptr_t>(address)),
                                     pointer_);
  }

  void showVariable(Body& body, const DebugVariable& variable, DIScope* scope, int line, int argument) {
    DIFile* file = body.scope->getFile();
    DIType* type = types_.of(variable);
    DILocalVariable* local = argument
                                 ? builder_.createParameterVariable(scope, variable.name, unsigned(argument), file,
                                                                    unsigned(line), type, true)
                                 : builder_.createAutoVariable(scope, variable.name, file, unsigned(line), type, true);
    const uint64_t path[] = {dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst, variable.offset};
    builder_.insertDeclare(body.arena, local, builder_.createExpression(path),
                           DILocation::get(context_, unsigned(line), 0, scope), &body.function->getEntryBlock());
  }

  DIScope* scopeOf(Body& body, int32_t scope, int line) {
    if (scope < 0) return body.scope;
    auto found = body.blocks.find(scope);
    if (found != body.blocks.end()) return found->second;
    const DebugScope& node = info_.scopes[size_t(scope)];
    DIScope* block =
        builder_.createLexicalBlock(scopeOf(body, node.parent, line), body.scope->getFile(), unsigned(line), 0);
    body.blocks[scope] = block;
    showVariable(body, info_.variables[size_t(node.variable)], block, line, 0);
    return block;
  }

  void setPlace(Body& body, int32_t statement, const DebugFunction& function) {
    if (statement < 0 || &info_.functions[size_t(info_.statements[size_t(statement)].function)] != &function) {
      ir_.SetCurrentDebugLocation(DILocation::get(context_, unsigned(function.line), 0, body.scope));
      return;
    }
    const DebugStatement& s = info_.statements[size_t(statement)];
    ir_.SetCurrentDebugLocation(
        DILocation::get(context_, unsigned(s.line), unsigned(s.column), scopeOf(body, s.scope, s.line)));
  }

  /// Blocks stand in the order of the program: gdb stops at the first code that a line has.
  void append(Body& body, BasicBlock* block) {
    body.function->insert(body.function->end(), block);
    ir_.SetInsertPoint(block);
  }

  Value* load(AllocaInst* from) { return ir_.CreateLoad(pointer_, from); }

  /// Goes on in a new block unless `status` says that the program has left.
  void checkStatus(Body& body, Value* status) {
    BasicBlock* next = BasicBlock::Create(context_, "", body.function);
    ir_.CreateCondBr(ir_.CreateICmpEQ(status, ir_.getInt32(0)), next, body.left);
    ir_.SetInsertPoint(next);
  }

  Function* emitFunction(int32_t number) {
    const DebugFunction& made = info_.functions[size_t(number)];
    auto* type = FunctionType::get(i32_, {pointer_, pointer_}, false);
    Body body;
    body.function =
        Function::Create(type, GlobalValue::ExternalLinkage,
                         number == 0 ? std::string(kEntry) : made.name + "." + std::to_string(number), *module_);
    body.function->addFnAttr(Attribute::NoInline);
    body.function->addFnAttr(Attribute::OptimizeNone);
    body.function->addFnAttr("frame-pointer", "all");
    body.function->setUWTableKind(UWTableKind::Async);
    DIFile* file = files_[size_t(made.file)];
    body.scope = builder_.createFunction(file, made.name, "", file, unsigned(made.line),
                                         builder_.createSubroutineType(builder_.getOrCreateTypeArray({nullptr})),
                                         unsigned(made.line), DINode::FlagPrototyped, DISubprogram::SPFlagDefinition);
    body.function->setSubprogram(body.scope);

    const auto outside = ir_.saveIP();
    const DebugLoc outsidePlace = ir_.getCurrentDebugLocation();
    BasicBlock* entry = BasicBlock::Create(context_, "entry", body.function);
    body.left = BasicBlock::Create(context_, "left");
    ir_.SetInsertPoint(entry);
    ir_.SetCurrentDebugLocation({});
    body.frame = ir_.CreateAlloca(pointer_);
    body.arena = ir_.CreateAlloca(pointer_);
    ir_.CreateStore(body.function->getArg(0), body.frame);
    ir_.CreateStore(body.function->getArg(1), body.arena);
    for (const DebugVariable& variable : info_.variables)
      if (variable.function == number && variable.argument)
        showVariable(body, variable, body.scope, made.line, variable.argument);
    for (uint32_t variable : info_.launchVariables)
      showVariable(body, info_.variables[variable], body.scope, made.line, 0);
    emitSteps(body, made);
    append(body, body.left);
    ir_.CreateRet(ir_.getInt32(1));
    ir_.restoreIP(outside);
    ir_.SetCurrentDebugLocation(outsidePlace);
    return body.function;
  }

  /// The instructions of a function itself, calls left out.
  std::vector<uint32_t> ownSteps(const DebugFunction& function) const {
    std::vector<uint32_t> own;
    for (uint32_t i = function.begin + 1; i < function.end; ++i) {
      own.push_back(i);
      if (info_.steps[i].kind == DebugStep::Enter) i = info_.functions[size_t(info_.steps[i].target)].end;
    }
    return own;
  }

  void emitSteps(Body& body, const DebugFunction& function) {
    const std::vector<uint32_t> own = ownSteps(function);
    std::map<uint32_t, BasicBlock*> blocks; // by first instruction
    for (uint32_t i : own) {
      const DebugStep& step = info_.steps[i];
      if (step.kind == DebugStep::Jump || step.kind == DebugStep::Goto) blocks[uint32_t(step.target)] = nullptr;
    }
    blocks[function.end] = nullptr;
    for (auto& [at, block] : blocks) block = BasicBlock::Create(context_);
    bool open = true; // the current block goes on
    auto place = [&](size_t n) { setPlace(body, info_.steps[own[n]].statement, function); };
    for (size_t n = 0; n < own.size(); ++n) {
      const uint32_t i = own[n];
      const DebugStep& step = info_.steps[i];
      if (auto block = blocks.find(i); block != blocks.end()) {
        if (open) ir_.CreateBr(block->second);
        append(body, block->second);
        open = true;
      } else if (!open) {
        ir_.SetInsertPoint(BasicBlock::Create(context_, "", body.function)); // never reached
        open = true;
      }
      place(n);
      switch (step.kind) {
      case DebugStep::Run: {
        size_t last = n;
        while (last + 1 < own.size() && own[last + 1] == own[last] + 1 &&
               info_.steps[own[last + 1]].kind == DebugStep::Run &&
               info_.steps[own[last + 1]].statement == step.statement && !blocks.count(own[last + 1]))
          ++last;
        auto* type = FunctionType::get(i32_, {pointer_, i32_, i32_}, false);
        checkStatus(body, ir_.CreateCall(type, run_, {load(body.frame), ir_.getInt32(i), ir_.getInt32(own[last] + 1)}));
        n = last;
        break;
      }
      case DebugStep::Copy: {
        Value* arena = load(body.arena);
        auto at = [&](uint32_t offset) { return ir_.CreateConstGEP1_64(ir_.getInt8Ty(), arena, offset); };
        if (step.bytes == 8) {
          Value* value = ir_.CreateLoad(ir_.getInt64Ty(), at(step.from));
          ir_.CreateStore(value, at(step.to), /*isVolatile=*/true);
        } else {
          ir_.CreateMemCpyInline(at(step.to), Align(1), at(step.from), Align(1), ir_.getInt64(step.bytes), true);
        }
        break;
      }
      case DebugStep::Jump: {
        auto* type = FunctionType::get(i32_, {pointer_, i32_}, false);
        Value* where = ir_.CreateCall(type, jump_, {load(body.frame), ir_.getInt32(i)});
        BasicBlock* next = BasicBlock::Create(context_, "", body.function);
        SwitchInst* branch = ir_.CreateSwitch(where, body.left, 2);
        branch->addCase(ir_.getInt32(0), next);
        branch->addCase(ir_.getInt32(1), blocks[uint32_t(step.target)]);
        ir_.SetInsertPoint(next);
        break;
      }
      case DebugStep::Goto:
        if (uint32_t(step.target) == function.end)
          ir_.CreateRet(ir_.getInt32(0));
        else
          ir_.CreateBr(blocks[uint32_t(step.target)]);
        open = false;
        break;
      case DebugStep::Enter: {
        Function* callee = emitFunction(step.target);
        checkStatus(body, ir_.CreateCall(callee, {load(body.frame), load(body.arena)}));
        break;
      }
      case DebugStep::Leave:
      case DebugStep::Return:
        ir_.CreateRet(ir_.getInt32(0));
        open = false;
        break;
      }
    }
    if (open) ir_.CreateBr(blocks[function.end]);
    append(body, blocks[function.end]);
    ir_.CreateRet(ir_.getInt32(0));
  }

  LLVMContext& context_;
  const DebugInfo& info_;
  std::unique_ptr<Module> module_;
  DIBuilder builder_;
  Types types_;
  IRBuilder<> ir_;
  PointerType* pointer_;
  IntegerType* i32_;
  Constant *run_, *jump_;
  std::vector<DIFile*> files_;
};

} // namespace

std::unique_ptr<llvm::Module> emitModule(llvm::LLVMContext& context, const DebugInfo& info, RunFn run, JumpFn jump) {
  return Emitter(context, info, run, jump).emit();
}

} // namespace tiletwin::interp::debug
