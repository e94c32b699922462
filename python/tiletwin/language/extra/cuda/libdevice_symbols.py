"""Which libdevice symbol stands behind each function, by the element types of its arguments.

One row a function: its name, then `arguments>result=symbol` for each list of argument types; a symbol's full name
begins with `__nv_`. The order within a row is that in which they are tried.
"""

SYMBOL_PREFIX = "__nv_"

# Functions whose int32 result is turned into int1.
PREDICATES = frozenset({"finitef", "isfinited", "isinf", "isnan"})

# Functions that other targets have and libdevice has not: declared, but an error when called.
ABSENT = {"fast_tanhf": 1}

ROWS = """
abs i32>i32=abs i64>i64=llabs fp32>fp32=fabsf fp64>fp64=fabs
acos fp32>fp32=acosf fp64>fp64=acos
acosh fp32>fp32=acoshf fp64>fp64=acosh
add_rd fp64,fp64>fp64=dadd_rd fp32,fp32>fp32=fadd_rd
add_rn fp64,fp64>fp64=dadd_rn fp32,fp32>fp32=fadd_rn
add_ru fp64,fp64>fp64=dadd_ru fp32,fp32>fp32=fadd_ru
add_rz fp64,fp64>fp64=dadd_rz fp32,fp32>fp32=fadd_rz
asin fp32>fp32=asinf fp64>fp64=asin
asinh fp32>fp32=asinhf fp64>fp64=asinh
atan fp32>fp32=atanf fp64>fp64=atan
atan2 fp32,fp32>fp32=atan2f fp64,fp64>fp64=atan2
atanh fp32>fp32=atanhf fp64>fp64=atanh
brev i32>i32=brev i64>i64=brevll
byte_perm i32,i32,i32>i32=byte_perm
cbrt fp32>fp32=cbrtf fp64>fp64=cbrt
ceil fp64>fp64=ceil fp32>fp32=ceilf
clz i32>i32=clz i64>i32=clzll
copysign fp32,fp32>fp32=copysignf fp64,fp64>fp64=copysign
cos fp32>fp32=cosf fp64>fp64=cos
cosh fp32>fp32=coshf fp64>fp64=cosh
cospi fp32>fp32=cospif fp64>fp64=cospi
cyl_bessel_i0 fp32>fp32=cyl_bessel_i0f fp64>fp64=cyl_bessel_i0
cyl_bessel_i1 fp32>fp32=cyl_bessel_i1f fp64>fp64=cyl_bessel_i1
div_rd fp32,fp32>fp32=fdiv_rd fp64,fp64>fp64=ddiv_rd
div_rn fp32,fp32>fp32=fdiv_rn fp64,fp64>fp64=ddiv_rn
div_ru fp32,fp32>fp32=fdiv_ru fp64,fp64>fp64=ddiv_ru
div_rz fp32,fp32>fp32=fdiv_rz fp64,fp64>fp64=ddiv_rz
double2float_rd fp64>fp32=double2float_rd
double2float_rn fp64>fp32=double2float_rn
double2float_ru fp64>fp32=double2float_ru
double2float_rz fp64>fp32=double2float_rz
double2hiint fp64>i32=double2hiint
double2int_rd fp64>i32=double2int_rd
double2int_rn fp64>i32=double2int_rn
double2int_ru fp64>i32=double2int_ru
double2int_rz fp64>i32=double2int_rz
double2ll_rd fp64>i64=double2ll_rd
double2ll_rn fp64>i64=double2ll_rn
double2ll_ru fp64>i64=double2ll_ru
double2ll_rz fp64>i64=double2ll_rz
double2loint fp64>i32=double2loint
double2uint_rd fp64>i32=double2uint_rd
double2uint_rn fp64>i32=double2uint_rn
double2uint_ru fp64>i32=double2uint_ru
double2uint_rz fp64>i32=double2uint_rz
double2ull_rd fp64>i64=double2ull_rd
double2ull_rn fp64>i64=double2ull_rn
double2ull_ru fp64>i64=double2ull_ru
double2ull_rz fp64>i64=double2ull_rz
double_as_longlong fp64>i64=double_as_longlong
erf fp32>fp32=erff fp64>fp64=erf
erfc fp32>fp32=erfcf fp64>fp64=erfc
erfcinv fp32>fp32=erfcinvf fp64>fp64=erfcinv
erfcx fp32>fp32=erfcxf fp64>fp64=erfcx
erfinv fp32>fp32=erfinvf fp64>fp64=erfinv
exp fp32>fp32=expf fp64>fp64=exp
exp10 fp32>fp32=exp10f fp64>fp64=exp10
exp2 fp32>fp32=exp2f fp64>fp64=exp2
expm1 fp32>fp32=expm1f fp64>fp64=expm1
fast_cosf fp32>fp32=fast_cosf
fast_dividef fp32,fp32>fp32=fast_fdividef
fast_exp10f fp32>fp32=fast_exp10f
fast_expf fp32>fp32=fast_expf
fast_log10f fp32>fp32=fast_log10f
fast_log2f fp32>fp32=fast_log2f
fast_logf fp32>fp32=fast_logf
fast_powf fp32,fp32>fp32=fast_powf
fast_sinf fp32>fp32=fast_sinf
fast_tanf fp32>fp32=fast_tanf
fdim fp32,fp32>fp32=fdimf fp64,fp64>fp64=fdim
ffs i32>i32=ffs i64>i32=ffsll
finitef fp32>i32=finitef
float2int_rd fp32>i32=float2int_rd
float2int_rn fp32>i32=float2int_rn
float2int_ru fp32>i32=float2int_ru
float2int_rz fp32>i32=float2int_rz
float2ll_rd fp32>i64=float2ll_rd
float2ll_rn fp32>i64=float2ll_rn
float2ll_ru fp32>i64=float2ll_ru
float2ll_rz fp32>i64=float2ll_rz
float2uint_rd fp32>i32=float2uint_rd
float2uint_rn fp32>i32=float2uint_rn
float2uint_ru fp32>i32=float2uint_ru
float2uint_rz fp32>i32=float2uint_rz
float2ull_rd fp32>i64=float2ull_rd
float2ull_rn fp32>i64=float2ull_rn
float2ull_ru fp32>i64=float2ull_ru
float2ull_rz fp32>i64=float2ull_rz
float_as_int fp32>i32=float_as_int
float_as_uint fp32>i32=float_as_uint
floor fp32>fp32=floorf fp64>fp64=floor
fma fp32,fp32,fp32>fp32=fmaf fp64,fp64,fp64>fp64=fma
fma_rd fp32,fp32,fp32>fp32=fmaf_rd fp64,fp64,fp64>fp64=fma_rd
fma_rn fp32,fp32,fp32>fp32=fmaf_rn fp64,fp64,fp64>fp64=fma_rn
fma_ru fp32,fp32,fp32>fp32=fmaf_ru fp64,fp64,fp64>fp64=fma_ru
fma_rz fp32,fp32,fp32>fp32=fmaf_rz fp64,fp64,fp64>fp64=fma_rz
fmod fp32,fp32>fp32=fmodf fp64,fp64>fp64=fmod
hadd i32,i32>i32=hadd u32,u32>u32=uhadd
hiloint2double i32,i32>fp64=hiloint2double
hypot fp32,fp32>fp32=hypotf fp64,fp64>fp64=hypot
ilogb fp32>i32=ilogbf fp64>i32=ilogb
int2double_rn i32>fp64=int2double_rn
int2float_rd i32>fp32=int2float_rd
int2float_rn i32>fp32=int2float_rn
int2float_ru i32>fp32=int2float_ru
int2float_rz i32>fp32=int2float_rz
int_as_float i32>fp32=int_as_float
isfinited fp64>i32=isfinited
isinf fp32>i32=isinff fp64>i32=isinfd
isnan fp32>i32=isnanf fp64>i32=isnand
j0 fp32>fp32=j0f fp64>fp64=j0
j1 fp32>fp32=j1f fp64>fp64=j1
jn i32,fp32>fp32=jnf i32,fp64>fp64=jn
ldexp fp32,i32>fp32=ldexpf fp64,i32>fp64=ldexp
lgamma fp32>fp32=lgammaf fp64>fp64=lgamma
ll2double_rd i64>fp64=ll2double_rd
ll2double_rn i64>fp64=ll2double_rn
ll2double_ru i64>fp64=ll2double_ru
ll2double_rz i64>fp64=ll2double_rz
ll2float_rd i64>fp32=ll2float_rd
ll2float_rn i64>fp32=ll2float_rn
ll2float_ru i64>fp32=ll2float_ru
ll2float_rz i64>fp32=ll2float_rz
llrint fp32>i64=llrintf fp64>i64=llrint
llround fp32>i64=llroundf fp64>i64=llround
log fp32>fp32=logf fp64>fp64=log
log10 fp32>fp32=log10f fp64>fp64=log10
log1p fp32>fp32=log1pf fp64>fp64=log1p
log2 fp32>fp32=log2f fp64>fp64=log2
logb fp32>fp32=logbf fp64>fp64=logb
longlong_as_double i64>fp64=longlong_as_double
mul24 i32,i32>i32=mul24 u32,u32>u32=umul24
mul_rd fp64,fp64>fp64=dmul_rd fp32,fp32>fp32=fmul_rd
mul_rn fp64,fp64>fp64=dmul_rn fp32,fp32>fp32=fmul_rn
mul_ru fp64,fp64>fp64=dmul_ru fp32,fp32>fp32=fmul_ru
mul_rz fp64,fp64>fp64=dmul_rz fp32,fp32>fp32=fmul_rz
mulhi i32,i32>i32=mulhi u32,u32>u32=umulhi i64,i64>i64=mul64hi u64,u64>u64=umul64hi
nearbyint fp32>fp32=nearbyintf fp64>fp64=nearbyint
nextafter fp32,fp32>fp32=nextafterf fp64,fp64>fp64=nextafter
norm3d fp32,fp32,fp32>fp32=norm3df fp64,fp64,fp64>fp64=norm3d
norm4d fp32,fp32,fp32,fp32>fp32=norm4df fp64,fp64,fp64,fp64>fp64=norm4d
normcdf fp32>fp32=normcdff fp64>fp64=normcdf
normcdfinv fp32>fp32=normcdfinvf fp64>fp64=normcdfinv
popc i32>i32=popc i64>i32=popcll
pow fp32,i32>fp32=powif fp64,i32>fp64=powi fp32,fp32>fp32=powf fp64,fp64>fp64=pow
rcbrt fp32>fp32=rcbrtf fp64>fp64=rcbrt
rcp64h fp64>fp64=rcp64h
rcp_rd fp32>fp32=frcp_rd fp64>fp64=drcp_rd
rcp_rn fp32>fp32=frcp_rn fp64>fp64=drcp_rn
rcp_ru fp32>fp32=frcp_ru fp64>fp64=drcp_ru
rcp_rz fp32>fp32=frcp_rz fp64>fp64=drcp_rz
remainder fp32,fp32>fp32=remainderf fp64,fp64>fp64=remainder
rhadd i32,i32>i32=rhadd u32,u32>u32=urhadd
rhypot fp32,fp32>fp32=rhypotf fp64,fp64>fp64=rhypot
rint fp32>fp32=rintf fp64>fp64=rint
rnorm3d fp32,fp32,fp32>fp32=rnorm3df fp64,fp64,fp64>fp64=rnorm3d
rnorm4d fp32,fp32,fp32,fp32>fp32=rnorm4df fp64,fp64,fp64,fp64>fp64=rnorm4d
round fp32>fp32=roundf fp64>fp64=round
rsqrt fp32>fp32=rsqrtf fp64>fp64=rsqrt
rsqrt_rn fp32>fp32=frsqrt_rn
sad i32,i32,u32>i32=sad u32,u32,u32>u32=usad
saturatef fp32>fp32=saturatef
scalbn fp32,i32>fp32=scalbnf fp64,i32>fp64=scalbn
signbit fp32>i32=signbitf fp64>i32=signbitd
sin fp32>fp32=sinf fp64>fp64=sin
sinh fp32>fp32=sinhf fp64>fp64=sinh
sinpi fp32>fp32=sinpif fp64>fp64=sinpi
sqrt fp32>fp32=sqrtf fp64>fp64=sqrt
sqrt_rd fp32>fp32=fsqrt_rd fp64>fp64=dsqrt_rd
sqrt_rn fp32>fp32=fsqrt_rn fp64>fp64=dsqrt_rn
sqrt_ru fp32>fp32=fsqrt_ru fp64>fp64=dsqrt_ru
sqrt_rz fp32>fp32=fsqrt_rz fp64>fp64=dsqrt_rz
sub_rd fp32,fp32>fp32=fsub_rd fp64,fp64>fp64=dsub_rd
sub_rn fp32,fp32>fp32=fsub_rn fp64,fp64>fp64=dsub_rn
sub_ru fp32,fp32>fp32=fsub_ru fp64,fp64>fp64=dsub_ru
sub_rz fp32,fp32>fp32=fsub_rz fp64,fp64>fp64=dsub_rz
tan fp32>fp32=tanf fp64>fp64=tan
tanh fp32>fp32=tanhf fp64>fp64=tanh
tgamma fp32>fp32=tgammaf fp64>fp64=tgamma
trunc fp64>fp64=trunc fp32>fp32=truncf
uint2double_rn u32>fp64=uint2double_rn
uint2float_rd u32>fp32=uint2float_rd
uint2float_rn u32>fp32=uint2float_rn
uint2float_ru u32>fp32=uint2float_ru
uint2float_rz u32>fp32=uint2float_rz
uint_as_float u32>fp32=uint_as_float
ull2double_rd u64>fp64=ull2double_rd
ull2double_rn u64>fp64=ull2double_rn
ull2double_ru u64>fp64=ull2double_ru
ull2double_rz u64>fp64=ull2double_rz
ull2float_rd u64>fp32=ull2float_rd
ull2float_rn u64>fp32=ull2float_rn
ull2float_ru u64>fp32=ull2float_ru
ull2float_rz u64>fp32=ull2float_rz
y0 fp32>fp32=y0f fp64>fp64=y0
y1 fp32>fp32=y1f fp64>fp64=y1
yn i32,fp32>fp32=ynf i32,fp64>fp64=yn
"""
