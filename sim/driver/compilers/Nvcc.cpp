// sim/driver/compilers/Nvcc.cpp -- the virtual GPU's nvcc: NVIDIA's, whose `-cubin` carries the PTX that it was made from.
// Here:      the program. TILETWIN_GPU_NVCC names NVIDIA's nvcc, which does all the work.
// Not here:  the image (CarriedPtx.h), who leads clients here (python/tiletwin/gpu.py).
// Invariant: options, output and exit status are those of NVIDIA's.
#include "sim/driver/CarriedPtx.h"
#include "sim/driver/compilers/Program.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using tiletwin::compilers::Words;

int fail(const std::string& what) {
  std::fprintf(stderr, "nvcc (tiletwin) fatal   : %s\n", what.c_str());
  return 1;
}

bool has(const Words& words, std::initializer_list<const char*> names) {
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return std::ranges::find(names, word) != names.end(); });
}

/// The machine code that nvcc writes: what -o names, or the source's name in this folder.
fs::path outputOf(const Words& words) {
  fs::path source;
  for (size_t i = 0; i < words.size(); ++i) {
    if ((words[i] == "-o" || words[i] == "--output-file") && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with("--output-file=")) return words[i].substr(words[i].find('=') + 1);
    if (words[i].ends_with(".cu")) source = words[i];
  }
  return source.filename().replace_extension(".cubin");
}

/// Puts the one file of PTX that nvcc has kept into its machine code.
int carry(const fs::path& kept, const fs::path& output) {
  std::string ptx, image;
  for (const fs::directory_entry& file : fs::directory_iterator(kept))
    if (file.path().extension() == ".ptx" && !tiletwin::compilers::readFile(file.path(), ptx))
      return fail("cannot read " + file.path().string());
  if (ptx.empty() || !tiletwin::compilers::readFile(output, image)) return 0; // it has written something else
  const auto made = tiletwin::driver::withPtx(image, ptx);
  if (!made) return fail(output.string() + ": nvcc has written no machine code that is known here");
  return tiletwin::compilers::writeFile(output, *made) ? 0 : fail("cannot write " + output.string());
}

} // namespace

int main(int count, char** arguments) {
  const char* real = std::getenv("TILETWIN_GPU_NVCC");
  if (!real || !*real) return fail("TILETWIN_GPU_NVCC names no nvcc: start the program by `tiletwin gpu`");
  Words words(arguments + 1, arguments + count);
  const bool isPlain = has(words, {"-cubin", "--cubin"}) &&
                       !has(words, {"--keep", "-keep", "--dryrun", "-dryrun", "--keep-dir", "-keep-dir"});
  std::error_code error;
  std::string kept;
  if (isPlain) {
    kept = (fs::temp_directory_path(error) / "tiletwin-nvcc-XXXXXX").string();
    if (error || !mkdtemp(kept.data())) return fail("cannot make a folder for temporary files");
    words.insert(words.end(), {"--keep", "--keep-dir", kept});
  }
  int status = tiletwin::compilers::run(real, words);
  if (status < 0) status = fail(std::string("TILETWIN_GPU_NVCC=") + real + " cannot be run");
  if (isPlain && !status) status = carry(kept, outputOf(words));
  if (isPlain) fs::remove_all(kept, error);
  return status;
}
