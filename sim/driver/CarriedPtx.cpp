// sim/driver/CarriedPtx.cpp -- see CarriedPtx.h.
#include "sim/driver/CarriedPtx.h"
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <vector>

namespace tiletwin::driver {
namespace {

constexpr std::string_view kSection = ".tiletwin.ptx";

/// The headers of an image, if they can be read. bytes: as carriedPtx has it.
class Sections {
public:
  Sections(const std::byte* image, size_t bytes) : image_(image), end_(bytes ? bytes : SIZE_MAX) {
    if (!fits(0, sizeof header)) return;
    std::memcpy(&header, image, sizeof header);
    const bool isKnown = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shentsize == sizeof(Elf64_Shdr) &&
                         header.e_shstrndx < header.e_shnum;
    const size_t size = header.e_shnum * sizeof(Elf64_Shdr);
    if (!isKnown || !fits(header.e_shoff, size)) return;
    all.resize(header.e_shnum);
    std::memcpy(all.data(), image + header.e_shoff, size);
    if (!fits(all[header.e_shstrndx].sh_offset, all[header.e_shstrndx].sh_size)) all.clear();
  }
  std::string_view content(const Elf64_Shdr& section) const {
    if (!fits(section.sh_offset, section.sh_size)) return {};
    return {reinterpret_cast<const char*>(image_) + section.sh_offset, section.sh_size};
  }
  std::string_view names() const { return content(all[header.e_shstrndx]); }

  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> all; ///< empty: they cannot be read

private:
  bool fits(uint64_t offset, uint64_t size) const { return offset <= end_ && size <= end_ - offset; }
  const std::byte* image_;
  size_t end_;
};

/// Appends at a multiple of eight bytes; returns where.
uint64_t append(std::string& image, std::string_view bytes) {
  image.resize((image.size() + 7) / 8 * 8);
  const uint64_t at = image.size();
  image += bytes;
  return at;
}

} // namespace

std::optional<std::string> withPtx(std::string_view image, std::string_view ptx) {
  if (!image.starts_with(kElfMagic)) return std::nullopt;
  Sections sections(reinterpret_cast<const std::byte*>(image.data()), image.size());
  if (sections.all.empty()) return std::nullopt;
  std::string made(image), names(sections.names());
  Elf64_Shdr own{};
  own.sh_name = Elf64_Word(names.size());
  names += kSection;
  names += '\0';
  own.sh_type = SHT_PROGBITS;
  own.sh_addralign = 1;
  own.sh_offset = append(made, ptx);
  own.sh_size = ptx.size();
  Elf64_Shdr& table = sections.all[sections.header.e_shstrndx];
  table.sh_offset = append(made, names);
  table.sh_size = names.size();
  sections.all.push_back(own);
  sections.header.e_shnum = Elf64_Half(sections.all.size());
  sections.header.e_shoff =
      append(made, {reinterpret_cast<const char*>(sections.all.data()), sections.all.size() * sizeof(Elf64_Shdr)});
  std::memcpy(made.data(), &sections.header, sizeof sections.header);
  return made;
}

std::optional<std::string> carriedPtx(const std::byte* image, size_t bytes) {
  const Sections sections(image, bytes);
  for (const Elf64_Shdr& section : sections.all) {
    const std::string_view names = sections.names();
    if (section.sh_name >= names.size() || !names.substr(section.sh_name).starts_with(kSection)) continue;
    return std::string(sections.content(section));
  }
  return std::nullopt;
}

} // namespace tiletwin::driver
