/* Functions of newer glibcs, made of what every glibc since 2.28 has. Linked into the wheel by old_symbols.py, hidden.
 * Here: what LLVM, libstdc++ and our own code, compiled against today's headers, ask for. A function that is missing here
 * fails the link of the wheel by its name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

/* 2.33: until then stat() and its kin were inline functions around these. */
enum { STAT_VERSION = 1, MKNOD_VERSION = 0 };
int __xstat(int version, const char* path, struct stat* out);
int __lxstat(int version, const char* path, struct stat* out);
int __fxstat(int version, int file, struct stat* out);
int __xmknod(int version, const char* path, mode_t mode, dev_t* device);
int stat(const char* restrict path, struct stat* restrict out) { return __xstat(STAT_VERSION, path, out); }
int lstat(const char* restrict path, struct stat* restrict out) { return __lxstat(STAT_VERSION, path, out); }
int fstat(int file, struct stat* out) { return __fxstat(STAT_VERSION, file, out); }
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout on x86-64");
int stat64(const char* restrict path, struct stat64* restrict out) { return stat(path, (struct stat*)out); }
int lstat64(const char* restrict path, struct stat64* restrict out) { return lstat(path, (struct stat*)out); }
int fstat64(int file, struct stat64* out) { return fstat(file, (struct stat*)out); }
int mknod(const char* path, mode_t mode, dev_t device) { return __xmknod(MKNOD_VERSION, path, mode, &device); }

/* 2.32: whether atomic operations may be left out. Not without knowing, and they cost little. */
char __libc_single_threaded = 0;

/* 2.33: the same figures, wider. */
struct mallinfo2 mallinfo2(void) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo info = mallinfo();
#pragma clang diagnostic pop
#define WIDE(field) .field = (unsigned)info.field
  return (struct mallinfo2){WIDE(arena),   WIDE(ordblks), WIDE(smblks),   WIDE(hblks),    WIDE(hblkhd),
                            WIDE(usmblks), WIDE(fsmblks), WIDE(uordblks), WIDE(fordblks), WIDE(keepcost)};
}

/* 2.36. A process without random numbers cannot go on: glibc ends it as well. */
uint32_t arc4random(void) {
  uint32_t value;
  for (;;) {
    const ssize_t got = getrandom(&value, sizeof value, 0);
    if (got == sizeof value) return value;
    if (got < 0 && errno != EINTR) abort();
  }
}

/* 2.30: waits by another clock than that of the day. The time that is left is carried over to that clock, as libstdc++ does
 * it on systems without these functions. Who waits looks at its own clock again afterwards. */
static struct timespec onRealtime(clockid_t clock, const struct timespec* until) {
  struct timespec there, here;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  struct timespec result = {here.tv_sec + until->tv_sec - there.tv_sec, here.tv_nsec + until->tv_nsec - there.tv_nsec};
  while (result.tv_nsec < 0) result.tv_nsec += 1000000000, --result.tv_sec;
  while (result.tv_nsec >= 1000000000) result.tv_nsec -= 1000000000, ++result.tv_sec;
  return result;
}
int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex, clockid_t clock,
                           const struct timespec* restrict until) {
  const struct timespec time = onRealtime(clock, until);
  return pthread_cond_timedwait(condition, mutex, &time);
}
int pthread_mutex_clocklock(pthread_mutex_t* restrict mutex, clockid_t clock, const struct timespec* restrict until) {
  const struct timespec time = onRealtime(clock, until);
  return pthread_mutex_timedlock(mutex, &time);
}

/* 2.35: the module that an address lies in, for the static libgcc, which unwinds the stack by its eh_frame alone. */
static int findModule(struct dl_phdr_info* module, size_t size, void* wanted) {
  struct dl_find_object* found = wanted;
  const uintptr_t address = (uintptr_t)found->dlfo_map_start;
  uintptr_t begin = UINTPTR_MAX, end = 0, frames = 0;
  int isInside = 0;
  (void)size;
  for (unsigned i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &module->dlpi_phdr[i];
    const uintptr_t first = module->dlpi_addr + part->p_vaddr, last = first + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) frames = first;
    if (part->p_type != PT_LOAD) continue;
    if (first < begin) begin = first;
    if (last > end) end = last;
    isInside |= first <= address && address < last;
  }
  if (!isInside || !frames) return 0;
  found->dlfo_map_start = (void*)begin;
  found->dlfo_map_end = (void*)end;
  found->dlfo_eh_frame = (void*)frames;
  return 1;
}
int _dl_find_object(void* address, struct dl_find_object* result) {
  *result = (struct dl_find_object){.dlfo_map_start = address};
  return dl_iterate_phdr(findModule, result) ? 0 : -1;
}
