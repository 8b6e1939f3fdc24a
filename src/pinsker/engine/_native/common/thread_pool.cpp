#include "common/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "common/compiler.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace pinsker {

namespace {

constexpr int kLooks = 4000;        // about a tenth of a millisecond
constexpr double kLeastWork = 3e5;  // nanoseconds; waking a thread takes some tens of thousands

template <class Done>
void look_for(Done done) {
    for (int look = 0; look < kLooks && !done(); ++look) pause_thread();
}

// No mutex guards it: another thread might hold that at a fork, and the child would wait for ever.
std::atomic<ThreadPool *> shared_pool{nullptr};

#if defined(__unix__) || defined(__APPLE__)
// A forked child has none of the helpers, and mutexes that nobody will unlock: it forgets the pool.
void forget_pool() { shared_pool.store(nullptr); }
const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
#endif

const int n_cores = static_cast<int>(std::thread::hardware_concurrency());

}  // namespace

// Never destroyed: helpers sleep in it until the process ends. A forked child gets its own.
ThreadPool &ThreadPool::shared() {
    ThreadPool *pool = shared_pool.load();
    if (pool != nullptr) return *pool;
    auto *made = new ThreadPool;
    if (shared_pool.compare_exchange_strong(pool, made)) return *made;
    delete made;  // another thread was faster
    return *pool;
}

void ThreadPool::run(int64_t n, int64_t chunk, int threads, const Body &body) {
    const int64_t n_chunks = (n + chunk - 1) / chunk;
    Job job(body, n, chunk, static_cast<int>(std::min<int64_t>(threads, n_chunks)) - 1);
    if (job.wanted > 0) open(job);
    work(job, 0);
    if (job.wanted > 0) close(job);
    if (job.failure) std::rethrow_exception(job.failure);
}

// Let helpers join, and see to it that there are enough: for all jobs, as far as cores go.
void ThreadPool::open(Job &job) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        jobs_.push_back(&job);
        int wanted = 0;
        for (const Job *other : jobs_) wanted += other->wanted;
        const int enough = std::min(wanted, std::max(job.wanted, n_cores));
        try {
            for (; helpers_ < enough; ++helpers_) std::thread([this] { help(); }).detach();
        } catch (const std::system_error &) {
            // No more threads to be had: those that came, and the caller, do the work.
        }
    }
    offers_.fetch_add(1);
    wake_.notify_all();
}

// Admit no more helpers, and wait for those inside.
void ThreadPool::close(Job &job) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    }
    look_for([&] { return job.inside.load() == 0; });
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return job.inside.load() == 0; });
}

ThreadPool::Job *ThreadPool::find_work() const {
    for (Job *job : jobs_) {
        if (job->joined < job->wanted && job->next.load() < job->n) return job;
    }
    return nullptr;
}

void ThreadPool::work(Job &job, int slot) {
    try {
        for (;;) {
            const int64_t begin = job.next.fetch_add(job.chunk);
            if (begin >= job.n) return;
            const int64_t end = std::min(job.n, begin + job.chunk);
            for (int64_t i = begin; i < end; ++i) job.body(i, slot);
        }
    } catch (...) {
        job.next = job.n;
        const std::lock_guard<std::mutex> lock(mutex_);
        job.failure = std::current_exception();
    }
}

void ThreadPool::help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        const int64_t seen = offers_.load();
        if (find_work() == nullptr) {
            lock.unlock();
            look_for([&] { return offers_.load() != seen; });
            lock.lock();
        }
        wake_.wait(lock, [&] { return find_work() != nullptr; });
        Job &job = *find_work();
        const int slot = ++job.joined;
        ++job.inside;
        lock.unlock();
        work(job, slot);
        lock.lock();
        if (--job.inside == 0) done_.notify_all();
    }
}

void Team::run(int64_t n, double work, const std::function<void(int64_t)> &task) const {
    const int threads = work < kLeastWork ? 1 : n_threads_;
    ThreadPool::shared().run(n, 1, threads, [&](int64_t i, int) { task(i); });
}

}  // namespace pinsker
