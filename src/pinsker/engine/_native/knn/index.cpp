#include "knn/index.hpp"

#include <algorithm>
#include <cmath>

#include "common/estimator.hpp"
#include "knn/kernels.hpp"

namespace pinsker {

namespace {

// Give the pairs (a, b) of codes new codes 0 .. m - 1; returns m.
int64_t merge_codes(std::vector<int32_t> &a, int64_t n_a, const std::vector<int32_t> &b,
                    int64_t n_b) {
    const size_t n = a.size();
    std::vector<int64_t> pair(n);
    for (size_t i = 0; i < n; ++i) pair[i] = a[i] * n_b + b[i];
    int64_t n_codes = 0;
    if (n_a * n_b <= (int64_t)(4 * n + 1024)) {  // a table of all pairs is small: no sorting
        std::vector<int32_t> code((size_t)(n_a * n_b), -1);
        for (size_t i = 0; i < n; ++i) {
            int32_t &known = code[pair[i]];
            if (known < 0) known = (int32_t)n_codes++;
            a[i] = known;
        }
        return n_codes;
    }
    std::vector<int64_t> distinct(pair);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (size_t i = 0; i < n; ++i) {
        const auto at = std::lower_bound(distinct.begin(), distinct.end(), pair[i]);
        a[i] = (int32_t)(at - distinct.begin());
    }
    return (int64_t)distinct.size();
}

// Whether the column holds multiples of the nominal step only, or one value only.
bool read_categories(const double *column, int64_t n, std::vector<int32_t> &codes,
                     int64_t &n_codes) {
    codes.assign(n, 0);
    n_codes = 1;
    if (std::all_of(column, column + n, [=](double v) { return v == column[0]; })) return true;
    for (int64_t i = 0; i < n; ++i) {
        const double multiple = std::round(column[i] / kNominalStep);
        if (!(multiple >= 0.0 && multiple < 2147483647.0)) return false;
        if (multiple * kNominalStep != column[i]) return false;
        codes[i] = (int32_t)multiple;
        n_codes = std::max(n_codes, (int64_t)codes[i] + 1);
    }
    return true;
}

}  // namespace

Variable::Variable(const RowMatrix &rows, bool partition) {
    const int64_t n = rows.n, d = rows.d;
    std::vector<const double *> columns;
    if (d > 1) {
        transposed_.resize((size_t)(n * d));
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t c = 0; c < d; ++c) transposed_[c * n + i] = rows.values[i * d + c];
        }
    }
    std::vector<int32_t> codes;
    int64_t n_codes = 1;
    for (int64_t c = 0; c < d; ++c) {
        const double *column = d > 1 ? transposed_.data() + c * n : rows.values;
        if (!partition || n == 0 || !read_categories(column, n, codes, n_codes)) {
            numeric.push_back(column);
        } else if (n_codes > 1) {
            merge_categories(codes, n_codes);
        }
    }
}

void Variable::merge_categories(const std::vector<int32_t> &other, int64_t n_other) {
    if (category.empty()) category.assign(other.size(), 0);
    n_categories = merge_codes(category, n_categories, other, n_other);
}

CellsPtr make_cells(int64_t n, const std::vector<const Variable *> &variables) {
    std::vector<int32_t> code(n, 0);
    int64_t n_codes = 1;
    for (const Variable *variable : variables) {
        if (variable->category.empty()) continue;
        n_codes = merge_codes(code, n_codes, variable->category, variable->n_categories);
    }
    auto cells = std::make_shared<Cells>();
    cells->start.assign(n_codes + 1, 0);
    cells->rows.resize(n);
    for (int32_t c : code) ++cells->start[c + 1];
    for (int64_t c = 0; c < n_codes; ++c) cells->start[c + 1] += cells->start[c];
    std::vector<int32_t> next(cells->start.begin(), cells->start.end() - 1);
    for (int64_t i = 0; i < n; ++i) cells->rows[next[code[i]]++] = (int32_t)i;
    return cells;
}

namespace {

constexpr int32_t kTaskRows = 2048;  // smaller trees are built by one thread

// A run of rows that becomes one child.
struct Part {
    int32_t first, last;  // positions in the builder's lists of rows
    int32_t block;        // its first block
    int32_t n_blocks;

    int32_t size() const { return last - first; }
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

struct Subtree {
    Part part;
    int32_t root;
};

// Keeps the rows in the order of every column that may be cut. A cut at the median of one column
// then is a stable split of the other lists, and extents are read off their ends.
class Builder {
public:
    Builder(const ColumnList &columns, int n_cut, Index &index, const Cells &cells)
        : columns_(columns),
          index_(index),
          lists_(n_cut, cells.rows),
          spare_(cells.rows.size()),
          upper_(cells.rows.size()) {}

    void sort(int c, const Cells &cells) {
        for (int32_t cell = 0; cell < cells.n_cells(); ++cell) {
            const int32_t first = cells.start[cell];
            if (cells.size(cell) > 1) {
                sort_rows(columns_[c], lists_[c].data() + first, cells.size(cell));
            }
        }
    }

    // Fill node `id` and everything below it; nodes below take the ids that follow. Subtrees are
    // put aside if there is a list for them; the node's box is then left to `enclose`.
    void build(const Part &all, int32_t id, std::vector<Subtree> *aside) {
        Part parts[kLanes];
        Node &node = index_.nodes[id];
        node.n_children = split(all, 0, parts);
        int32_t next = id + 1;
        for (int i = 0; i < node.n_children; ++i) {
            node.size[i] = parts[i].size();
            if (parts[i].n_blocks == 1) {
                node.child[i] = ~parts[i].block;
                fill_block(parts[i]);
                continue;
            }
            node.child[i] = next;
            if (aside != nullptr) {
                aside->push_back({parts[i], next});
            } else {
                build(parts[i], next, nullptr);
            }
            next += nodes_for(parts[i].n_blocks);
        }
        if (aside == nullptr) enclose(id);
    }

    // Without a tree: blocks one after the other, in the order of the first list.
    void fill_in_order(const Part &all) {
        for (int32_t b = 0; b < all.n_blocks; ++b) {
            const int32_t first = all.first + b * kLanes;
            const int32_t last = std::min(first + kLanes, all.last);
            fill_block({first, last, all.block + b, 1});
            if (index_.order != Order::kSorted) continue;
            index_.first[all.block + b] = columns_[0][lists_[0][first]];
            index_.last[all.block + b] = columns_[0][lists_[0][last - 1]];
        }
    }

    // Boxes of the children; absent children get an empty box, which is far from everything.
    void enclose(int32_t id) {
        const Node &node = index_.nodes[id];
        const int d = index_.d;
        RowBlock *box = index_.boxes.data() + (int64_t)id * 2 * d;
        for (int i = 0; i < kLanes; ++i) {
            for (int c = 0; c < d; ++c) {
                double low = kInfinity, high = -kInfinity;
                if (i < node.n_children) extend(node.child[i], c, low, high);
                box[c].lane[i] = low;
                box[d + c].lane[i] = high;
            }
        }
    }

private:
    void fill_block(const Part &part) {
        const int32_t *rows = lists_[0].data() + part.first;
        int32_t *held = index_.rows.data() + (int64_t)part.block * kLanes;
        for (int l = 0; l < kLanes; ++l) held[l] = l < part.size() ? rows[l] : -1;
        RowBlock *block = index_.values.data() + (int64_t)part.block * index_.d;
        for (int c = 0; c < index_.d; ++c) {
            for (int l = 0; l < kLanes; ++l) {
                block[c].lane[l] = l < part.size() ? columns_[c][rows[l]] : kInfinity;
            }
        }
    }

    // Cut at the median of the widest column, three times at most.
    int split(const Part &part, int depth, Part *out) {
        if (part.n_blocks == 1 || depth == 3) {
            *out = part;
            return 1;
        }
        const int32_t half = part.n_blocks / 2, middle = part.first + half * kLanes;
        cut(part, widest(part), middle);
        const int left = split({part.first, middle, part.block, half}, depth + 1, out);
        const Part rest = {middle, part.last, part.block + half, part.n_blocks - half};
        return left + split(rest, depth + 1, out + left);
    }

    int widest(const Part &part) const {
        int best = 0;
        double extent = -1.0;
        for (size_t c = 0; c < lists_.size(); ++c) {
            const int32_t *rows = lists_[c].data();
            const double here = columns_[c][rows[part.last - 1]] - columns_[c][rows[part.first]];
            if (here > extent) {
                extent = here;
                best = (int)c;
            }
        }
        return best;
    }

    void cut(const Part &part, int along, int32_t middle) {
        if (lists_.size() == 1) return;
        const int32_t *ordered = lists_[along].data();
        for (int32_t i = part.first; i < part.last; ++i) upper_[ordered[i]] = i >= middle;
        for (size_t c = 0; c < lists_.size(); ++c) {
            if ((int)c == along) continue;
            int32_t *rows = lists_[c].data(), *above = spare_.data() + part.first;
            int32_t kept = part.first, moved = 0;
            for (int32_t i = part.first; i < part.last; ++i) {
                const int32_t row = rows[i], up = upper_[row];
                rows[kept] = row;
                above[moved] = row;
                kept += 1 - up;
                moved += up;
            }
            std::copy_n(above, moved, rows + kept);
        }
    }

    void extend(int32_t child, int c, double &low, double &high) const {
        const bool is_block = child < 0;
        const RowBlock *lows = is_block ? index_.block(~child) + c : index_.box(child) + c;
        const RowBlock *highs = is_block ? lows : lows + index_.d;
        const int32_t *rows = is_block ? index_.rows.data() + (int64_t)~child * kLanes : nullptr;
        for (int l = 0; l < kLanes; ++l) {
            if (rows != nullptr && rows[l] < 0) continue;
            low = std::min(low, lows->lane[l]);
            high = std::max(high, highs->lane[l]);
        }
    }

    const ColumnList &columns_;
    Index &index_;
    std::vector<std::vector<int32_t>> lists_;
    std::vector<int32_t> spare_;
    std::vector<uint8_t> upper_;  // [row]: whether it falls into the upper half of the cut
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
        if (index.order == Order::kTree) n_nodes += nodes_for(blocks);
    }
    index.values.resize(n_blocks * index.d);
    index.rows.resize(n_blocks * kLanes);
    if (index.order == Order::kSorted) {
        index.first.resize(n_blocks);
        index.last.resize(n_blocks);
    }
    index.nodes.resize(n_nodes);
    index.boxes.resize(n_nodes * 2 * index.d);
}

std::vector<double> means(const ColumnList &columns, size_t n) {
    std::vector<double> center;
    for (const double *column : columns) {
        double sum = 0.0;
        for (size_t i = 0; i < n; ++i) sum += column[i] / (double)n;
        center.push_back(sum);
    }
    return center;
}

// Trees of large cells are begun by the caller; what hangs below their roots is shared out.
void build_trees(Builder &builder, const Index &index, const std::vector<Part> &cells, double work,
                 Team &team) {
    std::vector<Subtree> subtrees;
    std::vector<int32_t> roots;
    for (const Part &cell : cells) {
        const int32_t root = index.root[cell.block];
        if (cell.size() > kTaskRows) {
            builder.build(cell, root, &subtrees);
            roots.push_back(root);
        } else {
            subtrees.push_back({cell, root});
        }
    }
    team.run((int64_t)subtrees.size(), work,
             [&](int64_t i) { builder.build(subtrees[i].part, subtrees[i].root, nullptr); });
    for (const int32_t root : roots) builder.enclose(root);
}

}  // namespace

Index build_index(const ColumnList &columns, const Cells &cells, Order order, int n_cut,
                  Team &team) {
    Index index;
    index.d = (int)columns.size();
    index.order = order;
    allocate(index, cells);
    index.center = means(columns, cells.rows.size());
    const int n_lists = order == Order::kTree ? n_cut : 1;
    Builder builder(columns, n_lists, index, cells);
    std::vector<Part> parts;
    for (int32_t cell = 0, block = 0; cell < cells.n_cells(); ++cell) {
        if (cells.size(cell) < 2) continue;
        const int32_t n_blocks = blocks_for(cells.size(cell));
        parts.push_back({cells.start[cell], cells.start[cell + 1], block, n_blocks});
        block += n_blocks;
    }
    const double per_list = 12.0 * (double)cells.rows.size();
    if (order != Order::kList) {
        team.run(n_lists, per_list * n_lists, [&](int64_t c) { builder.sort((int)c, cells); });
    }
    if (order == Order::kTree) {
        build_trees(builder, index, parts, 3.0 * per_list * n_lists, team);
    } else {
        for (const Part &part : parts) builder.fill_in_order(part);
    }
    return index;
}

void block_box(const Index &index, int64_t b, double *low, double *high) {
    const RowBlock *values = index.block(b);
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
