// sim/driver/LinkCalls.cpp -- the driver's linker. An image of it is PTX: what is linked is run as it is.
#include "sim/driver/Call.h"
#include "sim/driver/Code.h"
#include "sim/driver/Image.h"
#include "sim/driver/JitOptions.h"
#include "sim/driver/LinkPtx.h"
#include "sim/driver/VirtualDevice.h"
#include <cstring>
#include <fstream>
#include <iterator>

namespace tiletwin::driver {
namespace {

class Link {
public:
  static constexpr unsigned kHandleKind = 10;
  std::shared_ptr<Context> context;
  JitOptions options;
  std::mutex mutex;
  std::vector<NamedText> texts; // under mutex
  std::string image;            // of cuLinkComplete, under mutex
};

constexpr std::string_view kArchiveMagic = "!<arch>";

template <class Body> Result onLink(LinkHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    const std::shared_ptr<Link> link = find<Link>(handle);
    if (!link) return kInvalidHandle;
    const std::lock_guard lock(link->mutex);
    return body(*link);
  });
}

Result refuse(const Link& link, const std::string& why, Result result) {
  sayRefused(why);
  link.options.writeErrors(why);
  return result;
}

Result addInput(Link& link, int type, const char* data, size_t bytes, const std::string& name) {
  const std::string_view content(data, bytes);
  if (type < kInputCubin || type > kInputNvvm) return cuda::kInvalidValue;
  if (content.starts_with(kArchiveMagic)) {
    // What the device runtime would give (grid-wide barriers, printf) the simulator has itself.
    if (name.find("cudadevrt") != std::string::npos) return cuda::kSuccess;
    return refuse(link, name + ": an archive of machine code cannot be linked to PTX", cuda::kNoBinaryForGpu);
  }
  if (type == kInputNvvm) return refuse(link, name + ": this GPU's linker takes PTX, not NVVM", cuda::kNotSupported);
  Image read;
  std::string why;
  if (const Result result = readImage(data, bytes, link.context->device, read, why))
    return refuse(link, name + ": " + why, result);
  link.texts.push_back({name, std::move(read.ptx)});
  return cuda::kSuccess;
}

} // namespace

extern "C" {

Result cuLinkCreate_v2(unsigned count, int* options, void** values, LinkHandle* handle) {
  return inContext([&](Context& context) {
    if (!handle) return cuda::kInvalidValue;
    auto link = std::make_shared<Link>();
    link->context = context.shared_from_this();
    link->options = JitOptions(count, options, values); // a client keeps its lists until the link is destroyed
    *handle = static_cast<LinkHandle>(Handles<Link>::instance().add(std::move(link)));
    return cuda::kSuccess;
  });
}

Result cuLinkAddData_v2(LinkHandle handle, int type, void* data, size_t bytes, const char* name, unsigned count,
                        int* options, void** values) {
  return onLink(handle, [&](Link& link) {
    if (!data || !bytes) return cuda::kInvalidValue;
    return addInput(link, type, static_cast<const char*>(data), bytes, name ? name : "data");
  });
}

Result cuLinkAddFile_v2(LinkHandle handle, int type, const char* path, unsigned count, int* options, void** values) {
  return onLink(handle, [&](Link& link) {
    if (!path) return cuda::kInvalidValue;
    std::ifstream file(path, std::ios::binary);
    if (!file) return kFileNotFound;
    const std::string content(std::istreambuf_iterator<char>(file), {});
    return addInput(link, type, content.data(), content.size(), path);
  });
}

Result cuLinkComplete(LinkHandle handle, void** image, size_t* bytes) {
  return onLink(handle, [&](Link& link) {
    if (!image || link.texts.empty()) return cuda::kInvalidValue;
    std::string error;
    if (!linkPtx(link.texts, link.image, error)) return refuse(link, error, cuda::kInvalidImage);
    if (const int most = link.options.maxRegisters())
      link.image = std::string(kRegisterNote) + std::to_string(most) + "\n" + link.image;
    link.options.writeInfo("tiletwin: linked " + std::to_string(link.texts.size()) + " texts of PTX");
    link.options.writeErrors("");
    *image = link.image.data();
    if (bytes) *bytes = link.image.size() + 1; // with the zero that ends it
    return cuda::kSuccess;
  });
}

Result cuLinkDestroy(LinkHandle handle) {
  return inDriver([&] { return Handles<Link>::instance().take(handle) ? cuda::kSuccess : kInvalidHandle; });
}

} // extern "C"
} // namespace tiletwin::driver
