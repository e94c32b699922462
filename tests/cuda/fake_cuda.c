// tests/cuda/fake_cuda.c -- a library with the CUDA driver's functions and no GPU behind them, for tests of every error path.
// Here:      what the driver checks and refuses as far as tests ask for it: memory, contexts, capture of streams; a log of
//            calls; errors on request.
// Not here:  modules and launches (fake_modules.c), anything of the code under test: these files declare the functions by
//            themselves, as an independent witness.
// "Device memory" is host memory. -DFAKE_OLD leaves out what drivers before CUDA 11.8 lack, -DFAKE_ANCIENT one more function.
#include "fake_cuda.h"

enum { MAX_DEVICES = 4, MAX_BLOCKS = 256, LOG_BYTES = 1 << 20 };

// ---- what tests set -------------------------------------------------------------------------------------------------------

struct Settings set = {13000, 2, 90, 0, 0};
static struct {
  char call[64];
  int code, after; // fails once `after` calls have gone through; code 0: no failure is asked for
} failure;
static char logText[LOG_BYTES];
static size_t logEnd;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the log, failures and the table of memory
int pending;

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

int called(const char* call, const char* format, ...) {
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
__thread int depth, captureMode;
static int currentDevice(void) { return depth ? (int)(stack[depth - 1] - contexts) : -1; }
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
int blockOf(uint64_t address, size_t bytes) {
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
