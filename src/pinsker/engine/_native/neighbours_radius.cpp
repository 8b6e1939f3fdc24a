#include "neighbours_radius.hpp"

#include <limits>

namespace pinsker {

namespace {

constexpr int kInsertionLimit = 24;  // above it a heap is faster than shifting a sorted list
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr int kStretch = 8;          // columns between two looks at whether all rows are too far

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
    int64_t block = 0;
    int n_queries = 0;

    Search(const Index &at, int n_neighbours)
        : index(at), k(n_neighbours), room((size_t)kLanes * n_neighbours), low(at.d), high(at.d) {}

    void start(int64_t b) {
        block = b;
        n_queries = 0;
        const int32_t *rows = index.rows.data() + b * kLanes;
        while (n_queries < kLanes && rows[n_queries] >= 0) {
            nearest[n_queries].start(room.data() + (size_t)n_queries * k, k);
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

// Offer the rows of one block to all eight searches.
template <int W>
PINSKER_INLINE void scan_block(Search &search, int64_t b) {
    const Octet *theirs = search.index.block(b), *ours = search.index.block(search.block);
    const int d = search.index.d;
    for (int q = 0; q < search.n_queries; ++q) {
        Nearest &nearest = search.nearest[q];
        const double reach = nearest.reach();
        Lanes<W> far = {};
        int c = 0;
        for (; c + kStretch < d; c += kStretch) {
            for (int e = c; e < c + kStretch; ++e) {
                widen(far, load<W>(theirs[e]), ours[e].lane[q]);
            }
            if (!any(below(far, reach))) break;
        }
        if (c + kStretch < d) continue;
        for (; c < d; ++c) widen(far, load<W>(theirs[c]), ours[c].lane[q]);
        unsigned hits = bits(below(far, reach));
        if (b == search.block) hits &= ~(1u << q);
        if (hits == 0) continue;
        Octet distance;
        store(distance, far);
        for (int l = 0; hits != 0; ++l, hits >>= 1) {
            if ((hits & 1) && distance.lane[l] < nearest.reach()) nearest.offer(distance.lane[l]);
        }
    }
}

// Put the children of a node that are within reach on the pile, nearest last.
template <int W>
PINSKER_INLINE void open_node(Search &search, int32_t id, double reach) {
    const int d = search.index.d;
    const Octet *box = search.index.box(id);
    Lanes<W> far = {};
    for (int c = 0; c < d; ++c) {
        far = larger(far, minus(load<W>(box[c]), search.high[c]));
        far = larger(far, minus(search.low[c], load<W>(box[d + c])));
    }
    if (!any(below(far, reach))) return;
    Octet near;
    store(near, far);
    const Node &node = search.index.nodes[id];
    const size_t bottom = search.waiting.size();
    for (int i = 0; i < node.n_children; ++i) {
        if (!(near.lane[i] < reach)) continue;
        search.waiting.push_back({near.lane[i], node.child[i]});
        for (size_t at = search.waiting.size() - 1;
             at > bottom && search.waiting[at - 1].near < search.waiting[at].near; --at) {
            std::swap(search.waiting[at - 1], search.waiting[at]);
        }
    }
}

template <int W>
PINSKER_INLINE void radii_of_blocks_lanes(const Index &index, int k, int64_t first, int64_t last,
                                          const Radii &out) {
    Search search(index, k);
    for (int64_t b = first; b < last; ++b) {
        search.start(b);
        scan_block<W>(search, b);
        if (!index.has_tree) {
            for (int64_t other = b + 1; other < index.end[b]; ++other) scan_block<W>(search, other);
            for (int64_t other = b - 1; other >= index.begin[b]; --other) {
                scan_block<W>(search, other);
            }
            search.finish(out);
            continue;
        }
        block_box(index, b, search.low.data(), search.high.data());
        search.waiting.push_back({0.0, index.root[b]});
        while (!search.waiting.empty()) {
            const Waiting next = search.waiting.back();
            search.waiting.pop_back();
            const double reach = search.reach();
            if (!(next.near < reach)) continue;
            if (next.child >= 0) {
                open_node<W>(search, next.child, reach);
            } else if (~next.child != b) {
                scan_block<W>(search, ~next.child);
            }
        }
        search.finish(out);
    }
}

PINSKER_DISPATCH_WIDTH(radii_of_blocks,
                       (const Index &index, int k, int64_t first, int64_t last, const Radii &out),
                       (index, k, first, last, out))

}  // namespace

void find_radii(const Index &index, int k, int n_threads, const Radii &out) {
    constexpr int64_t kChunk = 16;  // blocks a thread takes at a time
    const int64_t n_chunks = (index.n_blocks() + kChunk - 1) / kChunk;
    (void)n_threads;  // unused without OpenMP
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const int64_t first = chunk * kChunk;
        radii_of_blocks(index, k, first, std::min(first + kChunk, index.n_blocks()), out);
    }
}

}  // namespace pinsker
