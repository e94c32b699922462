// ir/TTDialect.td -- the dialects tt and ttg, the base class and traits of their operations. No operation is here.
#ifndef TILETWIN_TT_DIALECT
#define TILETWIN_TT_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/TTInterfaces.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::tiletwin::tt";
  let summary = "a tile program: scalars, tiles of power-of-two shape, and pointers into global memory";
  let description = [{
    A `tt` module holds `tt.func`s. One call of the public function is one *program*; a launch runs a grid of programs.
    A *tile* is a ranked tensor whose extents are powers of two (1 counts) with at most 1048576 elements; its elements
    are signless integers (i1, i8, i16, i32, i64), floats (f16, bf16, f32, f64, the f8 formats) or pointers.

    Rules that hold for every operation:

    - Tiles are values: an operation makes a new tile and never writes into an operand.
    - (T1) every tile has rank 1 or more, (T2) extents that are powers of two, (T3) at most 1048576 elements.
    - A *lane* is one element of the result. Elementwise operations compute each lane from the operands' elements at the
      same coordinates; on scalars they do the same once.
    - Memory operations touch global memory only, lane by lane, in no defined order among the lanes of one operation.
      A lane whose mask is 0 forms no address.
    - *Trap* means: the program stops with an error that names the operation's source line and the lane.
  }];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    /// Patterns of the canonicaliser, built once for each context.
    const ::mlir::FrozenRewritePatternSet& canonicalizationPatterns();
  private:
    ::std::shared_ptr<const ::mlir::FrozenRewritePatternSet> canonicalizationPatterns_;  // the context's only thread
  public:
  }];
}

def TTG_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::tiletwin::ttg";
  let summary = "what a kernel may say about the threads of its program";
  let description = [{ The one operation of Triton's GPU dialect that appears in TTIR. }];
}

// Rules T1-T3 for all operands and results.
def TT_TileShapes : NativeOpTrait<"TileShapes"> { let cppNamespace = "::tiletwin::tt"; }
// All operands and results are scalars, or all are tiles of one shape.
def TT_SameShape : NativeOpTrait<"SameShape"> { let cppNamespace = "::tiletwin::tt"; }

def TT_GlobalMemory : Resource<"::tiletwin::tt::GlobalMemory">;

class TT_Op<string mnemonic, list<Trait> traits = []>
    : Op<TT_Dialect, mnemonic, !listconcat([TT_TileShapes], traits)>;

#endif
