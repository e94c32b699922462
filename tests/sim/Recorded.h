// tests/sim/Recorded.h -- tables of 32-bit words that an H200 gave (tools/convert_truth.py writes them).
#pragma once
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tiletwin::sim {

class Recorded {
public:
  explicit Recorded(const std::string& name) {
    std::ifstream file(TILETWIN_TEST_DATA "/sim/" + name, std::ios::binary);
    uint32_t head[2];
    if (!file.read(reinterpret_cast<char*>(head), sizeof head)) throw std::runtime_error("cannot read " + name);
    rows_ = head[0], columns_ = head[1];
    words_.resize(rows_ * columns_);
    if (!file.read(reinterpret_cast<char*>(words_.data()), std::streamsize(words_.size() * 4)))
      throw std::runtime_error(name + " is too short");
  }
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  uint32_t operator()(size_t row, size_t column) const { return words_[column * rows_ + row]; }

private:
  size_t rows_ = 0, columns_ = 0;
  std::vector<uint32_t> words_;
};

} // namespace tiletwin::sim
