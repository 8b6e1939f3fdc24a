// What happens to one query row when the set changes; one block for each row.

// The radius of each query of a batch, from its distances to its company.
extern "C" __global__ void __launch_bounds__(kRowThreads) find_radius(const Job job) {
    const long long q = job.begin + blockIdx.x;
    const int a = job.query[q], rank = rank_of(job, a), begins = job.company_first[a];
    long long first, last;
    company_of_tile(job, job.begin + blockIdx.x / kTile * kTile, &first, &last);
    const double *found = job.distance + blockIdx.x * job.span - first;
    const Ball ball = block_nearest(job.company_last[a] - begins, rank, [&](int p) {
        const int b = begins + p;
        return b == a ? kNever : larger(found[b], target_distance(job, a, b));
    });
    if (threadIdx.x != 0) return;
    const double radius = ball.k == rank ? ball.radius : kNever;
    job.radius[q] = radius;
    job.limit[q] = rank == 0 ? -1.0 : limit_of(radius);  // alone: every pair is far for ever
}

// The two largest unit distances of a pair.
__device__ inline void measure_pair(const Job &job, int a, long long slot) {
    const double *here = job.table + a * job.width;
    const double *there = job.table + job.close_row[slot] * job.width;
    double m1 = -1.0, m2 = -1.0;
    int j1 = kNoUnit, j2 = kNoUnit;
    for (int c = 0; c < job.width; ++c) {
        const double gap = fabs(here[c] - there[c]);
        if (gap <= m2) continue;
        const int unit = job.unit_of_column[c];
        if (unit == kNoUnit) continue;
        if (gap > m1) {
            if (unit != j1) {
                m2 = m1;
                j2 = j1;
            }
            m1 = gap;
            j1 = unit;
        } else if (unit != j1) {
            m2 = gap;
            j2 = unit;
        }
    }
    job.close_first[slot] = m1;
    job.close_second[slot] = m2;
    job.close_first_unit[slot] = j1;
    job.close_second_unit[slot] = j2;
}

// Measures close pairs that are new, and those that had the removed unit among their two largest.
extern "C" __global__ void measure(const Job job) {
    const long long q = blockIdx.x;
    const int a = job.query[q];
    const long long n = job.n_close[q] < job.capacity ? job.n_close[q] : job.capacity;
    for (long long p = threadIdx.x; p < n; p += blockDim.x) {
        const long long slot = q * job.capacity + p;
        const int first = job.close_first_unit[slot];
        const bool is_new = first == kUnmeasured;
        if (is_new)
            job.close_target[slot] = target_distance(job, a, job.close_row[slot]);
        else if (first != job.removed && job.close_second_unit[slot] != job.removed)
            continue;
        measure_pair(job, a, slot);
        job.changed[q] = 1;
    }
}

// Two codes that a far pair is watched under.
__device__ inline unsigned watch_codes(int first_unit, int second_unit) {
    const unsigned first = first_unit % kNobody, second = second_unit % kNobody;
    return first | second << 8;
}

// Closes ranks among the close pairs: those beyond the limit are far again. All threads of the block
// read a stretch of slots before any of them writes, and writes only go to slots already read.
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
            b = job.close_row[slot], j1 = job.close_first_unit[slot], j2 = job.close_second_unit[slot];
        }
        __syncthreads();
        if (p < n && m2 > limit) {
            job.watches[q * job.watch_stride + b] = static_cast<unsigned short>(watch_codes(j1, j2));
        } else if (p < n) {
            const long long to = q * job.capacity + atomicAdd(&kept, 1);
            job.close_first[to] = m1, job.close_second[to] = m2, job.close_target[to] = dy;
            job.close_row[to] = b, job.close_first_unit[to] = j1, job.close_second_unit[to] = j2;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) job.n_close[q] = kept;
}

// The new radius of a row whose close pairs changed. A far pair loses one unit at most, so another
// is still beyond the limit: close pairs alone decide the radius.
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

constexpr int kScanThreads = 64;  // few: they wait for each other
constexpr int kQueue = 1536;      // pairs that wait to be looked at again
constexpr int kPairsRead = 8;     // watches that a thread reads at once, 16 bytes ...
constexpr int kReads = 2;         // ... and how often before it looks at them

// Puts the pairs of four bytes of watches into the queue if they are watched under the code.
__device__ inline void collect(unsigned watched, unsigned pattern, int b, int *queue, int *queued) {
    const unsigned other = watched ^ pattern;  // a zero byte where the code is
    if (((other - 0x01010101u) & ~other & 0x80808080u) == 0) return;
    if ((other & 0xFF) == 0 || (other & 0xFF00) == 0) queue[atomicAdd(queued, 1)] = b;
    if ((other & 0xFF0000) == 0 || (other & 0xFF000000u) == 0) queue[atomicAdd(queued, 1)] = b + 1;
}

__device__ inline void collect_eight(const uint4 &four, unsigned pattern, int b, int *queue, int *queued) {
    collect(four.x, pattern, b, queue, queued);
    collect(four.y, pattern, b + 2, queue, queued);
    collect(four.z, pattern, b + 4, queue, queued);
    collect(four.w, pattern, b + 6, queue, queued);
}

// Bit kDepth - 1 - c set if the c-th of four columns is beyond the limit; not-a-number is not.
template <class Four, class Number>
__device__ unsigned beyond_four(const Four &here, const Four &there, Number limit) {
    return (fabs(here.x - there.x) > limit) << (kDepth - 1) |
           (fabs(here.y - there.y) > limit) << (kDepth - 2) |
           (fabs(here.z - there.z) > limit) << (kDepth - 3) |
           (fabs(here.w - there.w) > limit) << (kDepth - 4);
}

// Codes of two units that are beyond the limit in single precision, whatever was rounded, or fewer.
// Columns that are dear come first: they are found first, and stay long.
__device__ inline unsigned two_beyond_for_sure(const Job &job, const float *here, int b, float limit) {
    const float4 *mine = reinterpret_cast<const float4 *>(here);
    const float4 *theirs = reinterpret_cast<const float4 *>(job.rounded + b * job.rounded_width);
    unsigned seen = kNobodyTwice;
    for (int c = 0; c < job.rounded_width; c += 8) {
        const float4 front = theirs[c / 4], back = theirs[c / 4 + 1];  // one sector of memory
        const unsigned mask = beyond_four(mine[c / 4], front, limit) |
                              beyond_four(mine[c / 4 + 1], back, limit) >> 4;
        if (mask == 0) continue;
        seen = note(seen, mask, job.code_of_column + c);
        if (seen >> 8 != kNobody) break;
    }
    return seen;
}

// The same in double precision, which is final.
__device__ inline unsigned two_beyond(const Job &job, const double *here, int b, double limit) {
    const double *there = job.table + b * job.width;
    unsigned seen = kNobodyTwice;
    for (int c = 0; c < job.width && seen >> 8 == kNobody; ++c)
        if (fabs(here[c] - there[c]) > limit) seen = note(seen, 1u << (kDepth - 1), job.code_of_column + c);
    return seen;
}

// Single precision moves a distance by less than 2^-23 of the values and of itself, and the limit by
// 2^-24 of itself: a millionth more is safe.
__device__ inline float sure_limit(const Job &job, double limit) {
    const double sure = (limit + job.rounding) * (1.0 + 1e-6);
    return static_cast<float>(sure < 1e39 ? sure : 1e39);
}

// Far pairs that watched the removed unit find two units beyond the limit, or become close.
extern "C" __global__ void __launch_bounds__(kScanThreads) revisit(const Job job) {
    __shared__ int queue[kQueue];
    __shared__ int queued;
    DYNAMIC_SHARED(float, row_of_query);
    const long long q = blockIdx.x;
    if (job.retired[q]) return;
    const double *here = job.table + job.query[q] * job.width;
    const float *rounded = job.rounded + job.query[q] * job.rounded_width;
    if (job.row_in_shared) {
        for (int c = threadIdx.x; c < job.rounded_width; c += blockDim.x) row_of_query[c] = rounded[c];
        rounded = row_of_query;
    }
    if (threadIdx.x == 0) queued = 0;
    __syncthreads();
    const unsigned pattern = static_cast<unsigned>(job.removed % kNobody) * 0x01010101u;
    const uint4 *watches = reinterpret_cast<const uint4 *>(job.watches + q * job.watch_stride);
    const int parts = static_cast<int>(job.watch_stride / kPairsRead), stretch = blockDim.x * kReads;
    const double limit = job.limit[q];
    const float sure = sure_limit(job, limit);
    for (int start = 0; start < parts; start += stretch) {
        uint4 read[kReads];
#pragma unroll
        for (int i = 0; i < kReads; ++i) {
            const int part = start + i * blockDim.x + threadIdx.x;
            if (part < parts) read[i] = __ldcs(watches + part);  // read once: not to be cached
        }
#pragma unroll
        for (int i = 0; i < kReads; ++i) {
            const int part = start + i * blockDim.x + threadIdx.x;
            if (part < parts) collect_eight(read[i], pattern, part * kPairsRead, queue, &queued);
        }
        __syncthreads();
        const int waiting = queued;
        __syncthreads();
        if (waiting + stretch * kPairsRead <= kQueue && start + stretch < parts) continue;
        for (int w = threadIdx.x; w < waiting; w += blockDim.x) {
            unsigned seen = two_beyond_for_sure(job, rounded, queue[w], sure);
            if (seen >> 8 == kNobody) seen = two_beyond(job, here, queue[w], limit);
            settle(job, q, queue[w], limit, seen);
        }
        __syncthreads();
        if (threadIdx.x == 0) queued = 0;
        __syncthreads();
    }
}
