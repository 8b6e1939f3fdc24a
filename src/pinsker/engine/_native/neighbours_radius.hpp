// The distance of every row to its k-th neighbour inside its cell.
#pragma once

#include "neighbours_index.hpp"

namespace pinsker {

// OUT, one entry a row; rows without a neighbour keep radius 0 and found 0.
struct Radii {
    double *radius;
    int64_t *found;   // k, or the number of rows at finite distance if that is smaller
    uint8_t *crowded; // 1: more rows than `found` may lie inside or on the radius
};

void find_radii(const Index &index, int k, int n_threads, const Radii &out);

}  // namespace pinsker
