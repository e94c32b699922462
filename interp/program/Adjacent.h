// interp/program/Adjacent.h -- plans whose neighbouring programs may run as one.
// Here:      which plans do, and what has to be looked at when they run.
// Not here:  finding them (plan/Adjacent.cpp), running them (run/ExecuteAdjacent.cpp).
// Idea:      most elementwise kernels compute addresses from the program's number, load, and store one group of operations. Where the
//            addresses of a program begin at which those of the one before end, a hundred programs are one with longer rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiletwin::interp {

struct GroupOp;

struct AdjacentPrograms {
  static constexpr size_t kMost = 64;
  /// Instructions in front of the group, which only compute numbers and load. One bit each: r[0] is a number that grows with the
  /// program's number, modulo 2^width, by equal steps. Everything else that they compute is the same in each program.
  std::vector<bool> grows;
  const GroupOp* group = nullptr; ///< null: there are no such programs
};

} // namespace tiletwin::interp
