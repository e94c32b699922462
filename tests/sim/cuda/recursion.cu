// recursion.cu -- functions that call themselves, with arrays on their stack.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ int queens(int n, int row, unsigned columns, unsigned left, unsigned right, int* placed) {
  if (row == n) return placed[0] * 31 + placed[n - 1] * 7 + 1;
  int sum = 0;
  for (unsigned open = ~(columns | left | right) & ((1u << n) - 1); open; open &= open - 1) {
    const unsigned bit = open & -open;
    placed[row] = __ffs(bit);
    sum += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1, placed);
  }
  return sum;
}

/// Merge sort of part of a local array; the halves are copied to the callee's own array.
__device__ __noinline__ void mergeSort(short* items, int count) {
  if (count < 2) return;
  short half[16];
  const int middle = count / 2;
  for (int i = 0; i < middle; ++i) half[i] = items[i];
  mergeSort(half, middle);
  mergeSort(items + middle, count - middle);
  for (int i = 0, j = middle, out = 0; i < middle;) {
    if (j < count && items[j] < half[i])
      items[out++] = items[j++];
    else
      items[out++] = half[i++];
  }
}

__device__ int odd(unsigned n);
__device__ __noinline__ int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }

extern "C" __global__ void recursion(const short* in, short* sorted, unsigned* ackermanns, int* boards, int* evens) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  short items[32];
  int placed[8];
  for (int i = 0; i < 32; ++i) items[i] = in[at * 32 + i];
  mergeSort(items, 32 - at % 5);
  for (int i = 0; i < 32; ++i) sorted[at * 32 + i] = items[i];
  ackermanns[at] = ackermann(at % 3, at % 7);
  boards[at] = queens(4 + at % 3, 0, 0, 0, 0, placed);
  evens[at] = even(at % 19);
}
