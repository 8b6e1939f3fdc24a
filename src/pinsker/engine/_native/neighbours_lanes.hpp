// Eight rows side by side. A kernel is a template over W, the number of doubles in one register of
// the instruction set, and PINSKER_DISPATCH_WIDTH picks the widest the CPU has. Vector types of the
// compiler rather than target_clones: GCC splits 64-byte vectors badly where registers are shorter.
#pragma once

#include <cstdint>

#include "dispatch.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // every function that takes lanes is inlined: no ABI
#endif

namespace pinsker {

constexpr int kLanes = 8;

struct alignas(64) Octet {
    double lane[kLanes];
};

#if defined(__GNUC__) || defined(__clang__)
template <int W>
struct Registers {
    typedef double Numbers __attribute__((vector_size(W * 8)));
    typedef int64_t Bits __attribute__((vector_size(W * 8)));
};
#else  // no vector types: one number a "register"; the dispatcher then only uses W = 1
template <int W>
struct Registers {
    typedef double Numbers;
    typedef int64_t Bits;
};
#endif

// One bit pattern per lane: all ones where a comparison holds. Also used to tally comparisons.
template <int W>
struct Mask {
    typename Registers<W>::Bits part[kLanes / W];
};

template <int W>
struct Lanes {
    typename Registers<W>::Numbers part[kLanes / W];
};

template <int W>
PINSKER_INLINE Lanes<W> load(const Octet &from) {
    Lanes<W> to;
    for (int i = 0; i < kLanes / W; ++i) {
        to.part[i] = *reinterpret_cast<const typename Registers<W>::Numbers *>(from.lane + i * W);
    }
    return to;
}

template <int W>
PINSKER_INLINE void store(Octet &to, const Lanes<W> &from) {
    for (int i = 0; i < kLanes / W; ++i) {
        *reinterpret_cast<typename Registers<W>::Numbers *>(to.lane + i * W) = from.part[i];
    }
}

#if defined(__GNUC__) || defined(__clang__)
template <int W>
PINSKER_INLINE typename Registers<W>::Numbers magnitude(typename Registers<W>::Numbers a) {
    typedef typename Registers<W>::Bits Bits;
    typedef typename Registers<W>::Numbers Numbers;
    return (Numbers)((Bits)a & (int64_t)0x7fffffffffffffff);
}
#define PINSKER_TRUTH(comparison) (comparison)
#else
template <int W>
PINSKER_INLINE double magnitude(double a) {
    return a < 0 ? -a : a;
}
#define PINSKER_TRUTH(comparison) (-(int64_t)(comparison))
#endif

// The largest of `far` and |a - b|, lane by lane.
template <int W>
PINSKER_INLINE void widen(Lanes<W> &far, const Lanes<W> &a, double b) {
    for (int i = 0; i < kLanes / W; ++i) {
        const auto gap = magnitude<W>(a.part[i] - b);
        far.part[i] = far.part[i] > gap ? far.part[i] : gap;
    }
}

template <int W>
PINSKER_INLINE Lanes<W> larger(Lanes<W> a, const Lanes<W> &b) {
    for (int i = 0; i < kLanes / W; ++i) {
        a.part[i] = a.part[i] > b.part[i] ? a.part[i] : b.part[i];
    }
    return a;
}

template <int W>
PINSKER_INLINE Lanes<W> minus(Lanes<W> a, double b) {
    for (int i = 0; i < kLanes / W; ++i) a.part[i] = a.part[i] - b;
    return a;
}

template <int W>
PINSKER_INLINE Lanes<W> minus(double a, Lanes<W> b) {
    for (int i = 0; i < kLanes / W; ++i) b.part[i] = a - b.part[i];
    return b;
}

template <int W>
PINSKER_INLINE Mask<W> below(const Lanes<W> &a, double limit) {
    Mask<W> m;
    for (int i = 0; i < kLanes / W; ++i) m.part[i] = PINSKER_TRUTH(a.part[i] < limit);
    return m;
}

template <int W>
PINSKER_INLINE Mask<W> up_to(const Lanes<W> &a, double limit) {
    Mask<W> m;
    for (int i = 0; i < kLanes / W; ++i) m.part[i] = PINSKER_TRUTH(a.part[i] <= limit);
    return m;
}

template <int W>
PINSKER_INLINE Mask<W> both(Mask<W> a, const Mask<W> &b) {
    for (int i = 0; i < kLanes / W; ++i) a.part[i] &= b.part[i];
    return a;
}

// Add one to the tally of every lane where the mask holds.
template <int W>
PINSKER_INLINE void tally(Mask<W> &count, const Mask<W> &mask) {
    for (int i = 0; i < kLanes / W; ++i) count.part[i] -= mask.part[i];
}

template <int W>
PINSKER_INLINE int64_t lane_of(const Mask<W> &mask, int lane) {
#if defined(__GNUC__) || defined(__clang__)
    return mask.part[lane / W][lane % W];
#else
    return mask.part[lane];
#endif
}

template <int W>
PINSKER_INLINE int64_t total(const Mask<W> &count) {
    int64_t sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += lane_of(count, lane);
    return sum;
}

// All words of a register or-ed together.
template <int W>
PINSKER_INLINE int64_t fold(typename Registers<W>::Bits words) {
#if defined(__GNUC__) && !defined(__clang__)
    typedef typename Registers<W>::Bits Bits;
    if constexpr (W == 8) words |= __builtin_shuffle(words, Bits{4, 5, 6, 7, 0, 1, 2, 3});
    if constexpr (W == 8) words |= __builtin_shuffle(words, Bits{2, 3, 0, 1, 6, 7, 4, 5});
    if constexpr (W == 4) words |= __builtin_shuffle(words, Bits{2, 3, 0, 1});
    return words[0] | words[1];
#elif defined(__clang__)
    int64_t found = 0;
    for (int i = 0; i < W; ++i) found |= words[i];
    return found;
#else
    return words;
#endif
}

template <int W>
PINSKER_INLINE bool any(const Mask<W> &mask) {
    auto seen = mask.part[0];
    for (int i = 1; i < kLanes / W; ++i) seen |= mask.part[i];
    return fold<W>(seen) != 0;
}

struct alignas(64) LaneBits {
    int64_t bit[kLanes] = {1, 2, 4, 8, 16, 32, 64, 128};
};
constexpr LaneBits kLaneBits;

// Bit l is set where lane l of the mask holds.
template <int W>
PINSKER_INLINE unsigned bits(const Mask<W> &mask) {
    typedef typename Registers<W>::Bits Bits;
    const Bits *weights = reinterpret_cast<const Bits *>(kLaneBits.bit);
    Bits seen = mask.part[0] & weights[0];
    for (int i = 1; i < kLanes / W; ++i) seen |= mask.part[i] & weights[i];
    return (unsigned)fold<W>(seen);
}

}  // namespace pinsker

// Define `void name(...)` as the widest of its instances `name_lanes<W>(...)` this CPU can run.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(PINSKER_NO_CLONES)
#define PINSKER_DISPATCH_WIDTH(name, parameters, arguments)                             \
    __attribute__((target("avx512f"))) static void name##_512 parameters {              \
        name##_lanes<8> arguments;                                                      \
    }                                                                                   \
    __attribute__((target("avx2"))) static void name##_256 parameters {                 \
        name##_lanes<4> arguments;                                                      \
    }                                                                                   \
    static void name##_128 parameters { name##_lanes<2> arguments; }                    \
    void name parameters {                                                              \
        if (__builtin_cpu_supports("avx512f")) return name##_512 arguments;             \
        if (__builtin_cpu_supports("avx2")) return name##_256 arguments;                \
        return name##_128 arguments;                                                    \
    }
#elif defined(__GNUC__) || defined(__clang__)
#define PINSKER_DISPATCH_WIDTH(name, parameters, arguments) \
    void name parameters { name##_lanes<2> arguments; }
#else
#define PINSKER_DISPATCH_WIDTH(name, parameters, arguments) \
    void name parameters { name##_lanes<1> arguments; }
#endif
