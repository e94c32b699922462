// python/src/ProbeCalls.cpp -- see ProbeCalls.h.
#include "ProbeCalls.h"
#include "EagerBuilder.h"
#include "Elements.h"
#include "Parts.h"
#include "frontend/PackageObject.h"
#include "frontend/Probes.h"
#include "frontend/PyFunctions.h"
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
  return bool(callMethod(out, "write", std::string_view(text, size)));
}

/// The type of a value of a module that was read from text, as far as the operation's own types say it.
std::string typeText(const ProbeSite::Item& item) {
  const bool hasSign = isInteger(item.type) && item.type != DType::I1;
  for (int i = 0; i < elementCount(); ++i)
    if (element(i).storage == item.type && !(hasSign && item.isSigned == (element(i).typeName[0] == 'u')))
      return element(i).typeName;
  return "*i8";
}

bool structureOf(const ProbeSite& site, Structure& out) {
  out.kind = Structure::Kind::Tuple;
  for (const ProbeSite::Item& item : site.items) {
    Structure& leaf = out.items.emplace_back();
    leaf.kind = Structure::Kind::Tensor;
    if (!frontend::parseTypeString(typeText(item), leaf.type)) return false;
    leaf.type.shape.assign(item.shape.begin(), item.shape.end());
  }
  return true;
}

/// The record's values as language values that hold their elements, in a tuple. Null with an error set.
PyRef valuesOf(const Structure& structure, const ProbeSite& site, const char* payload) {
  llvm::SmallVector<frontend::Type> types;
  leafTypes(structure, types);
  if (site.items.empty() && !types.empty()) return pyTuple(); // see dropUnneededVariables
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
  PyRef where = pyTuple(site.where.file.empty() ? "<unknown>" : site.where.file, site.where.line);
  PyRef program = toPython(record.program);
  if (!where || !program) return false;
  if (record.startsAgain) {
    return call(packageObject("notice_start_again"), where, program) && launch.runEagerly(record.program);
  }
  const auto* recipes = static_cast<const std::vector<ProbeRecipe>*>(site.owner);
  const bool known = recipes && size_t(site.number) < recipes->size();
  Structure own;
  if (!known && !structureOf(site, own)) return false;
  const ProbeRecipe* recipe = known ? &(*recipes)[size_t(site.number)] : nullptr;
  ProgramScope scope(launch, record.program);
  PyRef values = valuesOf(recipe ? recipe->values : own, site, payload);
  PyRef extra = none(), result;
  if (recipe && recipe->view) extra = recipe->view;
  if (recipe && recipe->keywords) extra = recipe->keywords;
  {
    frontend::TracingPause pause;
    if (values)
      result = call(packageObject(site.isBreak ? "deliver_break" : "deliver_print"), program, values, extra, where);
  }
  if (!result || !site.isBreak) return bool(result);
  PyObject *code, *globals, *locals; // the debugger's frame: no frame of the package lies above it
  if (!PyArg_ParseTuple(result.get(), "OO!O!", &code, &PyDict_Type, &globals, &PyDict_Type, &locals)) return false;
  return bool(PyRef::steal(PyEval_EvalCode(code, globals, locals)));
}

/// (x, y, z) of the program that this thread runs in eager mode, or prints for; None: there is none.
PyRef programOfThread() {
  const EagerContext* context = eagerContext();
  return context && !context->kernel.empty() ? toPython(context->program) : none();
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
    PyRef holds = call(packageObject("condition_holds"), condition);
    stops = holds ? PyObject_IsTrue(holds.get()) : -1;
  }
  if (stops < 0) return nullptr;
  if (stops == 0) return none().release();
  PyObject* hook = PySys_GetObject("breakpointhook");
  if (!hook) {
    PyErr_SetString(PyExc_RuntimeError, "lost sys.breakpointhook");
    return nullptr;
  }
  PyRef keep = PyRef::borrow(hook);
  return call(hook) ? none().release() : nullptr;
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

bool addProbeCalls(PyObject* module) {
  return addFunctions(
      module,
      {withKeywords(
           "breakpoint_if", breakpointIf,
           "breakpoint_if($module, /, condition)\n--\n\n"
           "Stops in the debugger, at this line of the kernel, if `condition` holds (a block: in any element)."),
       withKeywords(
           "print_if", printIf,
           "print_if($module, /, condition, *values, sep=\" \", end=\"\\n\", file=None, flush=False)\n--\n\n"
           "Prints the program's id and `values` as Python's print does, if `condition` holds (a block: in any "
           "element)."),
       function<"program_of_thread", programOfThread>(
           "The id of the program that this thread runs in eager mode, (x, y, z), or None.")});
}

} // namespace tiletwin::python
