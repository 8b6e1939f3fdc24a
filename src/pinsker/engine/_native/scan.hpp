// Leaf loops over the coordinates of one pair of rows, compiled once per instruction set.
//
// Rows are padded with zeros to a multiple of kBlock columns, so every loop runs over whole blocks
// and a padded column has distance zero: it is never beyond a radius and never the largest.
#pragma once

#include <cmath>
#include <cstdint>

// Functions written as pointers are chosen when the module is loaded (beyond.cpp).

constexpr int kBlock = 16;                // columns per block: two AVX-512 registers
constexpr int kFront = 32;                // columns that also stand in single precision
constexpr double kTolerance = 1e-10;      // relative; docs/estimator.md
constexpr double kFarthest = 1e100;       // this far and farther counts as infinite
constexpr int32_t kNoFeature = -1;           // padding columns, and "no feature to skip"

inline double strictly_inside(double radius) { return radius * (1.0 - kTolerance); }
inline double inside_or_on(double radius) { return radius * (1.0 + kTolerance); }

struct Largest {
    double distance;  // -1 when every column is skipped
    int32_t feature;     // kNoFeature when there is none
};

// First column at or after `from` whose distance is beyond `limit` and whose feature is not `skip`;
// -1 when there is none. `from` must be a multiple of kBlock.
extern int (*const first_beyond)(const double *a, const double *b, const int32_t *features, int from,
                                 int width, double limit, int32_t skip);

// Largest coordinate distance over the columns whose feature is not `skip`.
Largest largest_except(const double *a, const double *b, const int32_t *features, int width,
                       int32_t skip);

// The two largest coordinate distances and their columns; the second is -1 when there is one column.
struct TopTwo {
    double m1, m2;
    int c1, c2;
};
extern TopTwo (*const top_two)(const double *a, const double *b, int width);

// Distance of one feature: the largest over its columns.
double unit_distance(const double *a, const double *b, const int32_t *features, int width,
                     int32_t feature);

// Max-norm distance.
double max_norm(const double *a, const double *b, int width);

// Bit c set when column c is beyond `limit`, for the first `width` <= 32 columns.
extern uint32_t (*const beyond_bits)(const double *a, const double *b, int width, double limit);

// The same for kFront columns in single precision. Not-a-number is not beyond.
extern uint32_t (*const front_bits)(const float *a, const float *b, float limit);

// Positions p whose masks[p] & alive has fewer than two bits, written to `hits`; returns how many.
int find_exhausted(const uint32_t *masks, int n, uint32_t alive, int32_t *hits);

// Positions p with first[p] == feature or second[p] == feature, written to `hits`; returns how many.
int find_watchers(const uint16_t *first, const uint16_t *second, int n, uint16_t feature,
                  int32_t *hits);

// How many of the values are below `limit`, and how many are at most `limit`.
int count_below(const double *values, int n, double limit);
int count_up_to(const double *values, int n, double limit);
