// Forward: every unit that may be added, one thread for each, against the rows within reach.

constexpr int kSampled = 64;       // rows that set the reach
constexpr int kStaged = 128;       // rows in shared memory at a time
constexpr int kLaneThreads = 256;  // most candidates that a block looks at together
constexpr double kWider = 8.0;     // growth of the reach for candidates that need more rows

// How far in the distance of the set to look for a share of the rows, as a sample of them has it.
// Only the time depends on it, never a result.
__device__ inline double find_reach(const Job &job, const double *found, int a, double share) {
    __shared__ double sample[kSampled];
    __shared__ double reach;
    const int stride = static_cast<int>(job.rows) / kSampled;
    const double at = share * kSampled + 1.0;
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

// The rows around one query row: those within reach, or everyone.
struct Around {
    const Job &job;
    const double *found;  // distances in the set
    int *listed;          // room for all rows
    int a, n;
    bool everyone;

    __device__ void list(double reach) {
        __shared__ int n_listed;
        n = static_cast<int>(job.rows);
        everyone = reach >= kFarthest;
        __syncthreads();
        if (threadIdx.x == 0) n_listed = 0;
        __syncthreads();
        for (int b = threadIdx.x; !everyone && b < job.rows; b += blockDim.x)
            if (b != a && found[b] <= reach) listed[atomicAdd(&n_listed, 1)] = b;
        __syncthreads();
        if (!everyone) n = n_listed;
    }

    // Calls visit(row, its distance in the set, its distance in the target). All threads go along:
    // they bring the rows into shared memory together.
    template <class Visit>
    __device__ void visit_all(Visit visit) const {
        __shared__ int row[kStaged];
        __shared__ double in_set[kStaged], in_target[kStaged];
        for (int start = 0; start < n; start += kStaged) {
            const int staged = n - start < kStaged ? n - start : kStaged;
            __syncthreads();
            for (int i = threadIdx.x; i < staged; i += blockDim.x) {
                const int b = everyone ? start + i : listed[start + i];
                row[i] = b;
                in_set[i] = b == a ? kNever : found[b];
                in_target[i] = b == a ? kNever : target_distance(job, a, b);
            }
            __syncthreads();
#pragma unroll 4
            for (int i = 0; i < staged; ++i) visit(row[i], in_set[i], in_target[i]);
        }
        __syncthreads();
    }
};

// One candidate unit seen from one row.
struct Lane {
    const Job &job;
    const double *here;  // the query row
    int first, last;     // columns of the unit
    bool open;           // not measured yet

    __device__ double x(int b, double in_set) const {
        const double *there = job.candidates + b * job.candidate_width;
        double top = in_set;
        for (int c = first; c < last; ++c) top = larger(fabs(here[c] - there[c]), top);
        return top;
    }

    __device__ Ball ball(const Around &around, int rank) const {
        if (rank <= kHeld) {
            Smallest smallest;
            smallest.start(rank);
            around.visit_all([&](int b, double in_set, double in_target) {
                if (open && in_target < kFarthest) smallest.push(larger(x(b, in_set), in_target));
            });
            return smallest.ball();
        }
        return halve(rank, [&](double limit) {
            int count = 0;
            around.visit_all([&](int b, double in_set, double in_target) {
                count += open && in_target <= limit && x(b, in_set) <= limit;
            });
            return count;
        });
    }

    __device__ long long term(const Around &around, const Ball &ball) const;
};

// I(Y; X_S and the unit), or I(Y; X_unit | X_S); docs/estimator.md.
__device__ inline long long Lane::term(const Around &around, const Ball &ball) const {
    const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
    const bool direct = job.direct && job.n_active > 0;
    Count xz = {0, 0}, yz = {0, 0}, z = {0, 0};
    int kt = 0;
    around.visit_all([&](int b, double in_set, double in_target) {
        if (!open) return;
        const double all = x(b, in_set);
        xz.open += all < low;
        xz.closed += all <= high;
        kt += all <= high && in_target <= high;
        if (!direct) return;
        z.open += in_set < low;
        z.closed += in_set <= high;
        yz.open += in_set < low && in_target < low;
        yz.closed += in_set <= high && in_target <= high;
    });
    if (ball.k == 0 || !open) return 0;
    if (direct) return conditional_term(job, ball.radius, ball.k, kt, xz, yz, z);
    return information_term(job, ball.radius, ball.k, kt, xz, count_target(job, around.a, ball.radius));
}

// Every candidate at each query of a batch; one block for a query, one thread for a candidate.
extern "C" __global__ void __launch_bounds__(kLaneThreads) judge_lanes(const Job job) {
    const long long row = blockIdx.x;
    const int a = job.query[job.begin + row], rank = rank_of(job, a);
    if (rank == 0) return;
    Around around = {job, job.distance + row * job.span, job.near_row + row * job.rows, a, 0, false};
    for (int start = 0; start < job.n_lanes; start += blockDim.x) {
        const int number = start + threadIdx.x;
        const bool there = number < job.n_lanes;
        Lane lane = {job, job.candidates + a * job.candidate_width, there ? job.lane_first[number] : 0,
                     there ? job.lane_first[number + 1] : 0, there};
        for (double share = job.share;; share *= kWider) {
            const double reach = find_reach(job, around.found, a, share);
            around.list(reach);
            const Ball ball = lane.ball(around, rank);
            // Rows out of reach could still be inside a larger ball, or complete one that is short.
            const bool known = around.everyone || (ball.k == rank && inside_or_on(ball.radius) <= reach);
            const bool needed = lane.open;
            lane.open = needed && known;
            const long long term = lane.term(around, ball);
            if (lane.open) add_to(job.sums + job.lane_unit[number], term);
            lane.open = needed && !known;
            if (block_sum(lane.open) == 0) break;
        }
    }
}
