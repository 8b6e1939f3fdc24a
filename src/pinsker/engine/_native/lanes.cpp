#include "lanes.hpp"

#include <cmath>

#include "dispatch.hpp"
#include "scan.hpp"

PINSKER_CLONES
void lane_gaps(const double *a, const double *b, int width, double *gap) {
#pragma omp simd
    for (int c = 0; c < width; ++c) gap[c] = std::fabs(a[c] - b[c]);
}

PINSKER_CLONES
void lane_insert(double *best, int rank, int width, const double *gap, double floor) {
    for (int block = 0; block < width; block += kBlock) {
        double moving[kBlock];
#pragma omp simd
        for (int c = 0; c < kBlock; ++c)
            moving[c] = gap[block + c] > floor ? gap[block + c] : floor;
        for (int i = 0; i < rank; ++i) {
            double *slot = best + static_cast<int64_t>(i) * width + block;
#pragma omp simd
            for (int c = 0; c < kBlock; ++c) {
                const double held = slot[c], here = moving[c];
                slot[c] = here < held ? here : held;
                moving[c] = here < held ? held : here;
            }
        }
    }
}

PINSKER_CLONES
void lane_count(LaneCounts counts, int width, const double *gap, double base, double dy,
                const double *low, const double *high) {
#pragma omp simd
    for (int c = 0; c < width; ++c) {
        const double x = gap[c] > base ? gap[c] : base;
        const double joint = x > dy ? x : dy;
        counts.open[c] += x < low[c] ? 1.0 : 0.0;
        counts.closed[c] += x <= high[c] ? 1.0 : 0.0;
        counts.joint_closed[c] += joint <= high[c] ? 1.0 : 0.0;
    }
}

PINSKER_CLONES
void lane_count_base(double *open, double *closed, int width, double base, const double *low,
                     const double *high) {
#pragma omp simd
    for (int c = 0; c < width; ++c) {
        open[c] += base < low[c] ? 1.0 : 0.0;
        closed[c] += base <= high[c] ? 1.0 : 0.0;
    }
}

PINSKER_CLONES
void raise_by_column(double *distance, const double *column, double here, int64_t rows) {
#pragma omp simd
    for (int64_t b = 0; b < rows; ++b) {
        const double gap = std::fabs(column[b] - here);
        distance[b] = gap > distance[b] ? gap : distance[b];
    }
}

PINSKER_CLONES
void larger_of(const double *p, const double *q, int64_t rows, double *out) {
#pragma omp simd
    for (int64_t b = 0; b < rows; ++b) out[b] = p[b] > q[b] ? p[b] : q[b];
}
