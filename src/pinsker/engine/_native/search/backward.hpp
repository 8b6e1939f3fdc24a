// Backward search: the state of every query row, kept up to date as features are removed.
//
// A far pair has two features beyond its row's limit. Removals shrink the limit and the distances,
// so the pair cannot become close before one of those two goes: it is enough to watch them, and to
// look at the pair again only when a watched feature is removed. With 32 features or fewer four
// bytes hold a bit for every feature beyond the limit, in the place of two watches. See
// docs/engine.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "search/active_table.hpp"
#include "common/estimator.hpp"
#include "search/close_pairs.hpp"
#include "search/target.hpp"

namespace pinsker {

class BackwardSearch {
public:
    // The first `watched_queries` queries keep their state between steps, in `state_bytes` at most:
    // a row whose state does not fit, because of ties, is scored from scratch from then on.
    BackwardSearch(const SearchInput &input, int64_t watched_queries, int64_t state_bytes);
    void start(const uint8_t *active, int threads);
    void remove(int32_t feature, int threads);
    int64_t information() const { return kept_.information + fresh_.information; }
    // Fixed point, summed over the queries: what each removal adds to the information of the set
    // (a loss is negative), or the direct I(Y; X_feature | rest).
    const int64_t *changes() const { return totals_.data(); }
    int64_t close_pairs() const;
    int64_t state_bytes() const { return held_; }  // of the rows that keep their state

private:
    struct RowState {
        double limit = kInfinity;   // a feature is beyond when its distance is larger; never grows
        double radius = kInfinity;  // rank-th smallest joint distance
        int64_t term = 0;
        std::vector<ClosePair> pairs;
        std::vector<Change> changes;
        // What keeps the other pairs far, one entry a row: two watched features (the first of every
        // row, then the second of every row), or a mask of the features beyond the limit.
        std::vector<uint16_t> watches;
        std::vector<uint32_t> masks;
        int64_t bytes = 0;  // of the above, as counted in `held_`
        bool kept = true;   // false: there was no room for it
        uint16_t *first_watch() { return watches.data(); }
        uint16_t *second_watch() { return watches.data() + watches.size() / 2; }
        int64_t capacity_bytes() const;
        void set_watches(int64_t b, int32_t u1, int32_t u2) {
            first_watch()[b] = static_cast<uint16_t>(u1);
            second_watch()[b] = static_cast<uint16_t>(u2);
        }
    };
    struct Sums {
        int64_t information = 0;
        std::vector<int64_t> changes;
        explicit Sums(size_t features) : changes(features, 0) {}
        void clear();
        void add(const Sums &other);
    };
    struct Thread {
        Workspace work;
        Sums moved, fresh;  // of rows with state; of rows scored from scratch
        RowState scratch;
        explicit Thread(const SearchInput &in);
    };
    enum class Pass { kBuild, kUpdate, kSwitchToMasks };

    // The order of the work in one step (backward.cpp).
    void lay_out_columns();
    void forget();
    void sweep(Pass pass, int32_t removed, int threads);
    void visit(int64_t q, Pass pass, int32_t removed, Thread &thread);
    void rescore(int64_t q, RowState &state, Sums &sums, Workspace &work);
    void make_room(RowState &state, Thread &thread);

    // What happens to one row (backward_row.cpp).
    int rank(int64_t q) const;
    double nearest_rank(int64_t a, int rank, Workspace &work) const;
    void build(int64_t q, RowState &state, bool watch, Workspace &work);
    void build_last(int64_t a, RowState &state) const;
    void build_watches(int64_t q, RowState &state, bool watch);
    void build_masks(int64_t q, RowState &state, bool watch, Workspace &work);
    bool update_close(int64_t a, int32_t removed, RowState &state) const;
    void revisit_watchers(int64_t q, int32_t removed, RowState &state, Workspace &work);
    void revisit_exhausted(int64_t q, RowState &state, Workspace &work);
    void tighten(int64_t q, bool watch, RowState &state, Workspace &work);
    ClosePair close_pair(int64_t a, int64_t b) const;
    void find_largest(int64_t a, ClosePair &pair) const;
    uint32_t feature_bits(int64_t a, int64_t b, double limit) const;

    const SearchInput in_;
    const int64_t watched_queries_, state_bytes_;
    const TargetSpace target_;
    const Terms terms_;
    const RowScorer scorer_;
    ActiveTable table_;
    std::vector<RowState> states_;  // one per watched query
    std::atomic<int64_t> held_{0};  // bytes of their states
    bool uses_masks_ = false;
    std::vector<int32_t> bit_of_feature_;
    uint32_t alive_ = 0;  // bits of the features that are still there
    std::vector<uint8_t> active_;
    int n_active_ = 0;
    Sums kept_, fresh_;  // of queries with state; of those scored from scratch in each step
    std::vector<int64_t> totals_;
    std::vector<Thread> threads_;
};

}  // namespace pinsker
