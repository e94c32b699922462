// sim/isa/Matrix.cpp -- ldmatrix, stmatrix, movmatrix.
// Idea:      lane 8 * m + j has the address of row j of matrix m; lane 4 * j + t holds elements 2 * t and 2 * t + 1 of row j. So a
//            row's 16 bytes are one register of four neighbouring lanes, in order.
// Source:    PTX ISA, "ldmatrix", "stmatrix", "movmatrix".
#include "sim/isa/MatrixFragment.h"
#include "sim/machine/Memory.h"
#include <cstring>

namespace tiletwin::sim {
namespace {

constexpr int kMatrixRows = 8, kRowBytes = 16;

struct MatrixAccess {
  Access access;
  Decoder::Address address;
  int matrices = 1;
  bool transposed = false;
  FragmentSlots registers;
};

using Matrix = uint16_t[kMatrixRows][kMatrixRows];

void transpose(const Matrix& from, Matrix& to) {
  for (int i = 0; i < kMatrixRows; ++i)
    for (int j = 0; j < kMatrixRows; ++j) to[j][i] = from[i][j];
}

/// Where each row lies, one lane a row. False: a trap was raised.
bool rowsInMemory(const MatrixAccess& op, Warp& warp, std::byte** host) {
  alignas(kLaneAlignment) uint64_t addresses[kLanes];
  laneAddresses(warp, op.address.base, op.address.bytes == 8, op.address.offset, addresses);
  const int rows = op.matrices * kMatrixRows;
  return resolve(op.access, warp, rows == kLanes ? kAllLanes : (LaneMask(1) << rows) - 1, addresses, host);
}

Step runLoadMatrix(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& op = *static_cast<const MatrixAccess*>(in.data);
  alignas(kLaneAlignment) std::byte* host[kLanes];
  if (!rowsInMemory(op, warp, host)) return Step::Trap;
  // All of memory is read first: the registers may hold the addresses.
  Matrix read[4];
  for (int row = 0; row < op.matrices * kMatrixRows; ++row)
    std::memcpy(read[row / kMatrixRows][row % kMatrixRows], host[row], kRowBytes);
  for (int m = 0; m < op.matrices; ++m) {
    Matrix turned;
    if (op.transposed) transpose(read[m], turned);
    std::memcpy(warp.lanes<uint32_t>(op.registers[size_t(m)]), op.transposed ? turned : read[m], sizeof(Matrix));
  }
  return Step::Next;
}

Step runStoreMatrix(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  const auto& op = *static_cast<const MatrixAccess*>(in.data);
  alignas(kLaneAlignment) std::byte* host[kLanes];
  if (!rowsInMemory(op, warp, host)) return Step::Trap;
  for (int m = 0; m < op.matrices; ++m) {
    Matrix held, turned;
    std::memcpy(held, warp.lanes<uint32_t>(op.registers[size_t(m)]), sizeof(Matrix));
    if (op.transposed) transpose(held, turned);
    for (int row = 0; row < kMatrixRows; ++row)
      std::memcpy(host[m * kMatrixRows + row], op.transposed ? turned[row] : held[row], kRowBytes);
  }
  return Step::Next;
}

Step runMoveMatrix(const Inst& in, Warp& warp, LaneMask active) {
  if (const Step step = gatherWarp(warp, active); step != Step::Next) return step;
  Matrix held, turned;
  std::memcpy(held, warp.lanes<uint32_t>(in.a), sizeof(Matrix));
  transpose(held, turned);
  std::memcpy(warp.lanes<uint32_t>(in.d), turned, sizeof(Matrix));
  return Step::Next;
}

bool decodeAccess(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  const std::string name(in.opcode);
  const bool isStore = name == "stmatrix";
  if (!words.take("sync") || !words.take("aligned")) return decoder.fail(name + " wants .sync.aligned");
  if (!words.take("m8n8") || !words.take("b16")) return decoder.fail(name + " is implemented for .m8n8 and .b16 only");
  auto* op = decoder.make<MatrixAccess>();
  const std::string_view count = words.takeOneOf({"x1", "x2", "x4"});
  if (count.empty()) return decoder.fail(name + " wants .x1, .x2 or .x4");
  op->matrices = count[1] - '0';
  op->transposed = words.take("trans");
  const bool isShared = !words.takeOneOf({"shared::cta", "shared"}).empty();
  if (!decoder.operands(in, 2)) return false;
  const ptx::Operand &address = in.operands[isStore ? 0 : 1], &registers = in.operands[isStore ? 1 : 0];
  if (!decoder.address(address, op->address)) return false;
  const Space space = isShared ? Space::Shared : op->address.space;
  if (space != Space::Shared && space != Space::None)
    return decoder.fail(address, name + " reads and writes shared memory only");
  op->access = {.space = space,
                .kind = isStore ? AccessKind::Write : AccessKind::Read,
                .bytes = kRowBytes,
                .alignment = kRowBytes};
  out.run = isStore ? runStoreMatrix : runLoadMatrix;
  out.kind = InstClass::Memory;
  out.data = op;
  return decodeFragment(decoder, registers, ptx::Type::B32, op->matrices, op->registers, !isStore);
}

bool decodeMoveMatrix(Decoder& decoder, const ptx::Instruction& in, Words& words, Inst& out) {
  for (const std::string_view word : {"sync", "aligned", "m8n8", "trans", "b16"})
    if (!words.take(word)) return decoder.fail("movmatrix wants .sync.aligned.m8n8.trans.b16");
  out.run = runMoveMatrix;
  out.kind = InstClass::Warp;
  return decoder.operands(in, 2) && decoder.source(in.operands[1], ptx::Type::B32, out.a) &&
         decoder.destination(in.operands[0], ptx::Type::B32, out.d);
}

constexpr OpcodeRow kRows[] = {
    {"ldmatrix", decodeAccess},
    {"stmatrix", decodeAccess},
    {"movmatrix", decodeMoveMatrix},
};

} // namespace

constinit OpcodeTable kMatrixOpcodes = kRows;

} // namespace tiletwin::sim
