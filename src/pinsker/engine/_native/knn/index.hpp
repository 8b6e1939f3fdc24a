// How the rows of x, y and z are held for the search of neighbors: numeric columns apart from the
// categories of nominal ones, rows grouped into cells by category, the rows of each cell in blocks
// of eight: as they come, in order of one column, or under a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/compiler.hpp"
#include "common/thread_pool.hpp"

namespace pinsker {

// One column of eight rows, side by side.
struct alignas(64) RowBlock {
    double lane[kLanes];
};

// Columns, each contiguous over all rows; they point into arrays that outlive the computation.
using ColumnList = std::vector<const double *>;

// Rows grouped by cell: rows of cell c are rows[start[c] .. start[c + 1]), ascending.
struct Cells {
    std::vector<int32_t> start;
    std::vector<int32_t> rows;

    int32_t n_cells() const { return (int32_t)start.size() - 1; }
    int32_t size(int32_t cell) const { return start[cell + 1] - start[cell]; }
};

// Open and closed counts of one space, one pair a row; null where a count is not wanted.
struct Tally {
    int64_t *open = nullptr;
    int64_t *closed = nullptr;

    bool wanted() const { return closed != nullptr; }
};

// A matrix in C order, one row after the other.
struct RowMatrix {
    const double *values;
    int64_t n, d;
};

// One of x, y, z. RowMatrix of different category are infinitely far apart; columns that never
// differ are dropped.
class Variable {
public:
    // Without `partition` all columns are taken as numeric.
    Variable(const RowMatrix &rows, bool partition);

    ColumnList numeric;
    std::vector<int32_t> category;  // empty when there is only one
    int64_t n_categories = 1;

private:
    void merge_categories(const std::vector<int32_t> &other, int64_t n_other);

    std::vector<double> transposed_;
};

using CellsPtr = std::shared_ptr<const Cells>;

// The cells of rows that have the same categories in all of the variables.
CellsPtr make_cells(int64_t n, const std::vector<const Variable *> &variables);

// Children of a node: another node (id >= 0) or a block (~id). Their boxes lie in Index::boxes.
struct Node {
    int32_t child[kLanes];
    int32_t size[kLanes];  // rows below each child
    int32_t n_children;
};

enum class Order {
    kList,    // as they come
    kSorted,  // blocks ascend in the first column
    kTree,    // under a tree with eight children a node
};

struct Index {
    int d = 0;  // columns
    Order order = Order::kList;
    int widest = 512;                 // bits of the widest registers to search it with
    std::vector<RowBlock> values;     // [block][column]; padding is infinitely far away
    std::vector<int32_t> rows;        // [block][lane]; -1 is padding
    std::vector<int32_t> root;        // [block]: root of its cell's tree
    std::vector<int32_t> begin, end;  // [block]: the blocks of its cell
    std::vector<double> center;       // [column]: its mean
    std::vector<double> first, last;  // [block]: ends of the first column, where sorted
    std::vector<Node> nodes;
    std::vector<RowBlock> boxes;  // [node]: d lower ends, then d upper ends, of its children

    int64_t n_blocks() const { return (int64_t)root.size(); }
    const RowBlock *block(int64_t b) const { return values.data() + b * d; }
    const RowBlock *box(int64_t node) const { return boxes.data() + node * 2 * d; }
};

// Cells of one row have no neighbors and are left out. A tree is cut along its first n_cut columns
// only: the ball of a row in those columns then touches few blocks, whatever the other columns.
// Sorted blocks have n_cut 1.
Index build_index(const ColumnList &columns, const Cells &cells, Order order, int n_cut,
                  Team &team);

// Smallest box around the rows of a block: low[c], high[c].
void block_box(const Index &index, int64_t b, double *low, double *high);

}  // namespace pinsker
