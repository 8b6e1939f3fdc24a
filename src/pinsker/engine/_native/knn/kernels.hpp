// Two questions about every row: how far is its k-th neighbor, and how many rows are in its ball.
// Answered by a sorted column, or by an index over several.
#pragma once

#include <cstdint>
#include <vector>

#include "common/thread_pool.hpp"
#include "knn/index.hpp"

namespace pinsker {

// OUT, one entry a row; rows without a neighbor keep radius 0 and found 0.
struct Radii {
    double *radius;
    int64_t *found;    // k, or the number of rows at finite distance if that is smaller
    uint8_t *crowded;  // 1: more rows than `found` may lie inside or on the radius
};

// Columns [from, to) of the index.
struct Span {
    int from = 0, to = 0;

    bool empty() const { return from == to; }
};

// Counted are the base, the base with the first branch, and the base with the second one. The base
// has at least one column; a branch whose count is not wanted is empty.
struct Spaces {
    Span base, first, second;
    Tally in_base, in_first, in_second;  // OUT; null pointers where not wanted
};

// Half-widths of each row's ball: in the base, the first and the second branch. Rows with `live` 0
// are left out: their counts are not written.
struct Balls {
    const double *base, *first, *second;
    const uint8_t *live;
};

// OUT: the largest distances in each of three spans of columns.
struct Extents {
    double *extent[3];
};

// The kernels over blocks [first, last) of an index, compiled once per instruction set
// (kernels.inl).
struct NeighborKernels {
    void (*radii_of_blocks)(const Index &index, int k, int64_t first, int64_t last,
                            const Radii &out);
    void (*count_blocks)(const Index &index, const Spaces &spaces, const Balls &balls, int64_t from,
                         int64_t to);
    void (*extents_of_blocks)(const Index &index, const Span *spans, const Balls &balls,
                              int64_t from, int64_t to, const Extents &out);
    void (*radii_and_counts)(const Index &index, int k, const Spaces &spaces, int64_t first,
                             int64_t last, const Radii &out, uint8_t *live);
};

// For this CPU, with registers of at most `widest` bits (dispatch.cpp).
NeighborKernels neighbor_kernels(int widest);

// Neighbors are looked for inside the cells of the index only.
void find_radii(const Index &index, int k, Team &team, const Radii &out);
void count_inside(const Index &index, const Spaces &spaces, const Balls &balls, Team &team);
// Both in one pass, for an index that is sorted along a column of the base and holds all spaces.
// OUT also live (n,): whether a row has a neighbor; counts are written where it has.
void find_radii_and_count(const Index &index, int k, const Spaces &spaces, Team &team,
                          const Radii &out, uint8_t *live);
// Among the rows inside or on the ball of base radius over all columns; the index is sorted.
void find_extents(const Index &index, const Span *spans, const Balls &balls, const Extents &out,
                  Team &team);

// Put rows in ascending order of their values.
void sort_rows(const double *column, int32_t *rows, int32_t n);

// Neighbors along one column: the rows of each cell in ascending order.
struct SortedColumn {
    std::vector<double> values;       // cell by cell, ascending
    std::vector<int32_t> rows;        // the row behind each value
    std::vector<int32_t> begin, end;  // [position]: the positions of its cell
};

SortedColumn sort_column(const double *column, const Cells &cells);

void find_radii(const SortedColumn &sorted, int k, Team &team, const Radii &out);

// Rows with `live` 0 are left out: their counts are not written.
void count_inside(const SortedColumn &sorted, const double *radius, const uint8_t *live,
                  const Tally &out, Team &team);

}  // namespace pinsker
