// Rows of each cell in blocks of eight: as they come, in order of one column, or under a tree.
#pragma once

#include "thread_pool.hpp"
#include "neighbours_types.hpp"

namespace pinsker {

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
    int d = 0;                          // columns
    Order order = Order::kList;
    int widest = 512;                   // bits of the widest registers to search it with
    std::vector<Octet> values;          // [block][column]; padding is infinitely far away
    std::vector<int32_t> rows;          // [block][lane]; -1 is padding
    std::vector<int32_t> root;          // [block]: root of its cell's tree
    std::vector<int32_t> begin, end;    // [block]: the blocks of its cell
    std::vector<double> centre;         // [column]: its mean
    std::vector<double> first, last;    // [block]: ends of the first column, where sorted
    std::vector<Node> nodes;
    std::vector<Octet> boxes;           // [node]: d lower ends, then d upper ends, of its children

    int64_t n_blocks() const { return (int64_t)root.size(); }
    const Octet *block(int64_t b) const { return values.data() + b * d; }
    const Octet *box(int64_t node) const { return boxes.data() + node * 2 * d; }
};

// Cells of one row have no neighbours and are left out. A tree is cut along its first n_cut columns
// only: the ball of a row in those columns then touches few blocks, whatever the other columns.
// Sorted blocks have n_cut 1.
Index build_index(const ColumnList &columns, const Cells &cells, Order order, int n_cut,
                  Team &team);

// Smallest box around the rows of a block: low[c], high[c].
void block_box(const Index &index, int64_t b, double *low, double *high);

}  // namespace pinsker
