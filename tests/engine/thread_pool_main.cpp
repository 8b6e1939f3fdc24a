// The thread pool alone, for ThreadSanitizer: `make sanitize-threads` compiles and runs it.

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/thread_pool.hpp"

using pinsker::ThreadPool;

static void check(bool right, const char *what) {
    if (right) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

// Sums of slots must be those of one thread: every index once, scratch of a slot never shared.
static void sum(int64_t n, int64_t chunk, int threads) {
    std::vector<int64_t> of_slot(static_cast<size_t>(threads), 0);
    ThreadPool::shared().run(n, chunk, threads,
                             [&](int64_t i, int slot) { of_slot[static_cast<size_t>(slot)] += i; });
    int64_t total = 0;
    for (const int64_t part : of_slot) total += part;
    check(total == n * (n - 1) / 2, "every index once");
}

static void fail() {
    try {
        ThreadPool::shared().run(1000, 1, 4, [](int64_t i, int) {
            if (i == 500) throw std::runtime_error("of a body");
        });
    } catch (const std::runtime_error &) {
        return;
    }
    check(false, "what a body throws is thrown");
}

int main() {
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([caller] {
            for (int round = 0; round < 200; ++round) {
                sum(1 + 97 * caller + round, 1 + round % 7, 1 + round % 5);
                if (round % 20 == 0) fail();
            }
        });
    }
    for (std::thread &caller : callers) caller.join();
    std::printf("thread pool: 800 sums and 40 errors in 4 threads\n");
    return 0;
}
