// Included by neighbours_kernels.cpp once per instruction set, after the other kernels.

// A block whose base is within reach of what may become the radius: nothing else can hold a row of
// the ball. Note it, and offer its rows. Not inlined: the compiler would keep no register for the
// loop over the columns before it.
PINSKER_NOT_INLINE void note_and_offer(Search &search, const Span &base, int q, int64_t b,
                                       Lanes in_base, std::vector<int32_t> &noted) {
    const Octet *theirs = search.index.block(b);
    Nearest &nearest = search.nearest[q];
    noted.push_back((int32_t)b);
    const Span others = {base.to, search.index.d};
    const Lanes far = larger(in_base, distance(theirs, search.probe[q], others));
    unsigned hits = bits(below(far, nearest.reach()));
    if (b == search.block) hits &= ~(1u << q);
    if (hits == 0) return;
    Octet apart;
    store(apart, far);
    for (; hits != 0; hits &= hits - 1) nearest.offer(apart.lane[lowest_bit(hits)]);
}

PINSKER_INLINE void scan_and_note(Search &search, const Span &base, int q, int64_t b,
                                  std::vector<int32_t> &noted) {
    const double limit = search.nearest[q].past();
    const Lanes far = distance_up_to(limit, search.index.block(b), search.probe[q], base);
    if (any(up_to(far, limit))) note_and_offer(search, base, q, b, far, noted);
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
