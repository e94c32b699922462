// machine.cu -- every thread runs a small program of its own: a loop around a switch, with a stack in local memory and the programs in
// constant memory; and points of the Mandelbrot set, whose loops end at very different times.
enum Code : unsigned char {
  kPush,
  kAdd,
  kMul,
  kSub,
  kDup,
  kSwap,
  kJump,
  kJumpIfPositive,
  kDrop,
  kMod,
  kStore,
  kLoad,
  kHalt
};

__constant__ unsigned char programs[3][32] = {
    // n -> smallest m >= 0 with n - 3 m <= 0
    {kPush, 0, kSwap, kDup, kJumpIfPositive, 9, kDrop, kJump, 18, kPush, 3, kSub, kSwap, kPush, 1, kAdd, kJump, 2,
     kHalt},
    // n -> sum of 1 ... n by a loop
    {kStore, 0, kPush, 0, kLoad, 0, kAdd, kLoad, 0, kPush, 1, kSub, kDup, kStore, 0, kJumpIfPositive, 4, kHalt},
    // n -> n^4 mod 251 minus 7
    {kDup, kMul, kDup, kMul, kPush, 251, kMod, kPush, 7, kSub, kHalt},
};

extern "C" __global__ void machine(const int* in, int* out, int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char* code = programs[i % 3];
  int stack[8], cells[2] = {}, top = 0, at = 0, count = 0;
  stack[top++] = in[i];
  for (bool runs = true; runs && count < 4000; ++count) {
    switch (code[at++]) {
    case kPush: stack[top++] = code[at++]; break;
    case kAdd: --top, stack[top - 1] += stack[top]; break;
    case kMul: --top, stack[top - 1] *= stack[top]; break;
    case kSub: --top, stack[top - 1] -= stack[top]; break;
    case kDup: stack[top] = stack[top - 1], ++top; break;
    case kSwap: {
      const int t = stack[top - 1];
      stack[top - 1] = stack[top - 2], stack[top - 2] = t;
      break;
    }
    case kJump: at = code[at]; break;
    case kJumpIfPositive: at = stack[--top] > 0 ? code[at] : at + 1; break;
    case kDrop: --top; break;
    case kMod: --top, stack[top - 1] %= stack[top]; break;
    case kStore: cells[code[at++] & 1] = stack[--top]; break;
    case kLoad: stack[top++] = cells[code[at++] & 1]; break;
    default: runs = false;
    }
  }
  out[i] = stack[top - 1];
  steps[i] = count;
}

extern "C" __global__ void mandelbrot(unsigned char* out, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cr = -2.2f + 3.2f * x / width, ci = -1.2f + 2.4f * y / height;
  float r = 0, i = 0;
  int n = 0;
  while (n < limit) {
    const float rr = r * r, ii = i * i;
    if (rr + ii > 4) break;
    i = 2 * r * i + ci;
    r = rr - ii + cr;
    ++n;
  }
  out[y * width + x] = n;
}
