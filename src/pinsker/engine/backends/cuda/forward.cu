// Forward: every feature that may be added, one thread for each, against the rows within reach.

constexpr int kSampled = 64;       // rows that set the reach
constexpr int kStaged = 128;       // rows in shared memory at a time
constexpr int kAtOnce = 4;         // rows whose values a thread asks for together
constexpr int kLaneThreads = 256;  // most candidates that a block looks at together
constexpr double kWider = 8.0;     // growth of the reach for candidates that need more rows

// How far in the distance of the set to look for a fraction of the rows, as a sample of them has
// it. Only the time depends on it, never a result.
__device__ inline double find_reach(const Job &job, const double *found, int a, double fraction) {
    __shared__ double sample[kSampled];
    __shared__ double reach;
    const int stride = static_cast<int>(job.rows) / kSampled;
    const double at = fraction * kSampled + 1.0;
    if (job.n_active == 0 || stride == 0 || at >= kSampled) return kNever;
    __syncthreads();
    for (int s = threadIdx.x; s < kSampled; s += blockDim.x)
        sample[s] = s * stride == a ? kNever : found[s * stride];
    if (threadIdx.x == 0) reach = kNever;
    __syncthreads();
    for (int s = threadIdx.x; s < kSampled; s += blockDim.x) {
        int before = 0;
        for (int other = 0; other < kSampled; ++other)
            before += sample[other] < sample[s] || (sample[other] == sample[s] && other < s);
        if (before == static_cast<int>(at)) reach = sample[s];
    }
    __syncthreads();
    return reach;
}

// Rows on their way through shared memory.
struct Stage {
    int row[kStaged];
    double in_set[kStaged], in_target[kStaged];  // distances from the query row
};

// The rows around one query row, those within reach or all; those of its class come first.
struct Around {
    const Job &job;
    Stage &stage;
    const double *found;  // distances in the set
    int *listed;          // room for all rows: its class from the front, others from the back
    int a, first, n_same_class, n;
    bool all_rows;

    __device__ Around(const Job &job, Stage &stage, long long row)
        : job(job),
          stage(stage),
          found(job.distance + row * job.span),
          listed(job.near_row + row * job.rows),
          a(job.query[job.begin + row]),
          first(job.same_class_first[a]) {}

    __device__ void list(double reach) {
        __shared__ int n_same, n_others;
        const int rows = static_cast<int>(job.rows), last = job.same_class_last[a];
        all_rows = reach >= kFarthest;
        __syncthreads();
        if (threadIdx.x == 0) n_same = n_others = 0;
        __syncthreads();
        for (int b = threadIdx.x; !all_rows && b < rows; b += blockDim.x) {
            if (b == a || found[b] > reach) continue;
            if (b >= first && b < last)
                listed[atomicAdd(&n_same, 1)] = b;
            else
                listed[rows - 1 - atomicAdd(&n_others, 1)] = b;
        }
        __syncthreads();
        n_same_class = all_rows ? last - first : n_same;
        n = all_rows ? rows : n_same + n_others;
    }

    __device__ int row(int p) const {
        if (!all_rows)
            return listed[p < n_same_class ? p
                                           : static_cast<int>(job.rows) - 1 - (p - n_same_class)];
        return p < n_same_class ? first + p : p - n_same_class < first ? p - n_same_class : p;
    }

    // Brings rows start... into shared memory, and fills up with rows that are near to none.
    __device__ int bring(int start, int end) const {
        const int some = end - start < kStaged ? end - start : kStaged;
        const int filled = (some + kAtOnce - 1) / kAtOnce * kAtOnce;
        __syncthreads();
        for (int i = threadIdx.x; i < filled; i += blockDim.x) {
            const int b = i < some ? row(start + i) : a;
            stage.row[i] = b;
            stage.in_set[i] = b == a ? kNever : found[b];
            stage.in_target[i] = b == a ? kNever : target_distance(job, a, b);
        }
        __syncthreads();
        return filled;
    }
};

// One candidate feature seen from one row; most features have a single column.
template <bool kSingle>
struct Lane {
    const Job &job;
    const Around &around;
    int first, last;  // columns of the feature
    bool open;        // not measured yet

    __device__ double x(int b, double in_set) const {
        const double *here = job.candidates + around.a * job.candidate_width;
        const double *there = job.candidates + b * job.candidate_width;
        double top = larger(fabs(here[first] - there[first]), in_set);
        for (int c = first + 1; !kSingle && c < last; ++c)
            top = larger(fabs(here[c] - there[c]), top);
        return top;
    }

    // Calls visit(distance with the feature, distance in the set, distance in the target) for the
    // first rows around. All threads of the block take part.
    template <class Visit>
    __device__ void visit_rows(int n, Visit visit) const {
        const Stage &stage = around.stage;
        for (int start = 0; start < n; start += kStaged) {
            const int staged = around.bring(start, n);
            for (int i = 0; open && i < staged; i += kAtOnce) {
                double gap[kAtOnce];
#pragma unroll
                for (int j = 0; j < kAtOnce; ++j) gap[j] = x(stage.row[i + j], stage.in_set[i + j]);
#pragma unroll
                for (int j = 0; j < kAtOnce; ++j)
                    visit(gap[j], stage.in_set[i + j], stage.in_target[i + j]);
            }
        }
        __syncthreads();
    }

    __device__ Ball ball(int rank) const {
        if (rank <= kHeld) {
            Smallest smallest;
            smallest.start(rank);
            visit_rows(around.n_same_class, [&](double gap, double, double in_target) {
                smallest.push(larger(gap, in_target));
            });
            return smallest.ball();
        }
        return halve(rank, [&](double limit) {
            int count = 0;
            visit_rows(around.n_same_class, [&](double gap, double, double in_target) {
                count += larger(gap, in_target) <= limit;
            });
            return count;
        });
    }

    // I(Y; X_S and the feature), or I(Y; X_feature | X_S); docs/estimator.md.
    __device__ long long term(const Ball &ball) const {
        const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
        const bool direct = job.direct && job.n_active > 0;
        Count xz = {0, 0}, yz = {0, 0}, z = {0, 0};
        int kt = 0;
        visit_rows(around.n, [&](double gap, double in_set, double in_target) {
            xz.open += gap < low;
            xz.closed += gap <= high;
            kt += gap <= high && in_target <= high;
            if (!direct) return;
            z.open += in_set < low;
            z.closed += in_set <= high;
            yz.open += in_set < low && in_target < low;
            yz.closed += in_set <= high && in_target <= high;
        });
        if (ball.k == 0 || !open) return 0;
        if (direct) return conditional_term(job, ball.radius, ball.k, kt, xz, yz, z);
        const Count y = count_target(job, around.a, ball.radius);
        return information_term(job, ball.radius, ball.k, kt, xz, y);
    }
};

// Candidates start... of one query row. The reach widens for those that need more rows.
template <bool kSingle>
__device__ void score_some(const Job &job, Around &around, int rank, int start) {
    const int number = start + threadIdx.x;
    const bool there = number < job.n_lanes;
    const int at = there ? number : 0;
    Lane<kSingle> lane = {job, around, job.lane_first[at], job.lane_first[at + 1], there};
    for (double fraction = job.fraction;; fraction *= kWider) {
        const double reach = find_reach(job, around.found, around.a, fraction);
        around.list(reach);
        const Ball ball = lane.ball(rank);
        // Rows out of reach could still be inside a larger ball, or complete one that is short.
        const bool known =
            around.all_rows || (ball.k == rank && inside_or_on(ball.radius) <= reach);
        const bool needed = lane.open;
        lane.open = needed && known;
        const long long term = lane.term(ball);
        if (lane.open) add_to(job.sums + job.lane_feature[number], term);
        lane.open = needed && !known;
        if (block_sum(lane.open) == 0) return;
    }
}

// Every candidate at each query of a batch; one block for a query, one thread for a candidate.
extern "C" __global__ void __launch_bounds__(kLaneThreads, 4) score_candidates(const Job job) {
    __shared__ Stage stage;
    Around around(job, stage, blockIdx.x);
    const int rank = rank_of(job, around.a);
    if (rank == 0) return;
    for (int start = 0; start < job.n_lanes; start += blockDim.x) {
        if (job.lane_first[job.n_lanes] == job.n_lanes)
            score_some<true>(job, around, rank, start);
        else
            score_some<false>(job, around, rank, start);
    }
}
