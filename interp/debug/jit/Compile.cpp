// interp/debug/jit/Compile.cpp -- LLVM IR to an object, the object into memory, its debug information to gdb.
// Here:      the x86 code generator, the loader, gdb's JIT interface (its two symbols are exported).
// Not here:  what the code does (Emit.cpp).
// Invariant: code, objects and their entries in gdb's list stay until the process ends.
#include "interp/debug/jit/Compile.h"
#include "interp/debug/jit/Emit.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

// ---- gdb's JIT interface: names and layout are gdb's ----
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
[[gnu::visibility("default"), gnu::used]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
[[gnu::visibility("default"), gnu::used, gnu::noinline]] void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}
}

namespace tiletwin::interp::debug {
namespace {

constexpr uint32_t kRegister = 1;

void registerObject(llvm::StringRef bytes) {
  auto* entry = new jit_code_entry{__jit_debug_descriptor.first_entry, nullptr, bytes.data(), bytes.size()};
  if (entry->next_entry) entry->next_entry->prev_entry = entry;
  __jit_debug_descriptor.first_entry = __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = kRegister;
  __jit_debug_register_code();
}

llvm::TargetMachine* hostMachine(std::string& problem) {
  static const bool ready = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)ready;
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) return nullptr;
  return target->createTargetMachine(triple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                     llvm::CodeModel::Small, llvm::CodeGenOptLevel::None, /*JIT=*/true);
}

/// What a compiled kernel consists of; it stays.
struct Compiled {
  llvm::LLVMContext context;
  llvm::SectionMemoryManager memory;
  std::unique_ptr<llvm::RuntimeDyld> loader;
  std::unique_ptr<llvm::MemoryBuffer> object;
  llvm::object::OwningBinary<llvm::object::ObjectFile> shown;
};

NativeKernel compileInto(Compiled& made, const DebugInfo& info, RunFn run, JumpFn jump, std::string& problem) {
  std::unique_ptr<llvm::TargetMachine> machine(hostMachine(problem));
  if (!machine) return nullptr;
  std::unique_ptr<llvm::Module> module = emitModule(made.context, info, run, jump);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  llvm::raw_string_ostream text(problem);
  if (llvm::verifyModule(*module, &text)) return nullptr;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    problem = "LLVM's x86 code generator writes no objects";
    return nullptr;
  }
  passes.run(*module);
  made.object = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "tiletwin", false);
  auto object = llvm::object::ObjectFile::createObjectFile(made.object->getMemBufferRef());
  if (!object) {
    problem = llvm::toString(object.takeError());
    return nullptr;
  }
  made.loader = std::make_unique<llvm::RuntimeDyld>(made.memory, made.memory);
  std::unique_ptr<llvm::RuntimeDyld::LoadedObjectInfo> loaded = made.loader->loadObject(**object);
  made.loader->resolveRelocations();
  made.loader->registerEHFrames();
  made.memory.finalizeMemory(&problem);
  if (made.loader->hasError()) {
    problem = made.loader->getErrorString().str();
    return nullptr;
  }
  made.shown = loaded->getObjectForDebug(**object);
  if (!made.shown.getBinary()) {
    problem = "the loader gives no debug information";
    return nullptr;
  }
  registerObject(made.shown.getBinary()->getData());
  return reinterpret_cast<NativeKernel>(made.loader->getSymbol(kEntry).getAddress());
}

} // namespace

NativeKernel compileKernel(const DebugInfo& info, RunFn run, JumpFn jump, const char** error) {
  static std::mutex mutex;
  static std::string problem; // under mutex
  std::lock_guard lock(mutex);
  problem.clear();
  auto* made = new Compiled;
  NativeKernel kernel = compileInto(*made, info, run, jump, problem);
  if (!kernel) *error = problem.c_str();
  return kernel;
}

} // namespace tiletwin::interp::debug
