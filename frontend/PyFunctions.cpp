// frontend/PyFunctions.cpp -- tables as Python keeps them: they end with a row of zeros, and live for ever.
#include "frontend/PyFunctions.h"

namespace tiletwin {
namespace {

template <class Row> Row* keptTable(std::vector<Row> rows) {
  rows.push_back({});
  return (new std::vector<Row>(std::move(rows)))->data();
}

} // namespace

bool addFunctions(PyObject* module, std::vector<PyMethodDef> functions) {
  return PyModule_AddFunctions(module, keptTable(std::move(functions))) == 0;
}

PyTypeObject* addTypeOf(PyObject* module, PyTypeObject* known, size_t bytes, destructor deallocate, TypeParts parts) {
  if (!known) {
    std::vector<PyType_Slot> slots = std::move(parts.slots);
    slots.push_back(slot(Py_tp_dealloc, deallocate));
    if (parts.doc) slots.push_back({Py_tp_doc, const_cast<char*>(parts.doc)});
    if (!parts.methods.empty()) slots.push_back({Py_tp_methods, keptTable(std::move(parts.methods))});
    if (!parts.properties.empty()) slots.push_back({Py_tp_getset, keptTable(std::move(parts.properties))});
    slots.push_back({0, nullptr});
    PyType_Spec spec = {parts.name, int(bytes), 0, unsigned(Py_TPFLAGS_DEFAULT) | parts.flags, slots.data()};
    known = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }
  return known && (!module || PyModule_AddType(module, known) == 0) ? known : nullptr;
}

} // namespace tiletwin
