// python/src/EagerSession.cpp -- see EagerSession.h.
#include "EagerSession.h"
#include "Compile.h"
#include "Context.h"
#include "EagerBuilder.h"
#include "Elements.h"
#include "Interned.h"
#include "ProgramLaunch.h"
#include "frontend/Emit.h"
#include "ir/TT.h"
#include <optional>

namespace tiletwin::python {
namespace {

struct Session {
  std::vector<Parameter> parameters;
  std::vector<PyRef> values; ///< Python arguments, one per parameter; keep memory alive
  Call call;                 ///< its `values` point into the vector above
  EagerContext context;
  std::optional<frontend::Builder::Scope> scope; ///< while a program is entered
  EagerContext* outer = nullptr;
};

struct SessionObject {
  PyObject_HEAD Session* session;
};

PyTypeObject* sessionType = nullptr;
Session& sessionOf(PyObject* self) { return *reinterpret_cast<SessionObject*>(self)->session; }

/// Makes language values of arguments, in the order in which Classify.cpp made leaves.
class Converter {
public:
  explicit Converter(const Session& session) : session_(session) {}
  PyRef argument(size_t index) {
    parameter_ = &session_.parameters[index];
    PyObject* value = session_.values[index].get();
    if (parameter_->isConstexpr) return PyRef::borrow(value); // the rewritten body wraps these itself
    return convert(value);
  }

private:
  PyRef convert(PyObject* value);
  PyRef tuple(PyObject* value);
  PyRef descriptor(PyObject* value);
  PyRef tensor(const Leaf& leaf, const std::string& typeText);

  const Session& session_;
  const Parameter* parameter_ = nullptr;
  size_t next_ = 0;
};

PyRef Converter::tensor(const Leaf& leaf, const std::string& typeText) {
  frontend::Type type;
  if (!frontend::parseTypeString(typeText, type)) {
    PyErr_Format(PyExc_TypeError, "eager mode knows no type %s", typeText.c_str());
    return {};
  }
  uint64_t bits = 0;
  DType storage = leaf.kind == Leaf::Kind::Array || leaf.kind == Leaf::Kind::Descriptor ? DType::Ptr
                                                                                        : element(leaf.element).storage;
  if (!argumentBits(leaf, storage, bits)) return {};
  PointerOrigin origin;
  if (type.pointer) origin = {session_.context.launch, leaf.buffer};
  return frontend::makeTensor(eagerScalar(type, bits, origin));
}

PyRef Converter::tuple(PyObject* value) {
  Py_ssize_t size = PySequence_Size(value);
  std::vector<PyRef> items;
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyRef item = PyRef::steal(PySequence_GetItem(value, i));
    PyRef converted = item ? convert(item.get()) : PyRef();
    if (!converted) return {};
    items.push_back(std::move(converted));
  }
  PyRef result = frontend::makeTuple(items);
  if (result && !PyList_Check(value) && Py_TYPE(value) != &PyTuple_Type)
    if (PyRef make = PyRef::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(value)), "_make")))
      return PyRef::steal(PyObject_CallFunctionObjArgs(make.get(), result.get(), nullptr));
  PyErr_Clear();
  return result;
}

PyRef Converter::descriptor(PyObject* value) {
  const Leaf& base = session_.call.leaves[next_++];
  PyRef pointer = tensor(base, std::string("*") + element(base.element).typeName);
  PyRef block = PyRef::steal(PyObject_GetAttr(value, names::blockShape()));
  Py_ssize_t rank = block ? PySequence_Size(block.get()) : -1;
  if (!pointer || rank < 0) return {};
  frontend::Type type = frontend::tensorValue(pointer.get()).type.pointee();
  type.descriptor = true;
  for (Py_ssize_t d = 0; d < rank; ++d) {
    PyRef extent = PyRef::steal(PySequence_GetItem(block.get(), d));
    PyRef number = PyRef::steal(extent ? PyNumber_Index(extent.get()) : nullptr);
    if (!number) return {};
    type.shape.push_back(PyLong_AsLongLong(number.get()));
  }
  llvm::SmallVector<frontend::Value> operands{frontend::tensorValue(pointer.get())};
  PyRef tuples[2];
  for (PyRef& made : tuples) {
    std::vector<PyRef> numbers;
    for (Py_ssize_t d = 0; d < rank; ++d) {
      const Leaf& leaf = session_.call.leaves[next_++];
      PyRef number = tensor(leaf, element(leaf.element).typeName);
      if (!number) return {};
      operands.push_back(frontend::tensorValue(number.get()));
      numbers.push_back(std::move(number));
    }
    if (!(made = frontend::makeTuple(numbers))) return {};
  }
  frontend::Builder& builder = eagerBuilder();
  llvm::SmallVector<mlir::NamedAttribute> attributes{frontend::segments(builder, {1, int32_t(rank), int32_t(rank)})};
  if (base.padsWithNan) attributes.push_back(frontend::integer(builder, "padding", int64_t(tt::Padding::NaN)));
  if (base.roundsToTf32) attributes.push_back(frontend::unit(builder, "tt.round_f32_to_tf32"));
  frontend::Value handle = builder.create1("tt.make_tensor_descriptor", operands, type, attributes);
  return handle ? frontend::makeDescriptor(handle, tuples[0].get(), tuples[1].get()) : PyRef();
}

PyRef Converter::convert(PyObject* value) {
  const TypeFacts& facts = factsOf(value);
  switch (facts.kind) {
  case ObjectKind::None: return frontend::makeConstexpr(value);
  case ObjectKind::JitFunction:
  case ObjectKind::Constexpr: return PyRef::borrow(value);
  case ObjectKind::Tuple: return tuple(value);
  case ObjectKind::Descriptor: return descriptor(value);
  default: break;
  }
  const int one = isCompiledAsOne(*parameter_, value);
  if (one < 0) return {};
  if (one) return frontend::makeConstexpr(PyRef::steal(PyLong_FromLong(1)).get());
  const Leaf& leaf = session_.call.leaves[next_++];
  if (leaf.kind == Leaf::Kind::Array && parameter_->annotatedType)
    return tensor(leaf, std::string(utf8(parameter_->annotatedType.get())));
  std::string prefix = leaf.kind != Leaf::Kind::Array ? "" : parameter_->isConst ? "*k" : "*";
  return tensor(leaf, prefix + element(leaf.element).typeName);
}

/// arguments(): a dict of language values, one per parameter.
PyObject* arguments(PyObject* self, PyObject*) {
  Session& session = sessionOf(self);
  frontend::Builder::Scope scope(&eagerBuilder());
  PyRef dict = PyRef::steal(PyDict_New());
  Converter converter(session);
  for (size_t i = 0; dict && i < session.parameters.size(); ++i) {
    PyRef value = converter.argument(i);
    if (!value || PyDict_SetItem(dict.get(), session.parameters[i].name.get(), value.get()) < 0) return nullptr;
  }
  return dict.release();
}

/// fork(wait): a session for another thread of the same launch. `wait(wrote, operation)` is called while one of its
/// programs waits for another.
PyObject* forkSession(PyObject* self, PyObject* wait) {
  const Session& from = sessionOf(self);
  PyRef other = PyRef::steal(PyType_GenericAlloc(sessionType, 0));
  if (!other) return nullptr;
  auto session = std::make_unique<Session>();
  session->call.leaves = from.call.leaves;
  session->call.buffers = from.call.buffers;
  session->context.options = from.context.options;
  session->context.launch = from.context.launch;
  session->context.kernel = from.context.kernel;
  session->context.grid = from.context.grid;
  session->context.buffers = from.context.buffers;
  session->context.origins = from.context.origins;
  session->context.wait.handOver = wait == Py_None ? PyRef() : PyRef::borrow(wait);
  reinterpret_cast<SessionObject*>(other.get())->session = session.release();
  return other.release();
}

/// observe(observer): operations of this session's programs that touch memory are told to it (EagerObserver.h).
PyObject* observe(PyObject* self, PyObject* observer) {
  sessionOf(self).context.observer = observer == Py_None ? PyRef() : PyRef::borrow(observer);
  return PyRef::borrow(Py_None).release();
}

/// buffers(): the launch's memory, as tuples (name, first byte, one past the last, both for the argument's view).
PyObject* buffers(PyObject* self, PyObject*) {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const Buffer& buffer : sessionOf(self).context.buffers) {
    PyRef row = PyRef::steal(list ? Py_BuildValue("sKKKK", buffer.name.c_str(), (unsigned long long)buffer.begin,
                                                  (unsigned long long)buffer.end, (unsigned long long)buffer.viewBegin,
                                                  (unsigned long long)buffer.viewEnd)
                                  : nullptr);
    if (!row || PyList_Append(list.get(), row.get()) < 0) return nullptr;
  }
  return list.release();
}

/// enter(x, y, z): language operations on this thread now belong to that program.
PyObject* enter(PyObject* self, PyObject* args) {
  Session& session = sessionOf(self);
  if (session.scope) {
    PyErr_SetString(PyExc_RuntimeError, "a program of this launch is running already");
    return nullptr;
  }
  if (!PyArg_ParseTuple(args, "iii:enter", &session.context.program[0], &session.context.program[1],
                        &session.context.program[2]))
    return nullptr;
  session.context.wait.wrote = false;
  session.context.wait.looks.clear();
  session.outer = setEagerContext(&session.context);
  session.scope.emplace(&eagerBuilder());
  return PyRef::borrow(Py_None).release();
}

/// set_options(dict): options of the compilation that change what operations mean (kernels/options.py).
PyObject* setOptions(PyObject* self, PyObject* dict) {
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "options are a dict");
    return nullptr;
  }
  return readSemanticOptions(dict, sessionOf(self).context.options) ? PyRef::borrow(Py_None).release() : nullptr;
}

PyObject* leave(PyObject* self, PyObject*) {
  Session& session = sessionOf(self);
  if (session.scope) {
    session.scope.reset();
    setEagerContext(session.outer);
  }
  return PyRef::borrow(Py_None).release();
}

/// run_compiled(module, first, last): runs programs first .. last - 1 (linear ids, x fastest) of a compiled module.
PyObject* runCompiled(PyObject* self, PyObject* args) {
  Session& session = sessionOf(self);
  PyObject* module;
  long long first, last;
  if (!PyArg_ParseTuple(args, "OLL:run_compiled", &module, &first, &last)) return nullptr;
  std::shared_ptr<const interp::Program> program = programOf(module);
  if (!program) return nullptr;
  std::vector<int64_t> programs;
  for (long long id = first; id < last; ++id) programs.push_back(id);
  if (!programs.empty() && !launchCall(session.context.kernel, *program, session.call, session.context.grid, programs))
    return nullptr;
  return PyRef::borrow(Py_None).release();
}

/// failed(): what a debugger looks at after the error belongs to this session's program, while the session lives.
PyObject* failed(PyObject* self, PyObject*) {
  Session& session = sessionOf(self);
  session.context.wait.handOver = PyRef();
  session.context.observer = PyRef();
  setFailedContext(&session.context);
  return PyRef::borrow(Py_None).release();
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyRef::steal(leave(self, nullptr));
  dropFailedContext(&sessionOf(self).context);
  delete reinterpret_cast<SessionObject*>(self)->session;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  PyRef::steal(reinterpret_cast<PyObject*>(type)); // instances of heap types hold their type
}

PyMethodDef kMethods[] = {
    {"arguments", arguments, METH_NOARGS, "The launch's arguments as values of the language, by parameter name."},
    {"fork", forkSession, METH_O,
     "fork(wait): a session for programs of this launch on one thread, which wait by wait(), if it is not None."},
    {"observe", observe, METH_O, "observe(observer): it is told of this session's accesses to memory; None ends that."},
    {"buffers", buffers, METH_NOARGS, "The launch's memory: (name, begin, end, begin and end of the view)."},
    {"enter", enter, METH_VARARGS, "enter(x, y, z): operations on this thread belong to that program until leave()."},
    {"failed", failed, METH_NOARGS, "After an error: debuggers at the prompt go on to see this session's program."},
    {"set_options", setOptions, METH_O, "set_options(dict): the launch's options, as parse_options gives them."},
    {"leave", leave, METH_NOARGS, "Ends what enter() began."},
    {"run_compiled", runCompiled, METH_VARARGS,
     "run_compiled(module, first, last): runs a range of programs compiled."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot kSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)}, {Py_tp_methods, kMethods}, {0, nullptr}};
PyType_Spec kSpec = {"tiletwin._C.EagerSession", sizeof(SessionObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

} // namespace

int addEagerSession(PyObject* module) {
  sessionType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kSpec));
  return sessionType ? PyModule_AddType(module, sessionType) : -1;
}

PyRef makeEagerSession(const std::string& kernel, const std::vector<Parameter>& parameters, const Call& call,
                       const std::array<int32_t, 3>& grid) {
  PyRef self = PyRef::steal(PyType_GenericAlloc(sessionType, 0));
  if (!self) return {};
  static uint64_t launches = 0; // under the GIL
  auto session = std::make_unique<Session>();
  session->context.launch = ++launches;
  session->parameters = parameters;
  for (PyObject* value : call.values) session->values.push_back(PyRef::borrow(value));
  session->call = call;
  session->call.options.clear();
  session->context.kernel = kernel;
  session->context.grid = grid;
  session->context.buffers = call.buffers;
  session->context.origins.resize(call.buffers.size());
  for (const Leaf& leaf : call.leaves)
    if (leaf.buffer >= 0) session->context.origins[size_t(leaf.buffer)] = leaf.bits;
  reinterpret_cast<SessionObject*>(self.get())->session = session.release();
  return self;
}

} // namespace tiletwin::python
