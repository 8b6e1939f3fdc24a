// What a row adds to the sums: its own term, and what it would be without each feature.

// The close pairs of one row, and what a feature's removal would make of them.
struct ClosePairs {
    const double *first, *second, *target;
    const int *feature;
    int n;

    __device__ ClosePairs(const Job &job, long long q)
        : first(job.close_first + q * job.capacity),
          second(job.close_second + q * job.capacity),
          target(job.close_target + q * job.capacity),
          feature(job.close_first_feature + q * job.capacity),
          n(job.n_close[q]) {}
    // Distances without a feature; kNoFeature removes nothing.
    __device__ double x(int p, int without) const {
        return feature[p] == without ? second[p] : first[p];
    }
    __device__ double joint(int p, int without) const { return larger(x(p, without), target[p]); }
    __device__ Ball ball(int rank, int without) const {
        return nearest(n, rank, [&](int p) { return joint(p, without); });
    }
};

// Target counts of the row's own ball, shared by all features that do not change its radius.
__device__ inline Count block_count_target(const Job &job, int a, double radius) {
    if (job.labels || job.targets == 1) return count_target(job, a, radius);
    const double low = strictly_inside(radius), high = inside_or_on(radius);
    int open = 0, closed = 0;
    for (int b = threadIdx.x; b < job.rows; b += blockDim.x) {
        const double gap = target_distance(job, a, b);
        open += b != a && gap < low;
        closed += b != a && gap <= high;
    }
    open = block_sum(open);
    return {open, block_sum(closed)};
}

// I(Y; X without a feature) at one row.
__device__ inline long long term_without(const Job &job, const ClosePairs &pairs, int a, int rank,
                                         int feature, double own_radius, Count own_target) {
    const Ball ball = pairs.ball(rank, feature);
    if (ball.k == 0) return 0;
    const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
    Count x = {0, 0};
    int kt = 0;
    for (int p = 0; p < pairs.n; ++p) {
        const double gap = pairs.x(p, feature);
        x.open += gap < low;
        x.closed += gap <= high;
        kt += gap <= high && pairs.target[p] <= high;
    }
    const Count y = ball.radius == own_radius ? own_target : count_target(job, a, ball.radius);
    return information_term(job, ball.radius, ball.k, kt, x, y);
}

// I(Y; X_feature | the others) at one row, with the radius of all of them.
__device__ inline long long direct_term(const Job &job, const ClosePairs &pairs, int rank,
                                        int feature) {
    const Ball ball = pairs.ball(rank, kNoFeature);
    if (ball.k == 0) return 0;
    const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
    Count xz = {0, 0}, yz = {0, 0}, z = {0, 0};
    int kt = 0;
    for (int p = 0; p < pairs.n; ++p) {
        const double all = pairs.x(p, kNoFeature), rest = pairs.x(p, feature), y = pairs.target[p];
        xz.open += all < low;
        xz.closed += all <= high;
        kt += all <= high && y <= high;
        z.open += rest < low;
        z.closed += rest <= high;
        yz.open += rest < low && y < low;
        yz.closed += rest <= high && y <= high;
    }
    return conditional_term(job, ball.radius, ball.k, kt, xz, yz, z);
}

// Takes back what the row has added to the sums so far.
__device__ inline void take_back(const Job &job, long long q) {
    for (int i = threadIdx.x; i < job.n_changes[q]; i += blockDim.x) {
        const long long at = q * job.change_capacity + i;
        add_to(job.sums + job.change_feature[at], -job.change_sum[at]);
    }
    if (threadIdx.x == 0) add_to(job.sums + job.n_features, -job.term[q]);
    __syncthreads();
}

// A row with more close pairs than there is room for is measured from scratch from now on.
__device__ inline void retire(const Job &job, long long q) {
    if (threadIdx.x != 0) return;
    job.retired[q] = 1;
    job.n_close[q] = job.n_changes[q] = 0;
    job.term[q] = 0;
    add_to(job.sums + job.n_features + 1, 1);
}

// Lists the features that are the largest of a close pair: only their removal changes anything.
__device__ inline int list_features(const Job &job, const ClosePairs &pairs, long long q) {
    DYNAMIC_SHARED(unsigned, listed);  // a bit for each feature
    __shared__ int n_listed;
    for (int word = threadIdx.x; word < (job.n_features + 31) / 32; word += blockDim.x)
        listed[word] = 0;
    if (threadIdx.x == 0) n_listed = 0;
    __syncthreads();
    for (int p = threadIdx.x; p < pairs.n; p += blockDim.x) {
        const int feature = pairs.feature[p];
        const unsigned bit = 1u << feature % 32;
        if (atomicOr(listed + feature / 32, bit) & bit) continue;
        job.change_feature[q * job.change_capacity + atomicAdd(&n_listed, 1)] = feature;
    }
    __syncthreads();
    return n_listed;
}

// One block scores a row; each thread scores one feature at a time, the first the row's own term.
extern "C" __global__ void score_removals(const Job job) {
    __shared__ long long own;
    const long long q = blockIdx.x;
    if (!job.changed[q]) return;
    const bool too_many = job.n_close[q] > job.capacity;
    take_back(job, q);  // ends with a barrier: every thread has read what is written now
    if (threadIdx.x == 0) job.changed[q] = 0;
    if (too_many) return retire(job, q);
    const ClosePairs pairs(job, q);
    const int a = job.query[q], rank = rank_of(job, a), n_features = list_features(job, pairs, q);
    const double own_radius = job.radius[q];
    const Count own_target = block_count_target(job, a, own_radius);
    for (int start = 0; start <= n_features; start += blockDim.x) {
        const int i = start + threadIdx.x;
        const long long at = q * job.change_capacity + i - 1;
        const int feature = i > 0 && i <= n_features ? job.change_feature[at] : kNoFeature;
        long long term = 0;
        if (job.direct && feature != kNoFeature)
            term = direct_term(job, pairs, rank, feature);
        else if (i <= n_features)
            term = term_without(job, pairs, a, rank, feature, own_radius, own_target);
        if (i == 0) own = term;
        __syncthreads();
        if (feature == kNoFeature) continue;
        const long long sum = job.direct ? term : term - own;
        job.change_sum[at] = sum;
        add_to(job.sums + feature, sum);
    }
    if (threadIdx.x != 0) return;
    job.n_changes[q] = n_features;
    job.term[q] = own;
    add_to(job.sums + job.n_features, own);
}

// The term of the set itself, for each query of a batch, from its distances to all_rows.
extern "C" __global__ void __launch_bounds__(kRowThreads) score_set(const Job job) {
    const int a = job.query[job.begin + blockIdx.x], rank = rank_of(job, a);
    const int rows = static_cast<int>(job.rows);
    const double *found = job.distance + blockIdx.x * job.span;
    if (rank == 0) return;
    const Ball ball = block_nearest(rows, rank, [&](int b) {
        return b == a ? kNever : larger(found[b], target_distance(job, a, b));
    });
    if (ball.k == 0) return;
    const double low = strictly_inside(ball.radius), high = inside_or_on(ball.radius);
    int open = 0, closed = 0, kt = 0;
    for (int b = threadIdx.x; b < rows; b += blockDim.x) {
        if (b == a) continue;
        open += found[b] < low;
        closed += found[b] <= high;
        kt += found[b] <= high && target_distance(job, a, b) <= high;
    }
    open = block_sum(open);
    closed = block_sum(closed);
    kt = block_sum(kt);
    const Count y = block_count_target(job, a, ball.radius);
    if (threadIdx.x == 0)
        add_to(job.sums + job.n_features,
               information_term(job, ball.radius, ball.k, kt, {open, closed}, y));
}
