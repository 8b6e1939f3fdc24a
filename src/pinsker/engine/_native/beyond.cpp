// The innermost questions of the backward search: which columns of a pair are beyond a limit, and
// which two are the largest.
//
// Compilers do not turn comparisons into bit masks by themselves, so the versions are written out;
// the CPU found at load time decides which one runs.
#include "scan.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(PINSKER_NO_CLONES)
#define PINSKER_X86 1
#include <immintrin.h>
#endif

namespace {

using FirstBeyond = int (*)(const double *, const double *, const int32_t *, int, int, double, int32_t);
using FindTopTwo = TopTwo (*)(const double *, const double *, int);
using FrontBits = uint32_t (*)(const float *, const float *, float);
using BeyondBits = uint32_t (*)(const double *, const double *, int, double);

// What the three versions share: walk over blocks, then over the bits of a block.
#define PINSKER_FIRST_BEYOND(NAME, BLOCK_BITS, ATTRIBUTE)                                        \
    ATTRIBUTE int NAME(const double *a, const double *b, const int32_t *features, int from,         \
                       int width, double limit, int32_t skip) {                                  \
        for (int block = from; block < width; block += kBlock) {                                 \
            uint32_t bits = BLOCK_BITS(a + block, b + block, limit);                             \
            for (; bits != 0; bits &= bits - 1) {                                                \
                const int c = block + __builtin_ctz(bits);                                       \
                if (features[c] != skip) return c;                                                  \
            }                                                                                    \
        }                                                                                        \
        return -1;                                                                               \
    }

#define PINSKER_BEYOND_BITS(NAME, BLOCK_BITS, ATTRIBUTE)                                         \
    ATTRIBUTE uint32_t NAME(const double *a, const double *b, int width, double limit) {         \
        const uint32_t low = BLOCK_BITS(a, b, limit);                                            \
        return width <= kBlock ? low                                                             \
                               : low | BLOCK_BITS(a + kBlock, b + kBlock, limit) << kBlock;      \
    }

inline uint32_t block_bits(const double *a, const double *b, double limit) {
    uint32_t bits = 0;
    for (int c = 0; c < kBlock; ++c)
        bits |= static_cast<uint32_t>(std::fabs(a[c] - b[c]) > limit) << c;
    return bits;
}
PINSKER_FIRST_BEYOND(first_beyond_plain, block_bits, static)
PINSKER_BEYOND_BITS(beyond_bits_plain, block_bits, static)

uint32_t front_bits_plain(const float *a, const float *b, float limit) {
    uint32_t bits = 0;
    for (int c = 0; c < kFront; ++c)
        bits |= static_cast<uint32_t>(std::fabs(a[c] - b[c]) > limit) << c;
    return bits;
}

TopTwo top_two_plain(const double *a, const double *b, int width) {
    TopTwo top{-1.0, -1.0, -1, -1};
    for (int c = 0; c < width; ++c) {
        const double gap = std::fabs(a[c] - b[c]);
        if (gap > top.m1) {
            top = {gap, top.m1, c, top.c1};
        } else if (gap > top.m2) {
            top.m2 = gap;
            top.c2 = c;
        }
    }
    return top;
}

#ifdef PINSKER_X86
#define PINSKER_AVX2 __attribute__((target("avx2")))
#define PINSKER_AVX512 __attribute__((target("avx512f")))

PINSKER_AVX2 inline uint32_t block_bits_avx2(const double *a, const double *b, double limit) {
    const __m256d sign = _mm256_set1_pd(-0.0), edge = _mm256_set1_pd(limit);
    uint32_t bits = 0;
    for (int c = 0; c < kBlock; c += 4) {
        const __m256d gap = _mm256_sub_pd(_mm256_loadu_pd(a + c), _mm256_loadu_pd(b + c));
        const __m256d far = _mm256_cmp_pd(_mm256_andnot_pd(sign, gap), edge, _CMP_GT_OQ);
        bits |= static_cast<uint32_t>(_mm256_movemask_pd(far)) << c;
    }
    return bits;
}
PINSKER_FIRST_BEYOND(first_beyond_avx2, block_bits_avx2, PINSKER_AVX2 static)
PINSKER_BEYOND_BITS(beyond_bits_avx2, block_bits_avx2, PINSKER_AVX2 static)

PINSKER_AVX512 inline uint32_t block_bits_avx512(const double *a, const double *b, double limit) {
    const __m512d edge = _mm512_set1_pd(limit);
    const __m512d low = _mm512_abs_pd(_mm512_sub_pd(_mm512_loadu_pd(a), _mm512_loadu_pd(b)));
    const __m512d high = _mm512_abs_pd(_mm512_sub_pd(_mm512_loadu_pd(a + 8), _mm512_loadu_pd(b + 8)));
    return static_cast<uint32_t>(_mm512_cmp_pd_mask(low, edge, _CMP_GT_OQ)) |
           static_cast<uint32_t>(_mm512_cmp_pd_mask(high, edge, _CMP_GT_OQ)) << 8;
}
PINSKER_FIRST_BEYOND(first_beyond_avx512, block_bits_avx512, PINSKER_AVX512 static)
PINSKER_BEYOND_BITS(beyond_bits_avx512, block_bits_avx512, PINSKER_AVX512 static)

PINSKER_AVX2 uint32_t front_bits_avx2(const float *a, const float *b, float limit) {
    const __m256 sign = _mm256_set1_ps(-0.0F), edge = _mm256_set1_ps(limit);
    uint32_t bits = 0;
    for (int c = 0; c < kFront; c += 8) {
        const __m256 gap = _mm256_sub_ps(_mm256_loadu_ps(a + c), _mm256_loadu_ps(b + c));
        const __m256 far = _mm256_cmp_ps(_mm256_andnot_ps(sign, gap), edge, _CMP_GT_OQ);
        bits |= static_cast<uint32_t>(_mm256_movemask_ps(far)) << c;
    }
    return bits;
}

PINSKER_AVX512 uint32_t front_bits_avx512(const float *a, const float *b, float limit) {
    const __m512 edge = _mm512_set1_ps(limit);
    const __m512 low = _mm512_abs_ps(_mm512_sub_ps(_mm512_loadu_ps(a), _mm512_loadu_ps(b)));
    const __m512 high = _mm512_abs_ps(_mm512_sub_ps(_mm512_loadu_ps(a + 16), _mm512_loadu_ps(b + 16)));
    return static_cast<uint32_t>(_mm512_cmp_ps_mask(low, edge, _CMP_GT_OQ)) |
           static_cast<uint32_t>(_mm512_cmp_ps_mask(high, edge, _CMP_GT_OQ)) << 16;
}

// Two largest per lane, then across the lanes. Columns travel as doubles.
PINSKER_AVX512 TopTwo top_two_avx512(const double *a, const double *b, int width) {
    const __m512d step = _mm512_set1_pd(8.0);
    __m512d at = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);
    __m512d m1 = _mm512_set1_pd(-1.0), m2 = m1, c1 = m1, c2 = m1;
    for (int c = 0; c < width; c += 8, at = _mm512_add_pd(at, step)) {
        const __m512d gap = _mm512_abs_pd(_mm512_sub_pd(_mm512_loadu_pd(a + c), _mm512_loadu_pd(b + c)));
        const __mmask8 first = _mm512_cmp_pd_mask(gap, m1, _CMP_GT_OQ);
        const __mmask8 second = _mm512_cmp_pd_mask(gap, m2, _CMP_GT_OQ);
        m2 = _mm512_mask_mov_pd(_mm512_mask_mov_pd(m2, second, gap), first, m1);
        c2 = _mm512_mask_mov_pd(_mm512_mask_mov_pd(c2, second, at), first, c1);
        m1 = _mm512_mask_mov_pd(m1, first, gap);
        c1 = _mm512_mask_mov_pd(c1, first, at);
    }
    TopTwo top;
    top.m1 = _mm512_reduce_max_pd(m1);
    const __mmask8 winners = _mm512_cmp_pd_mask(m1, _mm512_set1_pd(top.m1), _CMP_EQ_OQ);
    const __mmask8 winner = static_cast<__mmask8>(winners & -winners);
    top.c1 = static_cast<int>(_mm512_mask_reduce_max_pd(winner, c1));
    m1 = _mm512_mask_mov_pd(m1, winner, m2);
    c1 = _mm512_mask_mov_pd(c1, winner, c2);
    top.m2 = _mm512_reduce_max_pd(m1);
    const __mmask8 seconds = _mm512_cmp_pd_mask(m1, _mm512_set1_pd(top.m2), _CMP_EQ_OQ);
    top.c2 = static_cast<int>(_mm512_mask_reduce_max_pd(static_cast<__mmask8>(seconds & -seconds), c1));
    return top;
}
#endif

struct Versions {
    FirstBeyond first = first_beyond_plain;
    BeyondBits bits = beyond_bits_plain;
    FindTopTwo top = top_two_plain;
    FrontBits front = front_bits_plain;
    Versions() {
#ifdef PINSKER_X86
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f")) {
            first = first_beyond_avx512;
            bits = beyond_bits_avx512;
            top = top_two_avx512;
            front = front_bits_avx512;
        } else if (__builtin_cpu_supports("avx2")) {
            first = first_beyond_avx2;
            bits = beyond_bits_avx2;
            front = front_bits_avx2;
        }
#endif
    }
};
const Versions kVersions;

}  // namespace

int (*const first_beyond)(const double *, const double *, const int32_t *, int, int, double,
                          int32_t) = kVersions.first;
uint32_t (*const beyond_bits)(const double *, const double *, int, double) = kVersions.bits;
uint32_t (*const front_bits)(const float *, const float *, float) = kVersions.front;
TopTwo (*const top_two)(const double *, const double *, int) = kVersions.top;
