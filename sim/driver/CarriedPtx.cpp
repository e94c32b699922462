// sim/driver/CarriedPtx.cpp -- see CarriedPtx.h.
#include "sim/driver/CarriedPtx.h"
#include <array>
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
  std::string_view nameOf(const Elf64_Shdr& section) const { return textAt(names(), section.sh_name); }
  bool carriesPtx(const Elf64_Shdr& section) const { return nameOf(section) == kSection; }

  /// What stands in a table of texts, up to the next zero.
  static std::string_view textAt(std::string_view texts, size_t at) {
    if (at >= texts.size()) return {};
    return texts.substr(at, texts.find('\0', at) - at);
  }

  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> all; ///< empty: they cannot be read

private:
  bool fits(uint64_t offset, uint64_t size) const { return offset <= end_ && size <= end_ - offset; }
  const std::byte* image_;
  size_t end_;
};

/// Names of the symbols of an image, by number.
std::vector<std::string> symbolNames(const Sections& sections) {
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections.all) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.all.size()) continue;
    const std::string_view symbols = sections.content(section), texts = sections.content(sections.all[section.sh_link]);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      names.emplace_back(Sections::textAt(texts, symbol.st_name));
    }
  }
  return names;
}

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
  for (Elf64_Shdr& section : sections.all)
    if (sections.carriesPtx(section)) section.sh_name = 0;
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
  if (!ptx.empty()) sections.all.push_back(own);
  sections.header.e_shnum = Elf64_Half(sections.all.size());
  sections.header.e_shoff =
      append(made, {reinterpret_cast<const char*>(sections.all.data()), sections.all.size() * sizeof(Elf64_Shdr)});
  std::memcpy(made.data(), &sections.header, sizeof sections.header);
  return made;
}

std::optional<std::string> carriedPtx(const std::byte* image, size_t bytes) {
  const Sections sections(image, bytes);
  for (const Elf64_Shdr& section : sections.all)
    if (sections.carriesPtx(section)) return std::string(sections.content(section));
  return std::nullopt;
}

std::map<std::string, int> notedRegisters(const std::byte* image, size_t bytes) {
  // A note: its form, its kind, 16 bits, which are a value, or the bytes of the value behind them if the form is kLong.
  constexpr uint8_t kLong = 4, kRegisters = 0x2F;
  const Sections sections(image, bytes);
  const std::vector<std::string> names = symbolNames(sections);
  std::map<std::string, int> noted;
  for (const Elf64_Shdr& section : sections.all) {
    if (sections.nameOf(section) != ".nv.info") continue;
    std::string_view left = sections.content(section);
    while (left.size() >= 4) {
      const auto form = uint8_t(left[0]), kind = uint8_t(left[1]);
      uint16_t length = 0;
      std::memcpy(&length, left.data() + 2, sizeof length);
      left.remove_prefix(4);
      if (form != kLong) continue;
      std::array<uint32_t, 2> value{}; // a symbol and its registers
      if (length > left.size()) break;
      if (kind == kRegisters && length == sizeof value) {
        std::memcpy(value.data(), left.data(), sizeof value);
        if (value[0] < names.size()) noted[names[value[0]]] = int(value[1]);
      }
      left.remove_prefix(length);
    }
  }
  return noted;
}

} // namespace tiletwin::driver
