// The k-th smallest of many distances, by one thread or by a block.
//
// Few neighbours are kept in registers. Many are found by halving the range of possible doubles:
// non-negative doubles are ordered as their bits are, so 63 counts give the exact value.

constexpr int kHeld = 8;           // neighbours that one thread keeps
constexpr int kRowThreads = 128;   // most threads of a block that works on one row

struct Ball {
    int k;          // neighbours found at finite distance, at most the rank
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

// `count(limit)` tells how many values are at most `limit`. It is called the same number of times by
// every thread, so it may hold barriers.
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

// The same by all threads of a block; every thread gets the answer.
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
