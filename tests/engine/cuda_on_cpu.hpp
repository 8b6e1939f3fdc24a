// Just enough of CUDA to run the kernels of engine/backends/cuda on the CPU, one block after the other.
//
// The threads of a block are fibers. A barrier hands over to the next one, and all of them reach it
// before the first goes on, so shared memory behaves as on a GPU. Between barriers they run one by
// one, in order or in reverse: a race that the kernels must not have would show as a difference.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using std::fabs;

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(on_cpu::dynamic_shared)

struct Place {
    unsigned x, y;
};
static Place threadIdx, blockIdx, blockDim, gridDim;

struct float4 {
    float x, y, z, w;
};
struct uint4 {
    unsigned x, y, z, w;
};

namespace on_cpu {

constexpr size_t kStack = 1 << 17;
alignas(16) static unsigned char dynamic_shared[1 << 16];

struct Fiber {
    ucontext_t context;
    jmp_buf at;
    std::vector<char> stack;
    bool begun = false, done = false;
};

static std::vector<Fiber> fibers;
static jmp_buf scheduler_at;
static size_t current;
static void (*body)(const void *);
static const void *argument;

// Contexts only begin a fiber; jumps switch, since they need no system call.
static void leave() {
    if (_setjmp(fibers[current].at) == 0) _longjmp(scheduler_at, 1);
}

static void run_body() {
    body(argument);
    fibers[current].done = true;
    _longjmp(scheduler_at, 1);
}

static void resume(size_t thread) {
    Fiber &fiber = fibers[thread];
    current = thread;
    threadIdx = {static_cast<unsigned>(thread), 0};
    if (_setjmp(scheduler_at) != 0) return;
    if (fiber.begun) _longjmp(fiber.at, 1);
    fiber.begun = true;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_body, 0);
    setcontext(&fiber.context);
}

static void run_block(size_t threads, bool backwards) {
    for (size_t t = 0; t < threads; ++t) fibers[t].begun = fibers[t].done = false;
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < threads; ++i) {
            const size_t t = backwards ? threads - 1 - i : i;
            if (fibers[t].done) continue;
            resume(t);
            any |= !fibers[t].done;
        }
    }
}

}  // namespace on_cpu

inline void __syncthreads() { on_cpu::leave(); }
// Good for kernels in which no barrier of the block follows one of a warp: all threads of a warp reach
// it the same number of times, and each of them runs once in a round.
inline void __syncwarp() { on_cpu::leave(); }

template <class T>
T atomicAdd(T *at, T value) {
    const T old = *at;
    *at = old + value;
    return old;
}
inline unsigned atomicOr(unsigned *at, unsigned value) {
    const unsigned old = *at;
    *at |= value;
    return old;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline unsigned __float_as_uint(float number) {
    unsigned bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}
inline int __clz(int bits) { return __builtin_clz(static_cast<unsigned>(bits)); }
inline long long __double_as_longlong(double number) {
    long long bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}
inline int __double2hiint(double number) { return static_cast<int>(__double_as_longlong(number) >> 32); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return high << by | low >> (32 - by);
}
