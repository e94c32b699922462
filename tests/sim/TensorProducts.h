// tests/sim/TensorProducts.h -- matrices of codes, and what products of them must give; for tests of mma and wmma.
#pragma once
#include "tests/sim/SimRun.h"
#include "tests/sim/TensorValues.h"
#include <boost/test/unit_test.hpp>
#include <limits>

namespace tiletwin::sim {

/// A matrix of codes.
struct Matrix {
  ElementType type;
  int rows, columns;
  std::vector<uint64_t> codes;
  Matrix(const std::string& name, int m, int n)
      : type(elementType(name)), rows(m), columns(n), codes(size_t(m) * size_t(n)) {}
  uint64_t& at(int i, int j) { return codes[size_t(i) * size_t(columns) + size_t(j)]; }
  double value(int i, int j) { return elementValue(type, at(i, j)); }
  void fill(std::mt19937_64& random) {
    for (uint64_t& code : codes) code = elementCode(type, random);
  }
};

inline float halfOf(float x) { return decodeSmallFloat(kF16, encodeSmallFloat(kF16, x)); }
inline float canonical(float x) { return x == x ? x : std::bit_cast<float>(0x7FFFFFFFu); }

struct Product {
  std::string a, b, c, d;
  int m, n, k;
  bool saturate = false, isXor = false;
  int terms = 0; ///< summed at once; 0: all
};

inline std::vector<float> lineOf(Matrix& matrix, bool isRow, int index, int first, int count) {
  std::vector<float> line;
  for (int k = first; k < first + count; ++k)
    line.push_back(float(isRow ? matrix.value(index, k) : matrix.value(k, index)));
  return line;
}

/// One element of D, as its code.
inline uint64_t expectedFloat(const Product& p, Matrix& a, Matrix& b, Matrix& c, int i, int j) {
  const bool isHalf = p.d == "f16";
  float sum = float(c.value(i, j));
  if (a.type.bits == 8) { // of each four elements the first two, then the others; C is added to their sum
    const ElementType f16 = elementType("f16");
    float products = 0;
    for (int half = 0; half < 2; ++half) {
      std::vector<float> x, y;
      for (int k = 0; k < p.k; ++k)
        if (k % 4 / 2 == half) x.push_back(float(a.value(i, k))), y.push_back(float(b.value(k, j)));
      products = referenceDot(x, y, products, ruleOf(f16, f16, isHalf, false));
    }
    sum = sum + products;
  } else {
    const int terms = p.terms ? p.terms : p.k;
    for (int k = 0; k < p.k; k += terms)
      sum = referenceDot(lineOf(a, true, i, k, terms), lineOf(b, false, j, k, terms), sum,
                         ruleOf(a.type, b.type, isHalf, false));
  }
  sum = canonical(isHalf ? halfOf(sum) : sum);
  return isHalf ? (sum == sum ? encodeSmallFloat(kF16, sum) : 0x7FFFu) : std::bit_cast<uint32_t>(sum);
}

inline uint64_t expectedElement(const Product& p, Matrix& a, Matrix& b, Matrix& c, int i, int j) {
  if (p.d == "f64") {
    double sum = c.value(i, j);
    for (int k = 0; k < p.k; ++k) sum = std::fma(a.value(i, k), b.value(k, j), sum);
    return std::bit_cast<uint64_t>(sum);
  }
  if (a.type.isFloat()) return expectedFloat(p, a, b, c, i, j);
  int64_t sum = int64_t(c.value(i, j));
  for (int k = 0; k < p.k; ++k) {
    const int64_t x = int64_t(a.value(i, k)), y = int64_t(b.value(k, j));
    sum += p.a != "b1" ? x * y : p.isXor ? x ^ y : x & y;
  }
  if (p.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return uint32_t(sum);
}

/// NaN of f64 counts as any other.
inline bool sameCode(const ElementType& type, uint64_t x, uint64_t y) {
  return x == y || (type.name == "f64" && std::isnan(elementValue(type, x)) && std::isnan(elementValue(type, y)));
}

inline void checkProduct(const Product& p, Matrix& a, Matrix& b, Matrix& c, Matrix& d, const std::string& name) {
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      const uint64_t expected = expectedElement(p, a, b, c, i, j);
      if (!sameCode(d.type, d.at(i, j), expected)) {
        BOOST_ERROR(name << ": [" << i << "][" << j << "] is " << d.value(i, j) << ", expected "
                         << elementValue(d.type, expected));
        return;
      }
    }
}

/// "{%r0, %r1}"
inline std::string registers(const std::string& prefix, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", " : "") + prefix + std::to_string(first + i);
  return text + "}";
}

} // namespace tiletwin::sim
