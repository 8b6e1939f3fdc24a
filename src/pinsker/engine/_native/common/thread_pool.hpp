// Threads for many short pieces of work: one pool for all kernels of a process.
//
// A path is thousands of passes of a fraction of a millisecond each. OpenMP's threads spin while
// they wait for each other, which on a machine with other work to do costs far more than the pass
// itself, and GNU's hang after a fork. Here the calling thread takes part and never waits for a
// helper that has not begun; whoever waits looks for a tenth of a millisecond, the time between two
// passes, and then sleeps. Callers in several threads share the helpers. A forked child starts
// helpers of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace pinsker {

class ThreadPool {
public:
    // body(index, slot): slot < threads tells which scratch to use.
    using Body = std::function<void(int64_t, int)>;

    static ThreadPool &shared();
    // Do body(0) .. body(n - 1), `chunk` of them at a time, in any order. What a body throws ends
    // the work and is thrown here.
    void run(int64_t n, int64_t chunk, int threads, const Body &body);

private:
    struct Job {
        const Body &body;
        const int64_t n, chunk;
        const int wanted;  // helpers that may join
        std::atomic<int64_t> next{0};
        int joined = 0;                // slots given out to helpers; guarded by the pool's mutex
        std::atomic<int> inside{0};    // helpers at work; changed under the pool's mutex
        std::exception_ptr failure{};  // guarded by the pool's mutex

        Job(const Body &b, int64_t size, int64_t step, int helpers)
            : body(b), n(size), chunk(step), wanted(helpers) {}
    };
    void open(Job &job);
    void close(Job &job);
    Job *find_work() const;
    void work(Job &job, int slot);
    void help();

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<Job *> jobs_;         // those that can be joined
    std::atomic<int64_t> offers_{0};  // jobs opened so far
    int helpers_ = 0;
};

// The threads that one caller uses.
class Team {
public:
    explicit Team(int n_threads) : n_threads_(n_threads) {}

    // Do task(0) .. task(n - 1), in any order. `work` is how much that is, in nanoseconds or so:
    // little is done by the caller alone.
    void run(int64_t n, double work, const std::function<void(int64_t)> &task) const;

private:
    int n_threads_;
};

}  // namespace pinsker
