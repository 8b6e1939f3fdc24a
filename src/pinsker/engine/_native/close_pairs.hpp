// The pairs of one query row that can matter to a removal, and what each removal would do to it.
//
// For a pair and the current units, m1 >= m2 are the two largest unit distances and j1 the unit
// that attains m1: without unit g the distance is m2 if g == j1, else m1. A pair is *close* when
// m2 is within the row's radius; only close pairs can enter the ball of any candidate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "target.hpp"
#include "terms.hpp"

struct ClosePair {
    double m1, m2;   // two largest unit distances
    double dy;       // distance in the target; infinite between classes
    int32_t row;     // the other row
    int32_t j1, j2;  // units attaining m1 and m2; j2 is kNoUnit when there is no second unit
    double joint() const { return std::max(m1, dy); }
    double joint_without_j1() const { return std::max(m2, dy); }
};

struct Change {
    int32_t unit;
    int64_t sum;  // fixed point; what the unit's removal adds to the row's term (or its direct CMI)
};

// The row's ball: the rank-th nearest neighbour, or the last one at finite distance.
struct Ball {
    double radius = 0.0;
    int k = 0;            // neighbours that define it; 0 when the row is alone
    bool short_of = false;  // fewer than `rank` rows at finite distance
    int kt = 0;           // joint rows inside or on it
    Count x{0, 0};
};

// Scratch of one thread; sized once, reused for every row.
struct Workspace {
    std::vector<double> near_x, near_joint, pool, below;
    std::vector<int32_t> head, next, touched, hits;
    explicit Workspace(size_t units = 0) : head(units, -1) {}
};

class RowJudge {
   public:
    RowJudge(const TargetSpace &target, const Terms &terms, bool direct)
        : target_(target), terms_(terms), direct_(direct) {}

    // rank-th smallest joint distance of the close pairs, infinite if there are fewer.
    static double rank_distance(const std::vector<ClosePair> &pairs, int rank, double at_most,
                                Workspace &work) {
        auto &pool = work.pool;
        pool.clear();
        for (const auto &p : pairs)
            if (p.joint() <= at_most) pool.push_back(p.joint());
        if (static_cast<int>(pool.size()) < rank) return kInfinity;
        std::nth_element(pool.begin(), pool.begin() + (rank - 1), pool.end());
        return pool[static_cast<size_t>(rank - 1)];
    }

    // The row's own term; `changes` receives what each unit's removal would do.
    int64_t judge(int64_t row, const std::vector<ClosePair> &pairs, int rank, bool candidates,
                  std::vector<Change> &changes, Workspace &work) const {
        changes.clear();
        const Ball ball = measure(pairs, rank, work);
        const int64_t term = information_term(row, ball);
        if (candidates) {
            group_by_largest(pairs, work);
            for (const int32_t unit : work.touched) {
                const int64_t sum =
                    direct_ ? direct_term(pairs, ball, work.head[unit], work)
                            : information_term(row, without(pairs, ball, rank, unit, work)) - term;
                if (sum != 0) changes.push_back({unit, sum});
                work.head[unit] = -1;
            }
        }
        return term;
    }

   private:
    int64_t information_term(int64_t row, const Ball &ball) const {
        if (ball.k == 0) return 0;
        Count y{0, 0};
        target_.count(row, ball.radius, y.open, y.closed);
        return terms_.information(ball.radius, ball.k, ball.kt, ball.x, y);
    }

    // Ball of the current set. Leaves near pairs (and joint distances below the radius) in `work`.
    static Ball measure(const std::vector<ClosePair> &pairs, int rank, Workspace &work) {
        Ball ball;
        auto &pool = work.pool;
        pool.clear();
        for (const auto &p : pairs)
            if (p.joint() < kFarthest) pool.push_back(p.joint());
        const int finite = static_cast<int>(pool.size());
        ball.short_of = finite < rank;
        ball.k = std::min(rank, finite);
        work.near_x.clear();
        work.near_joint.clear();
        work.below.clear();
        if (ball.k > 0) {
            std::nth_element(pool.begin(), pool.begin() + (ball.k - 1), pool.end());
            ball.radius = pool[static_cast<size_t>(ball.k - 1)];
        }
        const double edge = inside_or_on(ball.radius);
        for (const auto &p : pairs) {
            // A short row's candidates may have larger balls: keep all finite distances for them.
            if (p.m1 <= edge || (ball.short_of && p.m1 < kFarthest)) {
                work.near_x.push_back(p.m1);
                if (p.joint() < kFarthest) work.near_joint.push_back(p.joint());
            }
        }
        if (ball.k > 0) count_base(ball, work);
        return ball;
    }

    static void count_base(Ball &ball, const Workspace &work) {
        const int n = static_cast<int>(work.near_x.size());
        const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
        ball.x.open = count_below(work.near_x.data(), n, low);
        ball.x.closed = count_up_to(work.near_x.data(), n, high);
        ball.kt = count_up_to(work.near_joint.data(), static_cast<int>(work.near_joint.size()), high);
    }

    static void group_by_largest(const std::vector<ClosePair> &pairs, Workspace &work) {
        work.next.resize(pairs.size());
        work.touched.clear();
        for (size_t p = 0; p < pairs.size(); ++p) {
            const int32_t unit = pairs[p].j1;
            if (work.head[unit] < 0) work.touched.push_back(unit);
            work.next[p] = work.head[unit];
            work.head[unit] = static_cast<int32_t>(p);
        }
    }

    // Ball of the set without `unit`: only pairs whose largest distance is the unit's move.
    static Ball without(const std::vector<ClosePair> &pairs, const Ball &base, int rank,
                        int32_t unit, Workspace &work) {
        Ball ball = base;
        const int32_t first = work.head[unit];
        if (!shrink_radius(pairs, base, rank, unit, first, ball, work)) return ball;
        if (ball.radius != base.radius || base.k == 0) count_base(ball, work);
        const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
        for (int32_t p = first; p >= 0; p = work.next[p]) {
            const ClosePair &pair = pairs[p];
            ball.x.open += (pair.m2 < low) - (pair.m1 < low);
            ball.x.closed += (pair.m2 <= high) - (pair.m1 <= high);
            ball.kt += (pair.joint_without_j1() <= high) - (pair.joint() <= high);
        }
        return ball;
    }

    // Sets ball.k and ball.radius; false when the row is alone without the unit too.
    static bool shrink_radius(const std::vector<ClosePair> &pairs, const Ball &base, int rank,
                              int32_t unit, int32_t first, Ball &ball, Workspace &work) {
        // Distances only fall. Fewer than `rank` lie below the old radius, so the new radius is the
        // old one unless enough of the unit's pairs drop below it.
        const double limit = base.short_of ? kFarthest : base.radius;
        auto &pool = work.pool;
        pool.clear();
        for (int32_t p = first; p >= 0; p = work.next[p])
            if (pairs[p].joint_without_j1() < limit) pool.push_back(pairs[p].joint_without_j1());
        if (pool.empty() && !base.short_of) return true;
        for (const auto &p : pairs)
            if (p.j1 != unit && p.joint() < limit) pool.push_back(p.joint());
        const int inside = static_cast<int>(pool.size());
        if (inside < rank && !base.short_of) return true;
        ball.k = std::min(rank, inside);
        if (ball.k == 0) return false;
        std::nth_element(pool.begin(), pool.begin() + (ball.k - 1), pool.end());
        ball.radius = pool[static_cast<size_t>(ball.k - 1)];
        return true;
    }

    // I(Y; X_unit | rest) at the joint radius of the full set.
    int64_t direct_term(const std::vector<ClosePair> &pairs, const Ball &ball, int32_t first,
                        const Workspace &work) const {
        if (ball.k == 0) return 0;
        const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
        Count z = ball.x;
        Count yz{count_below(work.near_joint.data(), static_cast<int>(work.near_joint.size()), low),
                 ball.kt};
        for (int32_t p = first; p >= 0; p = work.next[p]) {
            const ClosePair &pair = pairs[p];
            z.open += (pair.m2 < low) - (pair.m1 < low);
            z.closed += (pair.m2 <= high) - (pair.m1 <= high);
            yz.open += (pair.joint_without_j1() < low) - (pair.joint() < low);
            yz.closed += (pair.joint_without_j1() <= high) - (pair.joint() <= high);
        }
        return terms_.conditional(ball.radius, ball.k, ball.kt, ball.x, yz, z);
    }

    const TargetSpace &target_;
    const Terms &terms_;
    const bool direct_;
};
