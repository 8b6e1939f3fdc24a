// The constants and terms of docs/estimator.md, in fixed point.
//
// Digammas are integers scaled by a power of two, so a sum of terms is exact and has the same bits
// for any number of threads, any tiling and any order; a term can be taken back without drift.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace pinsker {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-10;                    // relative, of a radius
constexpr double kFarthest = 1e100;                     // this far and farther counts as infinite
constexpr double kLastFinite = 0x1.249ad2594c37cp+332;  // the number before it
constexpr double kNominalStep = 1e200;                  // nominal columns hold multiples of it
static_assert(kLastFinite < kFarthest && kFarthest < kNominalStep);

// Distances below open_limit are strictly inside the radius, those up to closed_limit inside or on
// it.
inline double open_limit(double radius) { return radius * (1.0 - kTolerance); }
inline double closed_limit(double radius) { return radius * (1.0 + kTolerance); }
// The same where infinite distances are compared, too: they are never inside.
inline double finite_closed_limit(double radius) {
    return std::min(closed_limit(radius), kLastFinite);
}

struct Count {
    int open;    // other rows strictly inside the radius
    int closed;  // other rows inside or on it
    bool smooth() const { return closed - open <= 1; }
};

class Terms {
public:
    Terms(const int64_t *digamma, int64_t rows) : psi_(digamma), rows_(rows) {}

    // I(X;Y): neighbors k, joint closed count kt, marginal counts of x and y.
    int64_t information(double radius, int k, int kt, Count x, Count y) const {
        if (k == 0) return 0;
        if (radius > 0.0 && kt == k && x.smooth() && y.smooth())
            return psi_[k] + psi_[rows_] - psi_[x.open + 1] - psi_[y.open + 1];
        return psi_[kt] + psi_[rows_ - 1] - psi_[x.closed] - psi_[y.closed];
    }

    // I(X;Y|Z): marginal counts of xz, yz and z.
    int64_t conditional(double radius, int k, int kt, Count xz, Count yz, Count z) const {
        if (k == 0) return 0;
        if (radius > 0.0 && kt == k && xz.smooth() && yz.smooth() && z.smooth())
            return psi_[k] - psi_[xz.open + 1] - psi_[yz.open + 1] + psi_[z.open + 1];
        return psi_[kt] - psi_[xz.closed] - psi_[yz.closed] + psi_[z.closed];
    }

private:
    const int64_t *psi_;
    int64_t rows_;
};

}  // namespace pinsker
