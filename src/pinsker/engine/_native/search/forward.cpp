#include "search/forward.hpp"

#include "common/thread_pool.hpp"
#include "search/scan.hpp"

namespace pinsker {

namespace {

constexpr int kSampledRows = 64;      // rows that set the reach of the first pass
constexpr double kReachFactor = 3.0;  // rows scanned, as a multiple of those a typical ball needs

// One column in increasing order, and what is known around one of its values.
class ColumnOrder {
public:
    ColumnOrder(const double *column, int64_t rows)
        : values_(static_cast<size_t>(rows)),
          row_(static_cast<size_t>(rows)),
          rank_(static_cast<size_t>(rows)) {
        for (size_t i = 0; i < row_.size(); ++i) row_[i] = static_cast<int32_t>(i);
        std::stable_sort(row_.begin(), row_.end(),
                         [&](int32_t p, int32_t q) { return column[p] < column[q]; });
        for (size_t i = 0; i < row_.size(); ++i) {
            values_[i] = column[row_[i]];
            rank_[static_cast<size_t>(row_[i])] = static_cast<int64_t>(i);
        }
    }

    // Walks outwards from row a, nearest first, until `visit(row, distance)` returns false.
    template <class Visit>
    void walk(int64_t a, Visit visit) const {
        const int64_t n = static_cast<int64_t>(values_.size());
        const int64_t here = rank_[static_cast<size_t>(a)];
        int64_t left = here - 1, right = here + 1;
        while (left >= 0 || right < n) {
            const double to_left = left >= 0 ? value(here) - value(left) : kInfinity;
            const double to_right = right < n ? value(right) - value(here) : kInfinity;
            const bool go_left = to_left <= to_right;
            const int64_t at = go_left ? left-- : right++;
            if (!visit(row_[static_cast<size_t>(at)], go_left ? to_left : to_right)) return;
        }
    }

    Count count(int64_t a, double radius) const {
        const double low = open_limit(radius), high = closed_limit(radius);
        const double x = value(rank_[static_cast<size_t>(a)]);
        const auto within = [&](auto outside_left, auto inside_right) {
            const auto first = std::partition_point(values_.begin(), values_.end(), outside_left);
            const auto last = std::partition_point(first, values_.end(), inside_right);
            return static_cast<int>(last - first) - 1;  // the row itself is no other
        };
        return {std::max(within([&](double v) { return x - v >= low; },
                                [&](double v) { return v - x < low; }),
                         0),
                within([&](double v) { return x - v > high; },
                       [&](double v) { return v - x <= high; })};
    }

private:
    double value(int64_t rank) const { return values_[static_cast<size_t>(rank)]; }

    std::vector<double> values_;  // in increasing order
    std::vector<int32_t> row_;    // row of each
    std::vector<int64_t> rank_;   // place of each row
};

}  // namespace

// One thread's buffers, sized once per sweep.
struct ForwardSearch::Scratch {
    std::vector<double> distance, dy, joint, gap, zeros, best, radius, low, high, few, one, wide;
    std::vector<double> open, closed, joint_closed, z_open, z_closed, yz_open, yz_closed;
    std::vector<int> k;
    std::vector<int32_t> near;
    int64_t n_near = 0;
    double reach = 0.0;
    int rank = 0;
    std::vector<int64_t> sums;
    int64_t information = 0;

    Scratch(int64_t rows, int lanes, int rank_limit, size_t features)
        : distance(rows),
          dy(rows),
          joint(rows),
          gap(lanes),
          zeros(lanes, 0.0),
          best(static_cast<size_t>(rank_limit) * lanes),
          radius(lanes),
          low(lanes),
          high(lanes),
          few(rank_limit),
          one(rows),
          wide(rows),
          open(lanes),
          closed(lanes),
          joint_closed(lanes),
          z_open(lanes),
          z_closed(lanes),
          yz_open(lanes),
          yz_closed(lanes),
          k(lanes),
          near(rows),
          sums(features, 0) {}
};

ForwardSearch::ForwardSearch(const SearchInput &input)
    : in_(input),
      target_(input.labels, input.target, input.rows, input.targets),
      terms_(input.digamma, input.rows),
      by_column_(static_cast<size_t>(input.rows * input.columns)),
      columns_of_feature_(static_cast<size_t>(input.n_features)),
      sums_(static_cast<size_t>(input.n_features), 0) {
    for (int64_t r = 0; r < in_.rows; ++r)
        for (int64_t c = 0; c < in_.columns; ++c)
            by_column_[static_cast<size_t>(c * in_.rows + r)] = in_.values[r * in_.columns + c];
    for (int64_t c = 0; c < in_.columns; ++c)
        columns_of_feature_[static_cast<size_t>(in_.features[c])].push_back(
            static_cast<int32_t>(c));
}

void ForwardSearch::start(const uint8_t *active, int threads) {
    active_.assign(active, active + in_.n_features);
    sweep(threads);
}

void ForwardSearch::add(int32_t feature, int threads) {
    active_[static_cast<size_t>(feature)] = 1;
    sweep(threads);
}

void ForwardSearch::sweep(int threads) {
    std::vector<uint8_t> wanted(active_.size());
    n_active_columns_ = 0;
    for (size_t u = 0; u < active_.size(); ++u) {
        wanted[u] = !active_[u];
        if (active_[u]) n_active_columns_ += static_cast<int>(columns_of_feature_[u].size());
    }
    candidates_.build(in_.values, in_.rows, in_.columns, in_.features, wanted,
                      std::vector<int64_t>(active_.size(), 0));
    // A lane is a feature. Features of one column have their lane where their column is.
    feature_of_lane_.clear();
    lane_of_column_.assign(static_cast<size_t>(candidates_.width()), -1);
    std::vector<int32_t> lane_of_feature(active_.size(), -1);
    for (int c = 0; c < candidates_.width(); ++c) {
        const int32_t feature = candidates_.features()[c];
        if (feature == kNoFeature) continue;
        auto &lane = lane_of_feature[static_cast<size_t>(feature)];
        if (lane < 0) {
            lane = static_cast<int32_t>(feature_of_lane_.size());
            feature_of_lane_.push_back(feature);
        }
        lane_of_column_[static_cast<size_t>(c)] = lane;
    }
    one_column_per_lane_ = true;
    for (const int32_t feature : feature_of_lane_)
        one_column_per_lane_ &= columns_of_feature_[static_cast<size_t>(feature)].size() == 1;
    lanes_ = (static_cast<int>(feature_of_lane_.size()) + kColumnBlock - 1) / kColumnBlock *
             kColumnBlock;
    std::fill(sums_.begin(), sums_.end(), 0);
    information_ = 0;
    if (n_active_columns_ == 0 && one_column_per_lane_) {
        measure_columns_alone(threads);
        return;
    }
    std::vector<Scratch> scratch;
    scratch.reserve(static_cast<size_t>(threads));
    for (int t = 0; t < threads; ++t)
        scratch.emplace_back(in_.rows, lanes_, in_.rank, active_.size());
    ThreadPool::shared().run(in_.n_queries, 8, threads, [&](int64_t q, int slot) {
        measure_row(in_.queries[q], scratch[static_cast<size_t>(slot)]);
    });
    for (const auto &part : scratch) {
        information_ += part.information;
        for (size_t u = 0; u < sums_.size(); ++u) sums_[u] += part.sums[u];
    }
}

// All candidates of one query row.
void ForwardSearch::measure_row(int64_t a, Scratch &s) const {
    s.rank = std::min(in_.rank, static_cast<int>(target_.same_class(a).size()) - 1);
    if (s.rank <= 0) return;  // alone in its class: every term is zero
    std::fill(s.distance.begin(), s.distance.end(), 0.0);
    for (size_t u = 0; u < active_.size(); ++u) {
        if (!active_[u]) continue;
        for (const int32_t c : columns_of_feature_[u]) {
            const double *column = by_column_.data() + static_cast<int64_t>(c) * in_.rows;
            kScan.raise_by_column(s.distance.data(), column, column[a], in_.rows);
        }
    }
    target_.distances(a, s.dy.data());
    s.distance[static_cast<size_t>(a)] = s.dy[static_cast<size_t>(a)] =
        kInfinity;  // never its own neighbor
    kScan.larger_of(s.distance.data(), s.dy.data(), in_.rows, s.joint.data());
    if (n_active_columns_ > 0) s.information += base_term(a, s);
    if (feature_of_lane_.empty()) return;
    s.reach = reach(a, s);
    scan_near_rows(a, s);
    count_near_rows(a, s);
    for (size_t lane = 0; lane < feature_of_lane_.size(); ++lane) {
        // Rows out of reach could still be inside a larger ball, or complete one that is short.
        const bool settled =
            s.reach == kInfinity || (s.k[lane] == s.rank && s.high[lane] <= s.reach);
        if (!settled) measure_alone(a, static_cast<int>(lane), s);
        s.sums[static_cast<size_t>(feature_of_lane_[lane])] += term(a, static_cast<int>(lane), s);
    }
}

// How far in D_S the first pass looks: a little beyond where a typical candidate's ball ends.
// Only speed depends on it.
double ForwardSearch::reach(int64_t a, const Scratch &s) const {
    if (n_active_columns_ == 0) return kInfinity;
    const double dims = n_active_columns_;
    const double density =
        static_cast<double>(s.rank) / static_cast<double>(target_.same_class(a).size());
    const double fraction = kReachFactor * std::pow(density, dims / (dims + 1.0));
    const int64_t stride = std::max<int64_t>(1, in_.rows / kSampledRows);
    double sample[2 * kSampledRows + 2];
    int n = 0;
    for (int64_t b = 0; b < in_.rows && n < 2 * kSampledRows; b += stride)
        if (b != a) sample[n++] = s.distance[static_cast<size_t>(b)];
    const int at = static_cast<int>(fraction * n) + 1;
    if (at >= n) return kInfinity;
    std::nth_element(sample, sample + at, sample + n);
    return sample[at];
}

// Two arrays whose difference is the distance of every lane.
ForwardSearch::RowPair ForwardSearch::lane_distances(int64_t a, int64_t b, Scratch &s) const {
    const double *xa = candidates_.row(a), *xb = candidates_.row(b);
    if (one_column_per_lane_) return {xa, xb};
    std::fill(s.gap.begin(), s.gap.end(), 0.0);
    for (int c = 0; c < candidates_.width(); ++c) {
        const int32_t lane = lane_of_column_[static_cast<size_t>(c)];
        if (lane < 0) continue;
        double &gap = s.gap[static_cast<size_t>(lane)];
        gap = std::max(gap, std::fabs(xa[c] - xb[c]));
    }
    return {s.gap.data(), s.zeros.data()};
}

// Radius of every lane, from the rows within reach.
void ForwardSearch::scan_near_rows(int64_t a, Scratch &s) const {
    s.n_near = kScan.positions_up_to(s.distance.data(), in_.rows, std::min(s.reach, kLastFinite),
                                     s.near.data());
    std::fill(s.best.begin(), s.best.begin() + static_cast<int64_t>(s.rank) * lanes_, kInfinity);
    for (int64_t i = 0; i < s.n_near; ++i) {
        const int32_t b = s.near[static_cast<size_t>(i)];
        const double floor = s.joint[static_cast<size_t>(b)];
        if (floor >= kFarthest) continue;
        const RowPair lanes = lane_distances(a, b, s);
        kScan.lane_insert(s.best.data(), s.rank, lanes_, lanes.a, lanes.b, floor);
    }
    for (int lane = 0; lane < lanes_; ++lane) {
        int k = s.rank;
        while (k > 0 && s.best[place(k, lane)] >= kFarthest) --k;
        set_ball(lane, k, k > 0 ? s.best[place(k, lane)] : 0.0, s);
    }
}

void ForwardSearch::set_ball(int lane, int k, double radius, Scratch &s) const {
    const size_t at = static_cast<size_t>(lane);
    s.k[at] = k;
    s.radius[at] = radius;
    s.low[at] = open_limit(radius);
    s.high[at] = closed_limit(radius);
}

// Counts of every lane, from the same rows; right for lanes whose ball ends within reach.
void ForwardSearch::count_near_rows(int64_t a, Scratch &s) const {
    for (auto *counts :
         {&s.open, &s.closed, &s.joint_closed, &s.z_open, &s.z_closed, &s.yz_open, &s.yz_closed})
        std::fill(counts->begin(), counts->end(), 0.0);
    for (int64_t i = 0; i < s.n_near; ++i) {
        const size_t at = static_cast<size_t>(s.near[static_cast<size_t>(i)]);
        const RowPair lanes = lane_distances(a, static_cast<int64_t>(at), s);
        kScan.lane_count({s.open.data(), s.closed.data(), s.joint_closed.data()}, lanes_, lanes.a,
                         lanes.b, s.distance[at], s.dy[at], s.low.data(), s.high.data());
        if (!in_.direct) continue;
        kScan.lane_count_base(s.z_open.data(), s.z_closed.data(), lanes_, s.distance[at],
                              s.low.data(), s.high.data());
        kScan.lane_count_base(s.yz_open.data(), s.yz_closed.data(), lanes_, s.joint[at],
                              s.low.data(), s.high.data());
    }
}

// One lane against all rows.
void ForwardSearch::measure_alone(int64_t a, int lane, Scratch &s) const {
    const size_t at = static_cast<size_t>(lane);
    s.one = s.distance;
    for (const int32_t c : columns_of_feature_[static_cast<size_t>(feature_of_lane_[at])]) {
        const double *column = by_column_.data() + static_cast<int64_t>(c) * in_.rows;
        kScan.raise_by_column(s.one.data(), column, column[a], in_.rows);
    }
    const double found = s.best[place(s.rank, lane)];
    const double limit = std::min(found, kLastFinite);
    const int n = static_cast<int>(in_.rows);
    kScan.larger_of(s.one.data(), s.dy.data(), in_.rows, s.wide.data());
    const int k = kScan.smallest_values(s.wide.data(), n, s.rank, limit, s.few.data());
    set_ball(lane, k, k > 0 ? s.few[static_cast<size_t>(k - 1)] : 0.0, s);
    if (k == 0) return;
    const double low = s.low[at], high = s.high[at];
    s.open[at] = kScan.count_below(s.one.data(), n, low);
    s.closed[at] = kScan.count_up_to(s.one.data(), n, high);
    s.joint_closed[at] = kScan.count_up_to(s.wide.data(), n, high);
    if (!in_.direct) return;
    s.z_open[at] = kScan.count_below(s.distance.data(), n, low);
    s.z_closed[at] = kScan.count_up_to(s.distance.data(), n, high);
    s.yz_open[at] = kScan.count_below(s.joint.data(), n, low);
    s.yz_closed[at] = kScan.count_up_to(s.joint.data(), n, high);
}

int64_t ForwardSearch::term(int64_t a, int lane, const Scratch &s) const {
    const size_t at = static_cast<size_t>(lane);
    const auto count = [&](const std::vector<double> &open, const std::vector<double> &closed) {
        return Count{static_cast<int>(open[at]), static_cast<int>(closed[at])};
    };
    const int k = s.k[at], kt = static_cast<int>(s.joint_closed[at]);
    const Count x = count(s.open, s.closed);
    if (k == 0) return 0;
    if (in_.direct && n_active_columns_ > 0)
        return terms_.conditional(s.radius[at], k, kt, x, count(s.yz_open, s.yz_closed),
                                  count(s.z_open, s.z_closed));
    Count y{0, 0};
    target_.count(a, s.radius[at], y.open, y.closed);
    return terms_.information(s.radius[at], k, kt, x, y);
}

// The row's term for the current set alone.
int64_t ForwardSearch::base_term(int64_t a, Scratch &s) const {
    const int k =
        kScan.smallest_values(s.joint.data(), in_.rows, s.rank, kLastFinite, s.few.data());
    if (k == 0) return 0;
    const double radius = s.few[static_cast<size_t>(k - 1)];
    const double low = open_limit(radius), high = closed_limit(radius);
    const int n = static_cast<int>(in_.rows);
    const Count x{kScan.count_below(s.distance.data(), n, low),
                  kScan.count_up_to(s.distance.data(), n, high)};
    Count y{0, 0};
    target_.count(a, radius, y.open, y.closed);
    return terms_.information(radius, k, kScan.count_up_to(s.joint.data(), n, high), x, y);
}

// The first step: every column on its own, from sorted values.
void ForwardSearch::measure_columns_alone(int threads) {
    const auto lanes = static_cast<int64_t>(feature_of_lane_.size());
    ThreadPool::shared().run(lanes, 1, threads, [&](int64_t lane, int) {
        const size_t feature = static_cast<size_t>(feature_of_lane_[static_cast<size_t>(lane)]);
        const ColumnOrder column(
            by_column_.data() + columns_of_feature_[feature].front() * in_.rows, in_.rows);
        std::vector<double> nearest;  // joint distances of the nearest neighbors, increasing
        std::vector<double> seen;
        int64_t sum = 0;
        for (int64_t q = 0; q < in_.n_queries; ++q) {
            const int64_t a = in_.queries[q];
            const size_t rank =
                std::min(static_cast<size_t>(in_.rank), target_.same_class(a).size() - 1);
            if (rank == 0) continue;
            nearest.clear();
            seen.clear();
            column.walk(a, [&](int32_t b, double dx) {
                const bool full = nearest.size() == rank;
                if (dx >= kFarthest || (full && dx > closed_limit(nearest.back()))) return false;
                const double joint = std::max(dx, target_.distance(a, b));
                if (joint >= kFarthest) return true;
                seen.push_back(joint);
                if (full && joint >= nearest.back()) return true;
                if (full) nearest.pop_back();
                nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), joint), joint);
                return true;
            });
            if (nearest.empty()) continue;
            const double radius = nearest.back();
            const int kt =
                kScan.count_up_to(seen.data(), static_cast<int>(seen.size()), closed_limit(radius));
            Count y{0, 0};
            target_.count(a, radius, y.open, y.closed);
            sum += terms_.information(radius, static_cast<int>(nearest.size()), kt,
                                      column.count(a, radius), y);
        }
        sums_[feature] = sum;
    });
}

}  // namespace pinsker
