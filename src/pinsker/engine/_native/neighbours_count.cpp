#include "neighbours_count.hpp"

namespace pinsker {

namespace {

constexpr int kStretch = 8;           // columns between two looks at whether all rows are too far
constexpr int kCachedOctets = 384;    // blocks scanned together: 24 KiB, what the first cache holds
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
    int n_queries = 0;
    Limits limits[kLanes], smallest, largest;
    Found found[kLanes];

    Walk(const Index &at, const Spaces &in)
        : index(at), spaces(in), low(at.d), high(at.d) {}
};

// Take the rows of block b that are live, and whose base radius is zero or not, as asked: only rows
// with like balls decide on whole nodes together.
void gather(Walk &walk, const Balls &balls, int64_t b, bool zero) {
    const int32_t *rows = walk.index.rows.data() + b * kLanes;
    walk.n_queries = 0;
    for (int l = 0; l < kLanes && rows[l] >= 0; ++l) {
        const int32_t row = rows[l];
        if (!balls.live[row] || (balls.base[row] == 0.0) != zero) continue;
        const int q = walk.n_queries++;
        const double radius[kSpaces] = {balls.base[row], balls.first[row], balls.second[row]};
        walk.lanes[q] = l;
        walk.found[q] = {};
        for (int s = 0; s < kSpaces; ++s) {
            const double open = open_limit(radius[s]), closed = closed_limit(radius[s]);
            walk.limits[q].open[s] = open;
            walk.limits[q].closed[s] = closed;
            walk.smallest.open[s] = q ? std::min(walk.smallest.open[s], open) : open;
            walk.smallest.closed[s] = q ? std::min(walk.smallest.closed[s], closed) : closed;
            walk.largest.open[s] = q ? std::max(walk.largest.open[s], open) : open;
            walk.largest.closed[s] = q ? std::max(walk.largest.closed[s], closed) : closed;
        }
    }
}

// For eight children: bit i says whether child i is wholly inside or wholly outside every ball.
struct Verdict {
    unsigned in_open, out_open, in_closed, out_closed;
};

template <int W>
PINSKER_INLINE Verdict judge(const Walk &walk, const Octet *box, Span span, int s) {
    const int d = walk.index.d;
    Lanes<W> near = {}, far = {};
    for (int c = span.from; c < span.to; ++c) {
        const Lanes<W> low = load<W>(box[c]), high = load<W>(box[d + c]);
        near = larger(near, larger(minus(low, walk.high[c]), minus(walk.low[c], high)));
        far = larger(far, larger(minus(high, walk.low[c]), minus(walk.high[c], low)));
    }
    return {bits(below(far, walk.smallest.open[s])), ~bits(below(near, walk.largest.open[s])),
            bits(up_to(far, walk.smallest.closed[s])), ~bits(up_to(near, walk.largest.closed[s]))};
}

PINSKER_INLINE Verdict meet(const Verdict &a, const Verdict &b) {
    return {a.in_open & b.in_open, a.out_open | b.out_open, a.in_closed & b.in_closed,
            a.out_closed | b.out_closed};
}

void add_whole(Walk &walk, const Verdict *verdicts, int child, int64_t size) {
    for (int q = 0; q < walk.n_queries; ++q) {
        for (int s = 0; s < kSpaces; ++s) {
            walk.found[q].open[s] += (verdicts[s].in_open >> child & 1) ? size : 0;
            walk.found[q].closed[s] += (verdicts[s].in_closed >> child & 1) ? size : 0;
        }
    }
}

// Sort the children of a node: outside, counted as a whole, or to be looked into.
template <int W>
PINSKER_INLINE void open_node(Walk &walk, int32_t id) {
    const Spaces &spaces = walk.spaces;
    const Octet *box = walk.index.box(id);
    const Node &node = walk.index.nodes[id];
    const bool wanted[kSpaces] = {spaces.in_base.wanted(), spaces.in_first.wanted(),
                                  spaces.in_second.wanted()};
    Verdict verdicts[kSpaces];
    verdicts[kBase] = judge<W>(walk, box, spaces.base, kBase);
    if (!(~verdicts[kBase].out_closed & 0xff)) return;
    verdicts[kFirst] = meet(verdicts[kBase], judge<W>(walk, box, spaces.first, kFirst));
    verdicts[kSecond] = meet(verdicts[kBase], judge<W>(walk, box, spaces.second, kSecond));
    unsigned outside = 0xff, decided = 0xff;
    for (int s = 0; s < kSpaces; ++s) {
        if (!wanted[s]) continue;
        const Verdict &v = verdicts[s];
        outside &= v.out_closed;
        decided &= (v.in_open | v.out_open) & (v.in_closed | v.out_closed);
    }
    for (int i = 0; i < node.n_children; ++i) {
        if (outside >> i & 1) continue;
        if (decided >> i & 1) {
            add_whole(walk, verdicts, i, node.size[i]);
        } else if (node.child[i] < 0) {
            walk.blocks.push_back(~node.child[i]);
        } else {
            walk.waiting.push_back(node.child[i]);
        }
    }
}

// Widen `far` by the columns [from, to); false when all lanes are beyond the limit.
template <int W>
PINSKER_INLINE bool reaches(Lanes<W> &far, const Octet *theirs, const Octet *ours, int lane,
                            Span span, double limit) {
    int c = span.from;
    for (; c + kStretch < span.to; c += kStretch) {
        for (int e = c; e < c + kStretch; ++e) {
            widen(far, load<W>(theirs[e]), ours[e].lane[lane]);
        }
        if (!any(up_to(far, limit))) return false;
    }
    for (; c < span.to; ++c) widen(far, load<W>(theirs[c]), ours[c].lane[lane]);
    return any(up_to(far, limit));
}

template <int W>
PINSKER_INLINE Lanes<W> distance(const Octet *theirs, const Octet *ours, int lane, Span span) {
    Lanes<W> far = {};
    for (int c = span.from; c < span.to; ++c) widen(far, load<W>(theirs[c]), ours[c].lane[lane]);
    return far;
}

// Look into some blocks for one query.
template <int W>
PINSKER_INLINE void scan_blocks(Walk &walk, int64_t own, int q, const int32_t *blocks,
                                size_t n_blocks) {
    const Spaces &spaces = walk.spaces;
    const Octet *ours = walk.index.block(own);
    const int lane = walk.lanes[q];
    const Limits limit = walk.limits[q];
    Mask<W> open[kSpaces] = {}, closed[kSpaces] = {};
    for (size_t i = 0; i < n_blocks; ++i) {
        const Octet *theirs = walk.index.block(blocks[i]);
        Lanes<W> far = {};
        if (!reaches(far, theirs, ours, lane, spaces.base, limit.closed[kBase])) continue;
        const Mask<W> base_open = below(far, limit.open[kBase]);
        const Mask<W> base_closed = up_to(far, limit.closed[kBase]);
        tally(open[kBase], base_open);
        tally(closed[kBase], base_closed);
        if (!spaces.first.empty()) {
            const Lanes<W> apart = distance<W>(theirs, ours, lane, spaces.first);
            tally(open[kFirst], both(base_open, below(apart, limit.open[kFirst])));
            tally(closed[kFirst], both(base_closed, up_to(apart, limit.closed[kFirst])));
        }
        if (!spaces.second.empty()) {
            const Lanes<W> apart = distance<W>(theirs, ours, lane, spaces.second);
            tally(open[kSecond], both(base_open, below(apart, limit.open[kSecond])));
            tally(closed[kSecond], both(base_closed, up_to(apart, limit.closed[kSecond])));
        }
    }
    for (int s = 0; s < kSpaces; ++s) {
        walk.found[q].open[s] += total(open[s]);
        walk.found[q].closed[s] += total(closed[s]);
    }
}

template <int W>
PINSKER_INLINE void walk_block(Walk &walk, int64_t b) {
    walk.blocks.clear();
    if (walk.index.has_tree) {
        walk.waiting.assign(1, walk.index.root[b]);
        while (!walk.waiting.empty()) {
            const int32_t node = walk.waiting.back();
            walk.waiting.pop_back();
            open_node<W>(walk, node);
        }
    } else {
        for (int32_t other = walk.index.begin[b]; other < walk.index.end[b]; ++other) {
            walk.blocks.push_back(other);
        }
    }
    const size_t step = std::max(1, kCachedOctets / std::max(1, walk.index.d));
    for (size_t at = 0; at < walk.blocks.size(); at += step) {
        const size_t n = std::min(step, walk.blocks.size() - at);
        for (int q = 0; q < walk.n_queries; ++q) {
            scan_blocks<W>(walk, b, q, walk.blocks.data() + at, n);
        }
    }
}

// Every row was found in its own ball, unless the ball is open and of radius zero.
void write(const Walk &walk, int64_t b) {
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

template <int W>
PINSKER_INLINE void count_blocks_lanes(const Index &index, const Spaces &spaces,
                                       const Balls &balls, int64_t from, int64_t to) {
    Walk walk(index, spaces);
    for (int64_t b = from; b < to; ++b) {
        block_box(index, b, walk.low.data(), walk.high.data());
        for (const bool zero : {false, true}) {
            gather(walk, balls, b, zero);
            if (walk.n_queries == 0) continue;
            walk_block<W>(walk, b);
            write(walk, b);
        }
    }
}

PINSKER_DISPATCH_WIDTH(count_blocks,
                       (const Index &index, const Spaces &spaces, const Balls &balls, int64_t from,
                        int64_t to),
                       (index, spaces, balls, from, to))

}  // namespace

void count_inside(const Index &index, const Spaces &spaces, const Balls &balls, int n_threads) {
    constexpr int64_t kChunk = 16;  // blocks a thread takes at a time
    const int64_t n_chunks = (index.n_blocks() + kChunk - 1) / kChunk;
    (void)n_threads;  // unused without OpenMP
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const int64_t from = chunk * kChunk;
        count_blocks(index, spaces, balls, from, std::min(from + kChunk, index.n_blocks()));
    }
}

}  // namespace pinsker
