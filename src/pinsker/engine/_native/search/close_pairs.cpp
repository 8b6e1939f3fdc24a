#include "search/close_pairs.hpp"

#include "search/scan.hpp"

namespace pinsker {

namespace {

void count_base(Ball &ball, const Workspace &work) {
    const BallCounts counts = kScan.count_ball(work.near_x.data(), work.near_joint.data(),
                                               static_cast<int>(work.near_x.size()),
                                               open_limit(ball.radius), closed_limit(ball.radius));
    ball.x = Count{counts.open, counts.closed};
    ball.joint_open = counts.joint_open;
    ball.joint_closed = counts.joint_closed;
}

double nth_smallest(std::vector<double> &pool, int rank) {
    std::nth_element(pool.begin(), pool.begin() + (rank - 1), pool.end());
    return pool[static_cast<size_t>(rank - 1)];
}

// A pair whose largest distance is the feature's moves in: m1 becomes m2.
void move_in(const ClosePair &pair, double low, double high, Ball &ball) {
    const double joint = pair.joint(), moved = pair.joint_without_j1();
    ball.x.open += (pair.m2 < low) - (pair.m1 < low);
    ball.x.closed += (pair.m2 <= high) - (pair.m1 <= high);
    ball.joint_open += (moved < low) - (joint < low);
    ball.joint_closed += (moved <= high) - (joint <= high);
}

}  // namespace

double RowScorer::rank_distance(const std::vector<ClosePair> &pairs, int rank, double limit,
                                Workspace &work) {
    auto &pool = work.pool;
    pool.clear();
    for (const auto &pair : pairs)
        if (pair.joint() <= limit) pool.push_back(pair.joint());
    return static_cast<int>(pool.size()) < rank ? kInfinity : nth_smallest(pool, rank);
}

int64_t RowScorer::score(int64_t row, const std::vector<ClosePair> &pairs, int rank, double radius,
                         bool candidates, std::vector<Change> &changes, Workspace &work) const {
    changes.clear();
    Ball ball = measure(pairs, rank, radius, work);
    if (ball.k > 0) target_.count(row, ball.radius, ball.y.open, ball.y.closed);
    const int64_t term = information_term(ball);
    if (!candidates) return term;
    group_by_largest(pairs, work);
    for (const int32_t feature : work.touched) {
        int64_t sum = 0;
        if (direct_) {
            sum = direct_term(pairs, ball, feature, work);
        } else {
            Ball rest = without(pairs, ball, rank, feature, work);
            if (rest.radius != ball.radius || ball.k == 0)
                target_.count(row, rest.radius, rest.y.open, rest.y.closed);
            sum = information_term(rest) - term;
        }
        if (sum != 0) changes.push_back({feature, sum});
        work.head[static_cast<size_t>(feature)] = -1;
    }
    return term;
}

int64_t RowScorer::information_term(const Ball &ball) const {
    return terms_.information(ball.radius, ball.k, ball.joint_closed, ball.x, ball.y);
}

// Ball of the current set. Leaves in `work` what the candidates' balls are counted from.
Ball RowScorer::measure(const std::vector<ClosePair> &pairs, int rank, double radius,
                        Workspace &work) {
    Ball ball;
    ball.short_of = !(radius < kFarthest);
    ball.k = rank;
    ball.radius = radius;
    if (ball.short_of) {
        auto &pool = work.pool;
        pool.clear();
        for (const auto &pair : pairs)
            if (pair.joint() < kFarthest) pool.push_back(pair.joint());
        ball.k = static_cast<int>(pool.size());
        ball.radius = pool.empty() ? 0.0 : *std::max_element(pool.begin(), pool.end());
    }
    // A short row's candidates may have larger balls: all finite distances can matter to them.
    const double edge = ball.short_of ? kLastFinite : closed_limit(ball.radius);
    const double below = ball.short_of ? kFarthest : ball.radius;
    work.near_x.clear();
    work.near_joint.clear();
    work.below.clear();
    work.below_feature.clear();
    for (const auto &pair : pairs) {
        if (pair.m1 > edge) continue;
        const double joint = pair.joint();
        work.near_x.push_back(pair.m1);
        work.near_joint.push_back(joint);
        if (joint < below) {
            work.below.push_back(joint);
            work.below_feature.push_back(pair.j1);
        }
    }
    if (ball.k > 0) count_base(ball, work);
    return ball;
}

void RowScorer::group_by_largest(const std::vector<ClosePair> &pairs, Workspace &work) {
    work.next.resize(pairs.size());
    work.touched.clear();
    for (size_t p = 0; p < pairs.size(); ++p) {
        int32_t &head = work.head[static_cast<size_t>(pairs[p].j1)];
        if (head < 0) work.touched.push_back(pairs[p].j1);
        work.next[p] = head;
        head = static_cast<int32_t>(p);
    }
}

// Ball of the set without `feature`: only pairs whose largest distance is the feature's move.
Ball RowScorer::without(const std::vector<ClosePair> &pairs, const Ball &base, int rank,
                        int32_t feature, Workspace &work) {
    Ball ball = base;
    shrink(pairs, rank, feature, ball, work);
    if (ball.k == 0) return ball;
    if (ball.radius != base.radius || base.k == 0) count_base(ball, work);
    const double low = open_limit(ball.radius), high = closed_limit(ball.radius);
    for (int32_t p = work.head[static_cast<size_t>(feature)]; p >= 0;
         p = work.next[static_cast<size_t>(p)])
        move_in(pairs[static_cast<size_t>(p)], low, high, ball);
    return ball;
}

// Radius without `feature`. Distances only fall, and fewer than `rank` lie below the old radius: it
// stays unless enough of the feature's pairs drop below it.
void RowScorer::shrink(const std::vector<ClosePair> &pairs, int rank, int32_t feature, Ball &ball,
                       Workspace &work) {
    const double limit = ball.short_of ? kFarthest : ball.radius;
    auto &pool = work.pool;
    pool.clear();
    for (int32_t p = work.head[static_cast<size_t>(feature)]; p >= 0;
         p = work.next[static_cast<size_t>(p)]) {
        const double moved = pairs[static_cast<size_t>(p)].joint_without_j1();
        if (moved < limit) pool.push_back(moved);
    }
    if (pool.empty() && !ball.short_of) return;
    for (size_t p = 0; p < work.below.size(); ++p)
        if (work.below_feature[p] != feature) pool.push_back(work.below[p]);
    const int inside = static_cast<int>(pool.size());
    if (inside < rank && !ball.short_of) return;
    ball.k = std::min(rank, inside);
    if (ball.k > 0) ball.radius = nth_smallest(pool, ball.k);
}

// I(Y; X_feature | rest) at the joint radius of the full set.
int64_t RowScorer::direct_term(const std::vector<ClosePair> &pairs, const Ball &ball,
                               int32_t feature, const Workspace &work) const {
    if (ball.k == 0) return 0;
    const double low = open_limit(ball.radius), high = closed_limit(ball.radius);
    Ball rest = ball;
    for (int32_t p = work.head[static_cast<size_t>(feature)]; p >= 0;
         p = work.next[static_cast<size_t>(p)])
        move_in(pairs[static_cast<size_t>(p)], low, high, rest);
    return terms_.conditional(ball.radius, ball.k, ball.joint_closed, ball.x,
                              Count{rest.joint_open, rest.joint_closed}, rest.x);
}

}  // namespace pinsker
