// Forward search: what each feature would add to the current set.
//
// With feature g added, the distance of a pair is max(D_S, d_g). Rows far from the query in D_S
// alone cannot be inside any candidate's ball, so one pass over the nearest rows in D_S, with one
// lane per candidate, finds radius and counts of almost all candidates; the few with larger balls
// are measured against all rows. See docs/engine.md.
#pragma once

#include <cstdint>
#include <vector>

#include "search/active_table.hpp"
#include "common/estimator.hpp"
#include "search/target.hpp"

namespace pinsker {

class ForwardSearch {
public:
    explicit ForwardSearch(const SearchInput &input);
    void start(const uint8_t *active, int threads);
    void add(int32_t feature, int threads);
    int64_t information() const { return information_; }
    // Fixed point, summed over the queries: I(Y; X_S and feature), or the direct I(Y; X_feature |
    // X_S).
    const int64_t *sums() const { return sums_.data(); }

private:
    struct Scratch;
    void sweep(int threads);
    void measure_row(int64_t a, Scratch &s) const;
    double reach(int64_t a, const Scratch &s) const;
    void scan_near_rows(int64_t a, Scratch &s) const;
    void count_near_rows(int64_t a, Scratch &s) const;
    // Where the k-th smallest distance of a lane is kept.
    size_t place(int k, int lane) const {
        return static_cast<size_t>(k - 1) * static_cast<size_t>(lanes_) + static_cast<size_t>(lane);
    }
    void set_ball(int lane, int k, double radius, Scratch &s) const;
    void measure_alone(int64_t a, int lane, Scratch &s) const;
    int64_t base_term(int64_t a, Scratch &s) const;
    int64_t term(int64_t a, int lane, const Scratch &s) const;
    struct RowPair {
        const double *a, *b;
    };
    RowPair lane_distances(int64_t a, int64_t b, Scratch &s) const;
    void measure_columns_alone(int threads);

    const SearchInput in_;
    const TargetSpace target_;
    const Terms terms_;
    std::vector<double> by_column_;  // (columns, rows)
    std::vector<uint8_t> active_;
    int n_active_columns_ = 0;
    ActiveTable candidates_;               // columns of the features that may be added
    std::vector<int32_t> lane_of_column_;  // lane of each candidate column
    std::vector<int32_t> feature_of_lane_;
    std::vector<std::vector<int32_t>> columns_of_feature_;
    int lanes_ = 0;  // padded to whole blocks
    bool one_column_per_lane_ = true;
    int64_t information_ = 0;
    std::vector<int64_t> sums_;
};

}  // namespace pinsker
