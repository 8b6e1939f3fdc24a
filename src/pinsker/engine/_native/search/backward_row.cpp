// What happens to one query row when the set changes.
#include "common/compiler.hpp"
#include "search/backward.hpp"
#include "search/scan.hpp"

namespace pinsker {

namespace {

constexpr uint16_t kNoWatch = 0xFFFF;             // watch of a close pair: matches no feature
constexpr uint32_t kEveryFeature = ~uint32_t{0};  // mask of a close pair: never exhausted

bool has_two_bits(uint32_t bits) { return (bits & (bits - 1)) != 0; }

// Hits are scattered over the table; fetching the rows early hides the wait for memory.
constexpr int kAhead = 6;

void fetch(const float *row) {
    prefetch(row);
    prefetch(row + kFront / 2);
}

double limit_of(double radius) { return radius < kFarthest ? closed_limit(radius) : kLastFinite; }

}  // namespace

int BackwardSearch::rank(int64_t q) const {
    const size_t others = target_.same_class(in_.queries[q]).size() - 1;
    return std::min(in_.rank, static_cast<int>(others));
}

// The rank-th smallest joint distance, over rows that can be neighbors at all.
double BackwardSearch::nearest_rank(int64_t a, int rank, Workspace &work) const {
    auto &best = work.pool;
    best.assign(static_cast<size_t>(rank), kInfinity);
    const double *xa = table_.row(a);
    const int width = table_.width();
    for (const int32_t b : target_.same_class(a)) {
        const double bound = best.back();
        const double dy = target_.distance(a, b);
        if (b == a || dy >= bound) continue;
        // Most rows are too far away, and one column is enough to tell.
        if (kScan.front_bits(table_.front(a), table_.front(b), table_.front_limit(bound)) != 0)
            continue;
        const double *xb = table_.row(b);
        if (kScan.first_beyond(xa, xb, table_.features(), 0, width, bound, kNoFeature) >= 0)
            continue;
        const double gap = std::max(dy, kScan.max_norm(xa, xb, width));
        if (gap >= bound) continue;
        best.pop_back();
        best.insert(std::upper_bound(best.begin(), best.end(), gap), gap);
    }
    return best.back();
}

// A set of one feature: no removal is scored, so only the rows in the ball count.
void BackwardSearch::build_last(int64_t a, RowState &state) const {
    const double *xa = table_.row(a);
    const float edge = table_.front_limit(state.limit);
    for (int64_t b = 0; b < in_.rows; ++b) {
        if (b == a || kScan.front_bits(table_.front(a), table_.front(b), edge) != 0) continue;
        const double gap = kScan.max_norm(xa, table_.row(b), table_.width());
        if (gap > state.limit) continue;
        state.pairs.push_back(
            {gap, 0.0, target_.distance(a, b), static_cast<int32_t>(b), 0, kNoFeature});
    }
}

// Everything about one row from scratch: its radius, its close pairs, and what keeps the rest far.
void BackwardSearch::build(int64_t q, RowState &state, bool watch, Workspace &work) {
    state.pairs.clear();
    state.radius = kInfinity;
    if (rank(q) == 0) return;  // alone in its class: its term is zero whatever is removed
    state.radius = nearest_rank(in_.queries[q], rank(q), work);
    state.limit = limit_of(state.radius);
    if (n_active_ == 1)
        build_last(in_.queries[q], state);
    else if (uses_masks_)
        build_masks(q, state, watch, work);
    else
        build_watches(q, state, watch);
}

void BackwardSearch::build_watches(int64_t q, RowState &state, bool watch) {
    const int64_t a = in_.queries[q];
    const double *xa = table_.row(a);
    const int32_t *features = table_.features();
    const float limit = table_.front_limit(state.limit);
    if (watch) state.watches.assign(static_cast<size_t>(2 * in_.rows), kNoWatch);
    for (int64_t b = 0; b < in_.rows; ++b) {
        if (b == a) continue;
        const uint32_t bits = table_.one_column_per_feature()
                                  ? kScan.front_bits(table_.front(a), table_.front(b), limit)
                                  : 0;
        if (has_two_bits(bits)) {
            if (watch)
                state.set_watches(b, features[count_trailing_zeros(bits)],
                                  features[count_trailing_zeros(bits & (bits - 1))]);
            continue;
        }
        const double *xb = table_.row(b);
        const int c1 =
            kScan.first_beyond(xa, xb, features, 0, table_.width(), state.limit, kNoFeature);
        const int32_t j1 = c1 < 0 ? kNoFeature : features[c1];
        const int from = c1 / kColumnBlock * kColumnBlock;
        const int c2 =
            c1 < 0 ? -1
                   : kScan.first_beyond(xa, xb, features, from, table_.width(), state.limit, j1);
        if (c2 < 0) {
            state.pairs.push_back(close_pair(a, b));
        } else if (watch) {
            state.set_watches(b, j1, features[c2]);
        }
    }
}

// Masks of all pairs that are not close yet; pairs with fewer than two features beyond become
// close.
void BackwardSearch::build_masks(int64_t q, RowState &state, bool watch, Workspace &work) {
    const int64_t a = in_.queries[q];
    for (const auto &pair : state.pairs) work.is_close[static_cast<size_t>(pair.row)] = 1;
    const size_t known = state.pairs.size();
    if (watch) {
        std::vector<uint16_t>().swap(state.watches);  // masks take their place in memory
        state.masks.resize(static_cast<size_t>(in_.rows));
    }
    for (int64_t b = 0; b < in_.rows; ++b) {
        uint32_t bits = kEveryFeature;
        if (b != a && !work.is_close[static_cast<size_t>(b)]) {
            bits = feature_bits(a, b, state.limit);
            if (!has_two_bits(bits)) {
                state.pairs.push_back(close_pair(a, b));
                bits = kEveryFeature;
            }
        }
        if (watch) state.masks[static_cast<size_t>(b)] = bits;
    }
    for (size_t p = 0; p < known; ++p) work.is_close[static_cast<size_t>(state.pairs[p].row)] = 0;
}

// Close pairs in which the removed feature was one of the two largest.
bool BackwardSearch::update_close(int64_t a, int32_t removed, RowState &state) const {
    bool changed = false;
    for (auto &pair : state.pairs) {
        if (pair.j1 != removed && pair.j2 != removed) continue;
        find_largest(a, pair);
        changed = true;
    }
    return changed;
}

// Far pairs that watched the removed feature find another one beyond the limit, or become close.
void BackwardSearch::revisit_watchers(int64_t q, int32_t removed, RowState &state,
                                      Workspace &work) {
    const int64_t a = in_.queries[q];
    uint16_t *first = state.first_watch(), *second = state.second_watch();
    const int hits = kScan.find_watchers(first, second, static_cast<int>(in_.rows),
                                         static_cast<uint16_t>(removed), work.hits.data());
    const float limit = table_.front_limit(state.limit);
    for (int h = 0; h < hits; ++h) {
        const int32_t b = work.hits[static_cast<size_t>(h)];
        if (h + kAhead < hits) fetch(table_.front(work.hits[static_cast<size_t>(h) + kAhead]));
        const uint16_t other = first[b] == removed ? second[b] : first[b];
        uint32_t bits = kScan.front_bits(table_.front(a), table_.front(b), limit);
        while (bits != 0 && table_.features()[count_trailing_zeros(bits)] == other)
            bits &= bits - 1;
        const int c = bits != 0
                          ? count_trailing_zeros(bits)
                          : kScan.first_beyond(table_.row(a), table_.row(b), table_.features(), 0,
                                               table_.width(), state.limit, other);
        if (c >= 0) {
            first[b] = other;
            second[b] = static_cast<uint16_t>(table_.features()[c]);
        } else {
            first[b] = second[b] = kNoWatch;
            state.pairs.push_back(close_pair(a, b));
        }
    }
}

// Far pairs whose mask has fewer than two features left get a new mask, or become close.
void BackwardSearch::revisit_exhausted(int64_t q, RowState &state, Workspace &work) {
    const int64_t a = in_.queries[q];
    uint32_t *mask = state.masks.data();
    const int hits =
        kScan.find_exhausted(mask, static_cast<int>(in_.rows), alive_, work.hits.data());
    for (int h = 0; h < hits; ++h) {
        const int32_t b = work.hits[static_cast<size_t>(h)];
        if (h + kAhead < hits) fetch(table_.front(work.hits[static_cast<size_t>(h) + kAhead]));
        mask[b] = feature_bits(a, b, state.limit);
        if (has_two_bits(mask[b])) continue;
        mask[b] = kEveryFeature;
        state.pairs.push_back(close_pair(a, b));
    }
}

// The radius may have shrunk: pairs with two features beyond the new limit are far again.
void BackwardSearch::tighten(int64_t q, bool watch, RowState &state, Workspace &work) {
    const int64_t a = in_.queries[q];
    state.radius = RowScorer::rank_distance(state.pairs, rank(q), state.limit, work);
    state.limit = limit_of(state.radius);
    for (size_t p = 0; p < state.pairs.size();) {
        const ClosePair &pair = state.pairs[p];
        if (pair.m2 <= state.limit) {
            ++p;
            continue;
        }
        if (!watch) {
            // The masks of the whole row are about to be built.
        } else if (uses_masks_) {
            state.masks[static_cast<size_t>(pair.row)] = feature_bits(a, pair.row, state.limit);
        } else {
            state.set_watches(pair.row, pair.j1, pair.j2);
        }
        state.pairs[p] = state.pairs.back();
        state.pairs.pop_back();
    }
}

ClosePair BackwardSearch::close_pair(int64_t a, int64_t b) const {
    ClosePair pair;
    pair.row = static_cast<int32_t>(b);
    pair.dy = target_.distance(a, b);
    find_largest(a, pair);
    return pair;
}

// The two largest feature distances of a pair.
void BackwardSearch::find_largest(int64_t a, ClosePair &pair) const {
    const double *xa = table_.row(a), *xb = table_.row(pair.row);
    const int32_t *features = table_.features();
    if (table_.one_column_per_feature()) {
        const TopTwo top = kScan.top_two(xa, xb, table_.width());
        pair.m1 = top.m1;
        pair.m2 = top.m2;
        pair.j1 = features[top.c1];
        pair.j2 = features[top.c2];
        if (pair.j1 != kNoFeature)
            return;  // otherwise all distances are zero, as in removed columns
    }
    const Largest first = kScan.largest_except(xa, xb, features, table_.width(), kNoFeature);
    const Largest second = kScan.largest_except(xa, xb, features, table_.width(), first.feature);
    pair.m1 = first.distance;
    pair.j1 = first.feature;
    pair.m2 = std::max(second.distance, 0.0);
    pair.j2 = second.feature;
}

// A bit for every feature beyond the limit; some may be left out as long as there are two.
uint32_t BackwardSearch::feature_bits(int64_t a, int64_t b, double limit) const {
    if (table_.one_column_per_feature()) {
        const uint32_t bits =
            kScan.front_bits(table_.front(a), table_.front(b), table_.front_limit(limit));
        if (has_two_bits(bits)) return bits;
    }
    const double *xa = table_.row(a), *xb = table_.row(b);
    if (table_.one_column_per_feature()) return kScan.beyond_bits(xa, xb, table_.width(), limit);
    uint32_t bits = 0;
    for (int c = 0; c < table_.width(); ++c) {
        const int32_t feature = table_.features()[c];
        if (feature != kNoFeature && std::fabs(xa[c] - xb[c]) > limit)
            bits |= uint32_t{1} << bit_of_feature_[static_cast<size_t>(feature)];
    }
    return bits;
}

}  // namespace pinsker
