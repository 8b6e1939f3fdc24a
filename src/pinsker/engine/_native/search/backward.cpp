// The order of the work in one step of the backward search.
#include "search/backward.hpp"

#include <numeric>

#include "common/thread_pool.hpp"
#include "search/scan.hpp"

namespace pinsker {

namespace {

constexpr int kMaskBits = 32;
constexpr int64_t kMostWatchable = 65534;  // watches are 16-bit feature numbers

}  // namespace

void BackwardSearch::Sums::clear() {
    information = 0;
    std::fill(changes.begin(), changes.end(), 0);
}

void BackwardSearch::Sums::add(const Sums &other) {
    information += other.information;
    for (size_t u = 0; u < changes.size(); ++u) changes[u] += other.changes[u];
}

BackwardSearch::Thread::Thread(const SearchInput &in)
    : moved(static_cast<size_t>(in.n_features)), fresh(static_cast<size_t>(in.n_features)) {
    work.head.assign(static_cast<size_t>(in.n_features), -1);
    work.hits.resize(static_cast<size_t>(in.rows));
    work.is_close.assign(static_cast<size_t>(in.rows), 0);
}

int64_t BackwardSearch::RowState::capacity_bytes() const {
    return static_cast<int64_t>(
        pairs.capacity() * sizeof(ClosePair) + changes.capacity() * sizeof(Change) +
        watches.capacity() * sizeof(uint16_t) + masks.capacity() * sizeof(uint32_t));
}

BackwardSearch::BackwardSearch(const SearchInput &input, int64_t watched_queries,
                               int64_t state_bytes)
    : in_(input),
      watched_queries_(watched_queries),
      state_bytes_(state_bytes),
      target_(input.labels, input.target, input.rows, input.targets),
      terms_(input.digamma, input.rows),
      scorer_(target_, terms_, input.direct),
      kept_(static_cast<size_t>(input.n_features)),
      fresh_(static_cast<size_t>(input.n_features)),
      totals_(static_cast<size_t>(input.n_features), 0) {}

void BackwardSearch::start(const uint8_t *active, int threads) {
    active_.assign(active, active + in_.n_features);
    n_active_ = std::accumulate(active_.begin(), active_.end(), 0);
    kept_.clear();
    const int64_t watched = in_.n_features <= kMostWatchable ? watched_queries_ : 0;
    states_.assign(static_cast<size_t>(watched), RowState{});
    held_ = 0;
    uses_masks_ = n_active_ <= kMaskBits;
    if (n_active_ <= 1) forget();
    lay_out_columns();
    sweep(Pass::kBuild, kNoFeature, threads);
    if (!uses_masks_) lay_out_columns();  // again, now that the worth of each feature is known
}

void BackwardSearch::remove(int32_t feature, int threads) {
    active_[static_cast<size_t>(feature)] = 0;
    --n_active_;
    table_.erase(feature, in_.rows);
    if (n_active_ <= 1) forget();
    const bool switching = !uses_masks_ && n_active_ <= kMaskBits;
    const bool may_move = !uses_masks_ || n_active_ == 1;  // masks are gone with the last but one
    if (switching || (may_move && table_.sparse())) {
        uses_masks_ |= switching;
        lay_out_columns();
    } else if (uses_masks_) {
        alive_ &= ~(uint32_t{1} << bit_of_feature_[static_cast<size_t>(feature)]);
    }
    sweep(switching ? Pass::kSwitchToMasks : Pass::kUpdate, feature, threads);
}

int64_t BackwardSearch::close_pairs() const {
    int64_t count = 0;
    for (const auto &state : states_) count += static_cast<int64_t>(state.pairs.size());
    return count;
}

// Masks refer to bits that are given out here, so with masks the layout stays as it is.
void BackwardSearch::lay_out_columns() {
    table_.build(in_.values, in_.rows, in_.columns, in_.features, active_, totals_);
    if (!uses_masks_) return;
    bit_of_feature_.assign(active_.size(), 0);
    alive_ = 0;
    int32_t next = 0;
    for (int c = 0; c < table_.width(); ++c) {
        const int32_t feature = table_.features()[c];
        if (feature == kNoFeature || table_.first_column(feature) != c) continue;
        bit_of_feature_[static_cast<size_t>(feature)] = next;
        alive_ |= uint32_t{1} << next++;
    }
}

// With one feature left every pair is close and there is nothing to watch: rows are scored from
// scratch.
void BackwardSearch::forget() {
    std::vector<RowState>().swap(states_);
    held_ = 0;
    kept_.clear();
}

// One pass over the queries. Sums are integers, so the order of the threads does not matter.
void BackwardSearch::sweep(Pass pass, int32_t removed, int threads) {
    fresh_.clear();
    std::fill(totals_.begin(), totals_.end(), 0);
    if (n_active_ == 0) return;
    while (static_cast<int>(threads_.size()) < threads) threads_.emplace_back(in_);
    ThreadPool::shared().run(in_.n_queries, 8, threads, [&](int64_t q, int slot) {
        visit(q, pass, removed, threads_[static_cast<size_t>(slot)]);
    });
    for (auto &thread : threads_) {
        kept_.add(thread.moved);
        fresh_.add(thread.fresh);
        thread.moved.clear();
        thread.fresh.clear();
    }
    for (size_t u = 0; u < totals_.size(); ++u) totals_[u] = kept_.changes[u] + fresh_.changes[u];
}

void BackwardSearch::visit(int64_t q, Pass pass, int32_t removed, Thread &thread) {
    if (q >= static_cast<int64_t>(states_.size()) || !states_[static_cast<size_t>(q)].kept) {
        RowState &scratch = thread.scratch;
        scratch.term = 0;
        scratch.changes.clear();
        build(q, scratch, false, thread.work);
        rescore(q, scratch, thread.fresh, thread.work);
        return;
    }
    RowState &state = states_[static_cast<size_t>(q)];
    if (pass == Pass::kBuild) {
        build(q, state, true, thread.work);
    } else {
        if (rank(q) == 0) return;
        // A far pair loses one feature at most, so another is still beyond the limit and the pair
        // is outside of the ball: close pairs alone decide the new radius. With it the limit
        // shrinks first, so that fewer far pairs become close.
        bool changed = update_close(in_.queries[q], removed, state);
        if (changed) tighten(q, pass == Pass::kUpdate, state, thread.work);
        const size_t before = state.pairs.size();
        if (pass == Pass::kSwitchToMasks)
            build_masks(q, state, true, thread.work);
        else if (uses_masks_)
            revisit_exhausted(q, state, thread.work);
        else
            revisit_watchers(q, removed, state, thread.work);
        if (!changed && state.pairs.size() == before) return;
    }
    rescore(q, state, thread.moved, thread.work);
    make_room(state, thread);
}

// Let go of a state that does not fit into memory. Its sums stand for this step as those of a row
// that is scored from scratch, which it is in the next ones: the results have the same bits.
void BackwardSearch::make_room(RowState &state, Thread &thread) {
    const int64_t bytes = state.capacity_bytes(), more = bytes - state.bytes;
    state.bytes = bytes;
    if (held_.fetch_add(more) + more <= state_bytes_) return;
    held_ -= bytes;
    thread.moved.information -= state.term;
    thread.fresh.information += state.term;
    for (const auto &change : state.changes) {
        thread.moved.changes[static_cast<size_t>(change.feature)] -= change.sum;
        thread.fresh.changes[static_cast<size_t>(change.feature)] += change.sum;
    }
    state = RowState{};
    state.kept = false;
}

void BackwardSearch::rescore(int64_t q, RowState &state, Sums &sums, Workspace &work) {
    sums.information -= state.term;
    for (const auto &change : state.changes)
        sums.changes[static_cast<size_t>(change.feature)] -= change.sum;
    state.term = scorer_.score(in_.queries[q], state.pairs, rank(q), state.radius, n_active_ > 1,
                               state.changes, work);
    sums.information += state.term;
    for (const auto &change : state.changes)
        sums.changes[static_cast<size_t>(change.feature)] += change.sum;
}

}  // namespace pinsker
