// Leaf loops of the forward search: one lane per candidate column, or one lane per row.
#pragma once

#include <cstdint>

// In all of these the distance of lane c is |a[c] - b[c]|.

// Keeps, per lane, the `rank` smallest of max(floor, distance) seen so far, in increasing order:
// best is (rank, width).
void lane_insert(double *best, int rank, int width, const double *a, const double *b, double floor);

// What one row adds to the counts of every lane: its distance is max(base, distance), its joint
// distance the larger of that and dy.
struct LaneCounts {
    double *open, *closed, *joint_closed;  // (width,), exact small integers
};
void lane_count(LaneCounts counts, int width, const double *a, const double *b, double base,
                double dy, const double *low, const double *high);

// Per lane: base below low, at most high.
void lane_count_base(double *open, double *closed, int width, double base, const double *low,
                     const double *high);

// distance[b] = max(distance[b], |column[b] - here|) over rows.
void raise_by_column(double *distance, const double *column, double here, int64_t rows);

// out[b] = max(p[b], q[b])
void larger_of(const double *p, const double *q, int64_t rows, double *out);

// The `rank` smallest of the values that are at most `limit`, in increasing order; returns how many.
int smallest_values(const double *values, int64_t n, int rank, double limit, double *best);

// Positions of the values that are at most `limit`; returns how many.
int64_t positions_up_to(const double *values, int64_t n, double limit, int32_t *positions);
