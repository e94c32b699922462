// ir/TTTypes.td -- types and attributes of tt, and the type constraints that the operations share.
#ifndef TILETWIN_TT_TYPES
#define TILETWIN_TT_TYPES

include "ir/TTEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

def TT_PtrType : TypeDef<TT_Dialect, "Pointer"> {
  let mnemonic = "ptr";
  let summary = "an address in global memory, with the type of what is there";
  let description = [{
    `!tt.ptr<f32>`; `!tt.ptr<f32, "constant">` promises that no program of the launch writes there. 64 bits wide. i1
    takes one byte in memory.
    (C1) the pointee is a signless integer of 1, 8, 16, 32 or 64 bits, a float, or a pointer.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, "::tiletwin::tt::AddressSpace":$addressSpace);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType), [{
    return $_get(pointeeType.getContext(), pointeeType, AddressSpace::Global);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TT_TensorDescType : TypeDef<TT_Dialect, "TensorDesc"> {
  let mnemonic = "tensordesc";
  let summary = "a tensor in global memory (base, extents, strides, padding) read and written block by block";
  let description = [{
    `!tt.tensordesc<8x16xf32>`: `shape` and `elementType` are those of one block. Integer elements may be written with
    their sign (si32, ui32), which tt.descriptor_reduce's min and max obey; the tiles read and written are signless.
    (C1) 1 to 5 dimensions   (C2) extents are powers of two.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                                      "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType);
  }]>];
  let extraClassDeclaration = [{
    /// The type of one block as a tile: signless elements.
    ::mlir::RankedTensorType getBlockType() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TT_CachePolicyAttr : AttrDef<TT_Dialect, "CachePolicy"> {
  let mnemonic = "cache_policy";
  let summary = "cache hints of a memory access; they never change its result";
  let parameters = (ins EnumParameter<TT_CacheModifier>:$cache_modifier,
                        EnumParameter<TT_EvictionPolicy>:$eviction_policy);
  let assemblyFormat = "`<` struct(params) `>`";
}

// Scalars ("X"), tiles ("XTile") and either ("XLike").
def TT_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "integer">;
def TT_Float : AnyTypeOf<[AnyFloat], "float">;
def TT_Ptr : Type<CPred<"::llvm::isa<::tiletwin::tt::PointerType>($_self)">, "pointer", "::tiletwin::tt::PointerType">;
def TT_TensorDesc : Type<CPred<"::llvm::isa<::tiletwin::tt::TensorDescType>($_self)">, "tensor descriptor",
                         "::tiletwin::tt::TensorDescType">;
def TT_Scalar : AnyTypeOf<[TT_Int, TT_Float, TT_Ptr], "scalar">;

def TT_IntTile : RankedTensorOf<[TT_Int]>;
def TT_FloatTile : RankedTensorOf<[AnyFloat]>;
def TT_PtrTile : RankedTensorOf<[TT_Ptr]>;
def TT_I1Tile : RankedTensorOf<[I1]>;
def TT_I32Tile : RankedTensorOf<[I32]>;
def TT_NumberTile : RankedTensorOf<[TT_Int, AnyFloat]>;
def TT_Tile : RankedTensorOf<[TT_Int, AnyFloat, TT_Ptr]>;

def TT_IntLike : AnyTypeOf<[TT_Int, TT_IntTile], "integer or tile of integers">;
def TT_I1Like : AnyTypeOf<[I1, TT_I1Tile], "i1 or tile of i1">;
def TT_I64Like : AnyTypeOf<[I64, RankedTensorOf<[I64]>], "i64 or tile of i64">;
def TT_F32Like : AnyTypeOf<[F32, RankedTensorOf<[F32]>], "f32 or tile of f32">;
def TT_FloatLike : AnyTypeOf<[AnyFloat, TT_FloatTile], "float or tile of floats">;
def TT_PtrLike : AnyTypeOf<[TT_Ptr, TT_PtrTile], "pointer or tile of pointers">;
def TT_Value : AnyTypeOf<[TT_Scalar, TT_Tile], "scalar or tile">;

#endif
