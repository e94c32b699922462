// sim/isa/MmaSparse.h -- sparse matrices: mma.sp, of which the rest of mma (Mma.cpp) knows the name alone, and what wgmma shares with
// it: which elements of B a row of A meets.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/numerics/TensorCore.h"

namespace tiletwin::sim {

using SparseColumn = std::byte[2 * kTileBytes];

/// What metadata choose from: columns of B, in pieces. Of each four pieces two are taken, each by two bits of metadata.
struct SparseForm {
  int bytes = 32;     ///< of a column
  int pieceBytes = 2; ///< tf32: an element is two pieces; 4 bits: two elements are one
  int selector = 0;   ///< of each four lanes the ones that hold the metadata
};

/// The metadata of a row, of 16, the first pieces' lowest. Of each four lanes of a row those that the selector names hold it.
/// Halves of a lane's word are of rows g and g + 8; of bytes each lane's word is of one row.
uint64_t metadataOf(const SparseForm& form, const uint32_t* lanes, int row);

/// The columns that a row of A meets.
void choose(const SparseForm& form, uint64_t metadata, const SparseColumn* columns, TileLine* chosen);

/// mma.sp and mma.sp::ordered_metadata; the word `sp` is taken.
bool decodeSparseMma(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

} // namespace tiletwin::sim
