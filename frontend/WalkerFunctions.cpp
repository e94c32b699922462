// frontend/WalkerFunctions.cpp -- from a jit function to a tt.func: parameters, specialization, calls (rules
// 56, 63 to 66). A jit function is emitted once per list of argument structures; compile-time arguments are part of
// that list.
#include "frontend/Builtins.h"
#include "frontend/PackageObject.h"
#include "frontend/Walker.h"
#include "llvm/ADT/ScopeExit.h"

namespace tiletwin::frontend {
namespace {

PyObject* internedCopy(PyObject* name) {
  PyObject* text = PyRef::borrow(name).release();
  PyUnicode_InternInPlace(&text); // one reference is kept: names are few and shared
  return text;
}

void readNames(Ast parameters, llvm::SmallVectorImpl<PyObject*>& names) {
  for (Ast parameter : itemsOf(parameters)) names.push_back(internedCopy(parameter.arg()));
}

/// "x, y, *rest, scale", for messages.
std::string parametersOf(const FunctionInfo& info) {
  std::string text;
  auto add = [&](const std::string& name) { text += (text.empty() ? "" : ", ") + name; };
  for (PyObject* name : info.positional) add(stringOf(name));
  if (info.variadic) add("*" + stringOf(info.variadic));
  for (PyObject* name : info.keywordOnly) add(stringOf(name));
  return text.empty() ? "nothing" : text;
}

constexpr int kMostNestedCalls = 200; // each takes stack of the compiling thread

std::string lastPart(llvm::StringRef dotted) {
  return dotted.rsplit('.').second.empty() ? dotted.str() : dotted.rsplit('.').second.str();
}

} // namespace

Walker::Walker(ModuleBuilder& builder, std::shared_ptr<FunctionInfo> info)
    : builder_(builder), info_(std::move(info)) {}

static mlir::Location placeIn(mlir::StringAttr file, Ast node) {
  return mlir::FileLineColLoc::get(file, PyLong_AsLong(node.lineno()), PyLong_AsLong(node.col_offset()) + 1);
}

mlir::Location Walker::locationOf(Ast node) const {
  mlir::Location place = placeIn(info_->fileAttr, node);
  return assigning_ ? namedPlace(stringOf(assigning_), place) : place;
}

SourcePlace Walker::place(Ast node) const {
  SourcePlace result;
  result.file = info_->file;
  result.functionLine = info_->firstLine;
  const ErrorKept kept;                          // one may be set, which attribute access must not see
  if (Ast line = node ? node.lineno() : Ast()) { // parts of a comprehension have none
    result.line = PyLong_AsLong(line);
    result.column = PyLong_AsLong(node.col_offset());
    Py_ssize_t index = result.line - info_->firstLine;
    if (info_->sourceLines && PyList_Check(info_->sourceLines.get()) && index >= 0 &&
        index < PyList_Size(info_->sourceLines.get()))
      result.sourceLine = PyRef::borrow(PyList_GetItem(info_->sourceLines.get(), index));
  }
  return result;
}

Raised Walker::refuse(Ast node, const llvm::Twine& message, ErrorClass kind) {
  SourcePlace where = node ? place(node) : SourcePlace();
  if (where.line) {
    raiseAt(where, message.str(), kind);
    return raised();
  }
  // No place of its own: the expression being walked gives it one.
  PyRef cls = packageObject(kind == ErrorClass::Unsupported ? "UnsupportedLanguageConstruct" : "CompilationError");
  return cls ? raise(cls.get(), message) : raised();
}

std::shared_ptr<FunctionInfo> Walker::readFunction(ModuleBuilder& builder, PyObject* function) {
  std::shared_ptr<FunctionInfo>& slot = builder.functions().infos[function];
  if (slot) return slot;
  mlir::MLIRContext* context = builder.context();
  auto info = std::make_shared<FunctionInfo>(mlir::UnknownLoc::get(context));
  info->function = PyRef::borrow(function);
  PyRef node = attribute(function, "ast");
  if (!node) return nullptr; // the source was not found, or is no def: no further question may hide why
  PyRef file = attribute(function, "file"), mangled = attribute(function, "mangled_name"),
        noinlineFlag = attribute(function, "noinline"), firstLine = attribute(function, "first_line");
  info->globals = attribute(function, "globals");
  info->defaults = attribute(function, "defaults");
  info->sourceLines = attribute(function, "source_lines");
  info->constexprs = attribute(function, "constexprs");
  if (!file || !mangled || !noinlineFlag || !firstLine || !info->globals || !info->defaults || !info->sourceLines ||
      !info->constexprs)
    return nullptr;
  if (typeName(node.get()) == "Module") {
    node = PyRef::borrow(PyList_GetItem(Ast(node.get()).body(), 0));
    if (!node) return nullptr;
  }
  info->node = node;
  info->file = stringOf(file.get());
  info->fileAttr = mlir::StringAttr::get(context, info->file);
  info->mangledName = stringOf(mangled.get());
  info->name = lastPart(info->mangledName);
  info->firstLine = PyLong_AsLong(firstLine.get());
  info->noinlineFlag = PyObject_IsTrue(noinlineFlag.get()) == 1;
  const Ast parameters = Ast(node.get()).args();
  if (!parameters || PyErr_Occurred()) return nullptr;
  info->location = placeIn(info->fileAttr, node.get());
  if (PyList_Check(info->sourceLines.get()))
    for (PyObject* line : itemsOf(info->sourceLines)) info->hasWalrus |= utf8(line).find(":=") != std::string::npos;
  readNames(parameters.posonlyargs(), info->positional);
  readNames(parameters.args(), info->positional);
  readNames(parameters.kwonlyargs(), info->keywordOnly);
  if (!parameters.kwarg().isNone()) {
    raiseNotImplemented(info->name + "(**kwargs) is not supported in jit functions: name the parameters");
    return nullptr;
  }
  if (!parameters.vararg().isNone()) info->variadic = internedCopy(parameters.vararg().arg());
  // The look-ups above may have moved the table.
  builder.functions().infos[function] = info;
  return info;
}

bool Walker::bindParameters(const FunctionInfo& info, const Arguments& arguments, const Keywords& keywords,
                            Locals& bound) {
  llvm::SmallVector<PyRef> extra;
  if (arguments.size() > info.positional.size() && !info.variadic)
    return raiseType(info.name + "() takes " + llvm::Twine(info.positional.size()) + " positional arguments, got " +
                     llvm::Twine(arguments.size()) + "; it takes " + parametersOf(info));
  for (size_t i = info.positional.size(); i < arguments.size(); ++i) extra.push_back(arguments[i]);
  llvm::SmallVector<bool> used(keywords.size(), false);
  auto bind = [&](PyObject* name, PyRef given) {
    for (auto [i, keyword] : llvm::enumerate(keywords)) {
      if (keyword.first != name && PyUnicode_Compare(keyword.first, name) != 0) continue;
      if (given) return bool(raiseType(info.name + "() got argument '" + stringOf(name) + "' twice"));
      given = keyword.second;
      used[i] = true;
    }
    if (!given)
      if (PyObject* value = PyDict_GetItemWithError(info.defaults.get(), name)) given = wrapConstant(value);
    if (!given)
      return bool(
          raiseType(info.name + "() is missing the argument '" + stringOf(name) + "'; it takes " + parametersOf(info)));
    bound.set(name, parameterValue(given.get()));
    return true;
  };
  for (auto [i, name] : llvm::enumerate(info.positional))
    if (!bind(name, i < arguments.size() ? arguments[i] : PyRef())) return false;
  if (info.variadic) {
    for (PyRef& value : extra) value = parameterValue(value.get());
    PyRef tuple = makeTuple(extra);
    if (!tuple) return false;
    bound.set(info.variadic, std::move(tuple));
  }
  for (PyObject* name : info.keywordOnly)
    if (!bind(name, {})) return false;
  for (auto [i, keyword] : llvm::enumerate(keywords)) {
    std::string text = stringOf(keyword.first);
    if (!used[i] && text != "_semantic" && text != "_builder" && text != "_generator")
      return raiseType(info.name + "() got an unexpected keyword argument '" + text + "'; it takes " +
                       parametersOf(info));
  }
  return true;
}

mlir::Operation* Walker::createFunction(llvm::StringRef name, bool isPublic, llvm::ArrayRef<mlir::Type> argumentTypes,
                                        llvm::ArrayRef<mlir::Location> argumentLocations,
                                        llvm::ArrayRef<mlir::Attribute> argumentAttributes) {
  mlir::OpBuilder& op = builder_.op();
  op.setInsertionPointToEnd(builder_.module().getBody());
  mlir::Block* entry = nullptr;
  std::unique_ptr<mlir::Region> region = regionWithBlock(entry);
  entry->addArguments(argumentTypes, argumentLocations);
  const bool takesBlock = llvm::any_of(argumentTypes, llvm::IsaPred<mlir::RankedTensorType>);
  llvm::SmallVector<mlir::NamedAttribute> attributes{
      op.getNamedAttr("sym_name", op.getStringAttr(name)),
      op.getNamedAttr("sym_visibility", op.getStringAttr(isPublic ? "public" : "private")),
      op.getNamedAttr("function_type", mlir::TypeAttr::get(op.getFunctionType(argumentTypes, {}))),
      op.getNamedAttr("noinline", op.getBoolAttr(info_->noinlineFlag && !isPublic && !takesBlock)),
  };
  if (takesNotes()) attributes.push_back(op.getNamedAttr("tt.python_name", op.getStringAttr(info_->name)));
  if (!argumentAttributes.empty())
    attributes.push_back(op.getNamedAttr("arg_attrs", op.getArrayAttr(argumentAttributes)));
  builder_.setLocation(info_->location);
  return builder_.createRaw("tt.func", {}, {}, attributes, region);
}

bool Walker::walkBody(mlir::Operation* function, Structure& result, bool isKernel) {
  functionRegion_ = &function->getRegion(0);
  builder_.op().setInsertionPointToEnd(&functionRegion_->front());
  if (takesNotes() && !noteNames()) return false; // parameters
  return executeAll(Ast(info_->node.get()).body()) && finishReturns(function, result, isKernel);
}

bool Walker::emitPrivate(EmittedFunction& emitted, const Locals& bound) {
  llvm::SmallVector<Value> leaves;
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (size_t i = 0; i < bound.entries.size(); ++i) {
    leafNames(emitted.arguments[i], stringOf(bound.entries[i].first), names);
    Structure structure;
    if (!takeApart(bound.entries[i].second.get(), structure, &leaves)) return false;
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    types.push_back(leaves[i].ir.getType());
    locations.push_back(namedPlace(names[i], info_->location));
  }
  mlir::Operation* function = createFunction(emitted.symbol, false, types, locations, {});
  mlir::Block& entry = function->getRegion(0).front();
  for (size_t i = 0; i < leaves.size(); ++i) leaves[i].ir = entry.getArgument(i);
  llvm::ArrayRef<Value> rest = leaves;
  for (size_t i = 0; i < bound.entries.size(); ++i) {
    PyRef value = putTogether(emitted.arguments[i], rest);
    if (!value) return false;
    locals_.set(bound.entries[i].first, std::move(value));
  }
  return walkBody(function, emitted.result, false);
}

PyRef Walker::callJit(ModuleBuilder& builder, PyObject* function, const Arguments& arguments,
                      const Keywords& keywords) {
  std::shared_ptr<FunctionInfo> info = readFunction(builder, function);
  Locals bound;
  if (!info || !bindParameters(*info, arguments, keywords, bound)) return {};
  std::vector<Structure> structures(bound.entries.size());
  llvm::SmallVector<Value> leaves;
  std::string mangled = info->mangledName + "__";
  for (size_t i = 0; i < structures.size(); ++i) {
    if (!takeApart(bound.entries[i].second.get(), structures[i], &leaves)) return {};
    mangled += (i ? "_" : "") + structures[i].mangled();
    if (info->noinlineFlag && structures[i].kind == Structure::Kind::Tensor && structures[i].type.isBlock()) {
      std::string what = info->name + "() is marked noinline and can take scalars only, but " +
                         stringOf(bound.entries[i].first) + " is a block of type " + structures[i].type.str();
      if (builder.options().interpreted) { // Triton's interpreter takes it, its compiler does not
        if (PyErr_WarnEx(PyExc_UserWarning, (what + ": GPUs refuse that; here it is inlined").c_str(), 1) < 0)
          return {};
        continue;
      }
      PyRef cls = packageObject("UnsupportedLanguageConstruct");
      return cls ? raise(cls.get(), what + ": pass pointers, or drop noinline") : raised();
    }
  }
  std::vector<std::unique_ptr<EmittedFunction>>& sameName = builder.functions().byMangledName[mangled];
  EmittedFunction* emitted = nullptr;
  for (const std::unique_ptr<EmittedFunction>& candidate : sameName)
    if (candidate->function.get() == function && candidate->arguments == structures) emitted = candidate.get();
  if (emitted && emitted->active)
    return raise(PyExc_RecursionError,
                 info->name + "() calls itself: recursion is not supported in kernels, write a loop");
  int& depth = builder.functions().depth;
  if (!emitted && depth >= kMostNestedCalls)
    return raise(PyExc_RecursionError,
                 "calls of jit functions nest more than " + llvm::Twine(kMostNestedCalls) + " deep at " + info->name +
                     "(). If it calls itself with other compile-time arguments, put what follows its last "
                     "`if` under `else`: statements after an `if` that returns are compiled too");
  if (!emitted) {
    auto made = std::make_unique<EmittedFunction>();
    emitted = made.get();
    emitted->function = PyRef::borrow(function);
    emitted->arguments = std::move(structures);
    emitted->symbol = sameName.empty() ? mangled : mangled + "_" + std::to_string(sameName.size());
    sameName.push_back(std::move(made));
    mlir::OpBuilder::InsertionGuard guard(builder.op());
    mlir::Location here = builder.location();
    emitted->active = true;
    ++depth;
    Walker callee(builder, info);
    bool done = callee.emitPrivate(*emitted, bound);
    --depth;
    emitted->active = false;
    builder.setLocation(here);
    if (!done) {
      emitted->function = {}; // never matches again: the module is given up anyway
      return {};
    }
  }
  llvm::SmallVector<Type> types;
  leafTypes(emitted->result, types);
  mlir::NamedAttribute callee =
      builder.op().getNamedAttr("callee", mlir::FlatSymbolRefAttr::get(builder.context(), emitted->symbol));
  mlir::ValueRange results =
      builder.createRaw("tt.call", irOf(leaves), irOf(types, builder.context()), {callee})->getResults();
  return fromTensors(emitted->result, results);
}

PyRef fromTensors(const Structure& structure, mlir::ValueRange& tensors) {
  llvm::SmallVector<Type> types;
  leafTypes(structure, types);
  llvm::SmallVector<Value> leaves = runTimeValues(types, tensors.take_front(types.size()));
  tensors = tensors.drop_front(types.size());
  return putAllTogether(structure, leaves);
}

} // namespace tiletwin::frontend
