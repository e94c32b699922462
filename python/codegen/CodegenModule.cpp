// python/codegen/CodegenModule.cpp -- the extension module tiletwin._codegen: text of one stage in, texts of the others out.
// Here:      reading targets and options, results as dictionaries, errors.
// Not here:  the code generator (codegen/Codegen.h), targets and caches (tiletwin/compiler/).
// Idea:      a module of its own with LLVM's code generator, opened when GPU code is first asked for.
#include "../src/Gil.h"
#include "codegen/Codegen.h"
#include "frontend/PyFunctions.h"
#include <optional>
#include <string>

namespace tiletwin::python {
namespace {

PyObject* errorType = nullptr;

/// Reads an entry of a dictionary; a missing or None entry leaves the default. False with an exception set.
template <class T> bool read(DictArgument dict, const char* key, T& out) {
  PyObject* value = PyDict_GetItemString(dict.get(), key);
  if (!value || value == Py_None) return true;
  Argument<T> entry;
  if (!entry.read(value)) return false;
  out = entry.value;
  return true;
}

std::optional<codegen::Stage> stageOf(std::string_view name) {
  if (name == "ttir") return codegen::Stage::Ttir;
  if (name == "ttgir") return codegen::Stage::Ttgir;
  if (name == "llir") return codegen::Stage::Llir;
  if (name == "ptx") return codegen::Stage::Ptx;
  if (name == "amdgcn") return codegen::Stage::Amdgcn;
  PyErr_Format(PyExc_ValueError, "no stage %s; stages are ttir, ttgir, llir, ptx and amdgcn",
               std::string(name).c_str());
  return std::nullopt;
}

PyRef resultOf(const codegen::Code& code) {
  PyRef metadata = pyDict("name", code.name, "shared", code.sharedBytes, "num_warps", code.numWarps, "cluster",
                          code.clusterCtas, "program_ctas", code.programCtas, "global_scratch_size", code.scratchBytes,
                          "global_scratch_align", 128, "arguments", pyList(code.arguments));
  PyRef warnings = pyList(code.warnings, [](const codegen::Message& warning) {
    return PyRef::steal(Py_BuildValue("[ssi]", warning.message.c_str(), warning.file.c_str(), warning.line));
  });
  return pyDict("ttgir", code.ttgir, "llir", code.llir, "ptx", code.ptx, "amdgcn", code.amdgcn, "metadata", metadata,
                "warnings", warnings);
}

/// Sets the exception for a kernel that was not compiled; null.
PyRef raise(const codegen::CompileError& error) {
  PyRef value = pyTuple(error.message, error.file, error.line, error.column);
  if (value) PyErr_SetObject(errorType, value.get());
  return {};
}

bool readTarget(DictArgument dict, codegen::Target& target) {
  return read(dict, "backend", target.backend) && read(dict, "arch", target.arch) &&
         read(dict, "capability", target.capability) && read(dict, "ptx_version", target.ptxVersion) &&
         read(dict, "warp_size", target.warpSize);
}

PyRef assemble(std::string text, std::string fileName, DictArgument targetDict) {
  codegen::Target target;
  if (!readTarget(targetDict, target)) return {};
  std::string object;
  std::optional<codegen::CompileError> error;
  if (!workWithoutGil(fileName, [&] { error = codegen::assembleAmdgcn(text, fileName, target, object); })) return {};
  return error ? raise(*error) : pyBytes(object.data(), object.size());
}

PyRef compile(std::string text, std::string_view stage, std::string fileName, DictArgument targetDict,
              DictArgument optionDict, std::optional<std::string_view> last) {
  std::optional<codegen::Stage> from = stageOf(stage), to = stageOf(last.value_or("ptx"));
  if (!from || !to) return {};
  codegen::Target target;
  codegen::Options options;
  if (!readTarget(targetDict, target) || !read(optionDict, "num_warps", options.numWarps) ||
      !read(optionDict, "num_stages", options.numStages) || !read(optionDict, "num_ctas", options.numCtas) ||
      !read(optionDict, "maxnreg", options.maxRegisters) || !read(optionDict, "waves_per_eu", options.wavesPerUnit) ||
      !read(optionDict, "enable_fp_fusion", options.fpFusion) ||
      !read(optionDict, "enable_reflect_ftz", options.flushDenormals) ||
      !read(optionDict, "copied_loads", options.copiedLoads) || !read(optionDict, "tile_loops", options.tileLoops) ||
      !read(optionDict, "pairs", options.pairs) || !read(optionDict, "alone", options.isAlone) ||
      !read(optionDict, "line_info", options.lineInfo) || !read(optionDict, "verify", options.verify))
    return {};
  codegen::Code code;
  std::optional<codegen::CompileError> error;
  if (!workWithoutGil(fileName, [&] { error = codegen::compile(text, *from, *to, fileName, target, options, code); }))
    return {};
  return error ? raise(*error) : resultOf(code);
}

bool execute(PyObject* module) {
  if (!errorType) errorType = PyErr_NewException("tiletwin._codegen.Error", PyExc_Exception, nullptr);
  return errorType && PyModule_AddObjectRef(module, "Error", errorType) == 0 &&
         addFunctions(
             module,
             {function<"compile", compile>(
                  "compile(text, stage, file_name, target, options, last_stage='ptx')\n--\n\n"
                  "Texts of the stages after `stage`, and metadata. Raises Error(message, file, line, column)."),
              function<"assemble", assemble>(
                  "assemble(text, file_name, target)\n--\n\n"
                  "The assembly of an AMD GPU (stage amdgcn) as an object file, in bytes. Raises Error.")});
}

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__codegen() {
  return tiletwin::defineModule<tiletwin::python::execute>("_codegen", "Code generation for NVIDIA and AMD GPUs.");
}
