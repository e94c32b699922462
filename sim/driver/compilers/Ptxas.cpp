// sim/driver/compilers/Ptxas.cpp -- the virtual GPU's ptxas: clients that insist on machine code get an image that carries its PTX.
// Here:      the program. TILETWIN_GPU_PTXAS names NVIDIA's ptxas, which checks the text and makes the machine code.
// Not here:  the image (CarriedPtx.h), who leads clients here (python/tiletwin/gpu.py).
// Invariant: options, output and exit status are those of NVIDIA's. Without it the image is the text, which nobody has checked.
#include "sim/driver/CarriedPtx.h"
#include "sim/driver/compilers/Program.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

using tiletwin::compilers::readFile;
using tiletwin::driver::withPtx;

int fail(const std::string& what) {
  std::fprintf(stderr, "ptxas (tiletwin) fatal   : %s\n", what.c_str());
  return 1;
}

/// What the options name: what is read, what is written, and whether anything is at all.
struct Words {
  std::string input, output = "elf.o"; // NVIDIA's name where none is given
  size_t inputs = 0;
  bool isQuestion = false; ///< --version, --help
};

Words read(const std::vector<std::string>& words) {
  Words found;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if ((word == "-o" || word == "--output-file") && i + 1 < words.size()) {
      found.output = words[++i];
    } else if (word.starts_with("--output-file=")) {
      found.output = word.substr(word.find('=') + 1);
    } else if (word == "--version" || word == "-V" || word == "--help" || word == "-h") {
      found.isQuestion = true;
    } else if (!word.starts_with("-") && (word.ends_with(".ptx") || !i || !words[i - 1].starts_with("-"))) {
      found.input = word; // a word behind an option may be its value
      ++found.inputs;
    }
  }
  return found;
}

} // namespace

int main(int count, char** arguments) {
  const Words words = read({arguments + 1, arguments + count});
  const char* given = std::getenv("TILETWIN_GPU_PTXAS");
  const std::string real = given ? given : "";
  if (!real.empty()) {
    const int status = tiletwin::compilers::run(real, {arguments + 1, arguments + count});
    if (status < 0) return fail("TILETWIN_GPU_PTXAS=" + real + ": " + std::strerror(errno));
    if (status) return status;
  }
  if (words.isQuestion) {
    // Clients look for the release; some make it a part of what they keep compiled code under, so it differs from NVIDIA's.
    std::puts(real.empty() ? "tiletwin: virtual GPU without ptxas, release 13.0, V13.0.0" : "tiletwin: virtual GPU");
    return 0;
  }
  if (words.inputs != 1) return real.empty() ? fail("name one file of PTX") : 0;
  std::string ptx, image;
  if (!readFile(words.input, ptx)) return fail("cannot read " + words.input);
  if (!real.empty()) {
    if (!readFile(words.output, image)) return 0; // options that write no machine code
    const auto made = withPtx(image, ptx);
    if (!made) return fail(words.output + ": " + real + " has written no machine code that is known here");
    image = *made;
  } else {
    image = ptx;
  }
  return tiletwin::compilers::writeFile(words.output, image) ? 0 : fail("cannot write " + words.output);
}
