// python/src/ProbeCalls.cpp -- see ProbeCalls.h.
#include "ProbeCalls.h"
#include "EagerBuilder.h"
#include "Interned.h"
#include "frontend/PackageObject.h"
#include "frontend/Probes.h"
#include "frontend/Tracing.h"
#include <cstring>
#include <vector>

namespace tiletwin::python {

using frontend::ProbeRecipe;
using frontend::Structure;
using interp::ProbeRecord;
using interp::ProbeSite;

namespace {

bool writeText(const char* text, size_t size) {
  PyObject* out = PySys_GetObject("stdout");
  if (!out || out == Py_None || size == 0) return true;
  PyRef keep = PyRef::borrow(out);
  return bool(PyRef::steal(PyObject_CallMethod(out, "write", "s#", text, Py_ssize_t(size))));
}

/// Values of a module that was read from text: what the operation's own types say.
const char* typeName(const ProbeSite::Item& item) {
  switch (item.type) {
  case DType::I1: return "i1";
  case DType::I8: return item.isSigned ? "i8" : "u8";
  case DType::I16: return item.isSigned ? "i16" : "u16";
  case DType::I32: return item.isSigned ? "i32" : "u32";
  case DType::I64: return item.isSigned ? "i64" : "u64";
  case DType::F16: return "fp16";
  case DType::BF16: return "bf16";
  case DType::F32: return "fp32";
  case DType::F64: return "fp64";
  case DType::F8E5M2: return "fp8e5";
  case DType::F8E4M3FN: return "fp8e4nv";
  case DType::F8E4M3B11FNUZ: return "fp8e4b15";
  case DType::F8E4M3FNUZ: return "fp8e4b8";
  case DType::F8E5M2FNUZ: return "fp8e5b16";
  case DType::Ptr: return "*i8";
  }
  return "i64";
}

bool structureOf(const ProbeSite& site, Structure& out) {
  out.kind = Structure::Kind::Tuple;
  for (const ProbeSite::Item& item : site.items) {
    Structure& leaf = out.items.emplace_back();
    leaf.kind = Structure::Kind::Tensor;
    if (!frontend::parseTypeString(typeName(item), leaf.type)) return false;
    leaf.type.shape.assign(item.shape.begin(), item.shape.end());
  }
  return true;
}

/// The record's values as language values that hold their elements, in a tuple. Null with an error set.
PyRef valuesOf(const Structure& structure, const ProbeSite& site, const char* payload) {
  llvm::SmallVector<frontend::Type> types;
  leafTypes(structure, types);
  if (site.items.empty() && !types.empty()) return PyRef::steal(PyTuple_New(0)); // see dropUnneededVariables
  llvm::SmallVector<frontend::Value> leaves;
  for (size_t i = 0; i < types.size(); ++i) {
    frontend::Value value = allocate(types[i]);
    if (i >= site.items.size() || bytesOf(types[i]) != site.items[i].bytes) {
      PyErr_SetString(PyExc_SystemError,
                      "tiletwin: the values of a print_if do not fit its record; please report this");
      return {};
    }
    std::memcpy(evaluated(value).data, payload, site.items[i].bytes);
    payload += site.items[i].bytes;
    leaves.push_back(std::move(value));
  }
  llvm::ArrayRef<frontend::Value> rest = leaves;
  return putTogether(structure, rest);
}

/// The thread's values belong to a program of the launch for a scope.
class ProgramScope {
public:
  ProgramScope(const PrintingLaunch& launch, const std::array<int32_t, 3>& program) : builder_(&eagerBuilder()) {
    context_.kernel = launch.kernel;
    context_.grid = launch.grid;
    context_.program = program;
    context_.buffers.assign(launch.buffers.begin(), launch.buffers.end());
    for (const Buffer& buffer : context_.buffers) context_.origins.push_back(buffer.viewBegin);
    context_.options = eagerBuilder().options();
    outer_ = setEagerContext(&context_);
  }
  ~ProgramScope() { setEagerContext(outer_); }
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

private:
  EagerContext context_;
  EagerContext* outer_;
  frontend::Builder::Scope builder_;
};

bool deliverRecord(const ProbeRecord& record, const char* payload, const PrintingLaunch& launch) {
  const ProbeSite& site = *record.site;
  PyRef where = PyRef::steal(
      Py_BuildValue("(si)", site.where.file.empty() ? "<unknown>" : site.where.file.c_str(), site.where.line));
  PyRef program = PyRef::steal(Py_BuildValue("(iii)", record.program[0], record.program[1], record.program[2]));
  if (!where || !program) return false;
  if (record.startsAgain) {
    PyRef notice = packageObject("notice_start_again");
    if (!notice || !PyRef::steal(PyObject_CallFunctionObjArgs(notice.get(), where.get(), program.get(), nullptr)))
      return false;
    return bool(launch.runEagerly(record.program));
  }
  const auto* recipes = static_cast<const std::vector<ProbeRecipe>*>(site.owner);
  const bool known = recipes && size_t(site.number) < recipes->size();
  Structure own;
  if (!known && !structureOf(site, own)) return false;
  const ProbeRecipe* recipe = known ? &(*recipes)[size_t(site.number)] : nullptr;
  ProgramScope scope(launch, record.program);
  PyRef values = valuesOf(recipe ? recipe->values : own, site, payload);
  PyRef extra = PyRef::borrow(Py_None), result;
  if (recipe && recipe->view) extra = recipe->view;
  if (recipe && recipe->keywords) extra = recipe->keywords;
  {
    frontend::TracingPause pause;
    PyRef deliver = values ? packageObject(site.isBreak ? "deliver_break" : "deliver_print") : PyRef();
    if (deliver)
      result = PyRef::steal(
          PyObject_CallFunctionObjArgs(deliver.get(), program.get(), values.get(), extra.get(), where.get(), nullptr));
  }
  if (!result || !site.isBreak) return bool(result);
  PyObject *code, *globals, *locals; // the debugger's frame: no frame of the package lies above it
  if (!PyArg_ParseTuple(result.get(), "OO!O!", &code, &PyDict_Type, &globals, &PyDict_Type, &locals)) return false;
  return bool(PyRef::steal(PyEval_EvalCode(code, globals, locals)));
}

/// program_of_thread(): (x, y, z) of the program that this thread runs in eager mode, or prints for; None: there is none.
PyObject* programOfThread(PyObject*, PyObject*) {
  const EagerContext* context = eagerContext();
  if (!context || context->kernel.empty()) return PyRef::borrow(Py_None).release();
  return Py_BuildValue("(iii)", context->program[0], context->program[1], context->program[2]);
}

/// print_if(condition, *values, ...): tiletwin.debug.show, without frames that a debugger's `step` would enter.
PyObject* printIf(PyObject*, PyObject* args, PyObject* keywords) {
  frontend::TracingPause pause;
  PyRef show = packageObject("show_values");
  return show ? PyObject_Call(show.get(), args, keywords) : nullptr;
}

/// breakpoint_if(condition). A C function has no frame: the debugger that the hook starts is in the caller's.
PyObject* breakpointIf(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"condition", nullptr};
  PyObject* condition;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:breakpoint_if", const_cast<char**>(names), &condition))
    return nullptr;
  int stops;
  {
    frontend::TracingPause pause;
    PyRef holds = packageObject("condition_holds");
    holds = PyRef::steal(holds ? PyObject_CallFunctionObjArgs(holds.get(), condition, nullptr) : nullptr);
    stops = holds ? PyObject_IsTrue(holds.get()) : -1;
  }
  if (stops < 0) return nullptr;
  if (stops == 0) return PyRef::borrow(Py_None).release();
  PyObject* hook = PySys_GetObject("breakpointhook");
  if (!hook) {
    PyErr_SetString(PyExc_RuntimeError, "lost sys.breakpointhook");
    return nullptr;
  }
  PyRef keep = PyRef::borrow(hook);
  return PyRef::steal(PyObject_CallNoArgs(hook)) ? PyRef::borrow(Py_None).release() : nullptr;
}

} // namespace

bool deliverPrinted(const std::string& printed, const PrintingLaunch& launch) {
  size_t at = 0;
  while (at < printed.size()) {
    size_t zero = std::min(printed.find('\0', at), printed.size());
    if (!writeText(printed.data() + at, zero - at)) return false;
    if (zero == printed.size()) return true;
    ProbeRecord record;
    std::memcpy(&record, printed.data() + zero + 1, sizeof record);
    const size_t payload = zero + 1 + sizeof record;
    if (!deliverRecord(record, printed.data() + payload, launch)) return false;
    at = payload + record.bytes;
  }
  return true;
}

int addProbeCalls(PyObject* module) {
  static PyMethodDef functions[] = {
      {"breakpoint_if", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(breakpointIf)),
       METH_VARARGS | METH_KEYWORDS,
       "breakpoint_if($module, /, condition)\n--\n\n"
       "Stops in the debugger, at this line of the kernel, if `condition` holds (a block: in any element)."},
      {"print_if", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(printIf)), METH_VARARGS | METH_KEYWORDS,
       "print_if($module, /, condition, *values, sep=\" \", end=\"\\n\", file=None, flush=False)\n--\n\n"
       "Prints the program's id and `values` as Python's print does, if `condition` holds (a block: in any element)."},
      {"program_of_thread", programOfThread, METH_NOARGS,
       "The id of the program that this thread runs in eager mode, (x, y, z), or None."},
      {nullptr, nullptr, 0, nullptr},
  };
  return PyModule_AddFunctions(module, functions);
}

} // namespace tiletwin::python
