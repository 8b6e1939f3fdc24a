// Included by neighbours_kernels.cpp once per instruction set, after the lanes.

// Offer the rows of block b to the search of row q.
PINSKER_INLINE void scan_block(Search &search, int q, int64_t b) {
    const Octet *theirs = search.index.block(b);
    const int32_t *column = search.probe[q].column.data();
    const double *at = search.probe[q].at.data();
    const int d = search.index.d;
    Nearest &nearest = search.nearest[q];
    const double reach = nearest.reach();
    Lanes far = zero();
    if (d <= kStretch) {  // the columns are in order
        for (int c = 0; c < d; ++c) far = widen(far, load(theirs[c]), at[c]);
    } else {
        int c = 0;
        for (; c + kStretch < d; c += kStretch) {
            for (int e = c; e < c + kStretch; ++e) {
                far = widen(far, load(theirs[column[e]]), at[e]);
            }
            if (!any(below(far, reach))) return;
        }
        for (; c < d; ++c) far = widen(far, load(theirs[column[c]]), at[c]);
    }
    unsigned hits = bits(below(far, reach));
    if (b == search.block) hits &= ~(1u << q);
    if (hits == 0) return;
    Octet distance;
    store(distance, far);
    for (; hits != 0; hits &= hits - 1) nearest.offer(distance.lane[lowest_bit(hits)]);
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
    const Octet *box = search.index.box(id);
    Lanes far = zero();
    for (int c = 0; c < d; ++c) {
        far = larger(far, minus(load(box[c]), search.high[c]));
        far = larger(far, minus(search.low[c], load(box[d + c])));
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
