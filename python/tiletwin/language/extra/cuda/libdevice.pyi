"""Signatures of the libdevice functions, for editors and type checkers; a test compares them with the table."""

from typing import Any

from tiletwin._C import tensor

FUNCTIONS: tuple[str, ...]

def _of_one(arg0: Any) -> tensor: ...
def _of_two(arg0: Any, arg1: Any) -> tensor: ...
def _of_three(arg0: Any, arg1: Any, arg2: Any) -> tensor: ...
def _of_four(arg0: Any, arg1: Any, arg2: Any, arg3: Any) -> tensor: ...

abs = acos = acosh = asin = asinh = atan = atanh = brev = cbrt = ceil = clz = cos = cosh = cospi = _of_one
cyl_bessel_i0 = cyl_bessel_i1 = double2float_rd = double2float_rn = double2float_ru = double2float_rz = _of_one
double2hiint = double2int_rd = double2int_rn = double2int_ru = double2int_rz = double2ll_rd = double2ll_rn = _of_one
double2ll_ru = double2ll_rz = double2loint = double2uint_rd = double2uint_rn = double2uint_ru = _of_one
double2uint_rz = double2ull_rd = double2ull_rn = double2ull_ru = double2ull_rz = double_as_longlong = erf = _of_one
erfc = erfcinv = erfcx = erfinv = exp = exp10 = exp2 = expm1 = fast_cosf = fast_exp10f = fast_expf = _of_one
fast_log10f = fast_log2f = fast_logf = fast_sinf = fast_tanf = fast_tanhf = ffs = finitef = float2int_rd = _of_one
float2int_rn = float2int_ru = float2int_rz = float2ll_rd = float2ll_rn = float2ll_ru = float2ll_rz = _of_one
float2uint_rd = float2uint_rn = float2uint_ru = float2uint_rz = float2ull_rd = float2ull_rn = float2ull_ru = _of_one
float2ull_rz = float_as_int = float_as_uint = floor = ilogb = int2double_rn = int2float_rd = int2float_rn = _of_one
int2float_ru = int2float_rz = int_as_float = isfinited = isinf = isnan = j0 = j1 = lgamma = ll2double_rd = _of_one
ll2double_rn = ll2double_ru = ll2double_rz = ll2float_rd = ll2float_rn = ll2float_ru = ll2float_rz = _of_one
llrint = llround = log = log10 = log1p = log2 = logb = longlong_as_double = nearbyint = normcdf = _of_one
normcdfinv = popc = rcbrt = rcp64h = rcp_rd = rcp_rn = rcp_ru = rcp_rz = rint = round = rsqrt = rsqrt_rn = _of_one
saturatef = signbit = sin = sinh = sinpi = sqrt = sqrt_rd = sqrt_rn = sqrt_ru = sqrt_rz = tan = tanh = _of_one
tgamma = trunc = uint2double_rn = uint2float_rd = uint2float_rn = uint2float_ru = uint2float_rz = _of_one
uint_as_float = ull2double_rd = ull2double_rn = ull2double_ru = ull2double_rz = ull2float_rd = _of_one
ull2float_rn = ull2float_ru = ull2float_rz = y0 = y1 = _of_one

add_rd = add_rn = add_ru = add_rz = atan2 = copysign = div_rd = div_rn = div_ru = div_rz = fast_dividef = _of_two
fast_powf = fdim = fmod = hadd = hiloint2double = hypot = jn = ldexp = mul24 = mul_rd = mul_rn = mul_ru = _of_two
mul_rz = mulhi = nextafter = pow = remainder = rhadd = rhypot = scalbn = sub_rd = sub_rn = sub_ru = sub_rz = _of_two
yn = _of_two

byte_perm = fma = fma_rd = fma_rn = fma_ru = fma_rz = norm3d = rnorm3d = sad = _of_three

norm4d = rnorm4d = _of_four
