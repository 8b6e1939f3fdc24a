// The estimator of docs/estimator.md for one row: the radius of its ball, the distances and counts
// of the target, and the terms in fixed point.

#ifndef DYNAMIC_SHARED  // the shim has its own
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

constexpr double kTolerance = 1e-10;                      // relative; docs/estimator.md
constexpr double kFarthest = 1e100;                       // this far and farther counts as infinite
constexpr double kAlmostFarthest = 9.999999999999999e99;  // the double before it
constexpr double kNever = 1.7976931348623157e308;         // stands for infinity
constexpr int kUnmeasured = -2;    // feature of a close pair not yet measured
constexpr int kNoFeature = -1;     // padding columns; no feature at all
constexpr unsigned kNoCode = 255;  // a watch of no feature
constexpr unsigned kNoCodes = 0xFFFF;

__device__ inline double strictly_inside(double radius) { return radius * (1.0 - kTolerance); }
__device__ inline double inside_or_on(double radius) { return radius * (1.0 + kTolerance); }
__device__ inline double larger(double a, double b) { return a > b ? a : b; }

__device__ inline double limit_of(double radius) {
    return radius < kFarthest ? inside_or_on(radius) : kAlmostFarthest;
}

__device__ inline void add_to(long long *sum, long long value) {
    // Two's complement: adding as unsigned is the same, and order does not matter.
    atomicAdd(reinterpret_cast<unsigned long long *>(sum), static_cast<unsigned long long>(value));
}

// Neighbors that define the ball of row a: fewer where its class is small.
__device__ inline int rank_of(const Job &job, int a) {
    const int others = job.same_class_last[a] - job.same_class_first[a] - 1;
    return job.rank < others ? static_cast<int>(job.rank) : others;
}

// The k-th smallest of many distances, by one thread or by a block. Few neighbors are kept in
// registers. Many are found by halving the range of possible doubles: non-negative doubles are
// ordered as their bits are, so 63 counts give the exact value.

constexpr int kHeld = 8;          // neighbors that one thread keeps
constexpr int kRowThreads = 128;  // most threads of a block that works on one row

struct Ball {
    int k;          // neighbors found at finite distance, at most the rank
    double radius;  // distance of the last of them; 0 if there is none
};

// The `rank` smallest values seen, in increasing order, behind places that are not used.
struct Smallest {
    double held[kHeld];

    __device__ void start(int rank) {
#pragma unroll
        for (int i = 0; i < kHeld; ++i) held[i] = i < kHeld - rank ? -1.0 : kNever;
    }

    __device__ void push(double value) {
        if (value >= held[kHeld - 1]) return;
#pragma unroll
        for (int i = kHeld - 1; i > 0; --i)
            held[i] = value < held[i - 1] ? held[i - 1] : (value < held[i] ? value : held[i]);
        held[0] = value < held[0] ? value : held[0];
    }

    __device__ Ball ball() const {
        Ball ball = {0, 0.0};
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
            if (held[i] < 0.0 || held[i] >= kFarthest) continue;
            ++ball.k;
            ball.radius = held[i];
        }
        return ball;
    }
};

// `count(limit)` returns how many values are at most `limit`. Every thread calls it the same number
// of times, so it may hold barriers.
template <class CountUpTo>
__device__ Ball halve(int rank, CountUpTo count) {
    const int finite = count(kAlmostFarthest);
    const int k = rank < finite ? rank : finite;
    long long low = 0, high = __double_as_longlong(kAlmostFarthest);
    for (int bit = 0; bit < 63; ++bit) {
        const long long middle = low + (high - low) / 2;
        if (count(__longlong_as_double(middle)) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return {k, k == 0 ? 0.0 : __longlong_as_double(high)};
}

// The ball of `value(0) ... value(n - 1)`, by the calling thread alone.
template <class Value>
__device__ Ball nearest(int n, int rank, Value value) {
    if (rank <= kHeld) {
        Smallest smallest;
        smallest.start(rank);
        for (int p = 0; p < n; ++p) smallest.push(value(p));
        return smallest.ball();
    }
    return halve(rank, [&](double limit) {
        int count = 0;
        for (int p = 0; p < n; ++p) count += value(p) <= limit;
        return count;
    });
}

__device__ inline int block_sum(int value) {
    __shared__ int total;
    __syncthreads();
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (value != 0) atomicAdd(&total, value);
    __syncthreads();
    return total;
}

// Brings the smallest values of all threads together; blockDim.x is a power of two.
__device__ inline void gather_smallest(Smallest &mine) {
    __shared__ double pool[kHeld][kRowThreads];
    const int me = threadIdx.x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
#pragma unroll
        for (int i = 0; i < kHeld; ++i) pool[i][me] = mine.held[i];
        __syncthreads();
        if (me < half)
            for (int i = 0; i < kHeld; ++i)
                if (pool[i][me + half] >= 0.0) mine.push(pool[i][me + half]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
        if (me == 0) pool[i][0] = mine.held[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kHeld; ++i) mine.held[i] = pool[i][0];
}

// The same by all threads of a block; every thread gets the result.
template <class Value>
__device__ Ball block_nearest(int n, int rank, Value value) {
    if (rank <= kHeld) {
        Smallest smallest;
        smallest.start(rank);
        for (int p = threadIdx.x; p < n; p += blockDim.x) smallest.push(value(p));
        gather_smallest(smallest);
        return smallest.ball();
    }
    return halve(rank, [&](double limit) {
        int count = 0;
        for (int p = threadIdx.x; p < n; p += blockDim.x) count += value(p) <= limit;
        return block_sum(count);
    });
}

struct Count {
    int open;    // other rows strictly inside the radius
    int closed;  // other rows inside or on it
    __device__ bool smooth() const { return closed - open <= 1; }
};

__device__ inline double target_distance(const Job &job, int a, int b) {
    if (job.labels) return job.labels[a] == job.labels[b] ? 0.0 : kNever;
    double top = 0.0;
    for (long long c = 0; c < job.targets; ++c)
        top = larger(top, fabs(job.target[a * job.targets + c] - job.target[b * job.targets + c]));
    return top;
}

// How many of the sorted target values hold a property that all values before the first without it
// hold: distances grow along the sorted values, so every edge of a ball is such a place.
template <class Property>
__device__ int how_many(const Job &job, Property holds) {
    int low = 0, high = static_cast<int>(job.rows);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (holds(job.sorted_target[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__device__ inline Count count_sorted_target(const Job &job, int a, double radius) {
    const double low = strictly_inside(radius), high = inside_or_on(radius), here = job.target[a];
    // The radius may be zero: then no row is strictly inside, not even this one.
    const int open = how_many(job, [&](double y) { return y - here < low; }) -
                     how_many(job, [&](double y) { return here - y >= low; }) - 1;
    const int closed = how_many(job, [&](double y) { return y - here <= high; }) -
                       how_many(job, [&](double y) { return here - y > high; }) - 1;
    return {open > 0 ? open : 0, closed};
}

// Other rows within a radius of row a in the target alone.
__device__ inline Count count_target(const Job &job, int a, double radius) {
    if (job.labels) {
        const int closed = job.same_class_last[a] - job.same_class_first[a] - 1;
        return {radius > 0.0 ? closed : 0, closed};
    }
    if (job.targets == 1) return count_sorted_target(job, a, radius);
    const double low = strictly_inside(radius), high = inside_or_on(radius);
    Count count = {0, 0};
    for (int b = 0; b < job.rows; ++b) {
        if (b == a) continue;
        const double gap = target_distance(job, a, b);
        count.open += gap < low;
        count.closed += gap <= high;
    }
    return count;
}

// I(X;Y): neighbors k, joint closed count kt, marginal counts of x and y.
__device__ inline long long information_term(const Job &job, double radius, int k, int kt, Count x,
                                             Count y) {
    const long long *psi = job.digamma;
    if (k == 0) return 0;
    if (radius > 0.0 && kt == k && x.smooth() && y.smooth())
        return psi[k] + psi[job.rows] - psi[x.open + 1] - psi[y.open + 1];
    return psi[kt] + psi[job.rows - 1] - psi[x.closed] - psi[y.closed];
}

// I(X;Y|Z): marginal counts of xz, yz and z.
__device__ inline long long conditional_term(const Job &job, double radius, int k, int kt, Count xz,
                                             Count yz, Count z) {
    const long long *psi = job.digamma;
    if (k == 0) return 0;
    if (radius > 0.0 && kt == k && xz.smooth() && yz.smooth() && z.smooth())
        return psi[k] - psi[xz.open + 1] - psi[yz.open + 1] + psi[z.open + 1];
    return psi[kt] - psi[xz.closed] - psi[yz.closed] + psi[z.closed];
}
