// What textures give at 25 x 1024 places: the program that an H200 ran for tests/data/sim/textures_h200.npz (test_textures.py).
// usage: textures FILE: inputs and, for each kind, places and results go there; stdout lists the kinds.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>
static unsigned state = 12345;
static unsigned rnd() {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}
static float uni(float a, float b) { return a + (b - a) * (rnd() / 16777216.0f); }
const int N = 1024;
struct P {
  float x, y, z;
};
__global__ void get1(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = make_float4(tex1D<float>(t, p[i].x), 0, 0, 0);
}
__global__ void get1i(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = make_float4(tex1Dfetch<float>(t, int(p[i].x)), 0, 0, 0);
}
__global__ void get2(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = make_float4(tex2D<float>(t, p[i].x, p[i].y), 0, 0, 0);
}
__global__ void get2v(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = tex2D<float4>(t, p[i].x, p[i].y);
}
__global__ void get3(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = make_float4(tex3D<float>(t, p[i].x, p[i].y, p[i].z), 0, 0, 0);
}
__global__ void gather(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = tex2Dgather<float4>(t, p[i].x, p[i].y, 0);
}
__global__ void layered(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = make_float4(tex2DLayered<float>(t, p[i].x, p[i].y, int(p[i].z)), 0, 0, 0);
}
__global__ void cube(cudaTextureObject_t t, const P* p, float4* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = make_float4(texCubemap<float>(t, p[i].x, p[i].y, p[i].z), 0, 0, 0);
}
#define CK(x)                                                                                                          \
  do {                                                                                                                 \
    cudaError_t e_ = (x);                                                                                              \
    if (e_) {                                                                                                          \
      printf("%d %s: %s\n", __LINE__, #x, cudaGetErrorString(e_));                                                     \
      exit(3);                                                                                                         \
    }                                                                                                                  \
  } while (0)
static FILE* out;
template <class K> void run(K kernel, cudaTextureObject_t t, const std::vector<P>& p, const char* name) {
  P* dp;
  float4* dq;
  std::vector<float4> q(N);
  CK(cudaMalloc(&dp, N * sizeof(P)));
  CK(cudaMalloc(&dq, N * 16));
  CK(cudaMemcpy(dp, p.data(), N * sizeof(P), cudaMemcpyHostToDevice));
  kernel<<<N / 128, 128>>>(t, dp, dq);
  CK(cudaDeviceSynchronize());
  CK(cudaMemcpy(q.data(), dq, N * 16, cudaMemcpyDeviceToHost));
  fwrite(p.data(), sizeof(P), N, out);
  fwrite(q.data(), 16, N, out);
  CK(cudaFree(dp));
  CK(cudaFree(dq));
  printf("%s\n", name);
}
cudaTextureDesc desc(cudaTextureFilterMode f, cudaTextureAddressMode a, bool norm, bool readNorm = false) {
  cudaTextureDesc d{};
  d.filterMode = f;
  for (auto& m : d.addressMode) m = a;
  d.normalizedCoords = norm;
  d.readMode = readNorm ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.borderColor[0] = 0.25f;
  return d;
}
template <class T> cudaArray_t array(const std::vector<T>& v, int w, int h, int d, unsigned flags = 0) {
  cudaArray_t a;
  auto c = cudaCreateChannelDesc<T>();
  CK(cudaMalloc3DArray(&a, &c, make_cudaExtent(w, h, d), flags));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr((void*)v.data(), w * sizeof(T), w, h ? h : 1);
  p.dstArray = a;
  p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  p.kind = cudaMemcpyHostToDevice;
  CK(cudaMemcpy3D(&p));
  return a;
}
cudaTextureObject_t object(cudaArray_t a, const cudaTextureDesc& d) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureObject_t t;
  CK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}
std::vector<P> places(float lo, float hi) {
  std::vector<P> p(N);
  for (auto& q : p) q = {uni(lo, hi), uni(lo, hi), uni(lo, hi)};
  return p;
}
std::vector<P> fine() {
  std::vector<P> p(N);
  for (int i = 0; i < N; ++i) p[i] = {2.5f + i / 1024.0f, 2.5f, 2.5f};
  return p;
}
int main(int, char** argv) {
  out = fopen(argv[1], "wb");
  const auto L = cudaFilterModeLinear, Q = cudaFilterModePoint;
  std::vector<float> line(8), flat(64), solid(512), one(8, 0.0f), one2(64, 0.0f);
  for (auto& v : line) v = uni(-4, 4);
  for (auto& v : flat) v = uni(-4, 4);
  for (auto& v : solid) v = uni(-4, 4);
  one[3] = 1;
  one2[3 * 8 + 3] = 1;
  std::vector<uchar4> bytes(64);
  for (auto& v : bytes) v = make_uchar4(rnd(), rnd(), rnd(), rnd());
  std::vector<unsigned short> halves(64);
  for (auto& v : halves) {
    __half h = __float2half(uni(-4, 4));
    memcpy(&v, &h, 2);
  }
  std::vector<short> shorts(64);
  for (auto& v : shorts) v = short(rnd());
  fwrite(line.data(), 4, 8, out);
  fwrite(flat.data(), 4, 64, out);
  fwrite(solid.data(), 4, 512, out);
  fwrite(bytes.data(), 4, 64, out);
  fwrite(halves.data(), 2, 64, out);
  fwrite(shorts.data(), 2, 64, out);
  cudaArray_t a1 = array(line, 8, 0, 0), a2 = array(flat, 8, 8, 0, cudaArrayTextureGather), a3 = array(solid, 8, 8, 8),
              w1 = array(one, 8, 0, 0), w2 = array(one2, 8, 8, 0), b2 = array(bytes, 8, 8, 0),
              s2 = array(shorts, 8, 8, 0);
  cudaArray_t h2;
  {
    auto c = cudaCreateChannelDescHalf();
    CK(cudaMallocArray(&h2, &c, 8, 8));
    CK(cudaMemcpy2DToArray(h2, 0, 0, halves.data(), 16, 16, 8, cudaMemcpyHostToDevice));
  }
  run(get1, object(w1, desc(L, cudaAddressModeClamp, false)), fine(), "weights 1d");
  run(get1, object(a1, desc(L, cudaAddressModeClamp, false)), places(-2, 10), "linear 1d clamp");
  run(get1, object(a1, desc(L, cudaAddressModeBorder, false)), places(-2, 10), "linear 1d border");
  run(get1, object(a1, desc(L, cudaAddressModeWrap, true)), places(-2, 3), "linear 1d wrap");
  run(get1, object(a1, desc(L, cudaAddressModeMirror, true)), places(-2, 3), "linear 1d mirror");
  run(get1, object(a1, desc(Q, cudaAddressModeClamp, false)), places(-2, 10), "point 1d clamp");
  run(get1, object(a1, desc(Q, cudaAddressModeBorder, false)), places(-2, 10), "point 1d border");
  run(get1, object(a1, desc(Q, cudaAddressModeWrap, true)), places(-2, 3), "point 1d wrap");
  run(get1, object(a1, desc(Q, cudaAddressModeMirror, true)), places(-2, 3), "point 1d mirror");
  run(get2, object(w2, desc(L, cudaAddressModeClamp, false)), places(2, 5), "weights 2d");
  run(get2, object(a2, desc(L, cudaAddressModeClamp, false)), places(-2, 10), "linear 2d clamp");
  run(get2, object(a2, desc(L, cudaAddressModeWrap, true)), places(-2, 3), "linear 2d wrap");
  run(get2, object(a2, desc(Q, cudaAddressModeMirror, true)), places(-2, 3), "point 2d mirror");
  run(get3, object(a3, desc(L, cudaAddressModeClamp, false)), places(-1, 9), "linear 3d clamp");
  run(get3, object(a3, desc(L, cudaAddressModeWrap, true)), places(-1, 2), "linear 3d wrap");
  run(get2v, object(b2, desc(L, cudaAddressModeClamp, false, true)), places(-1, 9), "linear 2d uchar4");
  run(get2v, object(b2, desc(Q, cudaAddressModeClamp, false, true)), places(-1, 9), "point 2d uchar4");
  run(get2, object(h2, desc(L, cudaAddressModeClamp, false)), places(-1, 9), "linear 2d half");
  run(get2, object(s2, desc(L, cudaAddressModeClamp, false, true)), places(-1, 9), "linear 2d short");
  run(gather, object(a2, desc(L, cudaAddressModeClamp, false)), places(-1, 9), "gather");
  std::vector<float> six(8 * 8 * 6);
  for (auto& v : six) v = uni(-4, 4);
  fwrite(six.data(), 4, six.size(), out);
  run(layered, object(array(six, 8, 8, 6, cudaArrayLayered), desc(L, cudaAddressModeWrap, true)), places(-1, 6),
      "layered");
  run(cube, object(array(six, 8, 8, 6, cudaArrayCubemap), desc(L, cudaAddressModeWrap, true)), places(-1, 1),
      "cubemap linear");
  run(cube, object(array(six, 8, 8, 6, cudaArrayCubemap), desc(Q, cudaAddressModeWrap, true)), places(-1, 1),
      "cubemap point");
  { // linear memory: 1d fetch and pitched 2d
    float* m;
    CK(cudaMalloc(&m, 32));
    CK(cudaMemcpy(m, line.data(), 32, cudaMemcpyHostToDevice));
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = m;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = 32;
    auto d = desc(Q, cudaAddressModeClamp, false);
    cudaTextureObject_t t;
    CK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    run(get1i, t, places(-3, 12), "fetch");
    float* q;
    size_t pitch;
    CK(cudaMallocPitch(&q, &pitch, 32, 8));
    CK(cudaMemcpy2D(q, pitch, flat.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    cudaResourceDesc s{};
    s.resType = cudaResourceTypePitch2D;
    s.res.pitch2D.devPtr = q;
    s.res.pitch2D.desc = r.res.linear.desc;
    s.res.pitch2D.width = s.res.pitch2D.height = 8;
    s.res.pitch2D.pitchInBytes = pitch;
    auto e = desc(L, cudaAddressModeWrap, true);
    CK(cudaCreateTextureObject(&t, &s, &e, nullptr));
    run(get2, t, places(-2, 3), "pitched");
  }
}
