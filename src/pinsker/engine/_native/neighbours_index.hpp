// Rows of each cell in blocks of eight, and over the blocks a tree with eight children a node.
#pragma once

#include "neighbours_lanes.hpp"
#include "neighbours_types.hpp"

namespace pinsker {

// Children of a node: another node (id >= 0) or a block (~id). Their boxes lie in Index::boxes.
struct Node {
    int32_t child[kLanes];
    int32_t size[kLanes];  // rows below each child
    int32_t n_children;
};

struct Index {
    int d = 0;                          // columns
    bool has_tree = false;              // otherwise a cell is the plain list of its blocks
    std::vector<Octet> values;          // [block][column]; padding is infinitely far away
    std::vector<int32_t> rows;          // [block][lane]; -1 is padding
    std::vector<int32_t> root;          // [block]: root of its cell's tree
    std::vector<int32_t> begin, end;    // [block]: the blocks of its cell
    std::vector<Node> nodes;
    std::vector<Octet> boxes;           // [node]: d lower ends, then d upper ends, of its children

    int64_t n_blocks() const { return (int64_t)root.size(); }
    const Octet *block(int64_t b) const { return values.data() + b * d; }
    const Octet *box(int64_t node) const { return boxes.data() + node * 2 * d; }
};

// Cells of one row have no neighbours and are left out.
Index build_index(const ColumnList &columns, const Cells &cells, bool with_tree, int n_threads);

// Smallest box around the rows of a block: low[c], high[c].
void block_box(const Index &index, int64_t b, double *low, double *high);

}  // namespace pinsker
