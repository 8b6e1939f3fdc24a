// The eight rows of a block as queries: what they are compared by, and what they have found.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/estimator.hpp"
#include "knn/index.hpp"
#include "knn/kernels.hpp"

namespace pinsker {

constexpr int kStretch = 12;  // columns between two looks at whether all rows are too far

// A coordinate far from its column's center is far from most rows: with such columns in front, most
// comparisons end in the first stretch. Few columns are left as they are.
struct Probe {
    std::vector<int32_t> column;
    std::vector<double> at;

    explicit Probe(int d) : column(d), at(d) {}

    void aim(const Index &index, int64_t block, int lane, int from, int to) {
        const RowBlock *values = index.block(block);
        for (int c = from; c < to; ++c) column[c] = c;
        if (to - from > kStretch) {
            const double *center = index.center.data();
            const auto is_telling = [=](int32_t a, int32_t b) {
                return std::fabs(values[a].lane[lane] - center[a]) >
                       std::fabs(values[b].lane[lane] - center[b]);
            };
            int32_t *first = column.data() + from;
            std::nth_element(first, first + kStretch, first + (to - from), is_telling);
        }
        for (int c = from; c < to; ++c) at[c] = values[column[c]].lane[lane];
    }
};

constexpr int kSortedLimit = 12;  // up to here a sorted list without branches, above it a heap
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// The k smallest distances seen so far. `reach` is how near a row must be to be looked at: anything
// that could be among them or tie with the last of them. Once a tie is seen the row is `crowded`
// (its closed count is taken later), and ties need not be looked for any more.
class Nearest {
public:
    void start(double *room, int k) {
        kept_ = room;
        k_ = k;
        found_ = 0;
        crowded_ = false;
        reach_ = past_ = kFarthest;
        std::fill_n(kept_, k, kFarthest);  // also a heap
    }

    double reach() const { return reach_; }
    double past() const { return past_; }  // beyond all rows inside or on the radius, tied or not
    int found() const { return found_; }
    bool crowded() const { return crowded_; }

    double radius() const {
        double largest = 0.0;
        for (int i = 0; i < k_; ++i) {
            if (kept_[i] < kFarthest) largest = std::max(largest, kept_[i]);
        }
        return largest;
    }

    // Any finite distance may be offered, also one that is not within reach any more.
    void offer(double distance) {
        found_ += found_ < k_;
        const double last = worst();
        if (k_ <= kSortedLimit) {
            for (int i = k_ - 1; i > 0; --i) {
                kept_[i] = std::max(kept_[i - 1], std::min(kept_[i], distance));
            }
            kept_[0] = std::min(kept_[0], distance);
        } else if (distance < last) {
            std::pop_heap(kept_, kept_ + k_);
            kept_[k_ - 1] = distance;
            std::push_heap(kept_, kept_ + k_);
        }
        const double now = worst(), left_out = std::max(last, distance);
        crowded_ = crowded_ | (left_out <= finite_closed_limit(now)) | (now == 0.0);
        // The smallest number is added so that ties of subnormal distances are seen, too.
        past_ = std::min(now * (1.0 + 2 * kTolerance) + kSmallest, kFarthest);
        reach_ = crowded_ ? now : past_;
    }

private:
    double worst() const { return kept_[k_ <= kSortedLimit ? k_ - 1 : 0]; }

    double *kept_ = nullptr;
    int k_ = 0, found_ = 0;
    bool crowded_ = false;
    double reach_ = 0.0, past_ = 0.0;
};

struct Waiting {
    double near;
    int32_t child;
};

// Scratch of one thread, and the eight searches of one block.
struct Search {
    const Index &index;
    int k;
    std::vector<double> room, low, high;
    std::vector<Waiting> waiting;
    Nearest nearest[kLanes];
    std::vector<Probe> probe;
    int64_t block = 0;
    int n_queries = 0;

    Search(const Index &at, int n_neighbors)
        : index(at),
          k(n_neighbors),
          room((size_t)kLanes * n_neighbors),
          low(at.d),
          high(at.d),
          probe(kLanes, Probe(at.d)) {}

    // The columns up to `base` come first in the probes, the others follow.
    void start(int64_t b, int base) {
        block = b;
        n_queries = 0;
        const int32_t *rows = index.rows.data() + b * kLanes;
        while (n_queries < kLanes && rows[n_queries] >= 0) {
            nearest[n_queries].start(room.data() + (size_t)n_queries * k, k);
            probe[n_queries].aim(index, b, n_queries, 0, base);
            probe[n_queries].aim(index, b, n_queries, base, index.d);
            ++n_queries;
        }
    }

    double reach() const {
        double widest = 0.0;
        for (int q = 0; q < n_queries; ++q) widest = std::max(widest, nearest[q].reach());
        return widest;
    }

    void finish(const Radii &out) const {
        const int32_t *rows = index.rows.data() + block * kLanes;
        for (int q = 0; q < n_queries; ++q) {
            out.radius[rows[q]] = nearest[q].radius();
            out.found[rows[q]] = nearest[q].found();
            out.crowded[rows[q]] = nearest[q].crowded();
        }
    }
};

enum { kBase, kFirst, kSecond, kSpaces };

struct Limits {
    double open[kSpaces], closed[kSpaces];
};

// The counts of one row: whole nodes first, then lane by lane.
struct Found {
    int64_t open[kSpaces], closed[kSpaces];
};

// A subset of the rows of one block that is walked through the tree together, and its scratch.
struct Walk {
    const Index &index;
    const Spaces &spaces;
    std::vector<double> low, high;
    std::vector<int32_t> waiting, blocks;  // nodes to open; blocks to look into row by row
    int lanes[kLanes];
    std::vector<Probe> probe;
    int n_queries = 0;
    Limits limits[kLanes], smallest, largest;
    Found found[kLanes];

    Walk(const Index &at, const Spaces &in)
        : index(at), spaces(in), low(at.d), high(at.d), probe(kLanes, Probe(at.d)) {}
};

// Take the rows of block b that are live, and whose base radius is zero or not, as wanted: only
// rows with like balls decide on whole nodes together.
inline void gather(Walk &walk, const Balls &balls, int64_t b, bool zero) {
    const int32_t *rows = walk.index.rows.data() + b * kLanes;
    walk.n_queries = 0;
    for (int l = 0; l < kLanes && rows[l] >= 0; ++l) {
        const int32_t row = rows[l];
        if (!balls.live[row] || (balls.base[row] == 0.0) != zero) continue;
        const int q = walk.n_queries++;
        const double radius[kSpaces] = {balls.base[row], balls.first[row], balls.second[row]};
        walk.lanes[q] = l;
        for (const Span &span : {walk.spaces.base, walk.spaces.first, walk.spaces.second}) {
            walk.probe[q].aim(walk.index, b, l, span.from, span.to);
        }
        walk.found[q] = {};
        for (int s = 0; s < kSpaces; ++s) {
            const double open = open_limit(radius[s]), closed = finite_closed_limit(radius[s]);
            walk.limits[q].open[s] = open;
            walk.limits[q].closed[s] = closed;
            walk.smallest.open[s] = q ? std::min(walk.smallest.open[s], open) : open;
            walk.smallest.closed[s] = q ? std::min(walk.smallest.closed[s], closed) : closed;
            walk.largest.open[s] = q ? std::max(walk.largest.open[s], open) : open;
            walk.largest.closed[s] = q ? std::max(walk.largest.closed[s], closed) : closed;
        }
    }
}

// Every row was found in its own ball, unless the ball is open and of radius zero.
inline void write(const Walk &walk, int64_t b) {
    const int32_t *rows = walk.index.rows.data() + b * kLanes;
    const Spaces &spaces = walk.spaces;
    const Tally out[kSpaces] = {spaces.in_base, spaces.in_first, spaces.in_second};
    for (int q = 0; q < walk.n_queries; ++q) {
        const int32_t row = rows[walk.lanes[q]];
        const Limits &limit = walk.limits[q];
        bool self_open = true;
        for (int s = 0; s < kSpaces; ++s) {
            self_open = limit.open[kBase] > 0.0 && limit.open[s] > 0.0;
            if (!out[s].wanted()) continue;
            out[s].open[row] = walk.found[q].open[s] - self_open;
            out[s].closed[row] = walk.found[q].closed[s] - 1;
        }
    }
}

}  // namespace pinsker
