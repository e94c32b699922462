// sim/check/RaceCheck.h -- races: two threads access the same bytes, at least one of them writes, and nothing orders the two.
//
// Here:      the check as an observer of a launch.
// Not here:  the order of accesses (WarpOrder.h), what is remembered of them (AccessShadow.h), copies that are read before they are
//            waited for (AsyncCheck.h).
// What counts: plain accesses to shared memory (other CTAs' too) and global memory. Accesses that are both atomic, volatile or
//            ordered are no race if their scopes take in both threads. Threads may write the value to a place that is there already:
//            compilers let several do the same, and it means nothing in which order.
//            What copies and products do to shared memory counts from where they are issued until their end is known, by a wait for
//            their group or their mbarrier's phase; what bulk copies do to global memory does not count.
#pragma once
#include "sim/machine/Observer.h"
#include <memory>

namespace tiletwin::sim {

struct Grid;

/// Reports to the launch's findings while it runs. Grid::addresses is complete.
std::unique_ptr<Observer> makeRaceCheck(Grid& grid);

} // namespace tiletwin::sim
