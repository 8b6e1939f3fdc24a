// How many rows of its cell lie inside each row's ball, in up to three nested spaces at once.
#pragma once

#include "neighbours_index.hpp"

namespace pinsker {

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

void count_inside(const Index &index, const Spaces &spaces, const Balls &balls, int n_threads);

}  // namespace pinsker
