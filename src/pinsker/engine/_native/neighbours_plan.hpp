// From x, y, z to radii and counts: which structure answers which question.
#pragma once

#include "neighbours_table.hpp"

namespace pinsker {

// How rows are searched; all give the same result.
enum Strategy : int {
    kAuto = 0,   // the one that was measured to be fastest for the number of rows and columns
    kTree = 1,   // a tree per cell, for every space
    kPairs = 2,  // all pairs, no cells, no sorting
};

// OUT, one entry a row, filled by find_neighbours.
struct Neighbours {
    double *radius;
    int64_t *found;         // k_i
    int64_t *joint_closed;  // kt
    Tally xz, yz, z;
};

void find_neighbours(const Rows &x, const Rows &y, const Rows &z, int64_t k, Strategy strategy,
                     int n_threads, const Neighbours &out);

}  // namespace pinsker
