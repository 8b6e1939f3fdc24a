// What differs between compilers and CPUs, in one place; the rest is standard C++17.
#pragma once

#include <cstdint>
#include <thread>

// Whether code for AVX2 and AVX-512 is compiled beside the baseline code (dispatch.cpp). Define
// PINSKER_PORTABLE to have the baseline alone, as on every CPU that is not x86-64.
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(PINSKER_PORTABLE) && \
    (defined(__GNUC__) || (defined(_MSC_VER) && !defined(__clang__)))
#define PINSKER_X86_SIMD 1
#include <immintrin.h>
#else
#define PINSKER_X86_SIMD 0
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#endif

// What a vector kernel calls must be inlined into it, or it stays baseline code.
#if defined(__GNUC__)
#define PINSKER_INLINE inline __attribute__((always_inline))
#define PINSKER_NOT_INLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define PINSKER_INLINE __forceinline
#define PINSKER_NOT_INLINE __declspec(noinline)
#else
#define PINSKER_INLINE inline
#define PINSKER_NOT_INLINE
#endif

// Between BEGIN and END functions are compiled for an instruction set. MSVC takes intrinsics
// everywhere and needs no such mark.
#if defined(__clang__)
#define PINSKER_PRAGMA(text) _Pragma(#text)
#define PINSKER_BEGIN_TARGET(set) \
    PINSKER_PRAGMA(clang attribute push(__attribute__((target(set))), apply_to = function))
#define PINSKER_END_TARGET _Pragma("clang attribute pop")
#elif defined(__GNUC__)
#define PINSKER_PRAGMA(text) _Pragma(#text)
#define PINSKER_BEGIN_TARGET(set) PINSKER_PRAGMA(GCC push_options) PINSKER_PRAGMA(GCC target(set))
#define PINSKER_END_TARGET PINSKER_PRAGMA(GCC pop_options)
#else
#define PINSKER_BEGIN_TARGET(set)
#define PINSKER_END_TARGET
#endif

namespace pinsker {

constexpr int kLanes = 8;  // doubles that vector code handles together: one AVX-512 register

// Position of the lowest bit; `bits` must not be zero.
PINSKER_INLINE int count_trailing_zeros(uint32_t bits) {
#if defined(__GNUC__)
    return __builtin_ctz(bits);
#elif defined(_MSC_VER)
    unsigned long lowest = 0;
    _BitScanForward(&lowest, bits);
    return static_cast<int>(lowest);
#else
    int lowest = 0;
    for (; (bits & 1) == 0; bits >>= 1) ++lowest;
    return lowest;
#endif
}

// A hint that the memory will be read soon.
PINSKER_INLINE void prefetch(const void *memory) {
#if defined(__GNUC__)
    __builtin_prefetch(memory);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char *>(memory), _MM_HINT_T0);
#else
    (void)memory;
#endif
}

// A short wait inside a loop that polls another thread.
inline void pause_thread() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#elif defined(_M_X64)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

// Bits of the widest registers that this CPU and its operating system offer: 512, 256 or 128.
inline int widest_registers() {
#if PINSKER_X86_SIMD && defined(_MSC_VER)
    int leaf[4];
    __cpuid(leaf, 0);
    const int n_leaves = leaf[0];
    __cpuid(leaf, 1);
    const bool saves_registers = (leaf[2] >> 27 & 1) != 0;
    if (n_leaves < 7 || !saves_registers) return 128;
    const unsigned long long saved = _xgetbv(0);
    __cpuidex(leaf, 7, 0);
    const bool has_avx2 = (leaf[1] >> 5 & 1) != 0 && (saved & 0x06) == 0x06;
    const bool has_avx512 = (leaf[1] >> 16 & 1) != 0 && (leaf[1] >> 17 & 1) != 0;
    if (has_avx512 && (saved & 0xe6) == 0xe6) return 512;
    if (has_avx2) return 256;
#elif PINSKER_X86_SIMD
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return 512;
    if (__builtin_cpu_supports("avx2")) return 256;
#endif
    return 128;
}

// Whether one instruction of this CPU counts the bits of eight words.
inline bool counts_bits_in_registers() {
#if PINSKER_X86_SIMD && defined(__GNUC__)
    return widest_registers() >= 512 && __builtin_cpu_supports("avx512vpopcntdq");
#else
    return false;
#endif
}

}  // namespace pinsker
