// Included by neighbours_kernels.cpp once per instruction set, after the lanes.

// For eight children: bit i says whether child i is wholly inside or wholly outside every ball.
struct Verdict {
    unsigned in_open, out_open, in_closed, out_closed;
};

PINSKER_INLINE Verdict judge(const Walk &walk, const Octet *box, Span span, int s) {
    const int d = walk.index.d;
    Lanes near = zero(), far = zero();
    for (int c = span.from; c < span.to; ++c) {
        const Lanes low = load(box[c]), high = load(box[d + c]);
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
PINSKER_INLINE void open_node(Walk &walk, int32_t id) {
    const Spaces &spaces = walk.spaces;
    const Octet *box = walk.index.box(id);
    const Node &node = walk.index.nodes[id];
    const bool wanted[kSpaces] = {spaces.in_base.wanted(), spaces.in_first.wanted(),
                                  spaces.in_second.wanted()};
    Verdict verdicts[kSpaces];
    verdicts[kBase] = judge(walk, box, spaces.base, kBase);
    if (!(~verdicts[kBase].out_closed & 0xff)) return;
    verdicts[kFirst] = meet(verdicts[kBase], judge(walk, box, spaces.first, kFirst));
    verdicts[kSecond] = meet(verdicts[kBase], judge(walk, box, spaces.second, kSecond));
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

// The distances of eight rows in a span of columns; only lower bounds when all are over the limit.
PINSKER_INLINE Lanes distance_up_to(double limit, const Octet *theirs, const Probe &probe,
                                    Span span) {
    const int32_t *column = probe.column.data();
    const double *at = probe.at.data();
    Lanes far = zero();
    int c = span.from;
    for (; c + kStretch < span.to; c += kStretch) {
        for (int e = c; e < c + kStretch; ++e) {
            far = widen(far, load(theirs[column[e]]), at[e]);
        }
        if (!any(up_to(far, limit))) return far;
    }
    for (; c < span.to; ++c) far = widen(far, load(theirs[column[c]]), at[c]);
    return far;
}

PINSKER_INLINE Lanes distance(const Octet *theirs, const Probe &probe, Span span) {
    Lanes far = zero();
    for (int c = span.from; c < span.to; ++c) {
        far = widen(far, load(theirs[probe.column[c]]), probe.at[c]);
    }
    return far;
}

// Look for one query into n blocks: those listed, or those from `first` on.
PINSKER_INLINE void scan_blocks(Walk &walk, int q, const int32_t *listed,
                                int64_t first, int64_t n) {
    const Spaces &spaces = walk.spaces;
    const Probe &probe = walk.probe[q];
    const Limits limit = walk.limits[q];
    Count open[kSpaces] = {nothing(), nothing(), nothing()};
    Count closed[kSpaces] = {nothing(), nothing(), nothing()};
    for (int64_t i = 0; i < n; ++i) {
        const Octet *theirs = walk.index.block(listed != nullptr ? listed[i] : first + i);
        const Lanes far = distance_up_to(limit.closed[kBase], theirs, probe, spaces.base);
        const Mask base_closed = up_to(far, limit.closed[kBase]);
        if (!any(base_closed)) continue;
        const Mask base_open = below(far, limit.open[kBase]);
        tally(open[kBase], base_open);
        tally(closed[kBase], base_closed);
        if (!spaces.first.empty()) {
            const Lanes apart = distance(theirs, probe, spaces.first);
            tally(open[kFirst], both(base_open, below(apart, limit.open[kFirst])));
            tally(closed[kFirst], both(base_closed, up_to(apart, limit.closed[kFirst])));
        }
        if (!spaces.second.empty()) {
            const Lanes apart = distance(theirs, probe, spaces.second);
            tally(open[kSecond], both(base_open, below(apart, limit.open[kSecond])));
            tally(closed[kSecond], both(base_closed, up_to(apart, limit.closed[kSecond])));
        }
    }
    for (int s = 0; s < kSpaces; ++s) {
        walk.found[q].open[s] += total(open[s]);
        walk.found[q].closed[s] += total(closed[s]);
    }
}

// Whole nodes are counted on the way down; the blocks that are cut by a ball are left in `blocks`.
PINSKER_INLINE void walk_tree(Walk &walk, int64_t own) {
    walk.blocks.clear();
    walk.waiting.assign(1, walk.index.root[own]);
    while (!walk.waiting.empty()) {
        const int32_t node = walk.waiting.back();
        walk.waiting.pop_back();
        open_node(walk, node);
    }
}

// Blocks that fit into the first cache together serve all rows before the next ones are fetched.
PINSKER_INLINE void scan_cut_blocks(Walk &walk) {
    const int64_t n = (int64_t)walk.blocks.size();
    const int64_t step = std::max(1, kCachedOctets / walk.index.d);
    for (int64_t at = 0; at < n; at += step) {
        for (int q = 0; q < walk.n_queries; ++q) {
            scan_blocks(walk, q, walk.blocks.data() + at, 0, std::min(step, n - at));
        }
    }
}

PINSKER_INLINE void scan_cell(Walk &walk, int64_t own) {
    const int64_t end = walk.index.end[own];
    const int64_t step = std::max(1, kCachedOctets / walk.index.d);
    for (int64_t at = walk.index.begin[own]; at < end; at += step) {
        for (int q = 0; q < walk.n_queries; ++q) {
            scan_blocks(walk, q, nullptr, at, std::min(step, end - at));
        }
    }
}

// Each row on its own: the blocks within its ball along the first column, which is in the base.
PINSKER_INLINE void scan_window(Walk &walk, int64_t own) {
    const Index &index = walk.index;
    const int64_t begin = index.begin[own], end = index.end[own];
    for (int q = 0; q < walk.n_queries; ++q) {
        const double at = index.block(own)->lane[walk.lanes[q]];
        const double limit = walk.limits[q].closed[kBase];
        int64_t first = own, last = own;
        while (first > begin && at - index.last[first - 1] <= limit) --first;
        while (last + 1 < end && index.first[last + 1] - at <= limit) ++last;
        scan_blocks(walk, q, nullptr, first, last - first + 1);
    }
}

PINSKER_INLINE void count_walk(Walk &walk, int64_t own) {
    if (walk.index.order == Order::kTree) {
        walk_tree(walk, own);
        scan_cut_blocks(walk);
    } else if (walk.index.order == Order::kSorted) {
        scan_window(walk, own);
    } else {
        scan_cell(walk, own);
    }
}

void count_blocks(const Index &index, const Spaces &spaces, const Balls &balls, int64_t from,
                  int64_t to) {
    Walk walk(index, spaces);
    for (int64_t b = from; b < to; ++b) {
        block_box(index, b, walk.low.data(), walk.high.data());
        for (const bool zero : {false, true}) {
            gather(walk, balls, b, zero);
            if (walk.n_queries == 0) continue;
            count_walk(walk, b);
            write(walk, b);
        }
    }
}
