#include "neighbours_plan.hpp"

#include <map>

#include "neighbours_sorted.hpp"

namespace pinsker {

namespace {

// Measured on independent normal columns, where trees are at their worst (benchmarks/estimators.py
// has the cases): above that many cut columns a sweep along one column is faster than a tree.
double most_tree_columns(double n_rows) { return std::log2(n_rows) * 2.0 / 3.0 - 4.0; }
constexpr size_t kBaseCut = 3;         // columns of z from which on they alone are cut
constexpr size_t kFusedColumns = 8;    // of z, from which on radii and counts are one sweep
constexpr int32_t kSweptRows = 32000;  // above it one z column is not enough to count xz and yz

ColumnList joined(std::initializer_list<const ColumnList *> lists) {
    ColumnList all;
    for (const ColumnList *list : lists) all.insert(all.end(), list->begin(), list->end());
    return all;
}

int32_t largest_cell(const Cells &cells) {
    int32_t largest = 0;
    for (int32_t c = 0; c < cells.n_cells(); ++c) largest = std::max(largest, cells.size(c));
    return largest;
}

// Without numeric columns all rows of a cell are at distance 0 of each other.
void count_by_size(const Cells &cells, const double *width, const uint8_t *live,
                   const Tally &out) {
    for (int32_t cell = 0; cell < cells.n_cells(); ++cell) {
        const int64_t others = cells.size(cell) - 1;
        for (int32_t i = cells.start[cell]; i < cells.start[cell + 1]; ++i) {
            const int32_t row = cells.rows[i];
            if (!live[row]) continue;
            out.open[row] = open_limit(width[row]) > 0.0 ? others : 0;
            out.closed[row] = others;
        }
    }
}

}  // namespace

Plan::Plan(const Rows &x, const Rows &y, const Rows &z, int64_t k, Strategy strategy, int widest,
           int n_threads)
    : n_(x.n),
      k_((int)std::min<int64_t>(k, std::max<int64_t>(1, x.n - 1))),
      strategy_(strategy),
      widest_(widest),
      team_(n_threads),
      x_(x, strategy != kPairs),
      y_(y, strategy != kPairs),
      z_(z, strategy != kPairs),
      all_columns_(joined({&z_.numeric, &x_.numeric, &y_.numeric})) {
    in_z_ = make_cells(n_, {&z_});
    in_xz_ = x_.level.empty() ? in_z_ : make_cells(n_, {&z_, &x_});
    in_yz_ = y_.level.empty() ? in_z_ : make_cells(n_, {&z_, &y_});
    joint_ = y_.level.empty() ? in_xz_ : in_yz_;
    if (!x_.level.empty() && !y_.level.empty()) joint_ = make_cells(n_, {&z_, &x_, &y_});
}

bool Plan::sorts(const ColumnList &columns) const {
    return strategy_ == kAuto && columns.size() == 1;
}

Order Plan::order_for(const Cells &cells, size_t n_cut) const {
    if (strategy_ == kPairs) return Order::kList;
    if (strategy_ == kSweep) return Order::kSorted;
    if (strategy_ == kTree) return Order::kTree;
    const bool few = (double)n_cut <= most_tree_columns(largest_cell(cells));
    return few ? Order::kTree : Order::kSorted;
}

Index Plan::index_of(const ColumnList &columns, const Cells &cells, Order order, size_t n_cut) {
    Index index = build_index(columns, cells, order, (int)n_cut, team_);
    index.widest = widest_;
    return index;
}

// How many of the joint columns to cut for the radius: all, or those of z if they are many.
size_t Plan::joint_cut() const {
    const size_t in_z = z_.numeric.size();
    return in_z >= kBaseCut && 2 * in_z >= all_columns_.size() ? in_z : all_columns_.size();
}

// Sorted and listed blocks do not depend on the cut.
const Index &Plan::joint_index(size_t n_cut) {
    const bool same = joint_index_cut_ == n_cut || joint_index_.order != Order::kTree;
    const Order order = order_for(*joint_, n_cut);
    if (joint_index_cut_ == 0 || !same || order != joint_index_.order) {
        joint_index_ = index_of(all_columns_, *joint_, order, n_cut);
        joint_index_cut_ = n_cut;
    }
    return joint_index_;
}

void Plan::find_all(const Radii &out, uint8_t *live, const Marginals &marginals) {
    if (fuses()) return find_fused(out, live, marginals);
    find_radii(out);
    for (int64_t i = 0; i < n_; ++i) live[i] = out.found[i] > 0;
    count_marginals({out.radius, out.radius, out.radius, live}, marginals);
}

// Whether one sweep can find radii and counts: all spaces have the same cells, and z has so many
// columns that few blocks are near.
bool Plan::fuses() const {
    const size_t in_z = z_.numeric.size();
    const bool worth = strategy_ == kSweep || (strategy_ == kAuto && in_z >= kFusedColumns);
    const bool same_cells = x_.level.empty() && y_.level.empty();
    const bool both = !x_.numeric.empty() && !y_.numeric.empty();
    return worth && same_cells && both && in_z > 0 &&
           order_for(*joint_, joint_cut()) == Order::kSorted;
}

void Plan::find_fused(const Radii &out, uint8_t *live, const Marginals &marginals) {
    const int in_z = (int)z_.numeric.size(), in_x = in_z + (int)x_.numeric.size();
    Spaces spaces;
    spaces.base = {0, in_z};
    spaces.first = {in_z, in_x};
    spaces.second = {in_x, (int)all_columns_.size()};
    spaces.in_base = marginals.z;
    spaces.in_first = marginals.xz;
    spaces.in_second = marginals.yz;
    find_radii_and_count(joint_index(joint_cut()), k_, spaces, team_, out, live);
}

void Plan::find_radii(const Radii &out) {
    if (all_columns_.empty()) {
        for (int32_t cell = 0; cell < joint_->n_cells(); ++cell) {
            const int64_t others = joint_->size(cell) - 1;
            for (int32_t i = joint_->start[cell]; i < joint_->start[cell + 1]; ++i) {
                out.found[joint_->rows[i]] = std::min<int64_t>(k_, others);
                out.crowded[joint_->rows[i]] = others > k_;
            }
        }
    } else if (sorts(all_columns_)) {
        pinsker::find_radii(sort_column(all_columns_[0], *joint_), k_, team_, out);
    } else {
        pinsker::find_radii(joint_index(joint_cut()), k_, team_, out);
    }
}

void Plan::count_joint(const double *radius, const uint8_t *live, int64_t *closed) {
    if (std::find(live, live + n_, 1) == live + n_) return;
    std::vector<int64_t> open(n_);
    const Tally out = {open.data(), closed};
    if (all_columns_.empty()) {
        count_by_size(*joint_, radius, live, out);
    } else if (sorts(all_columns_)) {
        const SortedColumn sorted = sort_column(all_columns_[0], *joint_);
        count_inside(sorted, radius, live, out, team_);
    } else {
        Spaces all;
        all.base = {0, (int)all_columns_.size()};
        all.in_base = out;
        const Balls balls = {radius, radius, radius, live};
        count_inside(joint_index(joint_cut()), all, balls, team_);
    }
}

void Plan::find_extents(const double *radius, const uint8_t *live, const Extents &out) {
    if (all_columns_.empty()) return;
    const int in_z = (int)z_.numeric.size(), in_x = in_z + (int)x_.numeric.size();
    const Index swept = index_of(all_columns_, *joint_, Order::kSorted, 1);
    const Span spans[3] = {{0, in_z}, {in_z, in_x}, {in_x, (int)all_columns_.size()}};
    pinsker::find_extents(swept, spans, {radius, radius, radius, live}, out, team_);
}

void Plan::count_marginals(const Reach &reach, const Marginals &out) {
    const ColumnList none;
    const Space spaces[3] = {{in_z_, &none, reach.z, out.z},
                             {in_xz_, &x_.numeric, reach.x, out.xz},
                             {in_yz_, &y_.numeric, reach.y, out.yz}};
    std::map<CellsPtr, Together> left;  // those in the same cells together
    for (const Space &space : spaces) {
        if (count_alone(space, reach)) continue;
        Together &same = left[space.cells];
        if (space.branch->empty()) {
            same.base.push_back(&space);
        } else {
            (space.branch == &x_.numeric ? same.with_x : same.with_y) = &space;
        }
    }
    for (const auto &same : left) count_together(same.first, same.second, reach);
}

// Count in a space that has nothing to gain from the others; false when it has.
bool Plan::count_alone(const Space &space, const Reach &reach) {
    const ColumnList columns = joined({&z_.numeric, space.branch});
    const double *width = z_.numeric.empty() ? space.width : reach.z;
    const size_t in_z = z_.numeric.size();
    const bool one_z_is_too_little =
        strategy_ == kAuto && in_z == 1 && largest_cell(*space.cells) > kSweptRows;
    if (columns.empty()) {
        count_by_size(*space.cells, width, reach.live, space.out);
    } else if (sorts(columns)) {
        const SortedColumn sorted = sort_column(columns[0], *space.cells);
        count_inside(sorted, width, reach.live, space.out, team_);
    } else if (in_z == 0 || (one_z_is_too_little && !space.branch->empty())) {
        Spaces only;
        only.base = {0, (int)(in_z == 0 ? columns.size() : in_z)};
        if (in_z > 0) only.first = {(int)in_z, (int)columns.size()};
        (in_z == 0 ? only.in_base : only.in_first) = space.out;
        const Balls balls = {width, space.width, space.width, reach.live};
        const size_t n_cut = columns.size();
        const Index own = index_of(columns, *space.cells, order_for(*space.cells, n_cut), n_cut);
        count_inside(own, only, balls, team_);
    } else {
        return false;
    }
    return true;
}

// The columns of the branches that are asked for follow those of z, unless all columns are there.
Spaces Plan::spaces_of(const Together &spaces, bool all_columns) const {
    const int in_z = (int)z_.numeric.size(), in_x = (int)x_.numeric.size();
    Spaces asked;
    asked.base = {0, in_z};
    if (!spaces.base.empty()) asked.in_base = spaces.base.front()->out;
    if (spaces.with_x != nullptr) {
        asked.first = {in_z, in_z + in_x};
        asked.in_first = spaces.with_x->out;
    }
    if (spaces.with_y != nullptr) {
        const int from = in_z + (all_columns || spaces.with_x != nullptr ? in_x : 0);
        asked.second = {from, from + (int)y_.numeric.size()};
        asked.in_second = spaces.with_y->out;
    }
    return asked;
}

// Count in spaces that have z and their cells in common, in one pass.
void Plan::count_together(const CellsPtr &cells, const Together &spaces, const Reach &reach) {
    const size_t in_z = z_.numeric.size();
    const Balls balls = {reach.z, reach.x, reach.y, reach.live};
    // One z column is swept; a tree over it would do the same with more steps.
    const bool sweeps = strategy_ == kAuto && in_z == 1;
    if (cells == joint_ && !sweeps) {
        count_inside(joint_index(in_z), spaces_of(spaces, true), balls, team_);
    } else {
        const ColumnList none;
        const ColumnList columns =
            joined({&z_.numeric, spaces.with_x != nullptr ? &x_.numeric : &none,
                    spaces.with_y != nullptr ? &y_.numeric : &none});
        const Order order = sweeps ? Order::kSorted : order_for(*cells, in_z);
        const Index index = index_of(columns, *cells, order, in_z);
        count_inside(index, spaces_of(spaces, false), balls, team_);
    }
    for (size_t i = 1; i < spaces.base.size(); ++i) {  // a constant x or y leaves nothing but z
        std::copy_n(spaces.base[0]->out.open, n_, spaces.base[i]->out.open);
        std::copy_n(spaces.base[0]->out.closed, n_, spaces.base[i]->out.closed);
    }
}

}  // namespace pinsker
