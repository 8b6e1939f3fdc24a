// Leaf loops of the forward search: one lane per candidate column, or one lane per row.
#pragma once

#include <cstdint>

// gap[c] = |a[c] - b[c]|
void lane_gaps(const double *a, const double *b, int width, double *gap);

// Keeps, per lane, the `rank` smallest of max(floor, gap[c]) seen so far, in increasing order:
// best is (rank, width).
void lane_insert(double *best, int rank, int width, const double *gap, double floor);

// What one row b adds to the counts of every lane: its distance is max(base, gap[c]), its joint
// distance the larger of that and dy.
struct LaneCounts {
    double *open, *closed, *joint_closed;  // (width,), exact small integers
};
void lane_count(LaneCounts counts, int width, const double *gap, double base, double dy,
                const double *low, const double *high);

// Per lane: base below low, at most high.
void lane_count_base(double *open, double *closed, int width, double base, const double *low,
                     const double *high);

// distance[b] = max(distance[b], |column[b] - here|) over rows.
void raise_by_column(double *distance, const double *column, double here, int64_t rows);

// out[b] = max(p[b], q[b])
void larger_of(const double *p, const double *q, int64_t rows, double *out);
