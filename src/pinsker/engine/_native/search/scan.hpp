// Leaf loops of the searches, compiled once per instruction set (simd_compare.inl).
//
// Rows are padded with zeros to a multiple of kColumnBlock columns, so every loop over columns runs
// over whole blocks, and a padded column has distance zero: it is never beyond a radius and never
// the largest.
#pragma once

#include <cstdint>

namespace pinsker {

constexpr int kColumnBlock = 16;    // columns per block: two AVX-512 registers
constexpr int kFront = 32;          // columns that also stand in single precision
constexpr int32_t kNoFeature = -1;  // padding columns, and "no feature to skip"

struct Largest {
    double distance;  // -1 when every column is skipped
    int32_t feature;  // kNoFeature when there is none
};

// The two largest coordinate distances and their columns; the second is -1 when there is one
// column.
struct TopTwo {
    double m1, m2;
    int c1, c2;
};

// Where the counts of every lane are kept.
struct LaneCounts {
    double *open, *closed, *joint_closed;  // (width,), exact small integers
};

// Counts of a ball over pairs of rows.
struct BallCounts {
    int open, closed, joint_open, joint_closed;
};

struct ScanKernels {
    // One pair of rows, a and b, over its columns.

    // First column at or after `from` whose distance is beyond `limit` and whose feature is not
    // `skip`; -1 when there is none. `from` must be a multiple of kColumnBlock.
    int (*first_beyond)(const double *a, const double *b, const int32_t *features, int from,
                        int width, double limit, int32_t skip);
    // Bit c set when column c is beyond `limit`, for the first `width` <= 32 columns.
    uint32_t (*beyond_bits)(const double *a, const double *b, int width, double limit);
    // The same for kFront columns in single precision. Not-a-number is not beyond.
    uint32_t (*front_bits)(const float *a, const float *b, float limit);
    TopTwo (*top_two)(const double *a, const double *b, int width);
    // Largest coordinate distance over the columns whose feature is not `skip`.
    Largest (*largest_except)(const double *a, const double *b, const int32_t *features, int width,
                              int32_t skip);
    double (*max_norm)(const double *a, const double *b, int width);

    // Pairs of one query row.

    // Positions p whose masks[p] & alive has fewer than two bits, written to `hits`; returns how
    // many.
    int (*find_exhausted)(const uint32_t *masks, int n, uint32_t alive, int32_t *hits);
    // Positions p with first[p] == feature or second[p] == feature, written to `hits`; returns how
    // many.
    int (*find_watchers)(const uint16_t *first, const uint16_t *second, int n, uint16_t feature,
                         int32_t *hits);
    BallCounts (*count_ball)(const double *x, const double *joint, int n, double low, double high);

    // One value per row.

    // How many of the values are below `limit`, and how many are at most `limit`.
    int (*count_below)(const double *values, int n, double limit);
    int (*count_up_to)(const double *values, int n, double limit);
    // distance[b] = max(distance[b], |column[b] - here|)
    void (*raise_by_column)(double *distance, const double *column, double here, int64_t rows);
    // out[b] = max(p[b], q[b])
    void (*larger_of)(const double *p, const double *q, int64_t rows, double *out);
    // The `rank` smallest of the values that are at most `limit`, in increasing order; returns how
    // many.
    int (*smallest_values)(const double *values, int64_t n, int rank, double limit, double *best);
    // Positions of the values that are at most `limit`; returns how many.
    int64_t (*positions_up_to)(const double *values, int64_t n, double limit, int32_t *positions);

    // One lane per candidate column: the distance of lane c is |a[c] - b[c]|.

    // Keeps, per lane, the `rank` smallest of max(floor, distance) seen so far, in increasing
    // order: best is (rank, width).
    void (*lane_insert)(double *best, int rank, int width, const double *a, const double *b,
                        double floor);
    // What one row adds to the counts of every lane: its distance is max(base, distance), its joint
    // distance the larger of that and dy.
    void (*lane_count)(LaneCounts counts, int width, const double *a, const double *b, double base,
                       double dy, const double *low, const double *high);
    // Per lane: base below low, at most high.
    void (*lane_count_base)(double *open, double *closed, int width, double base, const double *low,
                            const double *high);
};

extern const ScanKernels kScan;  // for this CPU, chosen when the module is loaded (dispatch.cpp)

}  // namespace pinsker
