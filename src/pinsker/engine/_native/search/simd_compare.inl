// The innermost comparisons of the searches. Included by dispatch.cpp once per instruction set,
// after the lanes.

// Which columns of a pair are beyond a limit, and which two are the largest. Written with lanes:
// compilers do not turn comparisons into bit masks by themselves.

PINSKER_INLINE uint32_t bits_above(const double *a, const double *b, const Lanes &limit) {
    return bits(below(limit, magnitude(minus(load(a), load(b)))));
}

// A bit for each column of one block.
PINSKER_INLINE uint32_t block_bits(const double *a, const double *b, const Lanes &limit) {
    static_assert(kColumnBlock == 2 * kLanes);
    return bits_above(a, b, limit) | bits_above(a + kLanes, b + kLanes, limit) << kLanes;
}

int first_beyond(const double *a, const double *b, const int32_t *features, int from, int width,
                 double limit, int32_t skip) {
    const Lanes edge = fill(limit);
    for (int block = from; block < width; block += kColumnBlock) {
        uint32_t beyond = block_bits(a + block, b + block, edge);
        for (; beyond != 0; beyond &= beyond - 1) {
            const int c = block + count_trailing_zeros(beyond);
            if (features[c] != skip) return c;
        }
    }
    return -1;
}

uint32_t beyond_bits(const double *a, const double *b, int width, double limit) {
    const Lanes edge = fill(limit);
    const uint32_t low = block_bits(a, b, edge);
    if (width <= kColumnBlock) return low;
    return low | block_bits(a + kColumnBlock, b + kColumnBlock, edge) << kColumnBlock;
}

uint32_t front_bits(const float *a, const float *b, float limit) {
    static_assert(kFront == 4 * kLanes);
    return bits_above(a, b, limit) | bits_above(a + kFront / 2, b + kFront / 2, limit)
                                         << (kFront / 2);
}

#if PINSKER_LANES == 128

// Without registers for masks a branch that is seldom taken is faster than lanes.
TopTwo top_two(const double *a, const double *b, int width) {
    TopTwo top{-1.0, -1.0, -1, -1};
    for (int c = 0; c < width; ++c) {
        const double gap = std::fabs(a[c] - b[c]);
        if (gap > top.m1) {
            top = {gap, top.m1, c, top.c1};
        } else if (gap > top.m2) {
            top.m2 = gap;
            top.c2 = c;
        }
    }
    return top;
}

#else

// Two largest per lane, then across the lanes. Columns travel as doubles.
TopTwo top_two(const double *a, const double *b, int width) {
    const Lanes step = fill(kLanes);
    Lanes at = load(kLaneNumbers);
    Lanes m1 = fill(-1.0), m2 = m1, c1 = m1, c2 = m1;
    for (int c = 0; c < width; c += kLanes, at = plus(at, step)) {
        const Lanes gap = magnitude(minus(load(a + c), load(b + c)));
        const Mask first = below(m1, gap), second = below(m2, gap);
        m2 = select(first, m1, select(second, gap, m2));
        c2 = select(first, c1, select(second, at, c2));
        m1 = select(first, gap, m1);
        c1 = select(first, at, c1);
    }
    TopTwo top;
    top.m1 = largest(m1);
    const Mask winner = first_of(equal(m1, fill(top.m1)));
    top.c1 = static_cast<int>(value_at(winner, c1));
    m1 = select(winner, m2, m1);
    c1 = select(winner, c2, c1);
    top.m2 = largest(m1);
    top.c2 = static_cast<int>(value_at(first_of(equal(m1, fill(top.m2))), c1));
    return top;
}

#endif

// Loops that compilers turn into vector code by themselves.

constexpr int kPairBlock = 64;   // pairs tested at once before any is looked at alone
constexpr int kValueBlock = 32;  // values tested at once

Largest largest_except(const double *a, const double *b, const int32_t *features, int width,
                       int32_t skip) {
    double best = -1.0;
    int best_block = -1;
    for (int block = 0; block < width; block += kColumnBlock) {
        double top = -1.0;
#pragma omp simd reduction(max : top)
        for (int c = 0; c < kColumnBlock; ++c) {
            const double gap =
                features[block + c] == skip ? -1.0 : std::fabs(a[block + c] - b[block + c]);
            top = gap > top ? gap : top;
        }
        if (top > best) {
            best = top;
            best_block = block;
        }
    }
    if (best_block < 0) return {-1.0, kNoFeature};
    for (int c = best_block; c < best_block + kColumnBlock; ++c)
        if (features[c] != skip && std::fabs(a[c] - b[c]) == best) return {best, features[c]};
    return {best, kNoFeature};
}

double max_norm(const double *a, const double *b, int width) {
    double top = 0.0;
#pragma omp simd reduction(max : top)
    for (int c = 0; c < width; ++c) {
        const double gap = std::fabs(a[c] - b[c]);
        top = gap > top ? gap : top;
    }
    return top;
}

int find_watchers(const uint16_t *first, const uint16_t *second, int n, uint16_t feature,
                  int32_t *hits) {
    int found = 0;
    int start = 0;
    for (; start + kPairBlock <= n; start += kPairBlock) {
        uint16_t some = 0;
#pragma omp simd reduction(| : some)
        for (int p = 0; p < kPairBlock; ++p)
            some |= static_cast<uint16_t>((first[start + p] == feature) |
                                          (second[start + p] == feature));
        if (!some) continue;
        for (int p = start; p < start + kPairBlock; ++p) {
            hits[found] = p;  // branch-free: hits are rare and unpredictable
            found += (first[p] == feature) | (second[p] == feature);
        }
    }
    for (; start < n; ++start)
        if (first[start] == feature || second[start] == feature) hits[found++] = start;
    return found;
}

int find_exhausted(const uint32_t *masks, int n, uint32_t alive, int32_t *hits) {
    int found = 0;
    int start = 0;
    for (; start + kPairBlock <= n; start += kPairBlock) {
        uint32_t some = 0;
#pragma omp simd reduction(| : some)
        for (int p = 0; p < kPairBlock; ++p) {
            const uint32_t left = masks[start + p] & alive;
            some |= static_cast<uint32_t>((left & (left - 1)) == 0);
        }
        if (!some) continue;
        for (int p = start; p < start + kPairBlock; ++p) {
            const uint32_t left = masks[p] & alive;
            hits[found] = p;
            found += (left & (left - 1)) == 0;
        }
    }
    for (; start < n; ++start) {
        const uint32_t left = masks[start] & alive;
        if ((left & (left - 1)) == 0) hits[found++] = start;
    }
    return found;
}

int count_below(const double *values, int n, double limit) {
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int i = 0; i < n; ++i) count += values[i] < limit;
    return count;
}

int count_up_to(const double *values, int n, double limit) {
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int i = 0; i < n; ++i) count += values[i] <= limit;
    return count;
}

// Counts of one ball over the near pairs.
BallCounts count_ball(const double *x, const double *joint, int n, double low, double high) {
    int open = 0, closed = 0, joint_open = 0, joint_closed = 0;
#pragma omp simd reduction(+ : open, closed, joint_open, joint_closed)
    for (int p = 0; p < n; ++p) {
        open += x[p] < low;
        closed += x[p] <= high;
        joint_open += joint[p] < low;
        joint_closed += joint[p] <= high;
    }
    return {open, closed, joint_open, joint_closed};
}

void lane_insert(double *best, int rank, int width, const double *a, const double *b,
                 double floor) {
    for (int block = 0; block < width; block += kColumnBlock) {
        double moving[kColumnBlock];
#pragma omp simd
        for (int c = 0; c < kColumnBlock; ++c) {
            const double gap = std::fabs(a[block + c] - b[block + c]);
            moving[c] = gap > floor ? gap : floor;
        }
        for (int i = 0; i < rank; ++i) {
            double *slot = best + static_cast<int64_t>(i) * width + block;
#pragma omp simd
            for (int c = 0; c < kColumnBlock; ++c) {
                const double held = slot[c], here = moving[c];
                slot[c] = here < held ? here : held;
                moving[c] = here < held ? held : here;
            }
        }
    }
}

void lane_count(LaneCounts counts, int width, const double *a, const double *b, double base,
                double dy, const double *low, const double *high) {
    double *open = counts.open, *closed = counts.closed, *joint_closed = counts.joint_closed;
#pragma omp simd
    for (int c = 0; c < width; ++c) {
        const double gap = std::fabs(a[c] - b[c]);
        const double x = gap > base ? gap : base;
        const double joint = x > dy ? x : dy;
        open[c] += x < low[c] ? 1.0 : 0.0;
        closed[c] += x <= high[c] ? 1.0 : 0.0;
        joint_closed[c] += joint <= high[c] ? 1.0 : 0.0;
    }
}

void lane_count_base(double *open, double *closed, int width, double base, const double *low,
                     const double *high) {
#pragma omp simd
    for (int c = 0; c < width; ++c) {
        open[c] += base < low[c] ? 1.0 : 0.0;
        closed[c] += base <= high[c] ? 1.0 : 0.0;
    }
}

void raise_by_column(double *distance, const double *column, double here, int64_t rows) {
#pragma omp simd
    for (int64_t b = 0; b < rows; ++b) {
        const double gap = std::fabs(column[b] - here);
        distance[b] = gap > distance[b] ? gap : distance[b];
    }
}

void larger_of(const double *p, const double *q, int64_t rows, double *out) {
#pragma omp simd
    for (int64_t b = 0; b < rows; ++b) out[b] = p[b] > q[b] ? p[b] : q[b];
}

int smallest_values(const double *values, int64_t n, int rank, double limit, double *best) {
    int held = 0;
    double bound = limit;  // values above it can no longer be among the smallest
    int64_t start = 0;
    const auto offer = [&](double value) {
        if (value > bound || (held == rank && value >= best[rank - 1])) return;
        int at = held < rank ? held++ : rank - 1;
        for (; at > 0 && best[at - 1] > value; --at) best[at] = best[at - 1];
        best[at] = value;
        if (held == rank) bound = best[rank - 1];
    };
    for (; start + kValueBlock <= n; start += kValueBlock) {
        int some = 0;
#pragma omp simd reduction(| : some)
        for (int i = 0; i < kValueBlock; ++i) some |= values[start + i] <= bound;
        if (!some) continue;
        for (int i = 0; i < kValueBlock; ++i) offer(values[start + i]);
    }
    for (; start < n; ++start) offer(values[start]);
    return held;
}

int64_t positions_up_to(const double *values, int64_t n, double limit, int32_t *positions) {
    int64_t found = 0;
    int64_t start = 0;
    for (; start + kValueBlock <= n; start += kValueBlock) {
        int some = 0;
#pragma omp simd reduction(| : some)
        for (int i = 0; i < kValueBlock; ++i) some |= values[start + i] <= limit;
        if (!some) continue;
        for (int i = 0; i < kValueBlock; ++i) {
            positions[found] = static_cast<int32_t>(start + i);
            found += values[start + i] <= limit;
        }
    }
    for (; start < n; ++start)
        if (values[start] <= limit) positions[found++] = static_cast<int32_t>(start);
    return found;
}

constexpr ScanKernels kScanKernels = {
    first_beyond,   beyond_bits,     front_bits,      top_two,     largest_except, max_norm,
    find_exhausted, find_watchers,   count_ball,      count_below, count_up_to,    raise_by_column,
    larger_of,      smallest_values, positions_up_to, lane_insert, lane_count,     lane_count_base,
};
