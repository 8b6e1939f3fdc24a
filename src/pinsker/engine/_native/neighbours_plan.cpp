#include "neighbours_plan.hpp"

#include "neighbours_count.hpp"
#include "neighbours_index.hpp"
#include "neighbours_radius.hpp"
#include "neighbours_sorted.hpp"

namespace pinsker {

namespace {

constexpr size_t kMostTreeColumns = 12;  // above it looking at all pairs is faster

// A space to count in: the base z and a branch (x, y or nothing), inside cells of its own.
struct Space {
    CellsPtr cells;
    const ColumnList *branch;
    Tally out;
};

ColumnList joined(std::initializer_list<const ColumnList *> lists) {
    ColumnList all;
    for (const ColumnList *list : lists) all.insert(all.end(), list->begin(), list->end());
    return all;
}

// Without numeric columns all rows of a cell are at distance 0 of each other.
void count_by_size(const Cells &cells, const double *radius, const uint8_t *live,
                   const Tally &out) {
    for (int32_t cell = 0; cell < cells.n_cells(); ++cell) {
        const int64_t others = cells.size(cell) - 1;
        for (int32_t i = cells.start[cell]; i < cells.start[cell + 1]; ++i) {
            const int32_t row = cells.rows[i];
            if (!live[row]) continue;
            out.open[row] = open_limit(radius[row]) > 0.0 ? others : 0;
            out.closed[row] = others;
        }
    }
}

class Plan {
public:
    Plan(const Rows &x, const Rows &y, const Rows &z, int64_t k, Strategy strategy, int n_threads)
        : n_(x.n),
          k_((int)std::min<int64_t>(k, std::max<int64_t>(1, x.n - 1))),
          strategy_(strategy),
          n_threads_(n_threads),
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

    void run(const Neighbours &out) {
        std::vector<uint8_t> crowded(n_, 0), live(n_, 0);
        radii(out, crowded.data());
        for (int64_t i = 0; i < n_; ++i) {
            live[i] = out.found[i] > 0;
            out.joint_closed[i] = out.found[i];
        }
        count_crowded(out, crowded);
        const ColumnList none;
        const Space spaces[3] = {{in_z_, &none, out.z},
                                 {in_xz_, &x_.numeric, out.xz},
                                 {in_yz_, &y_.numeric, out.yz}};
        std::vector<const Space *> fused;
        for (const Space &space : spaces) {
            if (!count_alone(space, out.radius, live.data())) fused.push_back(&space);
        }
        while (!fused.empty()) fused = count_fused(fused, out.radius, live.data());
    }

private:
    bool sorts(const ColumnList &columns) const {
        return strategy_ == kAuto && columns.size() == 1;
    }

    Index index_of(const ColumnList &columns, const Cells &cells) const {
        const bool tree =
            strategy_ == kTree || (strategy_ == kAuto && columns.size() <= kMostTreeColumns);
        return build_index(columns, cells, tree, n_threads_);
    }

    void radii(const Neighbours &out, uint8_t *crowded) {
        const Radii found = {out.radius, out.found, crowded};
        if (all_columns_.empty()) {
            for (int32_t cell = 0; cell < joint_->n_cells(); ++cell) {
                const int64_t others = joint_->size(cell) - 1;
                for (int32_t i = joint_->start[cell]; i < joint_->start[cell + 1]; ++i) {
                    out.found[joint_->rows[i]] = std::min<int64_t>(k_, others);
                    crowded[joint_->rows[i]] = others > k_;
                }
            }
        } else if (sorts(all_columns_)) {
            find_radii(sort_column(all_columns_[0], *joint_, n_threads_), k_, n_threads_, found);
        } else {
            joint_index_ = index_of(all_columns_, *joint_);
            find_radii(joint_index_, k_, n_threads_, found);
        }
    }

    // Rows with ties on the radius: count them all.
    void count_crowded(const Neighbours &out, const std::vector<uint8_t> &crowded) {
        if (std::find(crowded.begin(), crowded.end(), 1) == crowded.end()) return;
        std::vector<int64_t> open(n_);
        const Tally closed = {open.data(), out.joint_closed};
        if (all_columns_.empty()) {
            count_by_size(*joint_, out.radius, crowded.data(), closed);
        } else if (sorts(all_columns_)) {
            count_inside(sort_column(all_columns_[0], *joint_, n_threads_), out.radius,
                         crowded.data(), closed, n_threads_);
        } else {
            Spaces all;
            all.base = {0, joint_index_.d};
            all.in_base = closed;
            count(joint_index_, all, out.radius, crowded.data());
        }
    }

    void count(const Index &index, const Spaces &spaces, const double *radius,
               const uint8_t *live) const {
        count_inside(index, spaces, {radius, radius, radius, live}, n_threads_);
    }

    // Count in a space that shares nothing with the others; false when it has z in common.
    bool count_alone(const Space &space, const double *radius, const uint8_t *live) const {
        const ColumnList columns = joined({&z_.numeric, space.branch});
        if (columns.empty()) {
            count_by_size(*space.cells, radius, live, space.out);
        } else if (sorts(columns)) {
            count_inside(sort_column(columns[0], *space.cells, n_threads_), radius, live,
                         space.out, n_threads_);
        } else if (z_.numeric.empty()) {
            Spaces only;
            only.base = {0, (int)columns.size()};
            only.in_base = space.out;
            count(index_of(columns, *space.cells), only, radius, live);
        } else {
            return false;
        }
        return true;
    }

    // Count in the first space and all others that have the same cells; returns the rest.
    std::vector<const Space *> count_fused(const std::vector<const Space *> &open,
                                           const double *radius, const uint8_t *live) const {
        const CellsPtr cells = open.front()->cells;
        std::vector<const Space *> rest, same_base;
        const int base = (int)z_.numeric.size(), in_x = (int)x_.numeric.size();
        Spaces spaces;
        spaces.base = {0, base};
        bool x_wanted = false, y_wanted = false;
        for (const Space *space : open) {
            if (space->cells != cells) {
                rest.push_back(space);
            } else if (space->branch->empty()) {
                same_base.push_back(space);
            } else if (space->branch == &x_.numeric) {
                x_wanted = true;
                spaces.in_first = space->out;
            } else {
                y_wanted = true;
                spaces.in_second = space->out;
            }
        }
        if (!same_base.empty()) spaces.in_base = same_base.front()->out;
        Index own;
        const bool use_joint = cells == joint_;
        if (x_wanted) spaces.first = {base, base + in_x};
        if (y_wanted) {
            const int from = base + (use_joint || x_wanted ? in_x : 0);
            spaces.second = {from, from + (int)y_.numeric.size()};
        }
        if (!use_joint) {
            const ColumnList none;
            own = index_of(joined({&z_.numeric, x_wanted ? &x_.numeric : &none,
                                   y_wanted ? &y_.numeric : &none}),
                           *cells);
        }
        count(use_joint ? joint_index_ : own, spaces, radius, live);
        for (size_t i = 1; i < same_base.size(); ++i) {
            std::copy_n(spaces.in_base.open, n_, same_base[i]->out.open);
            std::copy_n(spaces.in_base.closed, n_, same_base[i]->out.closed);
        }
        return rest;
    }

    int64_t n_;
    int k_;
    Strategy strategy_;
    int n_threads_;
    Block x_, y_, z_;
    ColumnList all_columns_;
    CellsPtr in_z_, in_xz_, in_yz_, joint_;
    Index joint_index_;
};

}  // namespace

void find_neighbours(const Rows &x, const Rows &y, const Rows &z, int64_t k, Strategy strategy,
                     int n_threads, const Neighbours &out) {
    if (x.n > 0) Plan(x, y, z, k, strategy, n_threads).run(out);
}

}  // namespace pinsker
