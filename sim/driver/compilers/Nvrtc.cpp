// sim/driver/compilers/Nvrtc.cpp -- the virtual GPU's libnvrtc: NVIDIA's, whose machine code carries the PTX that it was made from.
// Here:      the library. Every function is passed on but the two that give machine code.
// Not here:  the image (CarriedPtx.h), who leads clients here (python/tiletwin/gpu.py loads it in front of all).
// Idea:      clients find NVIDIA's file in places of their own, but all of them take one that is loaded already.
// Invariant: without NVIDIA's library every function fails, and stderr says once where it was looked for.
#include "sim/driver/CarriedPtx.h"
#include "sim/driver/compilers/Behind.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <glob.h>
#include <mutex>
#include <string>
#include <vector>

namespace {

using tiletwin::compilers::Function;
using tiletwin::compilers::Word;

/// Folders of Python packages of this process: the interpreter's, and those from which something is mapped.
std::vector<std::string> packageFolders() {
  std::vector<std::string> found;
  std::ifstream commandLine("/proc/self/cmdline");
  if (std::string program; std::getline(commandLine, program, '\0') && program.find('/') != std::string::npos)
    found.push_back(program.substr(0, program.rfind('/')) + "/../lib/python3*/site-packages/");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* word : {"/site-packages/", "/dist-packages/"}) {
      const size_t begin = line.find('/'), end = line.find(word);
      if (begin == std::string::npos || end == std::string::npos) continue;
      std::string folder = line.substr(begin, end + std::char_traits<char>::length(word) - begin);
      if (found.empty() || found.back() != folder) found.push_back(std::move(folder));
    }
  return found;
}

void addMatches(const std::string& pattern, std::vector<std::string>& files) {
  glob_t all{};
  if (glob(pattern.c_str(), 0, nullptr, &all) == 0)
    files.insert(files.end(), all.gl_pathv, all.gl_pathv + all.gl_pathc);
  globfree(&all);
}

/// Where a file may be, the likeliest place first.
void addCandidates(const std::string& name, std::vector<std::string>& files) {
  const std::string wheels = "nvidia/*/lib/" + name;
  for (const std::string& folder : packageFolders()) addMatches(folder + wheels, files);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* value = std::getenv(variable)) {
      addMatches(std::string(value) + "/lib/python3*/site-packages/" + wheels, files);
      addMatches(std::string(value) + "/lib/" + name, files);
    }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable)) addMatches(std::string(value) + "/lib64/" + name, files);
  if (const char* value = std::getenv("LD_LIBRARY_PATH")) {
    const std::string all = value;
    for (size_t begin = 0; begin <= all.size();) {
      const size_t end = std::min(all.find(':', begin), all.size());
      addMatches(all.substr(begin, end - begin) + "/" + name, files);
      begin = end + 1;
    }
  }
  addMatches("/usr/local/cuda/lib64/" + name, files);
}

void* open() {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&open), &own);
  std::vector<std::string> files;
  if (const char* given = std::getenv("TILETWIN_GPU_NVRTC")) files.emplace_back(given);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) addCandidates(name, files);
  void* const self = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  for (const std::string& file : files) {
    // NVIDIA's opens its second file by name alone, which is found where that one is loaded.
    std::vector<std::string> others;
    addMatches(file.substr(0, file.rfind('/') + 1) + "libnvrtc-builtins.so*", others);
    for (const std::string& other : others) dlopen(other.c_str(), RTLD_LAZY | RTLD_LOCAL);
    // Deep: it calls its own functions, not ours of the same names.
    void* const found = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    if (found && found != self && dlsym(found, "nvrtcGetCUBIN")) return found;
  }
  std::fputs("tiletwin gpu: NVIDIA's libnvrtc is not there: it was looked for among Python's packages, below CUDA_HOME "
             "and in LD_LIBRARY_PATH; install the package nvidia-cuda-nvrtc, or name the file by TILETWIN_GPU_NVRTC\n",
             stderr);
  return nullptr;
}

using Nvrtc = tiletwin::compilers::Behind<open, 11>; // NVRTC_ERROR_INTERNAL_ERROR

/// What the size or the content of a program's machine code or PTX is. False: there is none, which `result` says.
bool content(const char* size, const char* get, Word program, std::string& bytes, Word& result) {
  size_t count = 0;
  result = Nvrtc::call(size, program, reinterpret_cast<Word>(&count));
  if (result) return false;
  bytes.resize(count);
  if (count) result = Nvrtc::call(get, program, reinterpret_cast<Word>(bytes.data()));
  return !result;
}

/// Machine code with its PTX; as it is where there is no PTX, or no machine code.
Word image(Word program, std::string& made) {
  Word result = 0, none = 0;
  std::string ptx;
  if (!content("nvrtcGetCUBINSize", "nvrtcGetCUBIN", program, made, result)) return result;
  if (!made.empty() && content("nvrtcGetPTXSize", "nvrtcGetPTX", program, ptx, none) && !ptx.empty())
    if (const auto carried = tiletwin::driver::withPtx(made, ptx.c_str())) made = *carried;
  return result;
}

} // namespace

TILETWIN_PASSES(Nvrtc, nvrtcAddNameExpression)
TILETWIN_PASSES(Nvrtc, nvrtcCompileProgram)
TILETWIN_PASSES(Nvrtc, nvrtcCreateProgram)
TILETWIN_PASSES(Nvrtc, nvrtcDestroyProgram)
TILETWIN_PASSES(Nvrtc, nvrtcGetBundledHeadersInfo)
TILETWIN_PASSES(Nvrtc, nvrtcGetLTOIR)
TILETWIN_PASSES(Nvrtc, nvrtcGetLTOIRSize)
TILETWIN_PASSES(Nvrtc, nvrtcGetLoweredName)
TILETWIN_PASSES(Nvrtc, nvrtcGetNumSupportedArchs)
TILETWIN_PASSES(Nvrtc, nvrtcGetOptiXIR)
TILETWIN_PASSES(Nvrtc, nvrtcGetOptiXIRSize)
TILETWIN_PASSES(Nvrtc, nvrtcGetPCHCreateStatus)
TILETWIN_PASSES(Nvrtc, nvrtcGetPCHHeapSize)
TILETWIN_PASSES(Nvrtc, nvrtcGetPCHHeapSizeRequired)
TILETWIN_PASSES(Nvrtc, nvrtcGetPTX)
TILETWIN_PASSES(Nvrtc, nvrtcGetPTXSize)
TILETWIN_PASSES(Nvrtc, nvrtcGetProgramLog)
TILETWIN_PASSES(Nvrtc, nvrtcGetProgramLogSize)
TILETWIN_PASSES(Nvrtc, nvrtcGetSupportedArchs)
TILETWIN_PASSES(Nvrtc, nvrtcGetTileIR)
TILETWIN_PASSES(Nvrtc, nvrtcGetTileIRSize)
TILETWIN_PASSES(Nvrtc, nvrtcInstallBundledHeaders)
TILETWIN_PASSES(Nvrtc, nvrtcRemoveBundledHeaders)
TILETWIN_PASSES(Nvrtc, nvrtcSetFlowCallback)
TILETWIN_PASSES(Nvrtc, nvrtcSetPCHHeapSize)
TILETWIN_PASSES(Nvrtc, nvrtcVersion)

TILETWIN_IN_FRONT const char* nvrtcGetErrorString(Word result) {
  const Function function = Nvrtc::find("nvrtcGetErrorString");
  if (!function) return "NVIDIA's libnvrtc is not there";
  return reinterpret_cast<const char*>(function(result, 0, 0, 0, 0, 0)); // NOLINT(performance-no-int-to-ptr): a word
}

TILETWIN_IN_FRONT Word nvrtcGetCUBINSize(Word program, size_t* bytes) {
  if (!bytes) return Nvrtc::call("nvrtcGetCUBINSize", program);
  std::string made;
  const Word result = image(program, made);
  if (!result) *bytes = made.size();
  return result;
}

TILETWIN_IN_FRONT Word nvrtcGetCUBIN(Word program, char* bytes) {
  if (!bytes) return Nvrtc::call("nvrtcGetCUBIN", program);
  std::string made;
  const Word result = image(program, made);
  if (!result) made.copy(bytes, made.size());
  return result;
}
