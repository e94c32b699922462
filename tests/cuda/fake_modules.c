// tests/cuda/fake_modules.c -- the fake driver's modules, links and launches (fake_cuda.c says what it is for).
// Here:      limits of launches, PTX versions; kernels of a few names, run on the host.
#include "fake_cuda.h"

enum { MAX_FUNCTIONS = 16 };

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
  if (!strcmp(name, "multiplied") && parameters) // eight arguments, two maps, a flag
    return called("arguments", "multiplied: %#zx %#zx %d", *(const size_t*)parameters[8], *(const size_t*)parameters[9],
                  *(const int*)parameters[10]);
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
