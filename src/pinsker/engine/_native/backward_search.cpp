#include <numeric>

#include "active_table.hpp"
#include "backward.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

struct RowState {
    double limit = kInfinity;  // a unit is beyond when its distance is larger; never grows
    int64_t term = 0;
    std::vector<ClosePair> pairs;
    std::vector<Change> changes;
};

template <class Watch>
class WatchedSearch final : public BackwardSearch {
    static constexpr Watch kNobody = static_cast<Watch>(~Watch{0});

   public:
    explicit WatchedSearch(const BackwardInput &input)
        : in_(input),
          target_(input.labels, input.target, input.rows, input.targets),
          terms_(input.digamma, input.rows),
          judge_(target_, terms_, input.direct),
          states_(static_cast<size_t>(input.watched_queries)),
          kept_(static_cast<size_t>(input.n_units)),
          fresh_(static_cast<size_t>(input.n_units)),
          totals_(static_cast<size_t>(input.n_units), 0) {}

    void start(const uint8_t *active, int threads) override {
        active_.assign(active, active + in_.n_units);
        n_active_ = std::accumulate(active_.begin(), active_.end(), 0);
        const size_t pairs = states_.size() * static_cast<size_t>(in_.rows);
        first_.assign(pairs, kNobody);
        second_.assign(pairs, kNobody);
        if (n_active_ <= 1) forget();
        lay_out_columns();
        if (n_active_ > 0) sweep(kNoUnit, threads);
        lay_out_columns();  // again, now that the worth of each unit is known
    }

    void remove(int32_t unit, int threads) override {
        active_[static_cast<size_t>(unit)] = 0;
        --n_active_;
        table_.erase(unit, in_.rows);
        if (table_.sparse()) lay_out_columns();
        if (n_active_ <= 1) forget();
        if (n_active_ > 0) sweep(unit, threads);
    }

    int64_t information() const override { return kept_.information + fresh_.information; }
    const int64_t *changes() const override { return totals_.data(); }
    int64_t close_pairs() const override {
        int64_t count = 0;
        for (const auto &state : states_) count += static_cast<int64_t>(state.pairs.size());
        return count;
    }

   private:
    struct Sums {
        int64_t information = 0;
        std::vector<int64_t> changes;
        explicit Sums(size_t units) : changes(units, 0) {}
        void add(const Sums &other) {
            information += other.information;
            for (size_t u = 0; u < changes.size(); ++u) changes[u] += other.changes[u];
        }
        void clear() {
            information = 0;
            std::fill(changes.begin(), changes.end(), 0);
        }
    };

    void lay_out_columns() {
        table_.build(in_.values, in_.rows, in_.columns, in_.units, active_, totals_);
    }

    // With one unit left every pair is close and there is nothing to watch: judge rows afresh.
    void forget() {
        first_.clear();
        second_.clear();
        states_.clear();
        kept_.clear();
    }

    // One pass over the queries. Sums are integers, so the order of the threads does not matter.
    void sweep(int32_t removed, [[maybe_unused]] int threads) {
        const int64_t watched = static_cast<int64_t>(states_.size());
        fresh_.clear();
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
        {
            Workspace work(static_cast<size_t>(in_.n_units));
            work.hits.resize(static_cast<size_t>(in_.rows));
            Sums moved(totals_.size()), fresh(totals_.size());
            RowState scratch;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 8)
#endif
            for (int64_t q = 0; q < in_.n_queries; ++q) {
                if (q >= watched) {
                    scratch = RowState{};
                    build(q, scratch, false, work);
                    rejudge(q, scratch, fresh, work);
                } else {
                    RowState &state = states_[static_cast<size_t>(q)];
                    const bool changed = removed == kNoUnit ? build(q, state, true, work)
                                                            : update(q, removed, state, work);
                    if (changed) rejudge(q, state, moved, work);
                }
            }
#ifdef _OPENMP
#pragma omp critical
#endif
            {
                kept_.add(moved);
                fresh_.add(fresh);
            }
        }
        for (size_t u = 0; u < totals_.size(); ++u)
            totals_[u] = kept_.changes[u] + fresh_.changes[u];
    }

    void rejudge(int64_t q, RowState &state, Sums &sums, Workspace &work) {
        sums.information -= state.term;
        for (const auto &change : state.changes) sums.changes[change.unit] -= change.sum;
        state.term = judge_.judge(in_.queries[q], state.pairs, rank(q), n_active_ > 1,
                                  state.changes, work);
        sums.information += state.term;
        for (const auto &change : state.changes) sums.changes[change.unit] += change.sum;
    }

    int rank(int64_t q) const {
        const size_t others = target_.company(in_.queries[q]).size() - 1;
        return std::min(in_.rank, static_cast<int>(others));
    }

    // The rank-th smallest joint distance, over rows that can be neighbours at all.
    double nearest_rank(int64_t a, int rank, Workspace &work) const {
        auto &best = work.pool;
        best.assign(static_cast<size_t>(rank), kInfinity);
        for (const int32_t b : target_.company(a)) {
            const double bound = best.back();
            const double dy = target_.distance(a, b);
            if (b == a || dy >= bound) continue;
            const double gap =
                std::max(dy, distance_up_to(table_.row(a), table_.row(b), table_.width(), bound));
            if (gap >= bound) continue;
            best.pop_back();
            best.insert(std::upper_bound(best.begin(), best.end(), gap), gap);
        }
        return best.back();
    }

    static double limit_of(double radius) {
        return radius < kFarthest ? inside_or_on(radius) : std::nextafter(kFarthest, 0.0);
    }

    // Everything about one row from scratch: its limit, its close pairs, two watches for the rest.
    bool build(int64_t q, RowState &state, bool watch, Workspace &work) {
        const int64_t a = in_.queries[q];
        const int k = rank(q);
        state.pairs.clear();
        if (k == 0) return true;  // alone in its class: its term is zero whatever is removed
        state.limit = limit_of(nearest_rank(a, k, work));
        const double *xa = table_.row(a);
        const int width = table_.width();
        for (int64_t b = 0; b < in_.rows; ++b) {
            if (b == a) continue;
            const double *xb = table_.row(b);
            const int c1 = first_beyond(xa, xb, table_.units(), 0, width, state.limit, kNoUnit);
            const int32_t j1 = c1 < 0 ? kNoUnit : table_.units()[c1];
            const int c2 = c1 < 0 ? -1
                                  : first_beyond(xa, xb, table_.units(), c1 / kBlock * kBlock, width,
                                                 state.limit, j1);
            if (c2 < 0)
                state.pairs.push_back(close_pair(a, b, j1));
            else if (watch)
                set_watch(q, b, j1, table_.units()[c2]);
        }
        return true;
    }

    // Exact distances of a close pair; `j1` if it is known which unit is the largest.
    ClosePair close_pair(int64_t a, int64_t b, int32_t j1) const {
        const double *xa = table_.row(a), *xb = table_.row(b);
        ClosePair pair;
        if (j1 == kNoUnit) {
            const Largest top = largest_except(xa, xb, table_.units(), table_.width(), kNoUnit);
            pair.m1 = top.distance;
            pair.j1 = top.unit;
        } else {
            pair.m1 = unit_distance(xa, xb, table_.units(), table_.width(), j1);
            pair.j1 = j1;
        }
        pair.row = static_cast<int32_t>(b);
        pair.dy = target_.distance(a, b);
        find_second(a, pair);
        return pair;
    }

    void find_second(int64_t a, ClosePair &pair) const {
        const Largest second = largest_except(table_.row(a), table_.row(pair.row), table_.units(),
                                              table_.width(), pair.j1);
        pair.m2 = std::max(second.distance, 0.0);
        pair.j2 = second.unit;
    }

    void set_watch(int64_t q, int64_t b, int32_t u1, int32_t u2) {
        const size_t at = static_cast<size_t>(q) * static_cast<size_t>(in_.rows) + static_cast<size_t>(b);
        first_[at] = static_cast<Watch>(u1);
        second_[at] = static_cast<Watch>(u2);
    }

    // Brings one row up to date with the removal of a unit; false when nothing it judges by moved.
    bool update(int64_t q, int32_t removed, RowState &state, Workspace &work) {
        const int k = rank(q);
        if (k == 0) return false;
        const int64_t a = in_.queries[q];
        bool changed = false;
        for (auto &pair : state.pairs) {
            if (pair.j1 != removed && pair.j2 != removed) continue;
            changed = true;
            if (pair.j1 != removed) {
                find_second(a, pair);
            } else if (pair.j2 != kNoUnit) {
                pair.m1 = pair.m2;
                pair.j1 = pair.j2;
                find_second(a, pair);
            } else {
                pair = close_pair(a, pair.row, kNoUnit);
            }
        }
        changed |= rewatch(q, removed, state, work);
        if (changed) tighten(q, k, state, work);
        return changed;
    }

    // Far pairs that watched the removed unit find another one beyond the limit, or become close.
    bool rewatch(int64_t q, int32_t removed, RowState &state, Workspace &work) {
        const int64_t a = in_.queries[q];
        const size_t base = static_cast<size_t>(q) * static_cast<size_t>(in_.rows);
        Watch *first = first_.data() + base, *second = second_.data() + base;
        const int hits = find_watchers(first, second, static_cast<int>(in_.rows),
                                       static_cast<Watch>(removed), work.hits.data());
        bool changed = false;
        for (int h = 0; h < hits; ++h) {
            const int32_t b = work.hits[static_cast<size_t>(h)];
            const int32_t other = static_cast<int32_t>(first[b] == removed ? second[b] : first[b]);
            const int c = first_beyond(table_.row(a), table_.row(b), table_.units(), 0,
                                       table_.width(), state.limit, other);
            if (c >= 0) {
                set_watch(q, b, other, table_.units()[c]);
            } else {
                first[b] = second[b] = kNobody;
                state.pairs.push_back(close_pair(a, b, other));
                changed = true;
            }
        }
        return changed;
    }

    // The radius may have shrunk: pairs with two units beyond the new limit are far again.
    void tighten(int64_t q, int k, RowState &state, Workspace &work) {
        state.limit = limit_of(RowJudge::rank_distance(state.pairs, k, state.limit, work));
        for (size_t p = 0; p < state.pairs.size();) {
            const ClosePair &pair = state.pairs[p];
            if (pair.m2 <= state.limit) {
                ++p;
                continue;
            }
            set_watch(q, pair.row, pair.j1, pair.j2);
            state.pairs[p] = state.pairs.back();
            state.pairs.pop_back();
        }
    }

    const BackwardInput in_;
    const TargetSpace target_;
    const Terms terms_;
    const RowJudge judge_;
    ActiveTable table_;
    std::vector<RowState> states_;       // one per watched query
    std::vector<Watch> first_, second_;  // (watched queries, rows)
    std::vector<uint8_t> active_;
    int n_active_ = 0;
    Sums kept_, fresh_;                  // of watched queries; of those judged afresh each step
    std::vector<int64_t> totals_;
};

}  // namespace

std::unique_ptr<BackwardSearch> make_backward(const BackwardInput &input) {
    if (input.n_units < 65535) return std::make_unique<WatchedSearch<uint16_t>>(input);
    return std::make_unique<WatchedSearch<uint32_t>>(input);
}
