// ir/TWDialect.td -- the dialect tw and the base class of its operations. No operation is here.
#ifndef TILETWIN_TW_DIALECT
#define TILETWIN_TW_DIALECT

include "ir/TTDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def TW_Dialect : Dialect {
  let name = "tw";
  let cppNamespace = "::tiletwin::tw";
  let summary = "float operations as a target rounds them";
  let description = [{
    A `tt` module says what is computed; where an operation leaves the last bits to the target (division, exp, sqrt, a
    product that is added to something), the numerics pass (`ir/Numerics.h`) replaces it by operations that have one
    definition each: those of this dialect, and `arith` and `math` operations that round once, to nearest even, and
    have no fast-math flags.

    Rules that hold for every operation here:

    - It is computed lane by lane; operands and result have one type. It has no effect and no trap.
    - *ulp* is the distance of two neighbouring f32 (or f64) numbers at the exact result.
    - With `ftz` denormal operands count as zeros of their sign, and denormal results become such zeros. Without it
      denormals are numbers like others.
    - A NaN result is some NaN: neither its sign nor its payload is defined.
    - The name of an approximation stands for the very bits that the instruction gives on the target, not for any value
      within its error: an interpreter that knows the hardware's tables can give them too.

    One attribute belongs to operations of `tt`: `tw.order` on `tt.reduce` states in which order elements are combined.
    It is an array of i32, a permutation of the index bits 0 .. n-1 of the reduced axis (of 2^n elements). Bit by
    bit, as they are listed, the two halves of what is left are combined: each pair of elements whose indices differ
    in this bit only becomes one, with the element whose bit is 0 on the left. `tw.order = array<i32: 1, 0>` on 4
    elements is (x0 + x2) + (x1 + x3). It is given when layouts are chosen; without it the order is open.
  }];
  let hasOperationAttrVerify = 1;
}

class TW_Op<string mnemonic, list<Trait> traits = []>
    : Op<TW_Dialect, mnemonic, !listconcat([TT_TileShapes, Pure, SameOperandsAndResultType], traits)>;

def TW_F32Like : AnyTypeOf<[F32, RankedTensorOf<[F32]>], "f32 or tile of f32">;
def TW_F32OrF64Like : AnyTypeOf<[F32, F64, RankedTensorOf<[F32, F64]>], "f32, f64 or tile of them">;

#endif
