// Threads for many short pieces of work.
//
// A path is thousands of passes of a fraction of a millisecond each. OpenMP's threads spin while they
// wait for each other, which on a machine with other work to do costs far more than the pass itself.
// Here the calling thread takes part and never waits for a helper that has not begun; whoever waits
// looks for a tenth of a millisecond, the time between two passes, and then sleeps. In a forked child
// there are no helpers, and the caller does all of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

class ThreadPool {
   public:
    // body(index, slot): slot < threads tells which scratch to use.
    using Body = std::function<void(int64_t, int)>;

    static ThreadPool &shared();
    void run(int64_t n, int64_t chunk, int threads, const Body &body);

   private:
    struct Job {
        const Body *body;
        std::atomic<int64_t> next{0};
        int64_t n, chunk;
        int wanted;      // helpers that may join
        int joined = 0;  // slots given out to helpers; guarded by the pool's mutex
        std::atomic<int> inside{0};  // helpers at work; changed under the pool's mutex
    };
    static void work(Job &job, int slot);
    void help();

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    Job *job_ = nullptr;
    std::atomic<int64_t> offers_{0};  // jobs shared out so far
    int helpers_ = 0;
};
