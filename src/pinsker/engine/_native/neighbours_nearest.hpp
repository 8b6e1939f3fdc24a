// The k smallest of a stream of distances, for each of the eight rows of a block.
#pragma once

#include <limits>

#include "neighbours_index.hpp"
#include "neighbours_kernels.hpp"
#include "neighbours_probe.hpp"

namespace pinsker {

constexpr int kInsertionLimit = 24;  // above it a heap is faster than shifting a sorted list
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
        reach_ = kFarthest;
    }

    double reach() const { return reach_; }
    int found() const { return found_; }
    bool crowded() const { return crowded_; }
    double radius() const {
        if (found_ == 0) return 0.0;
        return is_heap() && found_ == k_ ? kept_[0] : *std::max_element(kept_, kept_ + found_);
    }

    void offer(double distance) {
        if (found_ < k_) {
            add(distance);
            return;
        }
        const double last = worst();
        if (distance < last) {
            replace(distance);
            crowded_ |= last <= closed_limit(worst());
        } else {
            crowded_ |= distance <= closed_limit(last);
        }
        update_reach();
    }

private:
    bool is_heap() const { return k_ > kInsertionLimit; }
    double worst() const { return is_heap() ? kept_[0] : kept_[k_ - 1]; }

    void add(double distance) {
        if (is_heap()) {
            kept_[found_++] = distance;
            if (found_ == k_) std::make_heap(kept_, kept_ + k_);
        } else {
            insert(distance, found_++);
        }
        if (found_ == k_) update_reach();
    }

    void replace(double distance) {
        if (is_heap()) {
            std::pop_heap(kept_, kept_ + k_);
            kept_[k_ - 1] = distance;
            std::push_heap(kept_, kept_ + k_);
        } else {
            insert(distance, k_ - 1);
        }
    }

    void insert(double distance, int at) {
        for (; at > 0 && kept_[at - 1] > distance; --at) kept_[at] = kept_[at - 1];
        kept_[at] = distance;
    }

    void update_reach() {
        const double last = worst();
        crowded_ |= last == 0.0;
        // The smallest number is added so that ties of subnormal distances are seen, too.
        const double past = last * (1.0 + 2 * kTolerance) + kSmallest;
        reach_ = crowded_ ? last : std::min(past, kFarthest);
    }

    double *kept_ = nullptr;
    int k_ = 0, found_ = 0;
    bool crowded_ = false;
    double reach_ = 0.0;
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

    void start(int64_t b) {
        block = b;
        n_queries = 0;
        const int32_t *rows = index.rows.data() + b * kLanes;
        while (n_queries < kLanes && rows[n_queries] >= 0) {
            nearest[n_queries].start(room.data() + (size_t)n_queries * k, k);
            probe[n_queries].aim(index, b, n_queries, 0, index.d);
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
