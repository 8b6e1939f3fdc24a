#include "neighbours_team.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace pinsker {

namespace {

constexpr double kLeastWork = 3e5;  // nanoseconds; waking a thread takes some tens of thousands

}  // namespace

// What the caller and its helpers have in common. Helpers keep it alive, so that the caller need
// not wait for them to go home.
struct Team::Shared {
    std::mutex mutex;
    std::condition_variable called, finished;
    const std::function<void(int64_t)> *task = nullptr;  // null: nothing to join
    std::atomic<int64_t> next{0};
    int64_t n = 0;  // only changes while nobody is inside
    uint64_t job = 0;
    int inside = 0;  // helpers at work on the current job
    bool closed = false;
    std::exception_ptr failure;

    // Take tasks until none is left. The task is handed over: `task` itself is guarded.
    void work(const std::function<void(int64_t)> &current) {
        try {
            for (int64_t i = next++; i < n; i = next++) current(i);
        } catch (...) {
            next = n;
            const std::lock_guard<std::mutex> lock(mutex);
            failure = std::current_exception();
        }
    }

    void help() {
        std::unique_lock<std::mutex> lock(mutex);
        for (uint64_t seen = 0;;) {
            called.wait(lock, [&] { return closed || (task != nullptr && job != seen); });
            if (closed) return;
            seen = job;
            ++inside;
            const std::function<void(int64_t)> &current = *task;
            lock.unlock();
            work(current);
            lock.lock();
            if (--inside == 0) finished.notify_one();
        }
    }
};

Team::Team(int n_threads) : n_threads_(n_threads) {}

Team::~Team() {
    if (shared_ == nullptr) return;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->closed = true;
    shared_->called.notify_all();
}

void Team::hire() {
    shared_ = std::make_shared<Shared>();
    try {
        for (int i = 1; i < n_threads_; ++i) {
            std::thread([shared = shared_] { shared->help(); }).detach();
        }
    } catch (const std::system_error &) {
        // No more threads to be had: those that came, and the caller, do the work.
    }
}

void Team::run(int64_t n, double work, const std::function<void(int64_t)> &task) {
    if (n_threads_ < 2 || n < 2 || work < kLeastWork) {
        for (int64_t i = 0; i < n; ++i) task(i);
        return;
    }
    if (shared_ == nullptr) hire();
    Shared &shared = *shared_;
    {
        const std::lock_guard<std::mutex> lock(shared.mutex);
        shared.task = &task;
        shared.n = n;
        shared.next = 0;
        ++shared.job;
    }
    shared.called.notify_all();
    shared.work(task);
    std::unique_lock<std::mutex> lock(shared.mutex);
    shared.task = nullptr;  // who has not come by now need not
    shared.finished.wait(lock, [&] { return shared.inside == 0; });
    if (shared.failure) std::rethrow_exception(std::exchange(shared.failure, nullptr));
}

}  // namespace pinsker
