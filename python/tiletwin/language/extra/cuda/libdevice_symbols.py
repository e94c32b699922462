"""Which libdevice symbol stands behind each function, by the element types of its arguments.

A line is `arguments>result=symbol` for each list of argument types, in the order in which they are tried, and behind
the colon the functions that this is so for. In a symbol `*` stands for the function's name; its full name begins with
`__nv_`. A name that ends in `_r?` stands for four: the roundings are rd, rn, ru and rz.
"""

SYMBOL_PREFIX = "__nv_"

# Functions whose int32 result is turned into int1.
PREDICATES = frozenset({"finitef", "isfinited", "isinf", "isnan"})

# Functions that other targets have and libdevice has not: declared, but an error when called.
ABSENT = {"fast_tanhf": 1}

FAMILIES = """
fp32>fp32=*f fp64>fp64=*: acos acosh asin asinh atan atanh cbrt cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc
    erfcinv erfcx erfinv exp exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf
    normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma y0 y1
fp32>fp32=*: fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf saturatef
fp32,fp32>fp32=*f fp64,fp64>fp64=*: atan2 copysign fdim fmod hypot nextafter remainder rhypot
fp64>i32=*: double2hiint double2int_r? double2loint double2uint_r? isfinited
fp32>i32=*: finitef float2int_r? float2uint_r? float_as_int float_as_uint
i32>i32=* i64>i32=*ll: clz ffs popc
fp64>i64=*: double2ll_r? double2ull_r? double_as_longlong
fp32,fp32,fp32>fp32=*f fp64,fp64,fp64>fp64=*: fma norm3d rnorm3d
i32,i32>i32=* u32,u32>u32=u*: hadd mul24 rhadd
fp64,fp64>fp64=d* fp32,fp32>fp32=f*: add_r? mul_r?
fp64>fp64=* fp32>fp32=*f: ceil trunc
fp32,fp32>fp32=f* fp64,fp64>fp64=d*: div_r? sub_r?
fp32>i64=*: float2ll_r? float2ull_r?
i32>fp32=*: int2float_r? int_as_float
i32,fp32>fp32=*f i32,fp64>fp64=*: jn yn
fp32,i32>fp32=*f fp64,i32>fp64=*: ldexp scalbn
i64>fp64=*: ll2double_r? longlong_as_double
fp32>i64=*f fp64>i64=*: llrint llround
fp32,fp32,fp32,fp32>fp32=*f fp64,fp64,fp64,fp64>fp64=*: norm4d rnorm4d
fp32>fp32=f* fp64>fp64=d*: rcp_r? sqrt_r?
u32>fp32=*: uint2float_r? uint_as_float
i32>i32=* i64>i64=llabs fp32>fp32=f*f fp64>fp64=f*: abs
i32>i32=* i64>i64=*ll: brev
i32,i32,i32>i32=*: byte_perm
fp64>fp32=*: double2float_r?
fp32,fp32>fp32=fast_fdividef: fast_dividef
fp32,fp32>fp32=*: fast_powf
fp32,fp32,fp32>fp32=fmaf_r? fp64,fp64,fp64>fp64=*: fma_r?
i32,i32>fp64=*: hiloint2double
fp32>i32=*f fp64>i32=*: ilogb
i32>fp64=*: int2double_rn
fp32>i32=*f fp64>i32=isinfd: isinf
fp32>i32=*f fp64>i32=isnand: isnan
i64>fp32=*: ll2float_r?
i32,i32>i32=* u32,u32>u32=u* i64,i64>i64=mul64hi u64,u64>u64=umul64hi: mulhi
fp32,i32>fp32=powif fp64,i32>fp64=powi fp32,fp32>fp32=*f fp64,fp64>fp64=*: pow
fp64>fp64=*: rcp64h
fp32>fp32=f*: rsqrt_rn
i32,i32,u32>i32=* u32,u32,u32>u32=u*: sad
fp32>i32=*f fp64>i32=signbitd: signbit
u32>fp64=*: uint2double_rn
u64>fp64=*: ull2double_r?
u64>fp32=*: ull2float_r?
"""

ROUNDINGS = ("rd", "rn", "ru", "rz")


def rows() -> dict[str, str]:
    """By function: `arguments>result=symbol` for each list of argument types."""
    found = {}
    for line in FAMILIES.replace("\n    ", " ").strip().splitlines():
        overloads, _, names = line.partition(": ")
        for family in names.split():
            for rounding in ROUNDINGS if "?" in family else ("",):
                name = family.replace("r?", rounding)
                found[name] = overloads.replace("*", name).replace("r?", rounding)
    return dict(sorted(found.items()))


ROWS = rows()
