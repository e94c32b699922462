// sim/driver/compilers/NvJitLink.cpp -- in front of NVIDIA's nvJitLink: its machine code carries the PTX that was linked.
// Here:      what a link was given, and that as one PTX.
// Not here:  linking texts (LinkPtx.h), the image (CarriedPtx.h), whether NVIDIA's is there (python/tiletwin/gpu.py).
// Idea:      every call is passed on, so results and logs are NVIDIA's. What is given for optimisation while linking becomes PTX in
//            a second link of NVIDIA's, which is asked for PTX.
// Invariant: machine code whose PTX is not known stays as it is, which the virtual GPU refuses, and stderr says why.
#include "sim/driver/CarriedPtx.h"
#include "sim/driver/FatBinary.h"
#include "sim/driver/LinkPtx.h"
#include "sim/driver/compilers/Behind.h"
#include "sim/driver/compilers/Program.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

using namespace tiletwin;
using compilers::word;
using compilers::Word;

void* open() {
  const char* path = std::getenv("TILETWIN_GPU_NVJITLINK");
  // Deep: it calls its own functions, not ours of the same names.
  return path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND) : nullptr;
}
using NvJitLink = compilers::Behind<open, 6>; // NVJITLINK_ERROR_INTERNAL

constexpr Word kLtoIr = 3;
constexpr std::string_view kLtoIrMagic = "\xED\x43\x4E\x7F", kArchiveMagic = "!<arch>";

struct Input {
  std::string name, content;
};

struct Link {
  std::vector<std::string> options;
  std::vector<driver::NamedText> texts;
  std::vector<Input> forLater; ///< to be optimised while linking
  std::string unknown;         ///< what has no PTX; empty: all has
  std::string ptx;             ///< after nvJitLinkComplete

  /// What stands behind the beginning of an option; null: it was not given.
  const char* option(std::string_view beginning) const {
    for (const std::string& own : options)
      if (own.starts_with(beginning)) return own.c_str() + beginning.size();
    return nullptr;
  }
  int capability() const {
    const char* arch = option("-arch=sm_");
    return arch ? int(std::strtol(arch, nullptr, 10)) : 0;
  }
};

std::mutex mutex;
std::map<Word, Link> links; // under mutex

/// The fat binaries in a file of any kind: objects and archives hold some.
std::vector<std::string_view> fatBinaries(std::string_view content) {
  struct Header {
    uint32_t magic;
    uint16_t version, headerBytes;
    uint64_t bytes;
  } header{};
  std::vector<std::string_view> found;
  std::string_view magic(reinterpret_cast<const char*>(&driver::kFatBinaryMagic), sizeof driver::kFatBinaryMagic);
  for (size_t at = 0; (at = content.find(magic, at)) != std::string_view::npos; ++at) {
    if (content.size() - at < sizeof header) break;
    std::memcpy(&header, content.data() + at, sizeof header);
    if (header.headerBytes < sizeof header || header.bytes > content.size() - at - sizeof header) continue;
    found.push_back(content.substr(at, header.headerBytes + header.bytes));
    at += header.headerBytes + header.bytes - 1;
  }
  return found;
}

/// The PTX of a fat binary for the newest GPU up to one; empty: there is none.
std::string ofFatBinary(std::string_view content, int most) {
  std::string best;
  int capability = -1;
  const auto entries = driver::readFatBinary(reinterpret_cast<const std::byte*>(content.data()));
  if (!entries) return best;
  for (const driver::FatEntry& entry : *entries)
    if (entry.isPtx && entry.capability > capability && entry.capability <= most)
      if (auto text = driver::textOf(entry)) best = std::move(*text), capability = entry.capability;
  return best;
}

void add(Link& link, Word type, std::string content, std::string name) {
  if (type == kLtoIr || content.starts_with(kLtoIrMagic)) {
    link.forLater.push_back({std::move(name), std::move(content)});
    return;
  }
  if (content.starts_with(kArchiveMagic) && name.find("cudadevrt") != std::string::npos) return; // the simulator has it
  std::vector<std::string> texts;
  if (auto carried = driver::carriedPtx(reinterpret_cast<const std::byte*>(content.data()), content.size()))
    texts.push_back(std::move(*carried));
  else if (content.starts_with(driver::kElfMagic) || content.find(".version") == std::string::npos)
    for (const std::string_view fat : fatBinaries(content)) texts.push_back(ofFatBinary(fat, link.capability()));
  else
    texts.emplace_back(content.c_str()); // up to a zero that ends it
  if (texts.empty()) link.unknown = name;
  for (std::string& text : texts) {
    if (text.empty()) link.unknown = name;
    link.texts.push_back({name, std::move(text)});
  }
}

/// What NVIDIA's linker makes of the inputs that it optimises, as PTX. False: it refuses.
bool optimised(const Link& link, std::string& ptx) {
  std::vector<const char*> options{"-ptx"};
  for (const std::string& option : link.options) options.push_back(option.c_str());
  Word handle = 0;
  if (NvJitLink::call("nvJitLinkCreate", word(&handle), options.size(), word(options.data()))) return false;
  bool isGood = true;
  for (const Input& input : link.forLater)
    isGood = isGood && !NvJitLink::call("nvJitLinkAddData", handle, kLtoIr, word(input.content.data()),
                                        input.content.size(), word(input.name.c_str()));
  size_t bytes = 0;
  isGood = isGood && !NvJitLink::call("nvJitLinkComplete", handle) &&
           !NvJitLink::call("nvJitLinkGetLinkedPtxSize", handle, word(&bytes));
  ptx.resize(isGood ? bytes : 0);
  isGood = isGood && !NvJitLink::call("nvJitLinkGetLinkedPtx", handle, word(ptx.data()));
  NvJitLink::call("nvJitLinkDestroy", word(&handle));
  ptx = ptx.c_str(); // NOLINT(readability-redundant-string-cstr): up to a zero that ends it
  return isGood;
}

/// All inputs as one text. False: `why` says what has none.
bool linked(Link& link, std::string& why) {
  if (!link.unknown.empty()) {
    why = link.unknown + " is machine code without its PTX";
    return false;
  }
  if (!link.forLater.empty()) {
    driver::NamedText made{"link-time optimisation", {}};
    if (!optimised(link, made.text)) {
      why = "NVIDIA's nvJitLink gives no PTX of " + link.forLater.front().name;
      return false;
    }
    link.texts.push_back(std::move(made));
  }
  if (!driver::linkPtx(link.texts, link.ptx, why)) return false;
  if (const char* most = link.option("-maxrregcount="))
    link.ptx.insert(0, std::string(driver::kRegisterNote) + most + "\n");
  return true;
}

/// Machine code with its PTX.
Word image(Word handle, std::string& made) {
  size_t bytes = 0;
  if (const Word result = NvJitLink::call("nvJitLinkGetLinkedCubinSize", handle, word(&bytes))) return result;
  made.resize(bytes);
  const Word result = NvJitLink::call("nvJitLinkGetLinkedCubin", handle, word(made.data()));
  const std::lock_guard lock(mutex);
  const auto found = links.find(handle);
  if (!result && found != links.end())
    if (auto carried = driver::withPtx(made, found->second.ptx)) made = std::move(*carried);
  return result;
}

void note(Word handle, Word type, std::string content, const char* name) {
  const std::lock_guard lock(mutex);
  if (const auto found = links.find(handle); found != links.end())
    add(found->second, type, std::move(content), name && *name ? name : "an input");
}

} // namespace

TILETWIN_PASSES(NvJitLink, nvJitLinkGetErrorLog)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetErrorLogSize)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetInfoLog)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetInfoLogSize)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetLinkedLTOIR)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetLinkedLTOIRSize)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetLinkedPtx)
TILETWIN_PASSES(NvJitLink, nvJitLinkGetLinkedPtxSize)
TILETWIN_PASSES(NvJitLink, nvJitLinkVersion)

TILETWIN_IN_FRONT Word nvJitLinkCreate(Word* handle, uint32_t count, const char** options) {
  const Word result = NvJitLink::call("nvJitLinkCreate", word(handle), count, word(options));
  if (result) return result;
  const std::lock_guard lock(mutex);
  links[*handle] = Link{{options, options + count}, {}, {}, {}, {}};
  return result;
}

TILETWIN_IN_FRONT Word nvJitLinkDestroy(Word* handle) {
  if (handle) {
    const std::lock_guard lock(mutex);
    links.erase(*handle);
  }
  return NvJitLink::call("nvJitLinkDestroy", word(handle));
}

TILETWIN_IN_FRONT Word nvJitLinkAddData(Word handle, uint32_t type, const char* data, size_t bytes, const char* name) {
  const Word result = NvJitLink::call("nvJitLinkAddData", handle, type, word(data), bytes, word(name));
  if (!result) note(handle, type, std::string(data, bytes), name);
  return result;
}

TILETWIN_IN_FRONT Word nvJitLinkAddFile(Word handle, uint32_t type, const char* path) {
  const Word result = NvJitLink::call("nvJitLinkAddFile", handle, type, word(path));
  std::string content;
  if (!result && compilers::readFile(path, content)) note(handle, type, std::move(content), path);
  return result;
}

TILETWIN_IN_FRONT Word nvJitLinkComplete(Word handle) {
  const Word result = NvJitLink::call("nvJitLinkComplete", handle);
  if (result) return result;
  const std::lock_guard lock(mutex);
  const auto found = links.find(handle);
  if (found == links.end() || found->second.option("-ptx")) return result;
  std::string why;
  if (!linked(found->second, why))
    std::fprintf(stderr, "tiletwin gpu: nvJitLink's machine code has no PTX, so it will not run here: %s\n",
                 why.c_str());
  return result;
}

TILETWIN_IN_FRONT Word nvJitLinkGetLinkedCubinSize(Word handle, size_t* bytes) {
  std::string made;
  if (!bytes) return NvJitLink::call("nvJitLinkGetLinkedCubinSize", handle);
  const Word result = image(handle, made);
  if (!result) *bytes = made.size();
  return result;
}

TILETWIN_IN_FRONT Word nvJitLinkGetLinkedCubin(Word handle, char* bytes) {
  std::string made;
  if (!bytes) return NvJitLink::call("nvJitLinkGetLinkedCubin", handle);
  const Word result = image(handle, made);
  if (!result) made.copy(bytes, made.size());
  return result;
}
