// How many rows are in each ball, how far they reach, and how far the k-th neighbor is. Included by
// dispatch.cpp once per instruction set, after the lanes.

constexpr int kCachedRowBlocks = 384;  // scanned together: 24 KiB, what the first cache holds

// For eight children: bit i is whether child i is wholly inside or wholly outside every ball.
struct BoxRelation {
    uint32_t in_open, out_open, in_closed, out_closed;
};

PINSKER_INLINE BoxRelation compare_boxes(const Walk &walk, const RowBlock *box, Span span, int s) {
    const int d = walk.index.d;
    Lanes near = zero(), far = zero();
    for (int c = span.from; c < span.to; ++c) {
        const Lanes low = load(box[c].lane), high = load(box[d + c].lane);
        near = larger(near, larger(minus(low, fill(walk.high[c])), minus(fill(walk.low[c]), high)));
        far = larger(far, larger(minus(high, fill(walk.low[c])), minus(fill(walk.high[c]), low)));
    }
    return {bits(below(far, fill(walk.smallest.open[s]))),
            ~bits(below(near, fill(walk.largest.open[s]))),
            bits(up_to(far, fill(walk.smallest.closed[s]))),
            ~bits(up_to(near, fill(walk.largest.closed[s])))};
}

PINSKER_INLINE BoxRelation meet(const BoxRelation &a, const BoxRelation &b) {
    return {a.in_open & b.in_open, a.out_open | b.out_open, a.in_closed & b.in_closed,
            a.out_closed | b.out_closed};
}

void add_whole(Walk &walk, const BoxRelation *relations, int child, int64_t size) {
    for (int q = 0; q < walk.n_queries; ++q) {
        for (int s = 0; s < kSpaces; ++s) {
            walk.found[q].open[s] += (relations[s].in_open >> child & 1) ? size : 0;
            walk.found[q].closed[s] += (relations[s].in_closed >> child & 1) ? size : 0;
        }
    }
}

// Sort the children of a node: outside, counted as a whole, or to be looked into.
PINSKER_INLINE void open_node(Walk &walk, int32_t id) {
    const Spaces &spaces = walk.spaces;
    const RowBlock *box = walk.index.box(id);
    const Node &node = walk.index.nodes[id];
    const bool wanted[kSpaces] = {spaces.in_base.wanted(), spaces.in_first.wanted(),
                                  spaces.in_second.wanted()};
    BoxRelation relations[kSpaces];
    relations[kBase] = compare_boxes(walk, box, spaces.base, kBase);
    if (!(~relations[kBase].out_closed & 0xff)) return;
    relations[kFirst] = meet(relations[kBase], compare_boxes(walk, box, spaces.first, kFirst));
    relations[kSecond] = meet(relations[kBase], compare_boxes(walk, box, spaces.second, kSecond));
    uint32_t outside = 0xff, decided = 0xff;
    for (int s = 0; s < kSpaces; ++s) {
        if (!wanted[s]) continue;
        const BoxRelation &v = relations[s];
        outside &= v.out_closed;
        decided &= (v.in_open | v.out_open) & (v.in_closed | v.out_closed);
    }
    for (int i = 0; i < node.n_children; ++i) {
        if (outside >> i & 1) continue;
        if (decided >> i & 1) {
            add_whole(walk, relations, i, node.size[i]);
        } else if (node.child[i] < 0) {
            walk.blocks.push_back(~node.child[i]);
        } else {
            walk.waiting.push_back(node.child[i]);
        }
    }
}

// The distances of eight rows in a span of columns; only lower bounds when all are over the limit.
PINSKER_INLINE Lanes distance_up_to(double limit, const RowBlock *theirs, const Probe &probe,
                                    Span span) {
    const int32_t *column = probe.column.data();
    const double *at = probe.at.data();
    Lanes far = zero();
    int c = span.from;
    for (; c + kStretch < span.to; c += kStretch) {
        for (int e = c; e < c + kStretch; ++e) {
            far = widen(far, load(theirs[column[e]].lane), at[e]);
        }
        if (!any(up_to(far, fill(limit)))) return far;
    }
    for (; c < span.to; ++c) far = widen(far, load(theirs[column[c]].lane), at[c]);
    return far;
}

PINSKER_INLINE Lanes distance(const RowBlock *theirs, const Probe &probe, Span span) {
    Lanes far = zero();
    for (int c = span.from; c < span.to; ++c) {
        far = widen(far, load(theirs[probe.column[c]].lane), probe.at[c]);
    }
    return far;
}

// Look for one query into n blocks: those listed, or those from `first` on.
PINSKER_INLINE void scan_blocks(Walk &walk, int q, const int32_t *listed, int64_t first,
                                int64_t n) {
    const Spaces &spaces = walk.spaces;
    const Probe &probe = walk.probe[q];
    const Limits limit = walk.limits[q];
    LaneCount open[kSpaces] = {nothing(), nothing(), nothing()};
    LaneCount closed[kSpaces] = {nothing(), nothing(), nothing()};
    for (int64_t i = 0; i < n; ++i) {
        const RowBlock *theirs = walk.index.block(listed != nullptr ? listed[i] : first + i);
        const Lanes far = distance_up_to(limit.closed[kBase], theirs, probe, spaces.base);
        const Mask base_closed = up_to(far, fill(limit.closed[kBase]));
        if (!any(base_closed)) continue;
        const Mask base_open = below(far, fill(limit.open[kBase]));
        tally(open[kBase], base_open);
        tally(closed[kBase], base_closed);
        if (!spaces.first.empty()) {
            const Lanes apart = distance(theirs, probe, spaces.first);
            tally(open[kFirst], both(base_open, below(apart, fill(limit.open[kFirst]))));
            tally(closed[kFirst], both(base_closed, up_to(apart, fill(limit.closed[kFirst]))));
        }
        if (!spaces.second.empty()) {
            const Lanes apart = distance(theirs, probe, spaces.second);
            tally(open[kSecond], both(base_open, below(apart, fill(limit.open[kSecond]))));
            tally(closed[kSecond], both(base_closed, up_to(apart, fill(limit.closed[kSecond]))));
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
    const int64_t step = std::max(1, kCachedRowBlocks / walk.index.d);
    for (int64_t at = 0; at < n; at += step) {
        for (int q = 0; q < walk.n_queries; ++q) {
            scan_blocks(walk, q, walk.blocks.data() + at, 0, std::min(step, n - at));
        }
    }
}

PINSKER_INLINE void scan_cell(Walk &walk, int64_t own) {
    const int64_t end = walk.index.end[own];
    const int64_t step = std::max(1, kCachedRowBlocks / walk.index.d);
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

// Widen the extents of one row by the rows of one block that lie in its ball.
PINSKER_INLINE void extend(const Index &index, const Span *spans, const RowBlock *ours, int lane,
                           int64_t b, double closed, double *extent) {
    const RowBlock *theirs = index.block(b);
    Lanes far = zero();
    for (int c = 0; c < index.d; ++c) far = widen(far, load(theirs[c].lane), ours[c].lane[lane]);
    uint32_t inside = bits(up_to(far, fill(closed)));
    for (int l = 0; inside != 0; ++l, inside >>= 1) {
        if (!(inside & 1)) continue;
        for (int s = 0; s < 3; ++s) {
            for (int c = spans[s].from; c < spans[s].to; ++c) {
                extent[s] = std::max(extent[s], std::fabs(theirs[c].lane[l] - ours[c].lane[lane]));
            }
        }
    }
}

void extents_of_blocks(const Index &index, const Span *spans, const Balls &balls, int64_t from,
                       int64_t to, const Extents &out) {
    for (int64_t own = from; own < to; ++own) {
        const int32_t *rows = index.rows.data() + own * kLanes;
        const RowBlock *ours = index.block(own);
        for (int l = 0; l < kLanes && rows[l] >= 0; ++l) {
            if (!balls.live[rows[l]]) continue;
            const double at = ours->lane[l], closed = finite_closed_limit(balls.base[rows[l]]);
            double extent[3] = {0.0, 0.0, 0.0};
            for (int64_t b = own; b < index.end[own]; ++b) {
                if (index.first[b] - at > closed) break;
                extend(index, spans, ours, l, b, closed, extent);
            }
            for (int64_t b = own - 1; b >= index.begin[own]; --b) {
                if (at - index.last[b] > closed) break;
                extend(index, spans, ours, l, b, closed, extent);
            }
            for (int s = 0; s < 3; ++s) out.extent[s][rows[l]] = extent[s];
        }
    }
}

// How far the k-th neighbor is.

// Offer the rows of block b to the search of row q.
PINSKER_INLINE void scan_block(Search &search, int q, int64_t b) {
    const RowBlock *theirs = search.index.block(b);
    const int32_t *column = search.probe[q].column.data();
    const double *at = search.probe[q].at.data();
    const int d = search.index.d;
    Nearest &nearest = search.nearest[q];
    const double reach = nearest.reach();
    Lanes far = zero();
    if (d <= kStretch) {  // the columns are in order
        for (int c = 0; c < d; ++c) far = widen(far, load(theirs[c].lane), at[c]);
    } else {
        int c = 0;
        for (; c + kStretch < d; c += kStretch) {
            for (int e = c; e < c + kStretch; ++e) {
                far = widen(far, load(theirs[column[e]].lane), at[e]);
            }
            if (!any(below(far, fill(reach)))) return;
        }
        for (; c < d; ++c) far = widen(far, load(theirs[column[c]].lane), at[c]);
    }
    uint32_t hits = bits(below(far, fill(reach)));
    if (b == search.block) hits &= ~(1u << q);
    if (hits == 0) return;
    RowBlock distance;
    store(distance.lane, far);
    for (; hits != 0; hits &= hits - 1) nearest.offer(distance.lane[count_trailing_zeros(hits)]);
}

PINSKER_INLINE void scan_block_for_all(Search &search, int64_t b) {
    for (int q = 0; q < search.n_queries; ++q) scan_block(search, q, b);
}

// All blocks of the cell.
PINSKER_INLINE void search_list(Search &search) {
    const Index &index = search.index;
    const int64_t own = search.block;
    for (int64_t b = own; b < index.end[own]; ++b) scan_block_for_all(search, b);
    for (int64_t b = own - 1; b >= index.begin[own]; --b) scan_block_for_all(search, b);
}

// Outwards along the first column, each row on its own, until both sides are out of reach.
PINSKER_INLINE void search_sorted(Search &search) {
    const Index &index = search.index;
    const int64_t own = search.block, begin = index.begin[own], end = index.end[own];
    for (int q = 0; q < search.n_queries; ++q) {
        const double at = index.block(own)->lane[q];
        const Nearest &nearest = search.nearest[q];
        int64_t down = own - 1, up = own + 1;
        scan_block(search, q, own);
        for (;;) {
            const bool below_near = down >= begin && at - index.last[down] < nearest.reach();
            if (below_near) scan_block(search, q, down--);
            const bool above_near = up < end && index.first[up] - at < nearest.reach();
            if (above_near) scan_block(search, q, up++);
            if (!below_near && !above_near) break;
        }
    }
}

// Put the children of a node that are within reach on the pile, nearest last.
PINSKER_INLINE void open_node(Search &search, int32_t id, double reach) {
    const int d = search.index.d;
    const RowBlock *box = search.index.box(id);
    Lanes far = zero();
    for (int c = 0; c < d; ++c) {
        far = larger(far, minus(load(box[c].lane), fill(search.high[c])));
        far = larger(far, minus(fill(search.low[c]), load(box[d + c].lane)));
    }
    if (!any(below(far, fill(reach)))) return;
    RowBlock near;
    store(near.lane, far);
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

// From the root, the nearest box first; all rows of the block together.
PINSKER_INLINE void search_tree(Search &search) {
    const Index &index = search.index;
    scan_block_for_all(search, search.block);
    block_box(index, search.block, search.low.data(), search.high.data());
    search.waiting.push_back({0.0, index.root[search.block]});
    double reach = search.reach();
    while (!search.waiting.empty()) {
        const Waiting next = search.waiting.back();
        search.waiting.pop_back();
        if (!(next.near < reach)) continue;
        if (next.child >= 0) {
            open_node(search, next.child, reach);
        } else if (~next.child != search.block) {
            scan_block_for_all(search, ~next.child);
            reach = search.reach();
        }
    }
}

void radii_of_blocks(const Index &index, int k, int64_t first, int64_t last, const Radii &out) {
    Search search(index, k);
    for (int64_t b = first; b < last; ++b) {
        search.start(b, index.d);
        if (index.order == Order::kTree) {
            search_tree(search);
        } else if (index.order == Order::kSorted) {
            search_sorted(search);
        } else {
            search_list(search);
        }
        search.finish(out);
    }
}

// Radii and counts in one sweep.

// A block whose base is within reach of what may become the radius: nothing else can hold a row of
// the ball. Note it, and offer its rows. Not inlined: the compiler would keep no register for the
// loop over the columns before it.
PINSKER_NOT_INLINE void note_and_offer(Search &search, const Span &base, int q, int64_t b,
                                       Lanes in_base, std::vector<int32_t> &noted) {
    const RowBlock *theirs = search.index.block(b);
    Nearest &nearest = search.nearest[q];
    noted.push_back((int32_t)b);
    const Span others = {base.to, search.index.d};
    const Lanes far = larger(in_base, distance(theirs, search.probe[q], others));
    uint32_t hits = bits(below(far, fill(nearest.reach())));
    if (b == search.block) hits &= ~(1u << q);
    if (hits == 0) return;
    RowBlock apart;
    store(apart.lane, far);
    for (; hits != 0; hits &= hits - 1) nearest.offer(apart.lane[count_trailing_zeros(hits)]);
}

PINSKER_INLINE void scan_and_note(Search &search, const Span &base, int q, int64_t b,
                                  std::vector<int32_t> &noted) {
    const double limit = search.nearest[q].past();
    const Lanes far = distance_up_to(limit, search.index.block(b), search.probe[q], base);
    if (any(up_to(far, fill(limit)))) note_and_offer(search, base, q, b, far, noted);
}

PINSKER_INLINE void search_and_note(Search &search, const Span &base, int q,
                                    std::vector<int32_t> &noted) {
    const Index &index = search.index;
    const int64_t own = search.block, begin = index.begin[own], end = index.end[own];
    const double at = index.block(own)->lane[q];
    const Nearest &nearest = search.nearest[q];
    int64_t down = own - 1, up = own + 1;
    noted.clear();
    scan_and_note(search, base, q, own, noted);
    for (;;) {
        const bool below_near = down >= begin && at - index.last[down] < nearest.past();
        if (below_near) scan_and_note(search, base, q, down--, noted);
        const bool above_near = up < end && index.first[up] - at < nearest.past();
        if (above_near) scan_and_note(search, base, q, up++, noted);
        if (!below_near && !above_near) break;
    }
}

void radii_and_counts(const Index &index, int k, const Spaces &spaces, int64_t first, int64_t last,
                      const Radii &out, uint8_t *live) {
    Search search(index, k);
    Walk walk(index, spaces);
    std::vector<int32_t> noted[kLanes];
    const Balls balls = {out.radius, out.radius, out.radius, live};
    for (int64_t b = first; b < last; ++b) {
        search.start(b, spaces.base.to);
        for (int q = 0; q < search.n_queries; ++q) {
            search_and_note(search, spaces.base, q, noted[q]);
        }
        search.finish(out);
        for (int q = 0; q < search.n_queries; ++q) {
            live[index.rows[b * kLanes + q]] = search.nearest[q].found() > 0;
        }
        for (const bool zero : {false, true}) {
            gather(walk, balls, b, zero);
            for (int q = 0; q < walk.n_queries; ++q) {
                const std::vector<int32_t> &blocks = noted[walk.lanes[q]];
                scan_blocks(walk, q, blocks.data(), 0, (int64_t)blocks.size());
            }
            write(walk, b);
        }
    }
}

constexpr NeighborKernels kNeighborKernels = {radii_of_blocks, count_blocks, extents_of_blocks,
                                              radii_and_counts};
