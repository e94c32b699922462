// python/src/EagerSession.cpp -- see EagerSession.h.
#include "EagerSession.h"
#include "Compile.h"
#include "Context.h"
#include "EagerBuilder.h"
#include "Elements.h"
#include "Interned.h"
#include "Parts.h"
#include "ProgramLaunch.h"
#include "frontend/Emit.h"
#include "frontend/PyFunctions.h"
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

  void leave() {
    if (!scope) return;
    scope.reset();
    setEagerContext(outer);
  }
  ~Session() {
    leave();
    dropFailedContext(&context);
  }
};

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
  std::vector<PyRef> items;
  for (PyObject* item : itemsOf(value)) {
    items.push_back(convert(item));
    if (!items.back()) return {};
  }
  return likeItsClass(value, frontend::makeTuple(items));
}

PyRef Converter::descriptor(PyObject* value) {
  const Leaf& base = session_.call.leaves[next_++];
  PyRef pointer = tensor(base, std::string("*") + element(base.element).typeName);
  std::vector<int64_t> block;
  if (!pointer || !integersOf(attribute(value, names::blockShape()), block)) return {};
  const size_t rank = block.size();
  frontend::Type type = frontend::tensorValue(pointer.get()).type.pointee();
  type.descriptor = true;
  type.shape.assign(block.begin(), block.end());
  llvm::SmallVector<frontend::Value> operands{frontend::tensorValue(pointer.get())};
  PyRef tuples[2];
  for (PyRef& made : tuples) {
    std::vector<PyRef> numbers;
    for (size_t d = 0; d < rank; ++d) {
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

/// A dict of language values, one per parameter.
PyRef arguments(Session& session) {
  frontend::Builder::Scope scope(&eagerBuilder());
  PyRef dict = pyDict();
  Converter converter(session);
  for (size_t i = 0; dict && i < session.parameters.size(); ++i) {
    PyRef value = converter.argument(i);
    if (!value || PyDict_SetItem(dict.get(), session.parameters[i].name.get(), value.get()) < 0) return {};
  }
  return dict;
}

PyRef orNull(std::optional<PyObject*> object) { return object ? toPython(*object) : PyRef(); }

/// A session for another thread of the same launch. `wait(wrote, operation)` is called while one of its programs waits
/// for another.
PyRef forkSession(const Session& from, std::optional<PyObject*> wait) {
  PyRef other = Object<Session>::make();
  if (!other) return {};
  Session& session = Object<Session>::of(other.get());
  session.call.leaves = from.call.leaves;
  session.call.buffers = from.call.buffers;
  static_cast<EagerLaunch&>(session.context) = from.context;
  session.context.wait.handOver = orNull(wait);
  return other;
}

/// The observer hears of each access to memory that this session's programs make (EagerObserver.h).
void observe(Session& session, std::optional<PyObject*> observer) { session.context.observer = orNull(observer); }

/// The launch's memory, as tuples (name, first byte, one past the last, both for the argument's view).
PyRef buffers(const Session& session) {
  return pyList(session.context.buffers, [](const Buffer& buffer) {
    return pyTuple(buffer.name, buffer.begin, buffer.end, buffer.viewBegin, buffer.viewEnd);
  });
}

/// Language operations on this thread now belong to that program.
bool enter(Session& session, int x, int y, int z) {
  if (session.scope) {
    PyErr_SetString(PyExc_RuntimeError, "a program of this launch is running already");
    return false;
  }
  session.context.program = {x, y, z};
  session.context.wait.wrote = false;
  session.context.wait.looks.clear();
  session.outer = setEagerContext(&session.context);
  session.scope.emplace(&eagerBuilder());
  return true;
}

/// Options of the compilation that change what operations mean (kernels/options.py).
bool setOptions(Session& session, DictArgument options) {
  return readSemanticOptions(options.get(), session.context.options);
}

void leave(Session& session) { session.leave(); }

/// Runs programs first .. last - 1 (linear ids, x fastest) of a compiled module.
bool runCompiled(Session& session, PyObject* module, int64_t first, int64_t last) {
  std::shared_ptr<const interp::Program> program = programOf(module);
  if (!program) return false;
  std::vector<int64_t> programs;
  for (int64_t id = first; id < last; ++id) programs.push_back(id);
  return programs.empty() || launchCall(session.context.kernel, *program, session.call, session.context.grid, programs);
}

/// What a debugger looks at after the error belongs to this session's program, while the session lives.
void failed(Session& session) {
  session.context.wait.handOver = PyRef();
  session.context.observer = PyRef();
  setFailedContext(&session.context);
}

} // namespace

bool addEagerSession(PyObject* module) {
  return addType<Session>(
      module,
      {.name = "tiletwin._C.EagerSession",
       .doc = nullptr,
       .methods = {
           method<"arguments", arguments>("The launch's arguments as values of the language, by parameter name."),
           method<"fork", forkSession>("fork(wait): a session for programs of this launch on one thread, which wait by "
                                       "wait(), if it is not None."),
           method<"observe", observe>(
               "observe(observer): it hears of this session's accesses to memory; None ends that."),
           method<"buffers", buffers>("The launch's memory: (name, begin, end, begin and end of the view)."),
           method<"enter", enter>("enter(x, y, z): operations on this thread belong to that program until leave()."),
           method<"failed", failed>("After an error: debuggers at the prompt go on to see this session's program."),
           method<"set_options", setOptions>("set_options(dict): the launch's options, as parse_options gives them."),
           method<"leave", leave>("Ends what enter() began."),
           method<"run_compiled", runCompiled>(
               "run_compiled(module, first, last): runs a range of programs compiled.")}});
}

PyRef makeEagerSession(const std::string& kernel, const std::vector<Parameter>& parameters, const Call& call,
                       const std::array<int32_t, 3>& grid) {
  PyRef self = Object<Session>::make();
  if (!self) return {};
  static uint64_t launches = 0; // under the GIL
  Session& session = Object<Session>::of(self.get());
  session.context.launch = ++launches;
  session.parameters = parameters;
  for (PyObject* value : call.values) session.values.push_back(PyRef::borrow(value));
  session.call = call;
  session.call.options.clear();
  session.context.kernel = kernel;
  session.context.grid = grid;
  session.context.buffers = call.buffers;
  session.context.origins.resize(call.buffers.size());
  for (const Leaf& leaf : call.leaves)
    if (leaf.buffer >= 0) session.context.origins[size_t(leaf.buffer)] = leaf.bits;
  return self;
}

} // namespace tiletwin::python
