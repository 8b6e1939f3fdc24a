// From x, y, z to radii and counts: which structure answers which question.
#pragma once

#include "neighbours_kernels.hpp"
#include "neighbours_table.hpp"

namespace pinsker {

// How rows are searched; all give the same result.
enum Strategy : int {
    kAuto = 0,   // the one that was measured to be fastest for the number of rows and columns
    kTree = 1,   // a tree per cell
    kSweep = 2,  // along one column per cell, as far as the ball reaches
    kPairs = 3,  // all pairs; nominal columns as numbers, no cells
};

// Half-widths of each row's ball in z, x and y, and which rows are asked for.
struct Reach {
    const double *z, *x, *y;
    const uint8_t *live;
};

// OUT: counts in the three marginals.
struct Marginals {
    Tally xz, yz, z;
};

class Plan {
public:
    // `widest`: bits of the widest registers to use, 512, 256 or 128.
    Plan(const Rows &x, const Rows &y, const Rows &z, int64_t k, Strategy strategy, int widest,
         int n_threads);

    // Each row's radius in the joint space, whether it has a neighbour, and its marginal counts.
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
    Block x_, y_, z_;
    ColumnList all_columns_;  // z, x, y
    CellsPtr in_z_, in_xz_, in_yz_, joint_;
    Index joint_index_;
    size_t joint_index_cut_ = 0;  // 0: not built yet
};

}  // namespace pinsker
