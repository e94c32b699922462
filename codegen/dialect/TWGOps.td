// codegen/dialect/TWGOps.td -- the layout attribute and the operations of twg.
#ifndef TILETWIN_TWG_OPS
#define TILETWIN_TWG_OPS

include "codegen/dialect/TWGDialect.td"
include "codegen/dialect/TWGNotes.td"
include "codegen/dialect/TWGShared.td"
include "codegen/dialect/TWGTensorCopy.td"
include "codegen/dialect/TWGTensorMemory.td"
include "codegen/dialect/TWGTurns.td"

def TWG_LinearAttr : AttrDef<TWG_Dialect, "Linear", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "linear";
  let summary = "which element each register of each thread holds";
  let description = [{
    `#twg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], block = []}>`: one vector of coordinates for
    each bit of the register's number, the lane, the warp and the CTA; the element is the XOR of those of the bits that
    are set (codegen/layout/LinearLayout.h). A vector of zeros means that the element is held once more.
    (C1) each vector has one coordinate for each dimension   (C2) vectors that are not zero are independent and reach
    every element.
  }];
  let parameters = (ins "unsigned":$rank,
                        ArrayRefParameter<"int32_t">:$registerBases, ArrayRefParameter<"int32_t">:$laneBases,
                        ArrayRefParameter<"int32_t">:$warpBases, ArrayRefParameter<"int32_t">:$blockBases);
  let extraClassDeclaration = [{
    static LinearAttr get(::mlir::MLIRContext* context, const ::tiletwin::codegen::LinearLayout& layout);
    /// The map for a tile of this shape.
    ::tiletwin::codegen::LinearLayout layout(::llvm::ArrayRef<int64_t> shape) const;
  }];
  let hasCustomAssemblyFormat = 1;
}

def TWG_Tile : AnyTypeOf<[AnyRankedTensor], "tile">;

def TWG_ConvertLayoutOp : TWG_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{
    result[i] = src[i]. Elements move between registers, by shuffles between the lanes of a warp, or through shared
    memory, whichever is the least that does it.
    (C1) source and result have one shape and element type, and both a layout.
  }];
  let arguments = (ins TWG_Tile:$src);
  let results = (outs TWG_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TWG_ShareOp : TWG_Op<"share", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a number that one thread has loaded, in all threads";
  let description = [{
    result = src as the program's first thread has it. All threads wait for it. (C1) source and result have one type, a scalar.
  }];
  let arguments = (ins AnyType:$src);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def TWG_RoundToTf32Op : TWG_Op<"round_to_tf32", [Pure]> {
  let summary = "the nearest number that has 10 fraction bits";
  let description = [{
    result[i] = src[i] rounded to tf32, ties away from zero, as an f32; infinities stay, a NaN gives a NaN.
    (C1) source and result have one type, a tile of f32.
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$src);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

#endif
