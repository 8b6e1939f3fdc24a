// From x, y, z to radii and counts: which structure answers which question. docs/estimator.md is
// the definition.
#include <algorithm>
#include <cmath>
#include <map>

#include "common/arrays.hpp"
#include "common/estimator.hpp"
#include "knn/index.hpp"
#include "knn/kernels.hpp"

namespace pinsker {

namespace {

// How rows are searched; all give the same result.
enum class Strategy : int {
    kAuto = 0,   // the one that was measured to be fastest for the number of rows and columns
    kTree = 1,   // a tree per cell
    kSweep = 2,  // along one column per cell, as far as the ball reaches
    kPairs = 3,  // all pairs; nominal columns as numbers, no cells
};

// Half-widths of each row's ball in z, x and y, and which rows are wanted.
struct Reach {
    const double *z, *x, *y;
    const uint8_t *live;
};

// OUT: counts in the three marginals.
struct Marginals {
    Tally xz, yz, z;
};

class NeighborPlan {
public:
    // `widest`: bits of the widest registers to use, 512, 256 or 128.
    NeighborPlan(const RowMatrix &x, const RowMatrix &y, const RowMatrix &z, int64_t k,
                 Strategy strategy, int widest, int n_threads);

    // Each row's radius in the joint space, whether it has a neighbor, and its marginal counts.
    void find_all(const Radii &out, uint8_t *live, const Marginals &marginals);
    // How many rows lie inside or on it, for rows that are live.
    void count_joint(const double *radius, const uint8_t *live, int64_t *closed);
    // The largest distances in z, x and y among the rows inside or on the radius.
    void find_extents(const double *radius, const uint8_t *live, const Extents &out);
    // The rows inside balls of the given half-widths.
    void count_marginals(const Reach &reach, const Marginals &out);

private:
    void find_radii(const Radii &out);
    bool fuses() const;
    void find_fused(const Radii &out, uint8_t *live, const Marginals &marginals);

    // A space to count in: z and a branch (x, y or nothing), inside cells of its own.
    struct Space {
        CellsPtr cells;
        const ColumnList *branch;
        const double *width;  // of the ball in the branch
        Tally out;
    };

    // Spaces that have their cells in common.
    struct Together {
        std::vector<const Space *> base;  // nothing but z
        const Space *with_x = nullptr, *with_y = nullptr;
    };

    bool sorts(const ColumnList &columns) const;
    Order order_for(const Cells &cells, size_t n_cut) const;
    Index index_of(const ColumnList &columns, const Cells &cells, Order order, size_t n_cut);
    const Index &joint_index(size_t n_cut);
    size_t joint_cut() const;
    bool count_alone(const Space &space, const Reach &reach);
    Spaces spaces_of(const Together &spaces, bool all_columns) const;
    void count_together(const CellsPtr &cells, const Together &spaces, const Reach &reach);

    int64_t n_;
    int k_;
    Strategy strategy_;
    int widest_;
    Team team_;
    Variable x_, y_, z_;
    ColumnList all_columns_;  // z, x, y
    CellsPtr in_z_, in_xz_, in_yz_, joint_;
    Index joint_index_;
    size_t joint_index_cut_ = 0;  // 0: not built yet
};

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
void count_by_size(const Cells &cells, const double *width, const uint8_t *live, const Tally &out) {
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

NeighborPlan::NeighborPlan(const RowMatrix &x, const RowMatrix &y, const RowMatrix &z, int64_t k,
                           Strategy strategy, int widest, int n_threads)
    : n_(x.n),
      k_((int)std::min<int64_t>(k, std::max<int64_t>(1, x.n - 1))),
      strategy_(strategy),
      widest_(widest),
      team_(n_threads),
      x_(x, strategy != Strategy::kPairs),
      y_(y, strategy != Strategy::kPairs),
      z_(z, strategy != Strategy::kPairs),
      all_columns_(joined({&z_.numeric, &x_.numeric, &y_.numeric})) {
    in_z_ = make_cells(n_, {&z_});
    in_xz_ = x_.category.empty() ? in_z_ : make_cells(n_, {&z_, &x_});
    in_yz_ = y_.category.empty() ? in_z_ : make_cells(n_, {&z_, &y_});
    joint_ = y_.category.empty() ? in_xz_ : in_yz_;
    if (!x_.category.empty() && !y_.category.empty()) joint_ = make_cells(n_, {&z_, &x_, &y_});
}

bool NeighborPlan::sorts(const ColumnList &columns) const {
    return strategy_ == Strategy::kAuto && columns.size() == 1;
}

Order NeighborPlan::order_for(const Cells &cells, size_t n_cut) const {
    if (strategy_ == Strategy::kPairs) return Order::kList;
    if (strategy_ == Strategy::kSweep) return Order::kSorted;
    if (strategy_ == Strategy::kTree) return Order::kTree;
    const bool few = (double)n_cut <= most_tree_columns(largest_cell(cells));
    return few ? Order::kTree : Order::kSorted;
}

Index NeighborPlan::index_of(const ColumnList &columns, const Cells &cells, Order order,
                             size_t n_cut) {
    Index index = build_index(columns, cells, order, (int)n_cut, team_);
    index.widest = widest_;
    return index;
}

// How many of the joint columns to cut for the radius: all, or those of z if they are many.
size_t NeighborPlan::joint_cut() const {
    const size_t in_z = z_.numeric.size();
    return in_z >= kBaseCut && 2 * in_z >= all_columns_.size() ? in_z : all_columns_.size();
}

// Sorted and listed blocks do not depend on the cut.
const Index &NeighborPlan::joint_index(size_t n_cut) {
    const bool same = joint_index_cut_ == n_cut || joint_index_.order != Order::kTree;
    const Order order = order_for(*joint_, n_cut);
    if (joint_index_cut_ == 0 || !same || order != joint_index_.order) {
        joint_index_ = index_of(all_columns_, *joint_, order, n_cut);
        joint_index_cut_ = n_cut;
    }
    return joint_index_;
}

void NeighborPlan::find_all(const Radii &out, uint8_t *live, const Marginals &marginals) {
    if (fuses()) return find_fused(out, live, marginals);
    find_radii(out);
    for (int64_t i = 0; i < n_; ++i) live[i] = out.found[i] > 0;
    count_marginals({out.radius, out.radius, out.radius, live}, marginals);
}

// Whether one sweep can find radii and counts: all spaces have the same cells, and z has this many
// columns that few blocks are near.
bool NeighborPlan::fuses() const {
    const size_t in_z = z_.numeric.size();
    const bool worth =
        strategy_ == Strategy::kSweep || (strategy_ == Strategy::kAuto && in_z >= kFusedColumns);
    const bool same_cells = x_.category.empty() && y_.category.empty();
    const bool both = !x_.numeric.empty() && !y_.numeric.empty();
    return worth && same_cells && both && in_z > 0 &&
           order_for(*joint_, joint_cut()) == Order::kSorted;
}

void NeighborPlan::find_fused(const Radii &out, uint8_t *live, const Marginals &marginals) {
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

void NeighborPlan::find_radii(const Radii &out) {
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

void NeighborPlan::count_joint(const double *radius, const uint8_t *live, int64_t *closed) {
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

void NeighborPlan::find_extents(const double *radius, const uint8_t *live, const Extents &out) {
    if (all_columns_.empty()) return;
    const int in_z = (int)z_.numeric.size(), in_x = in_z + (int)x_.numeric.size();
    const Index swept = index_of(all_columns_, *joint_, Order::kSorted, 1);
    const Span spans[3] = {{0, in_z}, {in_z, in_x}, {in_x, (int)all_columns_.size()}};
    pinsker::find_extents(swept, spans, {radius, radius, radius, live}, out, team_);
}

void NeighborPlan::count_marginals(const Reach &reach, const Marginals &out) {
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
bool NeighborPlan::count_alone(const Space &space, const Reach &reach) {
    const ColumnList columns = joined({&z_.numeric, space.branch});
    const double *width = z_.numeric.empty() ? space.width : reach.z;
    const size_t in_z = z_.numeric.size();
    const bool one_z_is_too_little =
        strategy_ == Strategy::kAuto && in_z == 1 && largest_cell(*space.cells) > kSweptRows;
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

// The columns of the branches that are wanted follow those of z, unless all columns are there.
Spaces NeighborPlan::spaces_of(const Together &spaces, bool all_columns) const {
    const int in_z = (int)z_.numeric.size(), in_x = (int)x_.numeric.size();
    Spaces wanted;
    wanted.base = {0, in_z};
    if (!spaces.base.empty()) wanted.in_base = spaces.base.front()->out;
    if (spaces.with_x != nullptr) {
        wanted.first = {in_z, in_z + in_x};
        wanted.in_first = spaces.with_x->out;
    }
    if (spaces.with_y != nullptr) {
        const int from = in_z + (all_columns || spaces.with_x != nullptr ? in_x : 0);
        wanted.second = {from, from + (int)y_.numeric.size()};
        wanted.in_second = spaces.with_y->out;
    }
    return wanted;
}

// Count in spaces that have z and their cells in common, in one pass.
void NeighborPlan::count_together(const CellsPtr &cells, const Together &spaces,
                                  const Reach &reach) {
    const size_t in_z = z_.numeric.size();
    const Balls balls = {reach.z, reach.x, reach.y, reach.live};
    // One z column is swept; a tree over it would do the same with more steps.
    const bool sweeps = strategy_ == Strategy::kAuto && in_z == 1;
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

RowMatrix rows_of(const Matrix<double> &matrix) {
    return {matrix.data(), (int64_t)matrix.shape(0), (int64_t)matrix.shape(1)};
}

// Six rows of counts: xz, yz, z, each open and closed.
Marginals marginals_of(int64_t *to, int64_t n) {
    return {{to, to + n}, {to + 2 * n, to + 3 * n}, {to + 4 * n, to + 5 * n}};
}

// IN x, y, z, k, strategy, widest registers in bits, n_threads. OUT radius (n,) and counts (8, n):
// k_i, the closed joint count, then open and closed counts of xz, yz and z. Both are zero on entry.
void neighbor_counts(Matrix<double> x, Matrix<double> y, Matrix<double> z, int64_t k, int strategy,
                     int widest, int n_threads, VectorOut<double> radius,
                     MatrixOut<int64_t> counts) {
    const RowMatrix in_x = rows_of(x), in_y = rows_of(y), in_z = rows_of(z);
    const int64_t n = in_x.n;
    double *rho = radius.data();
    int64_t *found = counts.data(), *closed = found + n;
    nb::gil_scoped_release released;
    if (n == 0) return;
    std::vector<uint8_t> crowded(n, 0), live(n, 0);
    NeighborPlan plan(in_x, in_y, in_z, k, (Strategy)strategy, widest, n_threads);
    plan.find_all({rho, found, crowded.data()}, live.data(), marginals_of(found + 2 * n, n));
    std::copy_n(found, n, closed);
    plan.count_joint(rho, crowded.data(), closed);
}

// IN x, y, z, radius (n,), widest, n_threads. OUT extents (3, n): the largest distance in z, x and
// y among the rows inside or on the radius; counts (6, n): open and closed counts of xz, yz and z
// in boxes of that size. Both are zero on entry. Without z its extent is taken to be the radius.
void box_counts(Matrix<double> x, Matrix<double> y, Matrix<double> z, Vector<double> radius,
                int widest, int n_threads, MatrixOut<double> extents, MatrixOut<int64_t> counts) {
    const RowMatrix in_x = rows_of(x), in_y = rows_of(y), in_z = rows_of(z);
    const int64_t n = in_x.n;
    const double *rho = radius.data();
    double *extent = extents.data();
    int64_t *to = counts.data();
    nb::gil_scoped_release released;
    if (n == 0) return;
    const std::vector<uint8_t> live(n, 1);
    NeighborPlan plan(in_x, in_y, in_z, 1, Strategy::kAuto, widest, n_threads);
    plan.find_extents(rho, live.data(), {{extent, extent + n, extent + 2 * n}});
    if (in_z.d == 0) std::copy_n(rho, n, extent);
    plan.count_marginals({extent, extent + n, extent + 2 * n, live.data()}, marginals_of(to, n));
}

}  // namespace

void bind_neighbors(nb::module_ &m) {
    m.def("neighbour_counts", &neighbor_counts, nb::arg("x"), nb::arg("y"), nb::arg("z"),
          nb::arg("k"), nb::arg("strategy"), nb::arg("widest"), nb::arg("n_threads"),
          nb::arg("radius").noconvert(), nb::arg("counts").noconvert());
    m.def("box_counts", &box_counts, nb::arg("x"), nb::arg("y"), nb::arg("z"), nb::arg("radius"),
          nb::arg("widest"), nb::arg("n_threads"), nb::arg("extents").noconvert(),
          nb::arg("counts").noconvert());
}

}  // namespace pinsker
