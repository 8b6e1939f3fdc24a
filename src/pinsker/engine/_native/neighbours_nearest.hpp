// The k smallest of a stream of distances, for each of the eight rows of a block.
#pragma once

#include <limits>

#include "neighbours_index.hpp"
#include "neighbours_kernels.hpp"
#include "neighbours_probe.hpp"

namespace pinsker {

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
        crowded_ = crowded_ | (left_out <= closed_limit(now)) | (now == 0.0);
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

    Search(const Index &at, int n_neighbours)
        : index(at), k(n_neighbours), room((size_t)kLanes * n_neighbours), low(at.d), high(at.d),
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

}  // namespace pinsker
