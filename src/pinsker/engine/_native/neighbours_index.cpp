#include "neighbours_index.hpp"

#include <limits>

namespace pinsker {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int32_t kTaskRows = 2048;  // smaller subtrees are built by one thread

// A run of rows that becomes one child.
struct Part {
    int32_t first, last;   // rows, positions in Builder::rows
    int32_t block;         // its first block
    int32_t n_blocks;
};

int32_t blocks_for(int32_t n_rows) { return (n_rows + kLanes - 1) / kLanes; }

// How many blocks each child of a node over n_blocks gets: halved up to three times.
int child_blocks(int32_t n_blocks, int depth, int32_t *out) {
    if (n_blocks == 1 || depth == 3) {
        *out = n_blocks;
        return 1;
    }
    const int left = child_blocks(n_blocks / 2, depth + 1, out);
    return left + child_blocks(n_blocks - n_blocks / 2, depth + 1, out + left);
}

int32_t nodes_for(int32_t n_blocks) {
    int32_t parts[kLanes], nodes = 1;
    if (n_blocks == 1) return 1;
    const int n = child_blocks(n_blocks, 0, parts);
    for (int i = 0; i < n; ++i) nodes += parts[i] > 1 ? nodes_for(parts[i]) : 0;
    return nodes;
}

class Builder {
public:
    Builder(const ColumnList &columns, Index &index, std::vector<int32_t> rows)
        : columns_(columns), index_(index), rows_(std::move(rows)) {}

    // Fill node `id` and everything below it; nodes below take the ids that follow.
    void build(Part all, int32_t id) {
        Part parts[kLanes];
        Node &node = index_.nodes[id];
        node.n_children = split(all, 0, parts);
        int32_t next = id + 1;
        for (int i = 0; i < node.n_children; ++i) {
            const Part part = parts[i];
            node.size[i] = part.last - part.first;
            if (part.n_blocks == 1) {
                node.child[i] = ~part.block;
                fill_block(part);
                continue;
            }
            node.child[i] = next;
            const int32_t child = next;
            next += nodes_for(part.n_blocks);
#pragma omp task if (node.size[i] > kTaskRows) firstprivate(part, child)
            build(part, child);
        }
#pragma omp taskwait
        enclose(id);
    }

    void fill_block(const Part &part) {
        const int32_t *rows = rows_.data() + part.first;
        const int n = part.last - part.first;
        int32_t *held = index_.rows.data() + (int64_t)part.block * kLanes;
        for (int l = 0; l < kLanes; ++l) held[l] = l < n ? rows[l] : -1;
        Octet *block = index_.values.data() + (int64_t)part.block * index_.d;
        for (int c = 0; c < index_.d; ++c) {
            for (int l = 0; l < kLanes; ++l) {
                block[c].lane[l] = l < n ? columns_[c][rows[l]] : kInfinity;
            }
        }
    }

private:
    // Cut at the median of the widest column, three times at most.
    int split(const Part &part, int depth, Part *out) {
        if (part.n_blocks == 1 || depth == 3) {
            *out = part;
            return 1;
        }
        const double *values = columns_[widest(part)];
        const int32_t half = part.n_blocks / 2, middle = part.first + half * kLanes;
        int32_t *rows = rows_.data();
        std::nth_element(rows + part.first, rows + middle, rows + part.last,
                         [values](int32_t a, int32_t b) { return values[a] < values[b]; });
        const int left = split({part.first, middle, part.block, half}, depth + 1, out);
        const Part rest = {middle, part.last, part.block + half, part.n_blocks - half};
        return left + split(rest, depth + 1, out + left);
    }

    int widest(const Part &part) const {
        int best = 0;
        double extent = -1.0;
        for (int c = 0; c < index_.d; ++c) {
            double low = kInfinity, high = -kInfinity;
            for (int32_t i = part.first; i < part.last; ++i) {
                const double value = columns_[c][rows_[i]];
                low = value < low ? value : low;
                high = value > high ? value : high;
            }
            if (high - low > extent) {
                extent = high - low;
                best = c;
            }
        }
        return best;
    }

    // Boxes of the children; absent children get an empty box, which is far from everything.
    void enclose(int32_t id) {
        const Node &node = index_.nodes[id];
        const int d = index_.d;
        Octet *box = index_.boxes.data() + (int64_t)id * 2 * d;
        for (int i = 0; i < kLanes; ++i) {
            for (int c = 0; c < d; ++c) {
                double low = kInfinity, high = -kInfinity;
                if (i < node.n_children) child_extent(node.child[i], c, low, high);
                box[c].lane[i] = low;
                box[d + c].lane[i] = high;
            }
        }
    }

    void child_extent(int32_t child, int c, double &low, double &high) const {
        const bool is_block = child < 0;
        const Octet *lows = is_block ? index_.block(~child) + c : index_.box(child) + c;
        const Octet *highs = is_block ? lows : lows + index_.d;
        const int32_t *rows = is_block ? index_.rows.data() + (int64_t)~child * kLanes : nullptr;
        for (int l = 0; l < kLanes; ++l) {
            if (rows != nullptr && rows[l] < 0) continue;
            low = std::min(low, lows->lane[l]);
            high = std::max(high, highs->lane[l]);
        }
    }

    const ColumnList &columns_;
    Index &index_;
    std::vector<int32_t> rows_;
};

void allocate(Index &index, const Cells &cells) {
    int64_t n_blocks = 0, n_nodes = 0;
    for (int32_t cell = 0; cell < cells.n_cells(); ++cell) {
        if (cells.size(cell) < 2) continue;
        const int32_t blocks = blocks_for(cells.size(cell)), first = (int32_t)n_blocks;
        n_blocks += blocks;
        index.root.resize(n_blocks, (int32_t)n_nodes);
        index.begin.resize(n_blocks, first);
        index.end.resize(n_blocks, (int32_t)n_blocks);
        if (index.has_tree) n_nodes += nodes_for(blocks);
    }
    index.values.resize(n_blocks * index.d);
    index.rows.resize(n_blocks * kLanes);
    index.nodes.resize(n_nodes);
    index.boxes.resize(n_nodes * 2 * index.d);
}

}  // namespace

Index build_index(const ColumnList &columns, const Cells &cells, bool with_tree, int n_threads) {
    Index index;
    index.d = (int)columns.size();
    index.has_tree = with_tree;
    allocate(index, cells);
    Builder builder(columns, index, cells.rows);
    (void)n_threads;  // unused without OpenMP
#pragma omp parallel num_threads(n_threads)
#pragma omp single
    for (int32_t cell = 0, block = 0; cell < cells.n_cells(); ++cell) {
        if (cells.size(cell) < 2) continue;
        const Part all = {cells.start[cell], cells.start[cell + 1], block,
                          blocks_for(cells.size(cell))};
        if (with_tree) {
#pragma omp task if (cells.size(cell) > kTaskRows) firstprivate(all)
            builder.build(all, index.root[all.block]);
        } else {
            for (int32_t b = 0; b < all.n_blocks; ++b) {
                const int32_t first = all.first + b * kLanes;
                builder.fill_block({first, std::min(first + kLanes, all.last), block + b, 1});
            }
        }
        block += all.n_blocks;
    }
    return index;
}

void block_box(const Index &index, int64_t b, double *low, double *high) {
    const Octet *values = index.block(b);
    const int32_t *rows = index.rows.data() + b * kLanes;
    for (int c = 0; c < index.d; ++c) {
        low[c] = high[c] = values[c].lane[0];
        for (int l = 1; l < kLanes && rows[l] >= 0; ++l) {
            low[c] = std::min(low[c], values[c].lane[l]);
            high[c] = std::max(high[c], values[c].lane[l]);
        }
    }
}

}  // namespace pinsker
