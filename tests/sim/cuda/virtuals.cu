// virtuals.cu -- virtual calls on objects that threads build, tables of functions, structures as arguments and results.
#include <new>

struct Scene {
  float scale[3];
  short count;
  char mode;
  double bias;
  int offsets[4];
};

class Shape {
public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
class Circle : public Shape {
public:
  __device__ explicit Circle(float r) : r_(r) {}
  __device__ float area() const override { return 3.0f * r_ * r_; }

private:
  float r_;
};
class Box : public Shape {
public:
  __device__ Box(float w, float h) : w_(w), h_(h) {}
  __device__ float area() const override { return w_ * h_; }
  __device__ int corners() const override { return 4; }

protected:
  float w_, h_;
};
class Prism final : public Box {
public:
  __device__ Prism(float w, float h, int sides) : Box(w, h), sides_(sides) {}
  __device__ float area() const override { return Box::area() * sides_ + 0.5f; }
  __device__ int corners() const override { return 2 * sides_; }

private:
  int sides_;
};

union Room {
  __device__ Room() {}
  __device__ ~Room() {}
  Circle circle;
  Box box;
  Prism prism;
};

using Operation = int (*)(int, int);
__device__ int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ int minus(int a, int b) { return int(unsigned(a) - unsigned(b)); }
__device__ int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ int collatz(int a, int b) {
  int steps = 0;
  for (unsigned n = a | 1; n != 1 && steps < b; ++steps) n = n & 1 ? 3 * n + 1 : n / 2;
  return steps;
}
__device__ Operation operations[] = {plus, minus, times, collatz};

struct Both {
  float area;
  int corners;
  long long mixed;
};
__device__ __noinline__ Both look(const Shape* shape, const Scene& scene, int i) {
  const int corners = shape->corners();
  return {shape->area() * scene.scale[i % 3], corners, (long long)corners << 33 | scene.offsets[i % 4]};
}

extern "C" __global__ void virtuals(Scene scene, const float* sizes, Both* out, int* folded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= scene.count) return;
  Room room;
  Shape* shape;
  switch ((i * 7 + scene.mode) % 3) {
  case 0: shape = new (&room) Circle(sizes[i]); break;
  case 1: shape = new (&room) Box(sizes[i], sizes[i] + 1); break;
  default: shape = new (&room) Prism(sizes[i], 2, i % 6 + 3); break;
  }
  Both both = look(shape, scene, i);
  both.area += float(scene.bias);
  out[i] = both;
  shape->~Shape();
  int value = i;
  for (int step = 0; step < 12; ++step) value = operations[(value ^ step) & 3](value, step + 3);
  folded[i] = value;
}
