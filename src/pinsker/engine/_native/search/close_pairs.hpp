// The pairs of one query row that can matter to a removal, and what each removal would do to it.
//
// For a pair and the current features, m1 >= m2 are the two largest feature distances and j1 the
// feature that attains m1: without feature g the distance is m2 if g == j1, else m1. A pair is
// *close* when m2 is within the row's radius; only close pairs can enter the ball of any candidate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/estimator.hpp"
#include "search/target.hpp"

namespace pinsker {

struct ClosePair {
    double m1, m2;  // two largest feature distances
    double dy;      // distance in the target; infinite between classes
    int32_t row;    // the other row
    int32_t j1,
        j2;  // features attaining m1 and m2; j2 is kNoFeature when there is no second feature
    double joint() const { return std::max(m1, dy); }
    double joint_without_j1() const { return std::max(m2, dy); }
};

struct Change {
    int32_t feature;
    int64_t
        sum;  // fixed point; what the feature's removal adds to the row's term (or its direct CMI)
};

// The ball around a row, and how many other rows are in it.
struct Ball {
    double radius = 0.0;
    int k = 0;              // neighbors that define it; 0 when the row is alone
    bool short_of = false;  // fewer than k rows are at finite distance: the last one defines it
    int joint_open = 0, joint_closed = 0;
    Count x{0, 0};
    Count y{0, 0};
};

// Scratch of one thread; sized once, reused for every row.
struct Workspace {
    std::vector<double> pool;
    std::vector<double> near_x, near_joint;  // distances of the pairs that may be in a ball
    std::vector<double> below;               // joint distances below the radius ...
    std::vector<int32_t> below_feature;      // ... and the feature that attains each
    std::vector<int32_t> head, next, touched, hits;
    std::vector<uint8_t> is_close;
};

class RowScorer {
public:
    RowScorer(const TargetSpace &target, const Terms &terms, bool direct)
        : target_(target), terms_(terms), direct_(direct) {}

    // rank-th smallest joint distance of the close pairs up to a limit, infinite if there are
    // fewer.
    static double rank_distance(const std::vector<ClosePair> &pairs, int rank, double limit,
                                Workspace &work);

    // The row's own term; `changes` receives what each feature's removal would do to it. `radius`
    // is the rank_distance of the pairs.
    int64_t score(int64_t row, const std::vector<ClosePair> &pairs, int rank, double radius,
                  bool candidates, std::vector<Change> &changes, Workspace &work) const;

private:
    int64_t information_term(const Ball &ball) const;
    static Ball measure(const std::vector<ClosePair> &pairs, int rank, double radius,
                        Workspace &work);
    static void group_by_largest(const std::vector<ClosePair> &pairs, Workspace &work);
    static Ball without(const std::vector<ClosePair> &pairs, const Ball &base, int rank,
                        int32_t feature, Workspace &work);
    static void shrink(const std::vector<ClosePair> &pairs, int rank, int32_t feature, Ball &ball,
                       Workspace &work);
    int64_t direct_term(const std::vector<ClosePair> &pairs, const Ball &ball, int32_t feature,
                        const Workspace &work) const;

    const TargetSpace &target_;
    const Terms &terms_;
    const bool direct_;
};

}  // namespace pinsker
