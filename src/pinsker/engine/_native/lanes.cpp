#include "lanes.hpp"

#include <cmath>

#include "dispatch.hpp"
#include "scan.hpp"

PINSKER_CLONES
void lane_insert(double *best, int rank, int width, const double *a, const double *b,
                 double floor) {
    for (int block = 0; block < width; block += kBlock) {
        double moving[kBlock];
#pragma omp simd
        for (int c = 0; c < kBlock; ++c) {
            const double gap = std::fabs(a[block + c] - b[block + c]);
            moving[c] = gap > floor ? gap : floor;
        }
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
void lane_count(LaneCounts counts, int width, const double *a, const double *b, double base,
                double dy, const double *low, const double *high) {
    double *open = counts.open, *closed = counts.closed, *joint_closed = counts.joint_closed;
#pragma omp simd
    for (int c = 0; c < width; ++c) {
        const double gap = std::fabs(a[c] - b[c]);
        const double x = gap > base ? gap : base;
        const double joint = x > dy ? x : dy;
        open[c] += x < low[c] ? 1.0 : 0.0;
        closed[c] += x <= high[c] ? 1.0 : 0.0;
        joint_closed[c] += joint <= high[c] ? 1.0 : 0.0;
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

PINSKER_CLONES
int smallest_values(const double *values, int64_t n, int rank, double limit, double *best) {
    int held = 0;
    double bound = limit;  // values above it can no longer be among the smallest
    int64_t start = 0;
    const auto offer = [&](double value) {
        if (value > bound || (held == rank && value >= best[rank - 1])) return;
        int at = held < rank ? held++ : rank - 1;
        for (; at > 0 && best[at - 1] > value; --at) best[at] = best[at - 1];
        best[at] = value;
        if (held == rank) bound = best[rank - 1];
    };
    for (; start + 2 * kBlock <= n; start += 2 * kBlock) {
        int any = 0;
#pragma omp simd reduction(| : any)
        for (int i = 0; i < 2 * kBlock; ++i) any |= values[start + i] <= bound;
        if (!any) continue;
        for (int i = 0; i < 2 * kBlock; ++i) offer(values[start + i]);
    }
    for (; start < n; ++start) offer(values[start]);
    return held;
}

PINSKER_CLONES
int64_t positions_up_to(const double *values, int64_t n, double limit, int32_t *positions) {
    int64_t found = 0;
    int64_t start = 0;
    for (; start + 2 * kBlock <= n; start += 2 * kBlock) {
        int any = 0;
#pragma omp simd reduction(| : any)
        for (int i = 0; i < 2 * kBlock; ++i) any |= values[start + i] <= limit;
        if (!any) continue;
        for (int i = 0; i < 2 * kBlock; ++i) {
            positions[found] = static_cast<int32_t>(start + i);
            found += values[start + i] <= limit;
        }
    }
    for (; start < n; ++start)
        if (values[start] <= limit) positions[found++] = static_cast<int32_t>(start);
    return found;
}
