// sim/driver/Handles.h -- what a client holds: numbers that stand for contexts, modules, streams and the like.
// Here:      Handles<T>, from a number to an object and back.
// Not here:  the objects.
// Idea:      a handle is never an address, and none is given twice: a handle of something that is gone is known to be none,
//            whatever was made since. The object lives as long as a call that looked it up.
// Invariant: numbers lie in a range of addresses that no allocation gets, above the streams that have numbers of their own.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace tiletwin::driver {

/// Objects of one class by handle. Thread-safe. T::kHandleKind: 0 to 31, another one for each class.
template <class T> class Handles {
public:
  static Handles& instance() {
    static Handles* const all = new Handles; // clients call from destructors that run after ours
    return *all;
  }
  /// The handle under which `object` is found from now on.
  void* add(std::shared_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    const uintptr_t number = kFirst + uintptr_t(T::kHandleKind) * kOfOneKind + ++made_ * kStep;
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<void*>(number); // NOLINT: a number, never followed
  }
  /// Null: there is none of that handle, or no longer.
  std::shared_ptr<T> find(const void* handle) const {
    const std::shared_lock lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return at == objects_.end() ? nullptr : at->second;
  }
  /// The same, and no longer there afterwards.
  std::shared_ptr<T> take(const void* handle) {
    const std::unique_lock lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (at == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(at->second);
    objects_.erase(at);
    return object;
  }
  /// Any object that predicate(object) accepts, or null.
  template <class Predicate> std::shared_ptr<T> findIf(const Predicate& predicate) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [number, object] : objects_)
      if (predicate(*object)) return object;
    return nullptr;
  }
  /// True for a handle that was given once, whether its object is still there or not.
  bool wasGiven(const void* handle) const {
    const std::shared_lock lock(mutex_);
    const uintptr_t offset = reinterpret_cast<uintptr_t>(handle) - (kFirst + uintptr_t(T::kHandleKind) * kOfOneKind);
    return offset % kStep == 0 && offset && offset / kStep <= made_;
  }
  template <class Predicate> void removeIf(const Predicate& predicate) {
    std::vector<std::shared_ptr<T>> gone; // whose destructors may come here again
    const std::unique_lock lock(mutex_);
    for (auto at = objects_.begin(); at != objects_.end();)
      if (predicate(*at->second)) {
        gone.push_back(std::move(at->second));
        at = objects_.erase(at);
      } else {
        ++at;
      }
  }

private:
  static constexpr uintptr_t kFirst = 0x0DD0'0000'0000, kOfOneKind = uintptr_t(1) << 36, kStep = 16;
  mutable std::shared_mutex mutex_;
  std::unordered_map<uintptr_t, std::shared_ptr<T>> objects_; // under mutex_
  uintptr_t made_ = 0;                                        // under mutex_
};

template <class T> std::shared_ptr<T> find(const void* handle) { return Handles<T>::instance().find(handle); }

} // namespace tiletwin::driver
