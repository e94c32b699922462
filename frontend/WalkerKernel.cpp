// frontend/WalkerKernel.cpp -- the public function of a kernel: its parameters from the signature, constants and
// attributes of a specialization (rules 63 to 66).
#include "frontend/PackageObject.h"
#include "frontend/Walker.h"

namespace tiletwin::frontend {
namespace {

/// Reads the three dictionaries of a specialization and makes the value of each parameter.
struct ParameterReader {
  mlir::MLIRContext* context;
  PyObject *constexprs, *attributes;
  mlir::Location functionLocation;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  llvm::SmallVector<mlir::Attribute> argumentAttributes;
  bool anyAttribute = false;
  std::vector<Structure> structures;

  ParameterReader(mlir::MLIRContext* context, PyObject* constexprs, PyObject* attributes,
                  mlir::Location functionLocation)
      : context(context), constexprs(constexprs), attributes(attributes), functionLocation(functionLocation) {}

  /// A constant given for the parameter at `path`, as (2, 0), and for top-level ones by name. Null without an error:
  /// none.
  PyRef constantAt(llvm::ArrayRef<Py_ssize_t> path, PyObject* name) {
    auto find = [&](PyObject* key) -> PyObject* { return key ? PyDict_GetItemWithError(constexprs, key) : nullptr; };
    PyObject* found = find(pyTupleFrom(path).get());
    if (!found && path.size() == 1) found = find(pyTuple(name).get());
    if (!found && path.size() == 1) found = find(name);
    return PyRef::borrow(found);
  }

  bool readAttributes(llvm::ArrayRef<Py_ssize_t> path, llvm::SmallVectorImpl<mlir::NamedAttribute>& out) {
    if (!attributes || attributes == Py_None) return true;
    PyObject* list = PyDict_GetItemWithError(attributes, pyTupleFrom(path).get());
    if (!list) return !PyErr_Occurred();
    PyRef pairs = PyRef::steal(PySequence_List(list));
    for (PyObject* item : itemsOf(pairs)) {
      PyRef pair = PyRef::steal(PySequence_Tuple(item));
      if (!pair || PyTuple_Size(pair.get()) != 2)
        return raiseValue("attributes of a parameter are [name, value] pairs such as [\"tt.divisibility\", 16]");
      long value = PyLong_AsLong(PyTuple_GetItem(pair.get(), 1));
      if (value == -1 && PyErr_Occurred()) return false;
      out.emplace_back(mlir::StringAttr::get(context, stringOf(PyTuple_GetItem(pair.get(), 0))),
                       mlir::IntegerAttr::get(mlir::IntegerType::get(context, 32), value));
    }
    return bool(pairs);
  }

  void addArgument(const Type& type, const std::string& name, llvm::ArrayRef<mlir::NamedAttribute> own = {}) {
    types.push_back(type.toMlir(context));
    locations.push_back(namedPlace(name, functionLocation));
    argumentAttributes.push_back(mlir::DictionaryAttr::get(context, own));
    anyAttribute |= !own.empty();
  }

  static Structure tensorOf(const Type& type) {
    Structure structure;
    structure.kind = Structure::Kind::Tensor;
    structure.type = type;
    return structure;
  }

  /// A descriptor comes as itself, its shape (int32) and its strides (int64): rule 33.
  bool readDescriptor(const Type& type, const std::string& name, Structure& out) {
    PyRef cls = packageObject("tensor_descriptor");
    PyRef fields = attribute(cls, "__tiletwin_fields__");
    if (!fields) return false;
    out.kind = Structure::Kind::Object;
    out.object = cls;
    out.items.push_back(tensorOf(type));
    addArgument(type, name);
    static constexpr std::pair<const char*, Scalar> kParts[] = {{".shape.", Scalar::I32}, {".stride.", Scalar::I64}};
    for (auto [suffix, scalar] : kParts) {
      Structure tuple;
      tuple.kind = Structure::Kind::Tuple;
      for (size_t i = 0; i < type.shape.size(); ++i) {
        tuple.items.push_back(tensorOf(scalarType(scalar)));
        addArgument(scalarType(scalar), name + suffix + std::to_string(i));
      }
      out.items.push_back(std::move(tuple));
    }
    for (PyObject* field : itemsOf(fields)) out.names.push_back(PyRef::borrow(field));
    return true;
  }

  bool read(PyObject* signature, llvm::SmallVector<Py_ssize_t, 4>& path, PyObject* topName, const std::string& name,
            Structure& out) {
    PyRef constant = constantAt(path, topName);
    if (PyErr_Occurred()) return false;
    if (constant) {
      PyRef wrapped = wrapConstant(constant.get());
      if (wrapped && !isConstexpr(wrapped.get()) && !PyTuple_Check(wrapped.get()))
        wrapped = makeConstexpr(wrapped.get());
      return wrapped && takeApart(wrapped.get(), out, nullptr);
    }
    if (PyTuple_Check(signature) || PyList_Check(signature)) {
      PyRef items = PyRef::steal(PySequence_Tuple(signature));
      out.kind = Structure::Kind::Tuple;
      if (PyRef fields = attributeIfAny(signature, "_fields")) {
        out.object = PyRef::borrow(typeOf(signature));
        for (PyObject* field : itemsOf(fields)) out.names.push_back(PyRef::borrow(field));
      }
      out.items.resize(PyTuple_Size(items.get()));
      for (size_t i = 0; i < out.items.size(); ++i) {
        path.push_back(i);
        std::string part = out.names.empty() ? std::to_string(i) : stringOf(out.names[i].get());
        if (!read(PyTuple_GetItem(items.get(), i), path, topName, name + "." + part, out.items[i])) return false;
        path.pop_back();
      }
      return true;
    }
    if (!PyUnicode_Check(signature))
      return raiseType("the type of parameter " + name +
                       " must be a string such as \"*fp32\" or a tuple of them, got a " + typeName(signature));
    std::string text = stringOf(signature);
    if (text == "constexpr") return raiseValue("parameter " + name + " is a tl.constexpr and no value is given for it");
    Type type;
    if (!parseTypeString(text, type))
      return raiseValue("parameter " + name + ": \"" + text +
                        "\" is not a type (examples: i32, fp16, *fp32, *kbf16, tensordesc<fp32[16, 16]>)");
    if (type.isDescriptor()) return readDescriptor(type, name, out);
    llvm::SmallVector<mlir::NamedAttribute> own;
    if (!readAttributes(path, own)) return false;
    addArgument(type, name, own);
    out = tensorOf(type);
    return true;
  }
};

} // namespace

bool Walker::emitKernel(PyObject* signature, PyObject* constexprs, PyObject* attributes, llvm::StringRef name) {
  ParameterReader reader(builder_.context(), constexprs, attributes, info_->location);
  llvm::SmallVector<PyObject*> names = info_->positional;
  if (info_->variadic) names.push_back(info_->variadic);
  llvm::append_range(names, info_->keywordOnly);
  reader.structures.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    PyObject* type = PyDict_GetItemWithError(signature, names[i]);
    PyRef fallback;
    if (!type) {
      if (PyErr_Occurred()) return false;
      fallback = toPython("constexpr"); // then a constant or a default must be given
      type = fallback.get();
    }
    llvm::SmallVector<Py_ssize_t, 4> path{Py_ssize_t(i)};
    bool isConstant = PyUnicode_Check(type) && stringOf(type) == "constexpr";
    if (isConstant && !reader.constantAt(path, names[i]))
      if (PyObject* value = PyDict_GetItemWithError(info_->defaults.get(), names[i])) {
        PyRef wrapped = wrapConstant(value);
        if (!wrapped || !takeApart(wrapped.get(), reader.structures[i], nullptr)) return false;
        continue;
      }
    if (!reader.read(type, path, names[i], stringOf(names[i]), reader.structures[i])) return false;
  }
  mlir::Operation* function = createFunction(
      name.empty() ? llvm::StringRef(info_->name) : name, true, reader.types, reader.locations,
      reader.anyAttribute ? llvm::ArrayRef(reader.argumentAttributes) : llvm::ArrayRef<mlir::Attribute>());
  mlir::Block& entry = function->getRegion(0).front();
  mlir::ValueRange given = entry.getArguments();
  for (auto [name, structure] : llvm::zip(names, reader.structures)) {
    PyRef value = fromTensors(structure, given);
    if (!value) return false;
    locals_.set(name, std::move(value));
  }
  Structure result;
  return walkBody(function, result, true);
}

} // namespace tiletwin::frontend
