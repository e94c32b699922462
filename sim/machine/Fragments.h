// sim/machine/Fragments.h -- how the lanes of a warp part and meet again.
//
// Here:      Frame (one running call), Join (a place where lanes that parted meet), Fragment (lanes that run together), and what
//            branches, calls and exits do with them.
// Not here:  the run loop (Run.cpp), instructions with member masks (Gather.cpp), who runs when (Cluster.cpp).
// Idea:      a branch that parts a fragment makes a Join at the branch block's immediate post-dominator. Fragments that come
//            there wait until every lane of the Join has come, has exited, or has gone on without the others.
// Invariant: every live lane is in exactly one Fragment or has arrived at exactly one Join; the lanes of a Join that have not
//            gone on are lanes of its outer Join too, and none of them has arrived there.
#pragma once
#include "sim/machine/Program.h"
#include "sim/machine/Warp.h"
#include <array>
#include <list>
#include <vector>

namespace tiletwin::sim {

/// Which lanes of a register hold a value that was written. Of the others: whether it was computed, and the unwritten register that
/// it comes from, as an index into FunctionCode::doubtful.
struct DoubtfulValue {
  LaneMask written = kAllLanes, computed = 0;
  std::array<uint32_t, kLanes> origin{};
};

/// The registers of one call. Lanes that were together at the call share it, parted or not.
struct Frame {
  const FunctionCode* code = nullptr;
  Frame* caller = nullptr;        ///< null: the entry
  const Inst* callSite = nullptr; ///< null: the entry
  LaneMask lanes = 0;             ///< that have not returned
  uint32_t localBase = 0;         ///< where its local variables begin in each thread's local memory
  uint32_t localEnd = 0;          ///< ... and end, alloca's included
  AlignedBytes registers;
  std::vector<DoubtfulValue> doubtful; ///< of each of FunctionCode::doubtful; empty: nobody looks
};

/// Frames that are not in use, by function, so that calls allocate nothing.
class FramePool {
public:
  Frame* take(const FunctionCode& code);
  void give(Frame* frame);

private:
  std::vector<std::unique_ptr<Frame>> all_;
  std::vector<Frame*> unused_;
};

struct Join {
  const Inst* at = nullptr;
  Frame* frame = nullptr;
  Join* outer = nullptr;
  LaneMask expected = 0; ///< lanes that have not gone on
  LaneMask arrived = 0;
  uint64_t since = 0; ///< Fragments::executed when the first of them arrived
  uint64_t polls = 0; ///< Warp::polls then
  std::list<Join>::iterator self;
};

struct Fragment {
  const Inst* next = nullptr;
  LaneMask lanes = 0;
  LaneMask asleep =
      0; ///< after Step::Park: lanes that wake() has not been called for; the fragment does not run until 0
  Frame* frame = nullptr;
  Join* join = nullptr; ///< the innermost one it has not come to
  bool retries = false; ///< its last instruction came back with Retry
  uint64_t turn = 0;    ///< the one with the lowest runs next
  std::list<Fragment>::iterator self;
};

/// All fragments of one warp.
struct Fragments {
  std::list<Fragment> list; ///< a fragment does not move
  std::list<Fragment> spareFragments;
  std::list<Join> joins, spareJoins;
  FramePool* pool = nullptr;
  uint64_t executed = 0; ///< instructions of the warp
  uint64_t turns = 0;    ///< Fragment::turn of the one that ran last

  Fragment& add(const Fragment& fragment);
  void remove(Fragment& fragment);
  Join& addJoin(const Join& join);
  void removeJoin(Join& join);
};

/// The running fragment parts: `leaving` go to `target`, the others to `next`; they meet at `meeting` (null: nowhere).
void part(Warp& warp, Fragment& fragment, LaneMask leaving, const Inst* target, const Inst* next, const Inst* meeting);
/// A fragment has come to its Join: it waits there, or takes in all that have come and goes on. False: it is gone.
bool arrive(Warp& warp, Fragment& fragment);
/// Lanes stop being expected at the joins from `from` up to, not including, `upTo`; joins that are complete by that are left.
void leaveJoins(Warp& warp, Join* from, const Join* upTo, LaneMask lanes);
/// Lanes have exited. The fragment may be left without lanes: then it is gone.
void exitLanes(Warp& warp, Fragment& fragment, LaneMask lanes);
/// Lanes that wait at joins for too long, or at any if `all`, go on alone. True if some did.
bool giveUpWaiting(Warp& warp, bool all);
/// Two fragments at the same instruction of the same frame become one, `into`.
void merge(Warp& warp, Fragment& into, Fragment& other);

/// A new frame for lanes that call `code`, with its special registers; false: a trap (no local memory left).
Frame* enterFrame(Warp& warp, const FunctionCode& code, Frame* caller, LaneMask lanes);
/// Lanes leave a frame without returning to its caller; it is freed with its last lane.
void leaveFrame(Warp& warp, Frame* frame, LaneMask lanes);

} // namespace tiletwin::sim
