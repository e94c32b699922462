// sim/isa/CpAsync.h -- everything under the opcode cp: cp.async, cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk.
// Not here:  when copies land (Async.h).
#pragma once
#include "sim/isa/Decode.h"
#include <span>

namespace tiletwin::sim {

/// Is this a cp.async, whose threads copy bytes of their own in the generic proxy?
bool isCpAsync(const Inst& in);

/// Of bytes (Bulk.cpp) and of tiles (Tma.cpp); the words `async`, `bulk`, `reduce`, `tensor` and `prefetch` have been taken.
bool decodeBulkCopy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeBulkReduce(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeBulkPrefetch(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeTensorCopy(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeTensorReduce(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);
bool decodeTensorPrefetch(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out);

/// Takes .L2::cache_hint and looks at its operand, the last one; copies do not depend on it. `count`: operands without it; on
/// return, `hasHint` says whether there is one.
bool takeCacheHint(Decoder& decoder, const ptx::Instruction& in, Words& words, bool& hasHint);

} // namespace tiletwin::sim
