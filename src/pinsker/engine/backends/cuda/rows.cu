// What happens to one query row when the set changes; one block for each row.

// The radius of each query of a batch, from its distances to the rows of its class.
extern "C" __global__ void __launch_bounds__(kRowThreads) find_radius(const Job job) {
    const long long q = job.begin + blockIdx.x;
    const int a = job.query[q], rank = rank_of(job, a), begins = job.same_class_first[a];
    long long first, last;
    same_class_of_tile(job, job.begin + blockIdx.x / kTile * kTile, &first, &last);
    const double *found = job.distance + blockIdx.x * job.span - first;
    const Ball ball = block_nearest(job.same_class_last[a] - begins, rank, [&](int p) {
        const int b = begins + p;
        return b == a ? kNever : larger(found[b], target_distance(job, a, b));
    });
    if (threadIdx.x != 0) return;
    const double radius = ball.k == rank ? ball.radius : kNever;
    job.radius[q] = radius;
    job.limit[q] = rank == 0 ? -1.0 : limit_of(radius);  // alone in its class: every pair stays far
}

// The two largest feature distances of a pair.
__device__ inline void measure_pair(const Job &job, int a, long long slot) {
    const double *here = job.table + a * job.width;
    const double *there = job.table + job.close_row[slot] * job.width;
    double m1 = -1.0, m2 = -1.0;
    int j1 = kNoFeature, j2 = kNoFeature;
    for (int c = 0; c < job.width; ++c) {
        const double gap = fabs(here[c] - there[c]);
        if (gap <= m2) continue;
        const int feature = job.feature_of_column[c];
        if (feature == kNoFeature) continue;
        if (gap > m1) {
            if (feature != j1) {
                m2 = m1;
                j2 = j1;
            }
            m1 = gap;
            j1 = feature;
        } else if (feature != j1) {
            m2 = gap;
            j2 = feature;
        }
    }
    job.close_first[slot] = m1;
    job.close_second[slot] = m2;
    job.close_first_feature[slot] = j1;
    job.close_second_feature[slot] = j2;
}

// Measures close pairs that are new, and those that had the removed feature among their two
// largest.
extern "C" __global__ void measure(const Job job) {
    const long long q = blockIdx.x;
    const int a = job.query[q];
    const long long n = job.n_close[q] < job.capacity ? job.n_close[q] : job.capacity;
    for (long long p = threadIdx.x; p < n; p += blockDim.x) {
        const long long slot = q * job.capacity + p;
        const int first = job.close_first_feature[slot];
        const bool is_new = first == kUnmeasured;
        if (is_new)
            job.close_target[slot] = target_distance(job, a, job.close_row[slot]);
        else if (first != job.removed && job.close_second_feature[slot] != job.removed)
            continue;
        measure_pair(job, a, slot);
        job.changed[q] = 1;
    }
}

// Two codes that a far pair is watched under.
__device__ inline unsigned watch_codes(int first_feature, int second_feature) {
    const unsigned first = first_feature % kNoCode, second = second_feature % kNoCode;
    return first | second << 8;
}

// Closes ranks among the close pairs: those beyond the limit are far again. All threads of the
// block read a stretch of slots before any of them writes, and writes only go to slots already
// read.
__device__ inline void drop_far_pairs(const Job &job, long long q, int n, double limit) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        const int p = start + threadIdx.x;
        const long long slot = q * job.capacity + p;
        double m1 = 0.0, m2 = 0.0, dy = 0.0;
        int b = 0, j1 = 0, j2 = 0;
        if (p < n) {
            m1 = job.close_first[slot], m2 = job.close_second[slot], dy = job.close_target[slot];
            b = job.close_row[slot], j1 = job.close_first_feature[slot],
            j2 = job.close_second_feature[slot];
        }
        __syncthreads();
        if (p < n && m2 > limit) {
            job.watches[q * job.watch_stride + b] =
                static_cast<unsigned short>(watch_codes(j1, j2));
        } else if (p < n) {
            const long long to = q * job.capacity + atomicAdd(&kept, 1);
            job.close_first[to] = m1, job.close_second[to] = m2, job.close_target[to] = dy;
            job.close_row[to] = b, job.close_first_feature[to] = j1,
            job.close_second_feature[to] = j2;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) job.n_close[q] = kept;
}

// The new radius of a row whose close pairs changed. A far pair loses one feature at most, so
// another is still beyond the limit: close pairs alone decide the radius.
extern "C" __global__ void __launch_bounds__(kRowThreads) tighten(const Job job) {
    const long long q = blockIdx.x;
    if (!job.changed[q]) return;
    const int n = job.n_close[q], rank = rank_of(job, job.query[q]);
    const double *first = job.close_first + q * job.capacity;
    const double *target = job.close_target + q * job.capacity;
    const Ball ball = block_nearest(n, rank, [&](int p) { return larger(first[p], target[p]); });
    const double radius = ball.k == rank ? ball.radius : kNever;
    const double limit = limit_of(radius);
    __syncthreads();
    drop_far_pairs(job, q, n, limit);
    if (threadIdx.x != 0) return;
    job.radius[q] = radius;
    job.limit[q] = limit;
}

constexpr int kScanThreads = 256;
constexpr int kWarp = 32;
constexpr int kQueue = 512;    // pairs of a warp that wait to be looked at again
constexpr int kPairsRead = 8;  // watches that a thread reads at once, 16 bytes
constexpr int kRowBits = 24;   // of a pair in the queue; above them is the code that stays

// Which of the two pairs in four bytes are watched under the code: bits 0 and 1.
__device__ inline unsigned watched_under(unsigned watches, unsigned code) {
    const unsigned other = watches ^ code * 0x01010101u;  // a zero byte where the code is
    const unsigned rest = 0x7F7F7F7Fu;
    const unsigned zero =
        ~(((other & rest) + rest) | other | rest);  // the highest bit of such bytes
    const unsigned pairs = zero | zero << 8;
    return (pairs >> 15 & 1) | (pairs >> 30 & 2);
}

// Puts those of eight pairs into the queue that are watched under the code, with the other watch.
__device__ inline void collect(const uint4 &watches, unsigned code, int b, unsigned *queue,
                               int *queued) {
    unsigned hits = watched_under(watches.x, code) | watched_under(watches.y, code) << 2 |
                    watched_under(watches.z, code) << 4 | watched_under(watches.w, code) << 6;
    if (hits == 0) return;
    int at = atomicAdd(queued, __popc(hits));
    for (; hits != 0; hits &= hits - 1) {
        const int pair = 31 - __clz(static_cast<int>(hits & (0 - hits)));
        const unsigned low = pair < 2 ? watches.x : watches.y,
                       high = pair < 6 ? watches.z : watches.w;
        const unsigned both = (pair < 4 ? low : high) >> (pair % 2 * 16);
        const unsigned first = both & 255, second = both >> 8 & 255;
        const unsigned stays = first != code ? first : second != code ? second : kNoCode;
        queue[at++] = static_cast<unsigned>(b + pair) | stays << kRowBits;
    }
}

__device__ inline unsigned push_four(unsigned mask, const float4 &here, const float4 &there,
                                     float limit) {
    mask = push_sign(mask, limit - fabs(here.x - there.x));
    mask = push_sign(mask, limit - fabs(here.y - there.y));
    mask = push_sign(mask, limit - fabs(here.z - there.z));
    return push_sign(mask, limit - fabs(here.w - there.w));
}

// Which of eight columns are beyond the limit in single precision, as `note` wants them.
__device__ inline unsigned beyond_eight(const float4 *here, const float4 *there, float limit) {
    const float4 front = there[0], back = there[1];  // one sector of memory
    return push_four(push_four(0, here[0], front, limit), here[1], back, limit) << (kDepth - 8);
}

// Adds to the codes seen those of features beyond the limit, until there are two.
__device__ inline unsigned look(const Job &job, const double *here, int b, double limit,
                                unsigned seen) {
    const double *there = job.table + b * job.width;
    for (int c = 0; c < job.width && seen >> 8 == kNoCode; ++c)
        if (fabs(here[c] - there[c]) > limit)
            seen = note(seen, 1u << (kDepth - 1), job.code_of_column + c);
    return seen;
}

// Single precision moves a distance by less than 2^-23 of the values and of itself, and the limit
// by 2^-24 of itself: a millionth more is safe.
__device__ inline float sure_limit(const Job &job, double limit) {
    const double sure = (limit + job.rounding) * (1.0 + 1e-6);
    return static_cast<float>(sure < 1e39 ? sure : 1e39);
}

// Looks again at every `step`-th pair in the queue: it finds another feature beyond the limit, or
// becomes close. Single precision is read first, eight columns at a time; what it leaves open is
// decided by the doubles. Columns whose removal costs most come first: such features stay long. A
// thread that is done with a pair goes on with its next one while others still look.
__device__ inline void settle_queue(const Job &job, long long q, const unsigned *queue, int first,
                                    int step, int waiting, const float *rounded) {
    const double limit = job.limit[q];
    const float sure = sure_limit(job, limit);
    const float4 *here = reinterpret_cast<const float4 *>(rounded);
    const int width = static_cast<int>(job.rounded_width);
    int b = 0, column = 0;
    unsigned seen = 0;
    for (int w = first; w < waiting;) {
        if (column == 0) {
            b = static_cast<int>(queue[w] & ((1u << kRowBits) - 1));
            seen = queue[w] >> kRowBits | kNoCode << 8;
        }
        const float4 *there =
            reinterpret_cast<const float4 *>(job.rounded + b * job.rounded_width + column);
        const unsigned mask = beyond_eight(here + column / 4, there, sure);
        if (mask != 0) seen = note(seen, mask, job.code_of_column + column);
        column += 8;
        if (seen >> 8 == kNoCode && column < width) continue;
        if (seen >> 8 == kNoCode)
            seen = look(job, job.table + job.query[q] * job.width, b, limit, seen);
        settle(job, q, b, limit, seen);
        column = 0;
        w += step;
    }
}

// One warp looks through its part of a row's watches; warps never wait for each other.
__device__ inline void scan_watches(const Job &job, long long q, unsigned *queue, int *queued,
                                    const float *rounded) {
    const int lanes = blockDim.x < kWarp ? blockDim.x : kWarp, lane = threadIdx.x % kWarp;
    const int parts = static_cast<int>(job.watch_stride / kPairsRead), last = parts - 1;
    const unsigned code = static_cast<unsigned>(job.removed % kNoCode);
    const uint4 *watches = reinterpret_cast<const uint4 *>(job.watches + q * job.watch_stride);
    const int begin = threadIdx.x - lane, step = blockDim.x;
    // Watches are requested one round ahead: the wait for memory is longer than a round.
    uint4 next = watches[begin + lane < last ? begin + lane : last];
    for (int start = begin; start < parts; start += step) {
        const int part = start + lane, ahead = part + step;
        const uint4 read = next;
        next = watches[ahead < last ? ahead : last];
        if (part < parts) collect(read, code, part * kPairsRead, queue, queued);
        __syncwarp();
        const int waiting = *queued;
        __syncwarp();
        if (waiting + lanes * kPairsRead <= kQueue && start + step < parts) continue;
        settle_queue(job, q, queue, lane, lanes, waiting, rounded);
        __syncwarp();
        if (lane == 0) *queued = 0;
        __syncwarp();
    }
}

// Far pairs that watched the removed feature find another one beyond the limit, or become close.
extern "C" __global__ void __launch_bounds__(kScanThreads, 8) revisit(const Job job) {
    __shared__ unsigned queue[kScanThreads / kWarp][kQueue];
    __shared__ int queued[kScanThreads / kWarp];
    DYNAMIC_SHARED(float, row_of_query);
    const long long q = blockIdx.x;
    if (job.retired[q]) return;
    const float *rounded = job.rounded + job.query[q] * job.rounded_width;
    if (job.row_in_shared) {
        for (int c = threadIdx.x; c < job.rounded_width; c += blockDim.x)
            row_of_query[c] = rounded[c];
        rounded = row_of_query;
    }
    const int warp = threadIdx.x / kWarp;
    if (threadIdx.x % kWarp == 0) queued[warp] = 0;
    __syncthreads();
    scan_watches(job, q, queue[warp], queued + warp, rounded);
}
