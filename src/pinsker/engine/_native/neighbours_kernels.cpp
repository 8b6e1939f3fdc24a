// The kernels once per instruction set, and the choice of the widest one this CPU has.
// An include and not a template: GCC lowers vector code of templates before it knows the target.
#include "neighbours_kernels.hpp"

#include "dispatch.hpp"
#include "neighbours_nearest.hpp"
#include "neighbours_walk.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(PINSKER_NO_CLONES)
#define PINSKER_WIDE_KERNELS
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 finds it in its own intrinsics
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

namespace pinsker {

namespace {

constexpr int kCachedOctets = 384;  // blocks scanned together: 24 KiB, what the first cache holds

#if defined(__GNUC__)
#define PINSKER_NOT_INLINE __attribute__((noinline))
#else
#define PINSKER_NOT_INLINE
#endif

PINSKER_INLINE int lowest_bit(unsigned bits) {
#if defined(__GNUC__)
    return __builtin_ctz(bits);
#else
    int lowest = 0;
    for (; !(bits & 1); bits >>= 1) ++lowest;
    return lowest;
#endif
}

namespace plain {
#include "neighbours_lanes_plain.hpp"
#include "neighbours_count_kernel.hpp"
#include "neighbours_extent_kernel.hpp"
#include "neighbours_radius_kernel.hpp"
#include "neighbours_fused_kernel.hpp"
}  // namespace plain

#ifdef PINSKER_WIDE_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#include "neighbours_lanes_avx2.hpp"
#include "neighbours_count_kernel.hpp"
#include "neighbours_extent_kernel.hpp"
#include "neighbours_radius_kernel.hpp"
#include "neighbours_fused_kernel.hpp"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq")
namespace avx512 {
#include "neighbours_lanes_avx512.hpp"
#include "neighbours_count_kernel.hpp"
#include "neighbours_extent_kernel.hpp"
#include "neighbours_radius_kernel.hpp"
#include "neighbours_fused_kernel.hpp"
}  // namespace avx512
#pragma GCC pop_options
#endif

struct Kernels {
    decltype(&plain::radii_of_blocks) radii_of_blocks;
    decltype(&plain::count_blocks) count_blocks;
    decltype(&plain::extents_of_blocks) extents_of_blocks;
    decltype(&plain::radii_and_counts) radii_and_counts;
};

Kernels kernels_for(int widest) {
#ifdef PINSKER_WIDE_KERNELS
    const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (has_512 && widest >= 512) {
        return {avx512::radii_of_blocks, avx512::count_blocks, avx512::extents_of_blocks,
                avx512::radii_and_counts};
    }
    if (__builtin_cpu_supports("avx2") && widest >= 256) {
        return {avx2::radii_of_blocks, avx2::count_blocks, avx2::extents_of_blocks,
                avx2::radii_and_counts};
    }
#endif
    (void)widest;
    return {plain::radii_of_blocks, plain::count_blocks, plain::extents_of_blocks,
            plain::radii_and_counts};
}

// Call work(first, last) for all blocks, a few at a time.
template <class Work>
void for_blocks(const Index &index, Team &team, const Work &work) {
    constexpr int64_t kChunk = 8;
    const int64_t n_blocks = index.n_blocks(), n_chunks = (n_blocks + kChunk - 1) / kChunk;
    // At least: each block looks at itself and a dozen others.
    team.run(n_chunks, 500.0 * (double)n_blocks * (index.d + 2), [&](int64_t chunk) {
        work(chunk * kChunk, std::min((chunk + 1) * kChunk, n_blocks));
    });
}

}  // namespace

void find_radii(const Index &index, int k, Team &team, const Radii &out) {
    const Kernels kernels = kernels_for(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.radii_of_blocks(index, k, first, last, out);
    });
}

void count_inside(const Index &index, const Spaces &spaces, const Balls &balls, Team &team) {
    const Kernels kernels = kernels_for(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.count_blocks(index, spaces, balls, first, last);
    });
}

void find_radii_and_count(const Index &index, int k, const Spaces &spaces, Team &team,
                          const Radii &out, uint8_t *live) {
    const Kernels kernels = kernels_for(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.radii_and_counts(index, k, spaces, first, last, out, live);
    });
}

void find_extents(const Index &index, const Span *spans, const Balls &balls, const Extents &out,
                  Team &team) {
    const Kernels kernels = kernels_for(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.extents_of_blocks(index, spans, balls, first, last, out);
    });
}

}  // namespace pinsker
