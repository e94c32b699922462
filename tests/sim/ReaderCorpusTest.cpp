// tests/sim/ReaderCorpusTest.cpp -- every kernel of tests/data/ptx reads, and fast. PTX_FOLDER names another folder.
#define BOOST_TEST_MODULE reader_corpus
#include "sim/ptx/Ptx.h"
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace tiletwin::sim;
namespace fs = std::filesystem;

namespace {

struct Text {
  std::string name, text;
};

/// The folder's texts; tests/data/ptx/texts.tar.xz is unpacked for as long as this lives.
class Corpus {
public:
  Corpus() {
    const char* folder = std::getenv("PTX_FOLDER");
    isStored = !folder;
    if (isStored) {
      unpacked_ = fs::temp_directory_path() / ("tiletwin_ptx_" + std::to_string(getpid()));
      fs::create_directories(unpacked_);
      const std::string command = "tar -xJf " TILETWIN_TEST_DATA "/ptx/texts.tar.xz -C " + unpacked_.string();
      BOOST_REQUIRE_EQUAL(std::system(command.c_str()), 0);
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder ? folder : unpacked_))
      if (entry.path().extension() == ".ptx") {
        std::ifstream file(entry.path(), std::ios::binary);
        texts.push_back({entry.path().string(), {std::istreambuf_iterator<char>(file), {}}});
      }
  }
  ~Corpus() {
    if (!unpacked_.empty()) fs::remove_all(unpacked_);
  }
  std::vector<Text> texts;
  bool isStored = true;

private:
  fs::path unpacked_;
};

/// Every index of a module exists, and no stand-in of the reader is left.
void checkOperand(const ptx::Module& module, const ptx::Function& f, const ptx::Operand& o) {
  using Kind = ptx::Operand::Kind;
  const auto count = [&]() -> size_t {
    switch (o.kind) {
    case Kind::Register: return f.registers.size();
    case Kind::Variable: return o.isLocal ? f.variables.size() : module.variables.size();
    case Kind::Function: return module.functions.size();
    case Kind::Label: return f.labels.size();
    case Kind::Table: return f.tables.size();
    case Kind::Prototype: return f.prototypes.size();
    default: return 0;
    }
  }();
  BOOST_REQUIRE(count == 0 ? o.index == -1 : o.index >= 0 && size_t(o.index) < count);
  for (const ptx::Operand& part : o.parts) checkOperand(module, f, part);
}

} // namespace

BOOST_AUTO_TEST_CASE(every_text_reads) {
  Corpus corpus;
  BOOST_REQUIRE_GT(corpus.texts.size(), corpus.isStored ? 700u : 0u);
  size_t bytes = 0, instructions = 0;
  double seconds = 0;
  for (const Text& t : corpus.texts) {
    ptx::Diagnostic error;
    const auto begin = std::chrono::steady_clock::now();
    const auto module = ptx::read(t.text, error);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    BOOST_TEST(bool(module), error.render(t.name, t.text));
    if (!module) continue;
    bytes += t.text.size();
    size_t entries = 0;
    for (const ptx::Function& f : module->functions) {
      entries += f.isEntry;
      instructions += f.body.size();
      for (const ptx::Instruction& in : f.body) {
        BOOST_REQUIRE(in.guard < int32_t(f.registers.size()) && in.source < int32_t(module->sourceLines.size()));
        for (const ptx::Operand& operand : in.operands) checkOperand(*module, f, operand);
      }
    }
    if (corpus.isStored) BOOST_TEST(entries == 1u, t.name);
    for (const ptx::SourceLine& line : module->sourceLines) BOOST_REQUIRE(line.file < int32_t(module->files.size()));
  }
  BOOST_TEST_MESSAGE(corpus.texts.size() << " texts, " << bytes << " bytes, " << instructions
                                         << " instructions: " << seconds << " s");
  if (corpus.isStored) BOOST_TEST(instructions > 60000u);
}
