// What the neighbour kernels share: the constants of docs/estimator.md and how columns are held.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace pinsker {

constexpr double kFarthest = 1e100;     // from here on a distance is infinite
constexpr double kLastFinite = 0x1.249ad2594c37cp+332;  // the number before it
constexpr double kNominalStep = 1e200;  // nominal columns hold multiples of it
constexpr double kTolerance = 1e-10;    // relative

inline double open_limit(double radius) { return radius * (1.0 - kTolerance); }

inline double closed_limit(double radius) {
    return std::min(radius * (1.0 + kTolerance), kLastFinite);
}

constexpr int kLanes = 8;

// Eight numbers side by side: one column of eight rows.
struct alignas(64) Octet {
    double lane[kLanes];
};

// Columns, each contiguous over all rows; they point into arrays that outlive the computation.
typedef std::vector<const double *> ColumnList;

// Rows grouped by cell: rows of cell c are rows[start[c] .. start[c + 1]), ascending.
struct Cells {
    std::vector<int32_t> start;
    std::vector<int32_t> rows;

    int32_t n_cells() const { return (int32_t)start.size() - 1; }
    int32_t size(int32_t cell) const { return start[cell + 1] - start[cell]; }
};

// Open and closed counts of one space, one pair a row; null where a count is not asked for.
struct Tally {
    int64_t *open = nullptr;
    int64_t *closed = nullptr;

    bool wanted() const { return closed != nullptr; }
};

}  // namespace pinsker
