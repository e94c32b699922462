// sim/driver/HostAllocations.cpp -- memory of a library of the process, placed as a GPU's memory is.
// Here:      cuTiletwinAlignAllocations, which is not NVIDIA's: tiletwin's own Python code calls it.
// Reason:    a GPU's allocations begin at multiples of 512 bytes and kernels rely on 128. PyTorch's tensors for the CPU, which stand
//            for a GPU's there, begin at multiples of 64. PyTorch has no setting for that; it calls posix_memalign.
// Source:    relocations as in "System V Application Binary Interface, AMD64 Architecture Processor Supplement".
#include "runtime/cuda/DriverTypes.h"
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace tiletwin::driver {
namespace {

constexpr size_t kAlignment = 512;
constexpr std::string_view kFunction = "posix_memalign";

int allocate(void** memory, size_t alignment, size_t bytes) {
  return posix_memalign(memory, std::max(alignment, kAlignment), bytes);
}

struct Search {
  std::string_view library;
  int changed = 0;
};

/// Puts our function where the loader has put, or would put, the C library's.
bool change(uint64_t address) {
  const auto page = uint64_t(sysconf(_SC_PAGESIZE));
  auto* const first = reinterpret_cast<void*>(address / page * page); // NOLINT: an address
  void (*const own)() = reinterpret_cast<void (*)()>(&allocate);
  if (mprotect(first, page, PROT_READ | PROT_WRITE)) return false; // a pointer is aligned: it lies in one page
  std::memcpy(reinterpret_cast<void*>(address), &own, sizeof own); // NOLINT: an address
  return true;
}

int look(dl_phdr_info* object, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  const std::string_view name = object->dlpi_name ? object->dlpi_name : "";
  if (name.substr(name.rfind('/') + 1) != search.library) return 0;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr); // NOLINT
  if (!entry) return 1;
  const char* names = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  struct Table {
    const ElfW(Rela) * begin = nullptr;
    size_t bytes = 0;
  } calls, others;
  for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      // The loader has made addresses of these.
    case DT_STRTAB: names = reinterpret_cast<const char*>(entry->d_un.d_ptr); break;             // NOLINT
    case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr); break;      // NOLINT
    case DT_JMPREL: calls.begin = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); break; // NOLINT
    case DT_PLTRELSZ: calls.bytes = entry->d_un.d_val; break;
    case DT_RELA: others.begin = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr); break; // NOLINT
    case DT_RELASZ: others.bytes = entry->d_un.d_val; break;
    default: break;
    }
  if (!names || !symbols) return 1;
  for (const Table& table : {calls, others})
    for (size_t i = 0; table.begin && i < table.bytes / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela) & relocation = table.begin[i];
      const auto kind = ELF64_R_TYPE(relocation.r_info);
      if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
      if (names + symbols[ELF64_R_SYM(relocation.r_info)].st_name != kFunction) continue;
      search.changed += change(object->dlpi_addr + relocation.r_offset);
    }
  return 1;
}

} // namespace

/// From now on, what the loaded library of that file name ("libc10.so") takes by posix_memalign begins at a multiple of 512
/// bytes. kNotFound: no such library is loaded, or it does not call that function.
extern "C" [[gnu::visibility("default")]] cuda::Result cuTiletwinAlignAllocations(const char* library) {
  if (!library) return cuda::kInvalidValue;
  Search search{library};
  dl_iterate_phdr(look, &search);
  return search.changed ? cuda::kSuccess : cuda::kNotFound;
}

} // namespace tiletwin::driver
