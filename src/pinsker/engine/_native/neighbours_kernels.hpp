// Two questions about every row: how far is its k-th neighbour, and how many rows are in its ball.
#pragma once

#include "neighbours_index.hpp"

namespace pinsker {

// OUT, one entry a row; rows without a neighbour keep radius 0 and found 0.
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
// has at least one column; a branch whose count is not asked for is empty.
struct Spaces {
    Span base, first, second;
    Tally in_base, in_first, in_second;  // OUT; null pointers where not asked for
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

// Neighbours are looked for inside the cells of the index only.
void find_radii(const Index &index, int k, Team &team, const Radii &out);
void count_inside(const Index &index, const Spaces &spaces, const Balls &balls, Team &team);
// Both in one pass, for an index that is sorted along a column of the base and holds all spaces.
// OUT also live (n,): whether a row has a neighbour; counts are written where it has.
void find_radii_and_count(const Index &index, int k, const Spaces &spaces, Team &team,
                          const Radii &out, uint8_t *live);
// Among the rows inside or on the ball of base radius over all columns; the index is sorted.
void find_extents(const Index &index, const Span *spans, const Balls &balls, const Extents &out,
                  Team &team);

}  // namespace pinsker
