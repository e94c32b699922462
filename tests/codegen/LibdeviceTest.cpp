// tests/codegen/LibdeviceTest.cpp -- libdevice, linked into kernels: every function, its rounding, its contraction.
// The reference for contraction is LLVM's own (AllowFPOpFusion::Fast) on libdevice as it comes.
#define BOOST_TEST_MODULE libdevice
#include "codegen/libdevice/Libdevice.h"
#include "codegen/ptx/Ptx.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <regex>
#include <sstream>

using namespace llvm;
using namespace tiletwin::codegen;

namespace {

tiletwin::codegen::Target targetOf(int capability) {
  tiletwin::codegen::Target target;
  target.capability = capability;
  target.arch = "sm_" + std::to_string(capability);
  return target;
}

std::unique_ptr<TargetMachine> machineFor(int capability) { return cantFail(makeTargetMachine(targetOf(capability))); }

/// A module of kernels that each call one function of libdevice and store its result: "k__nv_expf" and so on.
class Kernels {
public:
  explicit Kernels(TargetMachine& machine) : module(std::make_unique<Module>("kernels", context)) {
    module->setTargetTriple(machine.getTargetTriple());
    module->setDataLayout(machine.createDataLayout());
  }
  void call(StringRef name, FunctionType* type) {
    SmallVector<Type*> parameters(type->params());
    parameters.push_back(PointerType::get(context, 1));
    auto* kernel = Function::Create(FunctionType::get(Type::getVoidTy(context), parameters, false),
                                    GlobalValue::ExternalLinkage, "k" + name, *module);
    kernel->setCallingConv(CallingConv::PTX_Kernel);
    IRBuilder<> b(BasicBlock::Create(context, "", kernel));
    SmallVector<Value*> arguments;
    for (Argument& argument : kernel->args()) arguments.push_back(&argument);
    Value* out = arguments.pop_back_val();
    Value* result = b.CreateCall(module->getOrInsertFunction(name, type), arguments);
    if (!type->getReturnType()->isVoidTy()) b.CreateStore(result, out);
    b.CreateRetVoid();
  }
  void callAll() {
    std::unique_ptr<Module> library = cantFail(readLibdevice(context));
    for (Function& function : *library)
      if (!function.isDeclaration() && function.getName().starts_with("__nv_")) {
        call(function.getName(), function.getFunctionType());
        ++count;
      }
  }
  FunctionType* type(char result, StringRef parameters) {
    SmallVector<Type*> types;
    for (char parameter : parameters) types.push_back(named(parameter));
    return FunctionType::get(named(result), types, false);
  }

  LLVMContext context;
  std::unique_ptr<Module> module;
  int count = 0;

private:
  Type* named(char letter) {
    return letter == 'd'   ? Type::getDoubleTy(context)
           : letter == 'f' ? Type::getFloatTy(context)
                           : Type::getInt32Ty(context);
  }
};

std::string ptxOf(Kernels& kernels, TargetMachine& machine, const LibdeviceOptions& options) {
  BOOST_REQUIRE(!linkLibdevice(*kernels.module, options));
  BOOST_REQUIRE(!verifyModule(*kernels.module, &errs()));
  optimise(*kernels.module, machine);
  return cantFail(writePtx(*kernels.module, machine));
}

/// Fused multiply-adds to nearest of each function, by name without the kernel's k.
std::map<std::string, int> fusedIn(const std::string& ptx) {
  static const std::regex kName("\\bk?(__\\w+)"), kFma("fma\\.rn(\\.ftz)?\\.f(32|64)");
  std::map<std::string, int> counts;
  std::istringstream lines(ptx);
  std::string line, current;
  std::smatch found;
  while (std::getline(lines, line)) {
    const bool begins = line.find(".entry") != std::string::npos || line.find(".func") != std::string::npos;
    if (begins && std::regex_search(line, found, kName)) counts[current = found[1]] += 0;
    if (std::regex_search(line, kFma)) ++counts[current];
  }
  return counts;
}

struct Configuration {
  int capability;
  bool flushDenormals;
};
std::ostream& operator<<(std::ostream& out, Configuration c) {
  return out << "sm_" << c.capability << (c.flushDenormals ? " ftz" : "");
}
constexpr Configuration kConfigurations[] = {{75, true}, {80, false}, {90, true}};

} // namespace

BOOST_DATA_TEST_CASE(every_function_becomes_ptx_that_says_its_roundings, boost::unit_test::data::make(kConfigurations),
                     c) {
  std::unique_ptr<TargetMachine> machine = machineFor(c.capability);
  Kernels kernels(*machine);
  kernels.callAll();
  BOOST_TEST(kernels.count == 349);
  const std::string ptx = ptxOf(kernels, *machine, {c.capability, c.flushDenormals});
  // Sums of f32 need none: no product is there that they could be fused with.
  static const std::regex kBare("\\b((mul|fma|mad|div|sqrt|rcp)(\\.(ftz|sat))*\\.(f16|bf16|f16x2|bf16x2|f32|f64)|"
                                "(add|sub)(\\.(ftz|sat))*\\.(f16|bf16|f16x2|bf16x2|f64))\\s.*");
  std::smatch bare;
  BOOST_TEST(!std::regex_search(ptx, bare, kBare), "without a rounding: " << bare.str());
  BOOST_TEST(ptx.find("__nvvm_reflect") == std::string::npos);
  BOOST_TEST((ptx.find("fma.rn.ftz.f32") != std::string::npos) == c.flushDenormals);

  const ErrorOr<std::string> ptxas = sys::findProgramByName("ptxas");
  if (!ptxas) {
    BOOST_TEST_MESSAGE("no ptxas: the PTX is not assembled");
    return;
  }
  SmallString<128> path;
  BOOST_REQUIRE(!sys::fs::createTemporaryFile("libdevice", "ptx", path));
  {
    std::error_code problem;
    raw_fd_ostream(path, problem) << ptx;
  }
  const std::string arch = "-arch=sm_" + std::to_string(c.capability);
  std::string problem;
  BOOST_TEST(sys::ExecuteAndWait(*ptxas, {*ptxas, arch, "-O0", path, "-o", "/dev/null"}, std::nullopt, {}, 0, 0,
                                 &problem) == 0,
             problem);
  sys::fs::remove(path);
}

BOOST_AUTO_TEST_CASE(contraction_is_what_llvm_fuses) {
  std::unique_ptr<TargetMachine> machine = machineFor(90);
  Kernels kernels(*machine);
  kernels.callAll();
  const std::map<std::string, int> ours = fusedIn(ptxOf(kernels, *machine, {90, true}));

  LLVMContext context;
  std::unique_ptr<Module> library = cantFail(readLibdevice(context));
  cantFail(library->materializeAll());
  library->setTargetTriple(machine->getTargetTriple());
  library->setDataLayout(machine->createDataLayout());
  library->addModuleFlag(Module::Override, "nvvm-reflect-ftz", 1);
  optimise(*library, *machine);
  machine->Options.AllowFPOpFusion = FPOpFusion::Fast;
  const std::map<std::string, int> fused = fusedIn(cantFail(writePtx(*library, *machine)));
  BOOST_TEST(fused.size() >= 349u);
  for (const auto& [name, count] : fused) {
    const auto at = ours.find(name);
    BOOST_TEST((at != ours.end() && at->second == count),
               name << " has " << (at == ours.end() ? 0 : at->second) << " fused multiply-adds, LLVM makes " << count);
  }
}

BOOST_AUTO_TEST_CASE(only_what_is_called_is_linked) {
  std::unique_ptr<TargetMachine> machine = machineFor(90);
  Kernels kernels(*machine);
  kernels.call("__nv_sin", kernels.type('d', "d"));
  BOOST_REQUIRE(!linkLibdevice(*kernels.module, {}));
  std::vector<std::string> defined;
  for (Function& function : *kernels.module)
    if (!function.isDeclaration() && function.getName() != "k__nv_sin") {
      defined.push_back(function.getName().str());
      BOOST_TEST(function.hasInternalLinkage());
      BOOST_TEST(!function.hasFnAttribute("unsafe-fp-math"));
    }
  std::sort(defined.begin(), defined.end());
  const std::vector<std::string> expected{"__internal_trig_reduction_slowpathd", "__nv_sin"};
  BOOST_TEST(defined == expected, boost::test_tools::per_element());
  BOOST_TEST(!kernels.module->getFunction("__nvvm_reflect"));

  Kernels none(*machine);
  BOOST_REQUIRE(!linkLibdevice(*none.module, {}));
  BOOST_TEST(none.module->empty());
}

BOOST_AUTO_TEST_CASE(errors_name_the_function) {
  std::unique_ptr<TargetMachine> machine = machineFor(90);
  Kernels unknown(*machine);
  unknown.call("__nv_expo", unknown.type('f', "f"));
  BOOST_TEST(toString(linkLibdevice(*unknown.module, {})) == "libdevice has no function __nv_expo");
  Kernels wrong(*machine);
  wrong.call("__nv_expf", wrong.type('d', "d"));
  BOOST_TEST(toString(linkLibdevice(*wrong.module, {})) ==
             "__nv_expf of libdevice is float (float), not double (double)");
}
