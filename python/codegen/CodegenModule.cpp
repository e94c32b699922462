// python/codegen/CodegenModule.cpp -- the extension module tiletwin._codegen: text of one stage in, texts of the others out.
// Here:      reading targets and options, results as dictionaries, errors. Not here: the code generator (codegen/Codegen.h),
//            targets and caches (tiletwin/compiler/).
// Idea:      a module of its own with LLVM's code generator, opened when GPU code is first asked for.
#include "../src/Gil.h"
#include "codegen/Codegen.h"
#include "frontend/PyRef.h"
#include <exception>
#include <optional>
#include <string>

namespace tiletwin::python {
namespace {

PyObject* errorType = nullptr;

/// A dictionary's entries as C++ values; a missing or None entry leaves the default. False with an exception set.
bool readText(PyObject* dict, const char* key, std::string& out) {
  PyObject* value = PyDict_GetItemString(dict, key);
  if (!value || value == Py_None) return true;
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(value, &length);
  if (!text) return false;
  out.assign(text, size_t(length));
  return true;
}
bool readInt(PyObject* dict, const char* key, int& out) {
  PyObject* value = PyDict_GetItemString(dict, key);
  if (!value || value == Py_None) return true;
  long number = PyLong_AsLong(value);
  if (number == -1 && PyErr_Occurred()) return false;
  out = int(number);
  return true;
}
bool readBool(PyObject* dict, const char* key, bool& out) {
  PyObject* value = PyDict_GetItemString(dict, key);
  if (!value || value == Py_None) return true;
  int truth = PyObject_IsTrue(value);
  if (truth < 0) return false;
  out = truth != 0;
  return true;
}

std::optional<codegen::Stage> stageOf(const std::string& name) {
  if (name == "ttir") return codegen::Stage::Ttir;
  if (name == "ttgir") return codegen::Stage::Ttgir;
  if (name == "llir") return codegen::Stage::Llir;
  if (name == "ptx") return codegen::Stage::Ptx;
  if (name == "amdgcn") return codegen::Stage::Amdgcn;
  PyErr_Format(PyExc_ValueError, "no stage %s; stages are ttir, ttgir, llir, ptx and amdgcn", name.c_str());
  return std::nullopt;
}

PyObject* resultOf(const codegen::Code& code) {
  PyRef arguments = PyRef::steal(PyList_New(0));
  if (!arguments) return nullptr;
  for (const std::string& type : code.arguments) {
    PyRef word = PyRef::steal(PyUnicode_FromString(type.c_str()));
    if (!word || PyList_Append(arguments.get(), word.get()) < 0) return nullptr;
  }
  PyRef warnings = PyRef::steal(PyList_New(0));
  if (!warnings) return nullptr;
  for (const codegen::Message& warning : code.warnings) {
    PyRef row = PyRef::steal(Py_BuildValue("[ssi]", warning.message.c_str(), warning.file.c_str(), warning.line));
    if (!row || PyList_Append(warnings.get(), row.get()) < 0) return nullptr;
  }
  return Py_BuildValue("{s:s#,s:s#,s:s#,s:s#,s:{s:s,s:I,s:i,s:I,s:i,s:O},s:O}", "ttgir", code.ttgir.data(),
                       Py_ssize_t(code.ttgir.size()), "llir", code.llir.data(), Py_ssize_t(code.llir.size()), "ptx",
                       code.ptx.data(), Py_ssize_t(code.ptx.size()), "amdgcn", code.amdgcn.data(),
                       Py_ssize_t(code.amdgcn.size()), "metadata", "name", code.name.c_str(), "shared",
                       unsigned(code.sharedBytes), "num_warps", code.numWarps, "global_scratch_size",
                       unsigned(code.scratchBytes), "global_scratch_align", 128, "arguments", arguments.get(),
                       "warnings", warnings.get());
}

/// Sets the exception for a kernel that was not compiled; null.
PyObject* raise(const codegen::CompileError& error) {
  PyRef value =
      PyRef::steal(Py_BuildValue("(ssii)", error.message.c_str(), error.file.c_str(), error.line, error.column));
  if (value) PyErr_SetObject(errorType, value.get());
  return nullptr;
}

bool readTarget(PyObject* dict, codegen::Target& target) {
  return readText(dict, "backend", target.backend) && readText(dict, "arch", target.arch) &&
         readInt(dict, "capability", target.capability) && readInt(dict, "ptx_version", target.ptxVersion) &&
         readInt(dict, "warp_size", target.warpSize);
}

/// Calls work() without the GIL. False with RuntimeError set: what it threw, behind the file's name.
template <class Work> bool withoutGil(const std::string& fileName, const Work& work) {
  std::string fault;
  try {
    const GilReleased released;
    work();
  } catch (const std::exception& e) { fault = e.what(); }
  if (!fault.empty()) PyErr_Format(PyExc_RuntimeError, "%s: %s", fileName.c_str(), fault.c_str());
  return fault.empty();
}

/// assemble(text, file_name, target) -> bytes; Error.
PyObject* assemble(PyObject*, PyObject* args) {
  const char *text, *fileName;
  Py_ssize_t length;
  PyObject* targetDict;
  if (!PyArg_ParseTuple(args, "s#sO!:assemble", &text, &length, &fileName, &PyDict_Type, &targetDict)) return nullptr;
  codegen::Target target;
  if (!readTarget(targetDict, target)) return nullptr;
  std::string object, source(text, size_t(length)), name(fileName);
  std::optional<codegen::CompileError> error;
  if (!withoutGil(name, [&] { error = codegen::assembleAmdgcn(source, name, target, object); })) return nullptr;
  return error ? raise(*error) : PyBytes_FromStringAndSize(object.data(), Py_ssize_t(object.size()));
}

/// compile(text, stage, file_name, target, options, last_stage="ptx") -> dict; Error(message, file, line, column).
PyObject* compile(PyObject*, PyObject* args) {
  const char *text, *stage, *fileName, *last = "ptx";
  Py_ssize_t length;
  PyObject *targetDict, *optionDict;
  if (!PyArg_ParseTuple(args, "s#ssO!O!|s:compile", &text, &length, &stage, &fileName, &PyDict_Type, &targetDict,
                        &PyDict_Type, &optionDict, &last))
    return nullptr;
  std::optional<codegen::Stage> from = stageOf(stage), to = stageOf(last);
  if (!from || !to) return nullptr;
  codegen::Target target;
  codegen::Options options;
  if (!readTarget(targetDict, target) || !readInt(optionDict, "num_warps", options.numWarps) ||
      !readInt(optionDict, "num_stages", options.numStages) || !readInt(optionDict, "num_ctas", options.numCtas) ||
      !readInt(optionDict, "maxnreg", options.maxRegisters) ||
      !readInt(optionDict, "waves_per_eu", options.wavesPerUnit) ||
      !readBool(optionDict, "enable_fp_fusion", options.fpFusion) ||
      !readBool(optionDict, "enable_reflect_ftz", options.flushDenormals) ||
      !readBool(optionDict, "line_info", options.lineInfo) || !readBool(optionDict, "verify", options.verify))
    return nullptr;
  codegen::Code code;
  std::optional<codegen::CompileError> error;
  std::string source(text, size_t(length)), name(fileName);
  if (!withoutGil(name, [&] { error = codegen::compile(source, *from, *to, name, target, options, code); }))
    return nullptr;
  return error ? raise(*error) : resultOf(code);
}

PyMethodDef methods[] = {
    {"compile", compile, METH_VARARGS,
     "compile(text, stage, file_name, target, options, last_stage='ptx')\n--\n\n"
     "Texts of the stages after `stage`, and metadata. Raises Error(message, file, line, column)."},
    {"assemble", assemble, METH_VARARGS,
     "assemble(text, file_name, target)\n--\n\n"
     "The assembly of an AMD GPU (stage amdgcn) as an object file, in bytes. Raises Error."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "tiletwin._codegen",
                          "Code generation for NVIDIA and AMD GPUs.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace
} // namespace tiletwin::python

PyMODINIT_FUNC PyInit__codegen() {
  using namespace tiletwin;
  using namespace tiletwin::python;
  PyRef module = PyRef::steal(PyModule_Create(&definition));
  if (!module) return nullptr;
  errorType = PyErr_NewException("tiletwin._codegen.Error", PyExc_Exception, nullptr);
  if (!errorType || PyModule_AddObjectRef(module.get(), "Error", errorType) < 0) return nullptr;
  return module.release();
}
