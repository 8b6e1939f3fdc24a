// Threads that share the tasks of one call.
//
// Not OpenMP: its threads spin while they wait, and a loop ends only when all of them were there.
// Where cores are shared with others, that was measured to cost ten times the work itself, and after
// a fork it hangs. Here threads sleep, and a thread that never woke up is not waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace pinsker {

class Team {
public:
    explicit Team(int n_threads);
    ~Team();
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;

    // Do task(0) .. task(n - 1), in any order, by all threads. `work` says how much that is, in
    // nanoseconds or so: little is done by the caller alone.
    void run(int64_t n, double work, const std::function<void(int64_t)> &task);

private:
    struct Shared;

    void hire();

    int n_threads_;
    std::shared_ptr<Shared> shared_;  // null until there is work for more than one
};

}  // namespace pinsker
