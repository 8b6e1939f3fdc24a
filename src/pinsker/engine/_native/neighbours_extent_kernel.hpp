// Included by neighbours_kernels.cpp once per instruction set, after the lanes.

// Widen the extents of one row by the rows of one block that lie in its ball.
PINSKER_INLINE void extend(const Index &index, const Span *spans, const Octet *ours, int lane,
                           int64_t b, double closed, double *extent) {
    const Octet *theirs = index.block(b);
    Lanes far = zero();
    for (int c = 0; c < index.d; ++c) far = widen(far, load(theirs[c]), ours[c].lane[lane]);
    unsigned inside = bits(up_to(far, closed));
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
        const Octet *ours = index.block(own);
        for (int l = 0; l < kLanes && rows[l] >= 0; ++l) {
            if (!balls.live[rows[l]]) continue;
            const double at = ours->lane[l], closed = closed_limit(balls.base[rows[l]]);
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
