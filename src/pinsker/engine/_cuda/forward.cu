// Forward: every unit that may be added, one thread for each, against the rows within reach.

constexpr int kSampled = 64;  // rows that set the reach

// How far in the distance of the set the first pass looks: a little beyond where a typical ball
// ends, as a sample of the rows has it. Only the time depends on it, never a result.
__device__ inline double find_reach(const Job &job, const double *found, int a) {
    __shared__ double sample[kSampled];
    __shared__ double reach;
    const int rows = static_cast<int>(job.rows), stride = rows / kSampled;
    const int at = static_cast<int>(job.share * kSampled) + 1;
    if (job.n_active == 0 || stride == 0 || at >= kSampled) return kNever;
    for (int s = threadIdx.x; s < kSampled; s += blockDim.x)
        sample[s] = s * stride == a ? kNever : found[s * stride];
    if (threadIdx.x == 0) reach = kNever;
    __syncthreads();
    for (int s = threadIdx.x; s < kSampled; s += blockDim.x) {
        int before = 0;
        for (int other = 0; other < kSampled; ++other)
            before += sample[other] < sample[s] || (sample[other] == sample[s] && other < s);
        if (before == at) reach = sample[s];
    }
    __syncthreads();
    return reach;
}

// Lists the rows within reach of each query of a batch.
extern "C" __global__ void find_near(const Job job) {
    __shared__ int n_near;
    const long long row = blockIdx.x;
    const int a = job.query[job.begin + row];
    const double *found = job.distance + row * job.span;
    const double reach = find_reach(job, found, a);
    const double edge = reach < kAlmostFarthest ? reach : kAlmostFarthest;
    if (threadIdx.x == 0) n_near = 0;
    __syncthreads();
    for (int b = threadIdx.x; b < job.rows; b += blockDim.x)
        if (b != a && found[b] <= edge) job.near_row[row * job.rows + atomicAdd(&n_near, 1)] = b;
    __syncthreads();
    if (threadIdx.x != 0) return;
    job.reach[row] = reach;
    job.n_near[row] = n_near;
}

// One candidate unit seen from one row: the other rows are all of them, or those within reach.
struct Lane {
    const Job &job;
    const double *found;  // distances in the set
    const int *near_row;  // null: all rows
    int a, lane, n;

    __device__ int row(int p) const { return near_row ? near_row[p] : p; }
    __device__ double x(int b) const {
        const double *here = job.candidates + a * job.candidate_width;
        const double *there = job.candidates + b * job.candidate_width;
        double top = found[b];
        for (int c = job.lane_first[lane]; c < job.lane_first[lane + 1]; ++c)
            top = larger(fabs(here[c] - there[c]), top);
        return top;
    }
    __device__ double joint(int b) const {
        if (b == a) return kNever;
        const double y = target_distance(job, a, b);
        return y >= kFarthest ? kNever : larger(x(b), y);
    }
    __device__ Ball ball(int rank) const {
        return nearest(n, rank, [&](int p) { return joint(row(p)); });
    }
    __device__ long long term(const Ball &ball) const;
};

// I(Y; X_S and the unit), or I(Y; X_unit | X_S); docs/estimator.md.
__device__ inline long long Lane::term(const Ball &ball) const {
    if (ball.k == 0) return 0;
    const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
    Count xz = {0, 0}, yz = {0, 0}, z = {0, 0};
    int kt = 0;
    for (int p = 0; p < n; ++p) {
        const int b = row(p);
        if (b == a) continue;
        const double rest = found[b], all = x(b), y = target_distance(job, a, b);
        xz.open += all < low;
        xz.closed += all <= high;
        kt += all <= high && y <= high;
        z.open += rest < low;
        z.closed += rest <= high;
        yz.open += rest < low && y < low;
        yz.closed += rest <= high && y <= high;
    }
    if (job.direct && job.n_active > 0)
        return conditional_term(job, ball.radius, ball.k, kt, xz, yz, z);
    return information_term(job, ball.radius, ball.k, kt, xz, count_target(job, a, ball.radius));
}

// Every candidate at each query of a batch.
extern "C" __global__ void judge_lanes(const Job job) {
    const long long row = blockIdx.x;
    const int a = job.query[job.begin + row], rank = rank_of(job, a);
    if (rank == 0) return;
    const double reach = job.reach[row];
    for (int lane = threadIdx.x; lane < job.n_lanes; lane += blockDim.x) {
        Lane one = {job, job.distance + row * job.span, job.near_row + row * job.rows, a, lane, job.n_near[row]};
        Ball ball = one.ball(rank);
        // Rows out of reach could still be inside a larger ball, or complete one that is short.
        if (reach < kNever && (ball.k < rank || inside_or_on(ball.radius) > reach)) {
            one.near_row = nullptr;
            one.n = static_cast<int>(job.rows);
            ball = one.ball(rank);
        }
        add_to(job.sums + job.lane_unit[lane], one.term(ball));
    }
}
