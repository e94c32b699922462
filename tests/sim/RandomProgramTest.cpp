// tests/sim/RandomProgramTest.cpp -- random flow graphs, run by the machine and thread by thread by a plain interpreter of the
// same program: parting and meeting, guards, registers that share their place.
#define BOOST_TEST_MODULE randomprogram
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr int kRegisters = 14, kPredicates = 4;
constexpr uint32_t kFuel = 60; ///< blocks that a thread runs at the most

struct Operation {
  enum class Kind { Add, Multiply, Xor, Thread, Less, Invert } kind = Kind::Add;
  int d = 0, a = 0, b = 0;
  int guard = -1; ///< predicate
  bool negated = false;
};

struct Block {
  std::vector<Operation> operations;
  enum class End { Fall, Jump, Branch, Table } end = End::Fall;
  int predicate = 0, target = 0, index = 0;
  bool negated = false;
  std::vector<int> targets;
};

struct Random {
  explicit Random(uint32_t seed) : engine(seed) {}
  int below(int n) { return int(engine() % uint32_t(n)); }
  std::mt19937 engine;
};

std::vector<Block> randomProgram(Random& random) {
  std::vector<Block> blocks(size_t(2 + random.below(10)));
  const int count = int(blocks.size());
  for (Block& block : blocks) {
    for (int n = random.below(6); n > 0; --n) {
      Operation op;
      op.kind = Operation::Kind(random.below(6));
      const bool isPredicate = op.kind == Operation::Kind::Less || op.kind == Operation::Kind::Invert;
      op.d = random.below(isPredicate ? kPredicates : kRegisters);
      op.a = random.below(op.kind == Operation::Kind::Invert ? kPredicates : kRegisters);
      op.b = random.below(kRegisters);
      if (random.below(3) == 0) op.guard = random.below(kPredicates);
      op.negated = random.below(2);
      block.operations.push_back(op);
    }
    block.end = Block::End(random.below(4));
    block.predicate = random.below(kPredicates);
    block.negated = random.below(2);
    block.target = random.below(count);
    block.index = random.below(kRegisters);
    for (int n = 1 + random.below(3); n > 0; --n) block.targets.push_back(random.below(count));
  }
  return blocks;
}

/// What the thread's word of the result becomes: a mixture of some of the registers, so that the others may die early.
uint32_t runThread(const std::vector<Block>& blocks, uint32_t thread, uint32_t kept) {
  uint32_t r[kRegisters] = {};
  bool p[kPredicates] = {};
  uint32_t fuel = kFuel;
  for (size_t at = 0; at < blocks.size() && --fuel;) {
    const Block& block = blocks[at];
    for (const Operation& op : block.operations) {
      if (op.guard >= 0 && p[op.guard] == op.negated) continue;
      switch (op.kind) {
      case Operation::Kind::Add: r[op.d] = r[op.a] + r[op.b]; break;
      case Operation::Kind::Multiply: r[op.d] = r[op.a] * 5 + r[op.b]; break;
      case Operation::Kind::Xor: r[op.d] = r[op.a] ^ uint32_t(op.b * 77); break;
      case Operation::Kind::Thread: r[op.d] = thread; break;
      case Operation::Kind::Less: p[op.d] = r[op.a] < r[op.b]; break;
      case Operation::Kind::Invert: p[op.d] = !p[op.a]; break;
      }
    }
    const bool taken = p[block.predicate] != block.negated;
    ++at;
    if (block.end == Block::End::Jump || (block.end == Block::End::Branch && taken)) at = size_t(block.target);
    if (block.end == Block::End::Table) at = size_t(block.targets[r[block.index] % block.targets.size()]);
  }
  uint32_t sum = 0;
  for (int i = 0; i < kRegisters; ++i)
    if (kept >> i & 1) sum = sum * 31 + r[i];
  return sum;
}

std::string reg(int i) { return "%r" + std::to_string(i); }
std::string pred(int i) { return "%p" + std::to_string(i); }

std::string textOf(const std::vector<Block>& blocks, uint32_t kept) {
  std::string text = "mov.u32 %r40, %tid.x;\nmov.u32 %r41, " + std::to_string(kFuel) + ";\n";
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    text += "B" + std::to_string(b) + ":\nsub.u32 %r41, %r41, 1;\nsetp.eq.u32 %p10, %r41, 0;\n@%p10 bra END;\n";
    for (const Operation& op : block.operations) {
      if (op.guard >= 0) text += (op.negated ? "@!" : "@") + pred(op.guard) + " ";
      const std::string a = reg(op.a), c = reg(op.b);
      switch (op.kind) {
      case Operation::Kind::Add: text += "add.u32 " + reg(op.d) + ", " + a + ", " + c; break;
      case Operation::Kind::Multiply: text += "mad.lo.u32 " + reg(op.d) + ", " + a + ", 5, " + c; break;
      case Operation::Kind::Xor: text += "xor.b32 " + reg(op.d) + ", " + a + ", " + std::to_string(op.b * 77); break;
      case Operation::Kind::Thread: text += "mov.u32 " + reg(op.d) + ", %r40"; break;
      case Operation::Kind::Less: text += "setp.lt.u32 " + pred(op.d) + ", " + a + ", " + c; break;
      case Operation::Kind::Invert: text += "or.pred " + pred(op.d) + ", !" + pred(op.a) + ", !" + pred(op.a); break;
      }
      text += ";\n";
    }
    const std::string target = "bra B" + std::to_string(block.target) + ";\n";
    if (block.end == Block::End::Jump) text += target;
    if (block.end == Block::End::Branch) text += (block.negated ? "@!" : "@") + pred(block.predicate) + " " + target;
    if (block.end == Block::End::Table) {
      text += "T" + std::to_string(b) + ": .branchtargets ";
      for (size_t i = 0; i < block.targets.size(); ++i) text += (i ? ", B" : "B") + std::to_string(block.targets[i]);
      text += ";\nrem.u32 %r42, " + reg(block.index) + ", " + std::to_string(block.targets.size()) +
              ";\nbrx.idx %r42, T" + std::to_string(b) + ";\n";
    }
  }
  text += "END:\nactivemask.b32 %r44;\nmov.u32 %r43, 0;\n";
  for (int i = 0; i < kRegisters; ++i)
    if (kept >> i & 1) text += "mad.lo.u32 %r43, %r43, 31, " + reg(i) + ";\n";
  return text + "mul.wide.u32 %rd1, %r40, 8;\nadd.s64 %rd1, %rd0, %rd1;\nst.global.v2.u32 [%rd1], {%r43, %r44};";
}

} // namespace

BOOST_AUTO_TEST_CASE(random_programs) {
  constexpr uint32_t kThreads = 64;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const std::vector<Block> blocks = randomProgram(random);
    const uint32_t kept = random.engine();
    const std::string text = ptxKernel(1, textOf(blocks, kept));
    SimRun run(text);
    std::vector<uint32_t> out(kThreads * 2);
    run.buffer(out);
    run.params.instructionLimit = 1'000'000;
    const Result result = run.launch(1, kThreads);
    BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message << "\nseed " << seed << "\n" << text);
    for (uint32_t i = 0; i < kThreads; ++i) {
      const uint32_t expected = runThread(blocks, i, kept);
      BOOST_REQUIRE_MESSAGE(out[2 * i] == expected, "seed " << seed << ", thread " << i << ": got " << out[2 * i]
                                                            << ", expected " << expected << "\n"
                                                            << text);
      // All ways lead to END, which is where every lane meets the others.
      BOOST_REQUIRE_MESSAGE(out[2 * i + 1] == ~0u, "seed " << seed << ": lanes have not met, " << out[2 * i + 1] << "\n"
                                                           << text);
    }
  }
}
