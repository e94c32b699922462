// tests/cuda/fake_cuda.c -- a library with the CUDA driver's functions and no GPU behind them, for tests of every error path.
// Here:      what the driver checks and refuses as far as tests ask for it: limits of launches, memory, contexts, capture of
//            streams, PTX versions; kernels of a few names, run on the host; a log of calls; errors on request.
// Not here:  anything of the code under test: this file declares the functions by itself, as an independent witness.
// "Device memory" is host memory. -DFAKE_OLD leaves out what drivers before CUDA 11.8 lack, -DFAKE_ANCIENT one more function.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { MAX_DEVICES = 4, MAX_BLOCKS = 256, MAX_MODULES = 64, MAX_FUNCTIONS = 16, LOG_BYTES = 1 << 20 };

// ---- what tests set -------------------------------------------------------------------------------------------------------

static struct {
  int version, devices, capability, initResult, capturing;
} set = {13000, 2, 90, 0, 0};
static struct {
  char call[64];
  int code, after; // fails once `after` calls have gone through; code 0: no failure is asked for
} failure;
static char logText[LOG_BYTES];
static size_t logEnd;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the log, failures and the table of memory
static int pending; // a fault that the next synchronisation reports, and every call after it

API void fake_set(const char* name, int value) {
  if (!strcmp(name, "version")) set.version = value;
  if (!strcmp(name, "devices")) set.devices = value;
  if (!strcmp(name, "capability")) set.capability = value;
  if (!strcmp(name, "init")) set.initResult = value;
  if (!strcmp(name, "capturing")) set.capturing = value;
  if (!strcmp(name, "pending")) pending = value;
}
API void fake_fail(const char* call, int code, int after) {
  snprintf(failure.call, sizeof failure.call, "%s", call);
  failure.code = code;
  failure.after = after;
}
API const char* fake_log(void) { return logText; }
API void fake_clear_log(void) { logText[logEnd = 0] = 0; }

__attribute__((constructor)) static void readEnvironment(void) {
  static const char* const names[] = {"version", "devices", "capability", "init"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char variable[64];
    snprintf(variable, sizeof variable, "FAKE_CUDA_%s", names[i]);
    if (getenv(variable)) fake_set(names[i], atoi(getenv(variable)));
  }
}

/// Notes a call; the error that a test asked for, or 0.
__attribute__((format(printf, 2, 3))) static int called(const char* call, const char* format, ...) {
  va_list args;
  va_start(args, format);
  char text[256];
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pthread_mutex_lock(&lock);
  if (logEnd + 400 < LOG_BYTES) logEnd += (size_t)snprintf(logText + logEnd, 400, "%s(%s)\n", call, text);
  const int isAsked = failure.code && !strcmp(failure.call, call) && failure.after-- <= 0;
  pthread_mutex_unlock(&lock);
  return isAsked ? failure.code : 0;
}
#define CALLED(...)                                                                                                    \
  do {                                                                                                                 \
    int asked = called(__func__, __VA_ARGS__);                                                                         \
    if (asked) return asked;                                                                                           \
  } while (0)
#define FAULTS()                                                                                                       \
  do {                                                                                                                 \
    if (pending) return pending;                                                                                       \
  } while (0)

// ---- driver, errors, devices ----------------------------------------------------------------------------------------------

static const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};
API int cuGetErrorName(int code, const char** text) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (errors[i].code == code) return *text = errors[i].name, 0;
  return *text = NULL, 1;
}
API int cuGetErrorString(int code, const char** text) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (errors[i].code == code) return *text = errors[i].text, 0;
  return *text = NULL, 1;
}
static int started;
API int cuInit(unsigned flags) {
  CALLED("%u", flags);
  const int result = set.initResult ? set.initResult : set.devices ? 0 : 100;
  started |= !result;
  return result;
}
API int cuDriverGetVersion(int* version) { return *version = set.version, 0; }
API int cuDeviceGetCount(int* count) { return *count = set.devices, 0; }
API int cuDeviceGet(int* device, int ordinal) {
  return *device = ordinal, !started ? 3 : ordinal < set.devices ? 0 : 101;
}
API int cuDeviceGetName(char* name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "Fake GPU %d", device);
  return 0;
}
enum { SHARED_OF_BLOCK = 232448, THREADS_OF_BLOCK = 1024, MULTIPROCESSORS = 4 };
API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  CALLED("%d, %d", attribute, device);
  switch (attribute) {
  case 1:
  case 2:
  case 3: return *value = THREADS_OF_BLOCK, 0;
  case 4: return *value = 64, 0;
  case 5: return *value = 2147483647, 0;
  case 6:
  case 7: return *value = 65535, 0;
  case 10: return *value = 32, 0;
  case 12: return *value = 65536, 0;
  case 16: return *value = MULTIPROCESSORS, 0;
  case 75: return *value = set.capability / 10, 0;
  case 76: return *value = set.capability % 10, 0;
  case 97: return *value = SHARED_OF_BLOCK, 0;
  case 120: return *value = set.capability >= 90, 0;
  default: return *value = 7, 0;
  }
}
API int cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)80 << 30, 0; }

// ---- contexts and streams -------------------------------------------------------------------------------------------------

static char contexts[MAX_DEVICES];
static __thread char* stack[16];
static __thread int depth;
static __thread int captureMode; // 0 global, 2 relaxed
static int currentDevice(void) { return depth ? (int)(stack[depth - 1] - contexts) : -1; }
#define NEEDS_CONTEXT()                                                                                                \
  do {                                                                                                                 \
    if (!depth) return 201;                                                                                            \
  } while (0)
/// Work that a thread must not do while a stream is captured, unless it has said so.
#define DURING_CAPTURE()                                                                                               \
  do {                                                                                                                 \
    if (set.capturing && captureMode != 2) return 900;                                                                 \
  } while (0)

API int cuDevicePrimaryCtxRetain(void** context, int device) {
  CALLED("%d", device);
  return *context = &contexts[device], 0;
}
API int cuCtxGetCurrent(void** context) { return *context = depth ? stack[depth - 1] : NULL, 0; }
API int cuCtxPushCurrent_v2(void* context) {
  CALLED("%d", (int)((char*)context - contexts));
  return stack[depth++] = context, 0;
}
API int cuCtxPopCurrent_v2(void** context) {
  CALLED("%d", currentDevice());
  return *context = stack[--depth], 0;
}
API int cuCtxGetDevice(int* device) { return *device = currentDevice(), depth ? 0 : 201; }
API int cuCtxSynchronize(void) {
  NEEDS_CONTEXT();
  CALLED("%d", currentDevice());
  FAULTS();
  return set.capturing ? 900 : 0;
}
API int cuStreamCreate(void** stream, unsigned flags) {
  NEEDS_CONTEXT();
  CALLED("%u", flags);
  FAULTS();
  return *stream = malloc(1), 0;
}
API int cuStreamDestroy_v2(void* stream) { return free(stream), 0; }
API int cuStreamSynchronize(void* stream) {
  NEEDS_CONTEXT();
  CALLED("%#zx", (size_t)stream);
  FAULTS();
  return set.capturing ? 900 : 0;
}
#ifndef FAKE_ANCIENT
API int cuStreamIsCapturing(void* stream, int* status) { return (void)stream, *status = set.capturing, 0; }
#endif
API int cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = captureMode;
  captureMode = *mode;
  return *mode = before, 0;
}

// ---- memory ---------------------------------------------------------------------------------------------------------------

static struct {
  char *begin, *end;
  int device;
} blocks[MAX_BLOCKS];
static int blockOf(uint64_t address, size_t bytes) {
  int found = -1;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MAX_BLOCKS && found < 0; ++i)
    if (blocks[i].begin && address >= (uint64_t)blocks[i].begin && address + bytes <= (uint64_t)blocks[i].end)
      found = i;
  pthread_mutex_unlock(&lock);
  return found;
}
API int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  NEEDS_CONTEXT();
  CALLED("%zu", bytes);
  FAULTS();
  DURING_CAPTURE();
  if (bytes > (size_t)80 << 30) return 2;
  int i = 0;
  pthread_mutex_lock(&lock);
  while (i < MAX_BLOCKS && blocks[i].begin) ++i;
  if (i < MAX_BLOCKS) {
    blocks[i].begin = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(blocks[i].begin, 0xEE, bytes);
    blocks[i].end = blocks[i].begin + bytes;
    blocks[i].device = currentDevice();
    *address = (uint64_t)blocks[i].begin;
  }
  pthread_mutex_unlock(&lock);
  return i < MAX_BLOCKS ? 0 : 2;
}
API int cuMemFree_v2(uint64_t address) {
  CALLED("%s", "");
  const int i = blockOf(address, 0);
  if (i < 0) return 1;
  pthread_mutex_lock(&lock);
  free(blocks[i].begin);
  blocks[i].begin = NULL;
  pthread_mutex_unlock(&lock);
  return 0;
}
API int fake_allocations(void) {
  int count = 0;
  for (int i = 0; i < MAX_BLOCKS; ++i) count += blocks[i].begin != NULL;
  return count;
}
API int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  NEEDS_CONTEXT();
  CALLED("%zu, %#zx", bytes, (size_t)stream);
  FAULTS();
  if (blockOf(to, bytes) < 0) return 1;
  return memcpy((void*)to, from, bytes), 0;
}
API int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  NEEDS_CONTEXT();
  CALLED("%zu, %#zx", bytes, (size_t)stream);
  FAULTS();
  if (blockOf(from, bytes) < 0) return 1;
  return memcpy(to, (void*)from, bytes), 0;
}
API int cuPointerGetAttributes(unsigned count, int* attributes, void** values, uint64_t address) {
  NEEDS_CONTEXT();
  FAULTS();
  const int i = blockOf(address, 0);
  for (unsigned k = 0; k < count; ++k) {
    if (attributes[k] == 2) *(unsigned*)values[k] = i < 0 ? 0 : 2;
    if (attributes[k] == 8) *(unsigned char*)values[k] = 0;
    if (attributes[k] == 9) *(int*)values[k] = i < 0 ? -2 : blocks[i].device;
    if (attributes[k] == 11) *(uint64_t*)values[k] = i < 0 ? 0 : (uint64_t)blocks[i].begin;
    if (attributes[k] == 12) *(size_t*)values[k] = i < 0 ? 0 : (size_t)(blocks[i].end - blocks[i].begin);
  }
  return 0;
}

// ---- modules: the names behind .entry, of a cubin those of a text behind its 64 bytes of header -----------------------------

struct Function {
  char name[64];
  int maxDynamicShared, largeClusters;
};
struct Module {
  struct Function functions[MAX_FUNCTIONS];
  unsigned count;
  int takesAnyName; // a real cubin, whose names nobody reads here
};

static void say(unsigned count, int* options, void** values, int wanted, const char* text) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == wanted) strcpy(values[i], text);
}
static int refuse(unsigned count, int* options, void** values, const char* text) {
  const char* version = strstr(text, ".version ");
  int major = 0, minor = 0;
  if (!version || sscanf(version, ".version %d.%d", &major, &minor) != 2) return 200;
  if (10 * major + minor > (set.version >= 13000 ? 90 : 78)) return 222;
  if (!strstr(text, "nonsense")) return 0;
  say(count, options, values, 5, "ptxas application ptx input, line 7; error   : Unknown symbol 'nonsense'\n");
  return 218;
}
static int load(struct Module** module, const char* text, unsigned count, int* options, void** values) {
  if (!memcmp(text, "\177ELF", 4)) {
    if ((unsigned char)text[49] / 10 != set.capability / 10) return 209;
    text += 64;
  } else {
    const int code = refuse(count, options, values, text);
    if (code) return code;
    say(count, options, values, 3, "ptxas info    : Used 8 registers\n");
  }
  struct Module* made = *module = calloc(1, sizeof *made);
  for (const char* at = text; (at = strstr(at, ".entry ")) && made->count < MAX_FUNCTIONS; ++made->count) {
    at += 7;
    struct Function* function = &made->functions[made->count];
    snprintf(function->name, sizeof function->name, "%.*s", (int)strcspn(at, "( \n"), at);
    function->maxDynamicShared = 49152;
  }
  made->takesAnyName = made->count == 0;
  return 0;
}
API int cuModuleLoadDataEx(struct Module** module, const void* image, unsigned count, int* options, void** values) {
  NEEDS_CONTEXT();
  char words[128] = "";
  for (unsigned i = 0; i < count; ++i) sprintf(words + strlen(words), "%s%d", i ? " " : "", options[i]);
  CALLED("options %s", words);
  FAULTS();
  DURING_CAPTURE();
  return load(module, image, count, options, values);
}
API int cuModuleUnload(struct Module* module) {
  CALLED("%s", module->functions[0].name);
  free(module);
  return 0;
}
API int cuModuleGetFunction(struct Function** function, struct Module* module, const char* name) {
  NEEDS_CONTEXT();
  CALLED("%s", name);
  for (unsigned i = 0; i < module->count; ++i)
    if (!strcmp(module->functions[i].name, name)) return *function = &module->functions[i], 0;
  if (module->takesAnyName && module->count < MAX_FUNCTIONS) {
    *function = &module->functions[module->count++];
    (*function)->maxDynamicShared = 49152;
    snprintf((*function)->name, sizeof(*function)->name, "%s", name);
    return 0;
  }
  return 500;
}
API int cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, struct Module* module, const char* name) {
  static char counter[4];
  (void)module;
  if (strcmp(name, "counter")) return 500;
  return *address = (uint64_t)counter, *bytes = sizeof counter, 0;
}
API int cuFuncGetAttribute(int* value, int attribute, struct Function* function) {
  static const int values[8] = {512, 1024, 16, 24, 40, 90, 90, 0};
  return *value = attribute == 8 ? function->maxDynamicShared : values[attribute], 0;
}
API int cuFuncSetAttribute(struct Function* function, int attribute, int value) {
  NEEDS_CONTEXT();
  CALLED("%s, %d, %d", function->name, attribute, value);
  if (attribute == 8 && value > SHARED_OF_BLOCK - 1024) return 1;
  if (attribute == 8) function->maxDynamicShared = value;
  if (attribute == 14) function->largeClusters = value;
  return 0;
}
API int cuLinkCreate_v2(unsigned count, int* options, void** values, void** link) {
  NEEDS_CONTEXT();
  say(count, options, values, 3, "ptxas info    : Used 8 registers\n");
  CALLED("%u", count);
  return *link = calloc(1, 8192), 0;
}
API int cuLinkAddData_v2(char* link, int type, void* data, size_t bytes, const char* name, unsigned count, int* options,
                         void** values) {
  (void)count, (void)options, (void)values;
  CALLED("%d, %s", type, name);
  if (((char*)data)[bytes - 1]) return 1;
  return memcpy(link, data, bytes), refuse(0, NULL, NULL, data);
}
API int cuLinkComplete(char* link, void** cubin, size_t* bytes) {
  CALLED("%s", "");
  return *cubin = link, *bytes = strlen(link), 0;
}
API int cuLinkDestroy(char* link) {
  CALLED("%s", "");
  free(link);
  return 0;
}

// ---- launches: add(x, y, out, n), scale(p, factor, n), fault() -------------------------------------------------------------

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocksOf, struct Function* function, int threads,
                                                    size_t shared) {
  return (void)function, (void)shared, *blocksOf = 2048 / threads, 0;
}

static const struct {
  const char* name;
  unsigned count, bytes[4], offset[4];
} kernels[] = {
    {"add", 4, {8, 8, 8, 4}, {0, 8, 16, 24}},
    {"scale", 3, {8, 4, 4}, {0, 8, 12}},
    {"fault", 0, {0}, {0}},
    {"words", 4, {1, 2, 2, 8}, {0, 2, 4, 8}},
};
static uint64_t argument(int kernel, unsigned index, void** parameters, void** extra) {
  uint64_t value = 0;
  const char* from = parameters ? parameters[index] : (char*)extra[1] + kernels[kernel].offset[index];
  return memcpy(&value, from, kernels[kernel].bytes[index]), value;
}
static int runKernel(const char* name, void** parameters, void** extra) {
  if (!strcmp(name, "mapped")) { // a structure of 128 bytes and a pointer
    const char* map = parameters ? parameters[0] : (char*)extra[1];
    const char* rest = parameters ? parameters[1] : (char*)extra[1] + 128;
    return called("arguments", "mapped: %#zx %#zx", *(const size_t*)map, *(const size_t*)rest);
  }
  int k = 0;
  while (k < 4 && strcmp(kernels[k].name, name)) ++k;
  if (k == 4) return 0;
  uint64_t a[4] = {0};
  for (unsigned i = 0; i < kernels[k].count; ++i) a[i] = argument(k, i, parameters, extra);
  called("arguments", "%s: %#zx %#zx %#zx %#zx", name, (size_t)a[0], (size_t)a[1], (size_t)a[2], (size_t)a[3]);
  if (!strcmp(name, "fault")) pending = 700;
  if (!strcmp(name, "add")) {
    if (blockOf(a[0], 4 * a[3]) < 0 || blockOf(a[1], 4 * a[3]) < 0 || blockOf(a[2], 4 * a[3]) < 0)
      return pending = 700, 0;
    for (uint64_t i = 0; i < a[3]; ++i) ((float*)a[2])[i] = ((float*)a[0])[i] + ((float*)a[1])[i];
  }
  if (!strcmp(name, "scale")) {
    float factor;
    memcpy(&factor, &a[1], 4);
    if (blockOf(a[0], 4 * a[2]) < 0) return pending = 700, 0;
    for (uint64_t i = 0; i < a[2]; ++i) ((float*)a[0])[i] *= factor;
  }
  return 0;
}
static int launch(struct Function* f, const unsigned* grid, const unsigned* block, unsigned shared, void** parameters,
                  void** extra) {
  FAULTS();
  if (!depth) return 201;
  if ((uint64_t)grid[0] * grid[1] * grid[2] == 0 || (uint64_t)block[0] * block[1] * block[2] == 0) return 1;
  if (block[2] > 64 || grid[1] > 65535 || grid[2] > 65535 ||
      (uint64_t)block[0] * block[1] * block[2] > THREADS_OF_BLOCK)
    return 1;
  if (block[0] * block[1] * block[2] > 512) return 701;
  if ((int)shared > f->maxDynamicShared) return 1;
  return runKernel(f->name, parameters, extra);
}
API int cuLaunchKernel(struct Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, void* stream, void** parameters, void** extra) {
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  CALLED("%s, %u %u %u, %u %u %u, %u, %#zx", f->name, gx, gy, gz, bx, by, bz, shared, (size_t)stream);
  return launch(f, grid, block, shared, parameters, extra);
}

#ifndef FAKE_OLD
struct Attribute {
  int id, pad;
  union {
    char room[64];
    unsigned words[16];
  } value;
};
struct Config {
  unsigned grid[3], block[3], shared;
  void* stream;
  struct Attribute* attributes;
  unsigned count;
};
API int cuLaunchKernelEx(const struct Config* config, struct Function* f, void** parameters, void** extra) {
  char words[128] = "";
  for (unsigned i = 0; i < config->count; ++i) {
    const struct Attribute* a = &config->attributes[i];
    sprintf(words + strlen(words), " %d:%u", a->id, a->value.words[0]);
    if (a->id == 4) sprintf(words + strlen(words), "x%ux%u", a->value.words[1], a->value.words[2]);
    if (a->id == 4 && config->grid[0] % a->value.words[0]) return called(__func__, "refused"), 1;
    if (a->id == 2 && config->grid[0] > 2048 / config->block[0] * MULTIPROCESSORS)
      return called(__func__, "refused"), 720;
  }
  CALLED("%s, %u, %#zx,%s", f->name, config->shared, (size_t)config->stream, words);
  return launch(f, config->grid, config->block, config->shared, parameters, extra);
}
API int cuFuncLoad(struct Function* f) {
  CALLED("%s", f->name);
  return 0;
}
API int cuFuncGetName(const char** name, struct Function* f) { return *name = f->name, 0; }
API int cuModuleGetFunctionCount(unsigned* count, struct Module* module) { return *count = module->count, 0; }
API int cuModuleEnumerateFunctions(struct Function** functions, unsigned count, struct Module* module) {
  for (unsigned i = 0; i < count; ++i) functions[i] = &module->functions[i];
  return 0;
}
API int cuTensorMapEncodeTiled(void* map, int type, uint32_t rank, void* address, const uint64_t* sizes,
                               const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
                               int swizzle, int promotion, int fill) {
  NEEDS_CONTEXT();
  CALLED("%d, %u, %llu %llu, %llu, %u %u, %u, %d %d %d %d", type, rank, (unsigned long long)sizes[0],
         (unsigned long long)sizes[1], (unsigned long long)strides[0], box[0], box[1], steps[0], interleave, swizzle,
         promotion, fill);
  if (strides[0] % 16) return 1;
  memset(map, 0x55, 128);
  return memcpy(map, &address, 8), 0;
}
#endif
