// python/src/EagerBuilder.cpp -- see EagerBuilder.h.
#include "EagerBuilder.h"
#include "Compile.h"
#include "Context.h"
#include "EagerObserver.h"
#include "LaunchHooks.h"
#include "RaiseTrap.h"
#include "frontend/EagerSupport.h"
#include "frontend/Frontend.h"
#include "frontend/ModuleBuilder.h"
#include "frontend/Semantic.h"
#include "ir/Passes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Verifier.h"
#include "runtime/FloatFormats.h"
#include "llvm/ADT/Hashing.h"
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace tiletwin::python {

using frontend::Builder;
using frontend::Scalar;
using frontend::Type;
using frontend::Value;

EagerValue::EagerValue(size_t size) : bytes(size) {
  size_t rounded = (std::max<size_t>(size, 8) + 63) / 64 * 64;
  data = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
  if (!data) throw std::bad_alloc();
  std::memset(data, 0, size < 64 ? rounded : 0);
}
EagerValue::~EagerValue() { std::free(data); }

DType storageOf(const Type& type) {
  if (type.pointer) return DType::Ptr;
  switch (type.scalar) {
  case Scalar::I1: return DType::I1;
  case Scalar::I8:
  case Scalar::U8: return DType::I8;
  case Scalar::I16:
  case Scalar::U16: return DType::I16;
  case Scalar::I32:
  case Scalar::U32: return DType::I32;
  case Scalar::I64:
  case Scalar::U64: return DType::I64;
  case Scalar::F8E5: return DType::F8E5M2;
  case Scalar::F8E4NV: return DType::F8E4M3FN;
  case Scalar::F8E4B15: return DType::F8E4M3B11FNUZ;
  case Scalar::F8E4B8: return DType::F8E4M3FNUZ;
  case Scalar::F8E5B16: return DType::F8E5M2FNUZ;
  case Scalar::F16: return DType::F16;
  case Scalar::BF16: return DType::BF16;
  case Scalar::F32: return DType::F32;
  case Scalar::F64: return DType::F64;
  case Scalar::Void: break;
  }
  return DType::I64;
}

size_t bytesOf(const Type& type) { return size_t(type.isBlock() ? type.numel() : 1) * sizeOf(storageOf(type)); }

Value allocate(const Type& type) {
  Value value;
  value.type = type;
  value.eager = std::make_shared<EagerValue>(bytesOf(type));
  return value;
}

int32_t bufferOf(const Value& pointer, const EagerContext* context) {
  const PointerOrigin& origin = evaluated(pointer).origin;
  return context && origin.launch == context->launch ? origin.buffer : interp::kNoArgument;
}

namespace {

thread_local EagerContext* currentContext = nullptr;
EagerContext* failedContext = nullptr; ///< of the last launch that failed, while its exception lives; under the GIL

/// Line and column, counted from 1, of what a frame executes; the column is 0 if the code does not say.
std::pair<int, int> positionIn(PyObject* frame, PyObject* code) {
  int line = PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame));
  PyRef last = attribute(frame, "f_lasti"), positions = callMethod(code, "co_positions");
  long instruction = last ? PyLong_AsLong(last.get()) / 2 : -1;
  PyRef at;
  for (long i = 0; positions && i <= instruction; ++i) at = PyRef::steal(PyIter_Next(positions.get()));
  PyObject* column = at && PyTuple_Check(at.get()) ? PyTuple_GetItem(at.get(), 2) : nullptr;
  int found = column && PyLong_Check(column) ? int(PyLong_AsLong(column)) + 1 : 0;
  PyErr_Clear();
  return {line, found};
}

/// The place in the user's file that is being executed: the innermost Python frame outside tiletwin.
bool userPlace(std::string& file, int& line, int& column) {
  PyRef frame = PyRef::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame && frame.get() != Py_None) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.get());
    PyRef code = PyRef::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    PyRef name = attribute(code, "co_filename");
    std::string_view path = utf8(name.get());
    if (path.find("/tiletwin/language/") == std::string_view::npos &&
        path.find("/tiletwin/runtime/") == std::string_view::npos) {
      file = std::string(path);
      std::tie(line, column) = positionIn(frame.get(), code.get());
      return true;
    }
    frame = attribute(frame, "f_back");
  }
  PyErr_Clear();
  return false;
}

/// One operation as a program: what a form (operation, types, attributes, regions) was planned to.
struct Form {
  std::shared_ptr<const interp::Program> program;
  llvm::SmallVector<Type> types; ///< of the results, where only the region knows them
};

/// A constant's bytes without a program: the most common operation of all, each with another attribute.
bool evaluateConstant(mlir::Attribute attribute, const Type& type, Value& out) {
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute)) {
    if (!dense.isSplat()) return false;
    attribute = dense.getSplatValue<mlir::Attribute>();
  }
  uint64_t bits;
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute))
    bits = integer.getValue().getRawData()[0];
  else if (auto real = mlir::dyn_cast<mlir::FloatAttr>(attribute))
    bits = real.getValue().bitcastToAPInt().getRawData()[0];
  else
    return false;
  if (type.isBool()) bits &= 1;
  out = allocate(type);
  size_t size = sizeOf(storageOf(type)), count = bytesOf(type) / size;
  std::byte* to = const_cast<std::byte*>(evaluated(out).data);
  for (size_t i = 0; i < count; ++i) std::memcpy(to + i * size, &bits, size);
  return true;
}

class EagerBuilder final : public Builder {
public:
  mlir::MLIRContext* context() override { return &sharedContext(); }
  bool isEager() const override { return true; }
  const frontend::SemanticOptions& options() const override {
    static const frontend::SemanticOptions defaults;
    return currentContext ? currentContext->options : defaults;
  }
  void setLocation(mlir::Location) override {}
  mlir::Location location() override { return mlir::UnknownLoc::get(context()); }
  bool create(llvm::StringRef name, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> resultTypes,
              llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::SmallVectorImpl<Value>& results,
              const frontend::RegionSpec* region) override;

private:
  /// The module with one function that does the operation on its arguments. Null with an error set.
  mlir::OwningOpRef<mlir::ModuleOp> buildModule(llvm::StringRef name, llvm::ArrayRef<Value> operands,
                                                llvm::ArrayRef<Type> resultTypes,
                                                llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                                const frontend::RegionSpec* region,
                                                llvm::SmallVectorImpl<Type>& actualTypes);
  std::shared_ptr<const interp::Program> plan(mlir::ModuleOp module, llvm::StringRef name, bool simplify);
  bool run(const interp::Program& program, llvm::StringRef name, bool isVolatile, llvm::ArrayRef<Value> operands,
           llvm::ArrayRef<Type> types, llvm::SmallVectorImpl<Value>& results);

  size_t numberOf(const frontend::SemanticOptions& options) {
    auto known = std::find(optionSets_.begin(), optionSets_.end(), options);
    if (known != optionSets_.end()) return size_t(known - optionSets_.begin());
    optionSets_.push_back(options);
    return optionSets_.size() - 1;
  }

  std::unordered_map<std::string, Form> forms_; // under the GIL
  /// Options that forms of regions were made with; their numbers stand in keys.
  std::vector<frontend::SemanticOptions> optionSets_;
};

constexpr size_t kMostForms = 8192; // a bound for kernels that make constants of everything

/// Descriptors are given as what they are made of.
void flatten(llvm::ArrayRef<Value> operands, llvm::SmallVectorImpl<Value>& out) {
  for (const Value& operand : operands) {
    const EagerValue& value = evaluated(operand);
    if (value.makers.empty())
      out.push_back(operand);
    else
      out.append(value.makers.begin(), value.makers.end());
  }
}

mlir::OwningOpRef<mlir::ModuleOp> EagerBuilder::buildModule(llvm::StringRef name, llvm::ArrayRef<Value> operands,
                                                            llvm::ArrayRef<Type> resultTypes,
                                                            llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                                            const frontend::RegionSpec* region,
                                                            llvm::SmallVectorImpl<Type>& actualTypes) {
  mlir::MLIRContext* ctx = context();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(ctx));
  frontend::ModuleBuilder builder(*module, options());
  Builder::Scope scope(&builder); // the regions' bodies use the builder of the thread
  mlir::OpBuilder& op = builder.op();
  llvm::SmallVector<Value> flat;
  flatten(operands, flat);
  llvm::SmallVector<mlir::Type> types;
  for (const Value& value : flat) types.push_back(value.type.toMlir(ctx));
  op.setInsertionPointToEnd(module->getBody());
  mlir::Block* entry = nullptr;
  std::unique_ptr<mlir::Region> body = frontend::regionWithBlock(entry);
  for (mlir::Type type : types) entry->addArgument(type, builder.location());
  mlir::NamedAttribute functionAttributes[] = {
      op.getNamedAttr("sym_name", op.getStringAttr("eager")),
      op.getNamedAttr("sym_visibility", op.getStringAttr("public")),
      op.getNamedAttr("function_type", mlir::TypeAttr::get(op.getFunctionType(types, {}))),
      op.getNamedAttr("noinline", op.getBoolAttr(false))};
  mlir::Operation* function = builder.createRaw("tt.func", {}, {}, functionAttributes, body);
  op.setInsertionPointToEnd(entry);
  llvm::SmallVector<Value> arguments;
  unsigned next = 0;
  auto argument = [&](const Type& type) { return frontend::runTimeValue(type, entry->getArgument(next++)); };
  for (const Value& operand : operands) {
    const EagerValue& value = evaluated(operand);
    if (value.makers.empty()) {
      arguments.push_back(argument(operand.type));
      continue;
    }
    llvm::SmallVector<Value> parts, made;
    for (const Value& maker : value.makers) parts.push_back(argument(maker.type));
    llvm::SmallVector<mlir::NamedAttribute> makerAttributes(value.makerAttributes.getValue());
    if (!builder.create("tt.make_tensor_descriptor", parts, {operand.type}, makerAttributes, made)) return {};
    arguments.push_back(made.front());
  }
  llvm::SmallVector<Value> made;
  if (!builder.create(name, arguments, resultTypes, attributes, made, region)) return {};
  for (const Value& value : made) actualTypes.push_back(value.type);
  const llvm::SmallVector<mlir::Value> returned = frontend::irOf(made);
  op.setInsertionPointToEnd(entry);
  builder.createRaw("tt.return", returned, {});
  function->setAttr("function_type",
                    mlir::TypeAttr::get(op.getFunctionType(types, mlir::ValueRange(returned).getTypes())));
  return module;
}

std::shared_ptr<const interp::Program> EagerBuilder::plan(mlir::ModuleOp module, llvm::StringRef name, bool simplify) {
  DiagnosticCapture capture(*context());
  std::shared_ptr<const interp::Program> program;
  interp::PlanOptions options;
  if (!readPlanOptions(options)) return nullptr;
  if (mlir::succeeded(mlir::verify(module)) && (!simplify || mlir::succeeded(tt::makeTtir(module, true))))
    program = interp::planModule(module, "eager", options);
  if (!program) {
    std::string file;
    int line = 0, column = 0;
    userPlace(file, line, column);
    capture.raiseAt("evaluating " + name.str(), file, line, column);
  }
  return program;
}

/// What an operation's resulting pointers were made for: as its operands, if those agree. What memory held comes from no
/// argument, and neither does what was a number.
PointerOrigin originOfResults(llvm::StringRef name, llvm::ArrayRef<Value> operands) {
  std::optional<PointerOrigin> common;
  for (const Value& operand : operands) {
    if (!operand.type.pointer || touchesMemory(name)) continue;
    const PointerOrigin& origin = evaluated(operand).origin;
    if (common && *common != origin) return {};
    common = origin;
  }
  return common.value_or(PointerOrigin());
}

/// A number for an operation, its operands and its results: what it saw.
uint64_t lookOf(const interp::Program& program, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Value> results) {
  llvm::hash_code hash = llvm::hash_value(&program);
  for (llvm::ArrayRef<Value> values : {operands, results})
    for (const Value& value : values) {
      const EagerValue& tile = evaluated(value);
      hash = llvm::hash_combine(hash, llvm::StringRef(reinterpret_cast<const char*>(tile.data), tile.bytes));
    }
  return uint64_t(size_t(hash)) | 1;
}

/// Before a look: what it is at.
void noteMemory(EagerWait& wait, const Value& pointer) {
  std::memcpy(&wait.address, evaluated(pointer).data, sizeof wait.address);
  wait.isTile = pointer.type.isBlock();
  wait.bytes = uint32_t(sizeOf(storageOf(pointer.type.pointee())));
}

bool EagerBuilder::run(const interp::Program& program, llvm::StringRef name, bool isVolatile,
                       llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> types,
                       llvm::SmallVectorImpl<Value>& results) {
  llvm::SmallVector<Value> flat;
  flatten(operands, flat);
  llvm::SmallVector<uint64_t, 8> bits, addresses;
  for (const Value& value : flat)
    bits.push_back(value.type.isBlock() ? reinterpret_cast<uint64_t>(evaluated(value).data) : scalarBits(value));
  llvm::SmallVector<Value> made;
  const PointerOrigin origin = originOfResults(name, operands);
  for (const Type& type : types) {
    made.push_back(allocate(type));
    if (type.pointer) static_cast<EagerValue*>(made.back().eager.get())->origin = origin;
    addresses.push_back(reinterpret_cast<uint64_t>(evaluated(made.back()).data));
  }
  interp::LaunchParams params;
  params.arguments = {bits.data(), bits.size()};
  params.results = {addresses.data(), addresses.size()};
  params.numThreads = 1;
  params.programId = {0, 0, 0};
  EagerContext* const launch = eagerContext();
  llvm::SmallVector<int32_t, 8> buffers(flat.size(), interp::kNoArgument);
  if (launch) {
    params.grid = launch->grid;
    params.programId = launch->program;
    params.buffers = launch->buffers;
    for (size_t i = 0; i < flat.size(); ++i)
      if (flat[i].type.pointer) buffers[i] = bufferOf(flat[i], launch);
  }
  params.bufferOf = {buffers.data(), buffers.size()};
  std::string kernel = launch ? launch->kernel : "eager";
  LaunchHooks hooks(kernel);
  interp::Hooks callbacks;
  callbacks.print = hooks.hooks().print;
  callbacks.findBuffer = hooks.hooks().findBuffer;
  bool wrote = false;
  params.wrote = &wrote;
  const bool polls = launch && name == "tt.atomic_poll";
  // Others get to run before a time limit counts.
  if (launch && isLook(name)) noteMemory(launch->wait, operands[0]);
  if (polls && operands.size() > 2 && !handOver(launch->wait, name, launch->buffers)) return false;
  Trap trap = interp::launch(program, params, callbacks);
  while (polls && launch->wait.handOver && trap.kind == TrapKind::Deadlock) {
    if (!handOver(launch->wait, name, launch->buffers)) return false;
    trap = interp::launch(program, params, callbacks);
  }
  if (trap) {
    if (PyErr_Occurred()) return false; // printing failed
    if (trap.where.line == 0 && userPlace(trap.where.file, trap.where.line, trap.where.column)) {
      std::string column = trap.where.column ? ":" + std::to_string(trap.where.column) : "";
      trap.message = trap.where.file + ":" + std::to_string(trap.where.line) + column + ": " + trap.message;
    }
    raiseTrap(trap);
    return false;
  }
  results.append(made.begin(), made.end());
  if (!launch) return true;
  const bool isAtomic = name.starts_with("tt.atomic_");
  const uint64_t look = !wrote && !polls && isLook(name) ? lookOf(program, operands, made) : 0;
  return noteOperation(launch->wait, name, look, isAtomic || isVolatile, wrote, launch->buffers);
}

bool EagerBuilder::create(llvm::StringRef name, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Type> resultTypes,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::SmallVectorImpl<Value>& results,
                          const frontend::RegionSpec* region) {
  for (const Value& operand : operands)
    if (!operand.eager) {
      PyErr_SetString(PyExc_RuntimeError, "a value of a compiled kernel was used in eager mode");
      return false;
    }
  if (name == "arith.constant" && attributes.size() == 1) {
    Value constant;
    if (evaluateConstant(attributes[0].getValue(), resultTypes[0], constant)) {
      results.push_back(constant);
      return true;
    }
  }
  mlir::DictionaryAttr dictionary = mlir::DictionaryAttr::get(context(), attributes);
  if (name == "tt.make_tensor_descriptor") {
    Value descriptor;
    descriptor.type = resultTypes[0];
    auto value = std::make_shared<EagerValue>(0);
    value->makers.assign(operands.begin(), operands.end());
    value->makerAttributes = dictionary;
    descriptor.eager = value;
    results.push_back(descriptor);
    return true;
  }
  const char* numerics = std::getenv("TILETWIN_NUMERICS");
  std::string key = name.str() + '\0' + (numerics ? numerics : "");
  auto add = [&key](const void* pointer) { key.append(reinterpret_cast<const char*>(&pointer), sizeof pointer); };
  for (const Value& operand : operands) {
    add(operand.type.toMlir(context()).getAsOpaquePointer());
    if (const EagerValue& value = evaluated(operand); !value.makers.empty())
      add(value.makerAttributes.getAsOpaquePointer());
  }
  add(nullptr);
  for (const Type& type : resultTypes) add(type.toMlir(context()).getAsOpaquePointer());
  add(dictionary.getAsOpaquePointer());
  if (forms_.size() > kMostForms) forms_.clear();
  if (region) {
    const bool isKnown = dictionary.contains(frontend::kRegionIdentity);
    if (isKnown) { // what the function does depends on signs, which types of the IR do not have, and on the options
      for (const Value& operand : operands) key += operand.type.str();
      key += ' ' + std::to_string(numberOf(options()));
    }
    if (auto found = isKnown ? forms_.find(key) : forms_.end(); found != forms_.end()) {
      std::shared_ptr<const interp::Program> program = found->second.program;
      return run(*program, name, false, operands, llvm::SmallVector<Type>(found->second.types), results);
    }
    llvm::SmallVector<mlir::NamedAttribute> own;
    for (const mlir::NamedAttribute& attribute : attributes)
      if (attribute.getName() != frontend::kRegionIdentity) own.push_back(attribute);
    llvm::SmallVector<Type> types;
    mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(name, operands, resultTypes, own, region, types);
    if (!module) return false;
    if (!isKnown) // what the region does is known only once it has been built
      key = std::string("region ") + (numerics ? numerics : "") + ' ' + tt::printTtir(*module, false);
    Form& form = forms_[key];
    if (!form.program) form.program = plan(*module, name, true);
    if (!form.program) {
      forms_.erase(key);
      return false;
    }
    form.types = types;
    std::shared_ptr<const interp::Program> program = form.program;
    return run(*program, name, false, operands, types, results);
  }
  Form& form = forms_[key];
  if (!form.program) {
    llvm::SmallVector<Type> types;
    mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(name, operands, resultTypes, attributes, nullptr, types);
    if (!module) return false;
    form.program = plan(*module, name, false);
  }
  std::shared_ptr<const interp::Program> program = form.program;
  const bool isVolatile = dictionary.getAs<mlir::BoolAttr>("isVolatile") != nullptr;
  PyObject* const observer = currentContext ? currentContext->observer.get() : nullptr;
  if (!program || !observer || !touchesMemory(name))
    return program && run(*program, name, isVolatile, operands, resultTypes, results);
  return tellObserver(observer, name, operands, dictionary, nullptr) &&
         run(*program, name, isVolatile, operands, resultTypes, results) &&
         tellObserver(observer, name, operands, dictionary, &results);
}

} // namespace

Builder& eagerBuilder() {
  static auto& builder = *new EagerBuilder;
  return builder;
}

EagerContext* setEagerContext(EagerContext* context) { return std::exchange(currentContext, context); }
EagerContext* eagerContext() { return currentContext ? currentContext : failedContext; }
void setFailedContext(EagerContext* context) { failedContext = context; }
void dropFailedContext(const EagerContext* context) {
  if (failedContext == context) failedContext = nullptr;
}

Value eagerScalar(const Type& type, uint64_t bits, PointerOrigin origin) {
  Value value = allocate(type);
  static_cast<EagerValue*>(value.eager.get())->origin = origin;
  std::memcpy(const_cast<std::byte*>(evaluated(value).data), &bits, sizeOf(storageOf(type)));
  return value;
}

uint64_t scalarBits(const Value& value) {
  uint64_t bits = 0;
  std::memcpy(&bits, evaluated(value).data, sizeOf(storageOf(value.type)));
  return bits;
}

} // namespace tiletwin::python
