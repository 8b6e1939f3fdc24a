// Jobs shared among threads that live for one call.
//
// Not an OpenMP team: its threads wait by spinning, and a search that waits once per chosen feature
// was measured five to eleven times slower with two of them than with one or with passive waiting,
// on a busy machine. A thread is started only when there is work for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace pinsker {

constexpr std::size_t kRowsPerThread = 200000;  // about 100 microseconds of counting

// How many threads are worth starting for so many jobs of so many rows.
inline std::size_t useful_threads(int n_threads, std::size_t n_jobs, std::size_t n_rows) {
    const std::size_t asked = static_cast<std::size_t>(std::max(n_threads, 1));
    return std::min({asked, n_jobs, 1 + n_jobs * n_rows / kRowsPerThread});
}

// Call work(job, thread) for every job. Jobs write to places of their own, so the order is free.
template <class Work>
void share_jobs(std::size_t n_jobs, std::size_t n_threads, const Work &work) {
    std::atomic<std::size_t> next{0};
    const auto take_jobs = [&](std::size_t thread) {
        for (std::size_t job; (job = next.fetch_add(1)) < n_jobs;) work(job, thread);
    };
    std::vector<std::thread> helpers;
    helpers.reserve(n_threads);
    for (std::size_t thread = 1; thread < n_threads; ++thread) {
        try {
            helpers.emplace_back(take_jobs, thread);
        } catch (const std::system_error &) {
            break;  // no more threads to be had: those that run do the work
        }
    }
    take_jobs(0);
    for (std::thread &helper : helpers) helper.join();
}

}  // namespace pinsker
