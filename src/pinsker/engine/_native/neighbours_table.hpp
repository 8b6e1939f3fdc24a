// x, y and z split into numeric columns and the levels of nominal ones.
#pragma once

#include <memory>

#include "neighbours_types.hpp"

namespace pinsker {

// A matrix in C order, one row after the other.
struct Rows {
    const double *values;
    int64_t n, d;
};

// One of x, y, z. Rows of different level are infinitely far apart; columns that never differ are
// dropped.
class Block {
public:
    // Without `partition` all columns are taken as numeric.
    Block(const Rows &rows, bool partition);

    ColumnList numeric;
    std::vector<int32_t> level;  // empty when there is only one
    int64_t n_levels = 1;

private:
    void merge_levels(const std::vector<int32_t> &other, int64_t n_other);

    std::vector<double> transposed_;
};

typedef std::shared_ptr<const Cells> CellsPtr;

// The cells of rows that have the same levels in all of the blocks.
CellsPtr make_cells(int64_t n, const std::vector<const Block *> &blocks);

}  // namespace pinsker
