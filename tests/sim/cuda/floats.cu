// floats.cu -- arithmetic of f16, bf16, f32 and f64 with all their roundings and conversions, on any bits at all.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned short bits(__half x) { return __half_as_ushort(x); }
__device__ unsigned short bits(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }

extern "C" __global__ void halves(const __half2* a, const __half2* b, uint2* out, float* wide, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 x = a[i], y = b[i];
  __half2 acc = __hfma2(x, y, __hadd2(x, y));
  acc = __hadd2(acc, __hmul2_sat(x, y));
  acc = __hsub2(acc, __hmin2(x, __hneg2(y)));
  acc = __hadd2(acc, __hmax2_nan(__habs2(x), y));
  const __half low = __low2half(x), high = __high2half(y);
  const unsigned compared = __hlt2_mask(x, y) & 0xff00ff | __hge2_mask(x, y) & 0xff00ff00;
  const __half divided = __hdiv(low, high), root = hsqrt(__habs(low)), relu = __hfma_relu(low, high, low);
  const unsigned roundings =
      bits(hrint(low)) + bits(hfloor(high)) * 3u + bits(hceil(low)) * 5u + bits(htrunc(high)) * 7u;
  out[i * 3] = {*reinterpret_cast<const unsigned*>(&acc), compared};
  out[i * 3 + 1] = {bits(divided) | unsigned(bits(root)) << 16, bits(relu) + roundings};
  out[i * 3 + 2] = {unsigned(__half2int_rn(low)) ^ unsigned(__half2int_rz(high)) << 8,
                    bits(__int2half_rn(i * 977 - 70000))};
  wide[i] = __half2float(low) * __half2float(high) + float(__heq(low, high)) + float(__hisnan(low));
}

extern "C" __global__ void brains(const __nv_bfloat162* a, const __nv_bfloat162* b, uint2* out, const float* f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_bfloat162 x = a[i], y = b[i];
  __nv_bfloat162 acc = __hfma2(x, y, y);
  acc = __hmax2(acc, __hmul2(x, y));
  acc = __hadd2(acc, __hmin2(x, y));
  const float value = f[i];
  const unsigned even = bits(__float2bfloat16_rn(value)), zero = bits(__float2bfloat16_rz(value)),
                 down = bits(__float2bfloat16_rd(value)), up = bits(__float2bfloat16_ru(value));
  const __nv_bfloat162 both = __floats2bfloat162_rn(value, -value);
  out[i * 2] = {*reinterpret_cast<const unsigned*>(&acc), even | zero << 16};
  out[i * 2 + 1] = {down | up << 16, *reinterpret_cast<const unsigned*>(&both)};
}

extern "C" __global__ void singles(const float* a, const float* b, float* out, unsigned* ints, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  float* o = out + i * 16;
  o[0] = __fadd_rd(x, y), o[1] = __fadd_ru(x, y), o[2] = __fmul_rz(x, y), o[3] = __fmaf_rd(x, y, x);
  o[4] = x / y, o[5] = sqrtf(x), o[6] = __fsqrt_ru(y), o[7] = 1.0f / y;
  o[8] = fmaf(x, y, -x), o[9] = x * y + 1.0f, o[10] = fminf(x, y), o[11] = copysignf(truncf(x), y);
  o[12] = rintf(x) + floorf(y), o[13] = __saturatef(x), o[14] = __frcp_rd(x), o[15] = __fdiv_rz(x, y);
  ints[i * 4] = __float2int_rn(x) + 3 * __float2int_rd(y);
  ints[i * 4 + 1] = __float2uint_rz(x) ^ unsigned(__float2ll_ru(y));
  ints[i * 4 + 2] = (x < y) | (x != y) << 1 | isnan(x) << 2 | isinf(y) << 3 | signbit(x) << 4 | !(x >= y) << 5;
  ints[i * 4 + 3] = __float_as_uint(__ll2float_rn((long long)__float_as_int(x) * __float_as_int(y)));
}

extern "C" __global__ void doubles(const double* a, const double* b, double* out, long long* ints, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i], y = b[i];
  double* o = out + i * 12;
  o[0] = x + y, o[1] = x * y, o[2] = x / y, o[3] = sqrt(fabs(x));
  o[4] = fma(x, y, -y), o[5] = __dadd_ru(x, y), o[6] = __dmul_rd(x, y), o[7] = __ddiv_rz(x, y);
  o[8] = fmin(x, y) + floor(x), o[9] = fmod(x, 3.5), o[10] = double(float(x)), o[11] = __drcp_rn(y);
  ints[i * 3] = __double2ll_rn(x) ^ __double2ll_rz(y);
  ints[i * 3 + 1] = (long long)__double2uint_ru(x) << 32 | unsigned(__double2int_rd(y));
  ints[i * 3 + 2] = __double2hiint(x) ^ __double2loint(y) ^ (long long)ilogb(x) << 40;
}

/// The functions of CUDA's own library: polynomials around the units of the GPU.
extern "C" __global__ void functions(const float* x, const double* d, float* out, double* wide, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  float* o = out + i * 12;
  o[0] = expf(v), o[1] = logf(fabsf(v)), o[2] = sinf(v), o[3] = cosf(v * 1e5f);
  o[4] = tanhf(v), o[5] = powf(fabsf(v), 1.7f), o[6] = rsqrtf(fabsf(v)), o[7] = erff(v);
  o[8] = atan2f(v, 0.7f), o[9] = cbrtf(v), o[10] = __expf(v) + __logf(fabsf(v)),
  o[11] = __sinf(v) * __fdividef(v, 3.0f);
  wide[i * 4] = exp(d[i]), wide[i * 4 + 1] = log(fabs(d[i])), wide[i * 4 + 2] = sin(d[i]),
           wide[i * 4 + 3] = pow(fabs(d[i]), 0.3);
}
