// The vector code of all kernels, once per instruction set, and the choice of the widest one that
// this CPU has. Nothing else in the library depends on the instruction set.
//
// Includes and not templates: GCC lowers vector code of templates before it knows the target.
// Headers come first, so that what they define is compiled for every CPU.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/compiler.hpp"
#include "common/estimator.hpp"
#include "contingency/pairs.hpp"
#include "contingency/tables.hpp"
#include "knn/index.hpp"
#include "knn/kernels.hpp"
#include "knn/queries.hpp"
#include "search/scan.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 finds it in its own intrinsics
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace pinsker {

namespace {

[[maybe_unused]] alignas(64) constexpr double kLaneNumbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7};

namespace baseline {
#define PINSKER_LANES 128
#include "common/lanes.inl"
#include "contingency/number_cells.inl"
#include "contingency/pair_counts.inl"
#include "knn/kernels.inl"
#include "search/simd_compare.inl"
#undef PINSKER_LANES
}  // namespace baseline

#if PINSKER_X86_SIMD
PINSKER_BEGIN_TARGET("avx2")
namespace avx2 {
#define PINSKER_LANES 256
#include "common/lanes.inl"
#include "contingency/number_cells.inl"
#include "contingency/pair_counts.inl"
#include "knn/kernels.inl"
#include "search/simd_compare.inl"
#undef PINSKER_LANES
}  // namespace avx2
PINSKER_END_TARGET

PINSKER_BEGIN_TARGET("avx512f,avx512dq")
namespace avx512 {
#define PINSKER_LANES 512
#include "common/lanes.inl"
#include "contingency/number_cells.inl"
#include "contingency/pair_counts.inl"
#include "knn/kernels.inl"
#include "search/simd_compare.inl"
#undef PINSKER_LANES
}  // namespace avx512
PINSKER_END_TARGET

// Eight counts of bits in one instruction, where the CPU has it.
PINSKER_BEGIN_TARGET("avx512f,avx512dq,avx512vpopcntdq")
namespace avx512_bits {
#define PINSKER_COUNTS_BITS 1
#include "contingency/pair_counts.inl"
#undef PINSKER_COUNTS_BITS
}  // namespace avx512_bits
PINSKER_END_TARGET
#endif

struct Kernels {
    ScanKernels scan;
    NeighborKernels neighbors;
    CellKernels cells;
    PairKernels pairs;
};

constexpr Kernels kBaseline = {baseline::kScanKernels, baseline::kNeighborKernels,
                               baseline::kNumberCells, baseline::kCountPairs};
#if PINSKER_X86_SIMD
constexpr Kernels kAvx2 = {avx2::kScanKernels, avx2::kNeighborKernels, avx2::kNumberCells,
                           avx2::kCountPairs};
constexpr Kernels kAvx512 = {avx512::kScanKernels, avx512::kNeighborKernels, avx512::kNumberCells,
                             avx512::kCountPairs};
#endif

// `widest`: bits of the widest registers to use.
const Kernels &kernels_for(int widest) {
#if PINSKER_X86_SIMD
    static const int available = widest_registers();
    if (std::min(widest, available) >= 512) return kAvx512;
    if (std::min(widest, available) >= 256) return kAvx2;
#endif
    (void)widest;
    return kBaseline;
}

PairKernels pair_kernels() {
#if PINSKER_X86_SIMD
    if (counts_bits_in_registers()) return avx512_bits::kCountPairs;
#endif
    return kernels_for(512).pairs;
}

}  // namespace

const PairKernels kPairKernels = pair_kernels();
const ScanKernels kScan = kernels_for(512).scan;
const CellKernels kCellKernels = kernels_for(512).cells;
NeighborKernels neighbor_kernels(int widest) { return kernels_for(widest).neighbors; }

}  // namespace pinsker
