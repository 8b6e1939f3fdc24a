#include "thread_pool.hpp"

#include <algorithm>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#else
static int getpid() { return 0; }
#endif

namespace {

constexpr int kLooks = 4000;  // about a tenth of a millisecond

void pause() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

template <class Done>
void look_for(Done done) {
    for (int look = 0; look < kLooks && !done(); ++look) pause();
}

}  // namespace

// Never destroyed: helpers sleep in it until the process ends. A forked child gets its own.
ThreadPool &ThreadPool::shared() {
    static std::mutex guard;
    static ThreadPool *pool = nullptr;
    static int owner = 0;
    const std::lock_guard<std::mutex> lock(guard);
    if (pool == nullptr || owner != static_cast<int>(getpid())) {
        pool = new ThreadPool;
        owner = static_cast<int>(getpid());
    }
    return *pool;
}

void ThreadPool::run(int64_t n, int64_t chunk, int threads, const Body &body) {
    Job job;
    job.body = &body;
    job.n = n;
    job.chunk = chunk;
    job.wanted = static_cast<int>(std::min<int64_t>(threads, (n + chunk - 1) / chunk)) - 1;
    bool shared_out = false;
    if (job.wanted > 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (job_ == nullptr) {  // another search may be using the helpers: then this one works alone
            for (; helpers_ < job.wanted; ++helpers_) std::thread([this] { help(); }).detach();
            job_ = &job;
            shared_out = true;
        }
    }
    if (shared_out) {
        offers_.fetch_add(1);
        wake_.notify_all();
    }
    work(job, 0);
    if (!shared_out) return;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        job_ = nullptr;  // nobody joins any more
    }
    look_for([&] { return job.inside.load() == 0; });
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return job.inside.load() == 0; });
}

void ThreadPool::work(Job &job, int slot) {
    while (true) {
        const int64_t begin = job.next.fetch_add(job.chunk);
        if (begin >= job.n) return;
        const int64_t end = std::min(job.n, begin + job.chunk);
        for (int64_t i = begin; i < end; ++i) (*job.body)(i, slot);
    }
}

void ThreadPool::help() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        const int64_t seen = offers_.load();
        if (job_ == nullptr) {
            lock.unlock();
            look_for([&] { return offers_.load() != seen; });
            lock.lock();
        }
        wake_.wait(lock, [&] { return job_ != nullptr && job_->joined < job_->wanted; });
        Job &job = *job_;
        const int slot = ++job.joined;
        ++job.inside;
        lock.unlock();
        work(job, slot);
        lock.lock();
        if (--job.inside == 0) done_.notify_all();
    }
}
