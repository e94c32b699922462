// locks.cu -- locks that threads spin on: lanes of one warp, warps of a CTA, CTAs of a grid. What they guard is not atomic itself.
struct Guarded {
  int lock;
  int count;
  int sum;
  int longest; // run of entries by one CTA
};

/// Every thread enters once per round, also the lanes of a warp one after the other.
extern "C" __global__ void laneLock(Guarded* slots, int slotCount, int rounds) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    Guarded* slot = &slots[(thread + round) % slotCount];
    volatile Guarded* v = slot;
    bool done = false;
    while (!done) {
      if (atomicCAS(&slot->lock, 0, 1) == 0) {
        __threadfence();
        v->count = v->count + 1;
        v->sum = v->sum + thread * (round + 1);
        __threadfence();
        atomicExch(&slot->lock, 0);
        done = true;
      }
    }
  }
}

/// The other way to write it: the loop ends at the lock, what it guards stands behind.
extern "C" __global__ void spinFirst(Guarded* slot) {
  volatile Guarded* v = slot;
  if (threadIdx.x % 3 == 1) return;
  while (atomicCAS(&slot->lock, 0, 1) != 0) {}
  __threadfence();
  v->count = v->count + 1;
  v->longest = max(v->longest, v->count % 5);
  __threadfence();
  atomicExch(&slot->lock, 0);
}

/// Numbers are handed out and called in turn: CTAs enter in the order of their tickets; warps of a CTA by a lock in shared memory.
extern "C" __global__ void tickets(unsigned* next, unsigned* serving, int* log, int* position) {
  __shared__ unsigned ticket;
  __shared__ int shared, warpLock;
  if (threadIdx.x == 0) {
    shared = warpLock = 0;
    ticket = atomicAdd(next, 1);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicExch(&warpLock, 1)) __nanosleep(10);
    __threadfence_block();
    *static_cast<volatile int*>(&shared) = *static_cast<volatile int*>(&shared) + threadIdx.x / 32 + 1;
    __threadfence_block();
    atomicExch(&warpLock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicAdd(serving, 0) != ticket) __nanosleep(50);
    __threadfence();
    volatile int* p = position;
    log[*p] = shared + int(ticket);
    *p = *p + 1;
    __threadfence();
    atomicAdd(serving, 1);
  }
}

/// A lane waits for another lane of its own warp: the first half sets what the second half spins on.
extern "C" __global__ void lanesInTurn(int* out) {
  __shared__ volatile int stage[4];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) stage[warp] = 0;
  __syncwarp();
  if (lane % 2) {
    while (stage[warp] != lane / 2) {}
    out[threadIdx.x] = lane * 10;
    __threadfence_block();
    stage[warp] = lane / 2 + 1;
  } else {
    while (stage[warp] < lane / 2) {}
    out[threadIdx.x] = lane + 1;
  }
}
