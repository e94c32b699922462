// tests/cuda/fake_cuda.h -- what the two files of the fake driver share: what tests set, the log, the thread's context.
#pragma once
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { SHARED_OF_BLOCK = 232448, THREADS_OF_BLOCK = 1024, MULTIPROCESSORS = 4 };

struct Settings {
  int version, devices, capability, initResult, capturing;
};
extern struct Settings set;
extern int pending;                     // a fault that the next synchronisation reports, and every call after it
extern __thread int depth, captureMode; // of the stack of contexts; 0 global, 2 relaxed

/// Notes a call; the error that a test asked for, or 0.
__attribute__((format(printf, 2, 3))) int called(const char* call, const char* format, ...);
/// Which piece of memory has these bytes; -1: none.
int blockOf(uint64_t address, size_t bytes);

#define CALLED(...)                                                                                                    \
  do {                                                                                                                 \
    int asked = called(__func__, __VA_ARGS__);                                                                         \
    if (asked) return asked;                                                                                           \
  } while (0)
#define FAULTS()                                                                                                       \
  do {                                                                                                                 \
    if (pending) return pending;                                                                                       \
  } while (0)
#define NEEDS_CONTEXT()                                                                                                \
  do {                                                                                                                 \
    if (!depth) return 201;                                                                                            \
  } while (0)
/// Work that a thread must not do while a stream is captured, unless it has said so.
#define DURING_CAPTURE()                                                                                               \
  do {                                                                                                                 \
    if (set.capturing && captureMode != 2) return 900;                                                                 \
  } while (0)
