// Neighbours along one column: the rows of each cell in ascending order.
#pragma once

#include "neighbours_kernels.hpp"
#include "neighbours_types.hpp"

namespace pinsker {

// Put rows in ascending order of their values.
void sort_rows(const double *column, int32_t *rows, int32_t n);

struct SortedColumn {
    std::vector<double> values;   // cell by cell, ascending
    std::vector<int32_t> rows;    // the row behind each value
    std::vector<int32_t> begin, end;  // [position]: the positions of its cell
};

SortedColumn sort_column(const double *column, const Cells &cells);

void find_radii(const SortedColumn &sorted, int k, Team &team, const Radii &out);

// Rows with `live` 0 are left out: their counts are not written.
void count_inside(const SortedColumn &sorted, const double *radius, const uint8_t *live,
                  const Tally &out, Team &team);

}  // namespace pinsker
