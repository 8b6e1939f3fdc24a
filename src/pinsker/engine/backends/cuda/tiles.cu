// All pairs of a tile of query rows and a tile of rows: 64 x 64, four by four for each thread.

constexpr int kTile = 64;
constexpr int kSide = 16;             // threads along each side
constexpr int kEach = kTile / kSide;  // rows of each side that one thread holds
constexpr int kDepth = 16;            // columns in shared memory at a time
constexpr int kPitch = kTile + 1;     // so that rows written by one warp fall into different banks

struct Tile {
    double query[kDepth][kPitch], row[kDepth][kPitch];
};

// Codes of nominal columns become one large number: certainly far from zero, and equal to each
// other.
__device__ inline float round_for_sure(double value) {
    return static_cast<float>(fabs(value) >= kFarthest ? 3e38 : value);
}

// The columns of the set, one row of the table for each block.
extern "C" __global__ void lay_out(const Job job) {
    const long long row = blockIdx.x;
    const double *from = job.source + row * job.source_width;
    double *to = job.table + row * job.width;
    for (int c = threadIdx.x; c < job.width; c += blockDim.x)
        to[c] = job.columns[c] < 0 ? 0.0 : from[job.columns[c]];
    if (job.rounded == nullptr) return;
    for (int c = threadIdx.x; c < job.rounded_width; c += blockDim.x) {
        const double value = c < job.width && job.columns[c] >= 0 ? from[job.columns[c]] : 0.0;
        job.rounded[row * job.rounded_width + c] = round_for_sure(value);
    }
}

__device__ inline void load_part(const Job &job, double (*part)[kPitch], int at, long long row,
                                 int column) {
    const double *from = job.table + row * job.width + column;
    const bool there = row >= 0 && column < job.width;  // the width is a multiple of four
    for (int i = 0; i < 4; ++i) part[column % kDepth + i][at] = there ? from[i] : 0.0;
}

// Columns column...column + kDepth - 1 of both sides. Rows that are not there read as zeros.
__device__ inline void load_tile(const Job &job, Tile &tile, long long first_query,
                                 long long first_row, int column) {
    const int thread = threadIdx.x, at = thread / 4, part = column + thread % 4 * 4;
    const long long q = first_query + at, b = first_row + at;
    load_part(job, tile.query, at, q < job.n_queries ? job.query[q] : -1, part);
    load_part(job, tile.row, at, b < job.rows ? b : -1, part);
}

// Rows that can be neighbors of the queries in a tile; rows and queries are sorted by class.
__device__ inline void same_class_of_tile(const Job &job, long long first_query, long long *first,
                                          long long *last) {
    const long long end = first_query + kTile < job.n_queries ? first_query + kTile : job.n_queries;
    *first = job.all_rows ? 0 : job.same_class_first[job.query[first_query]];
    *last = job.all_rows ? job.rows : job.same_class_last[job.query[end - 1]];
}

// Max-norm distances of the queries begin... to all rows, or to those of the same class.
extern "C" __global__ void __launch_bounds__(256) distances(const Job job) {
    __shared__ Tile tile;
    long long first, last;
    const long long first_query = job.begin + static_cast<long long>(blockIdx.y) * kTile;
    same_class_of_tile(job, first_query, &first, &last);
    const long long first_row = first + static_cast<long long>(blockIdx.x) * kTile;
    if (first_row >= last) return;
    const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
    double top[kEach][kEach] = {};
    for (int column = 0; column < job.width; column += kDepth) {
        load_tile(job, tile, first_query, first_row, column);
        __syncthreads();
#pragma unroll
        for (int c = 0; c < kDepth; ++c)
#pragma unroll
            for (int i = 0; i < kEach; ++i)
#pragma unroll
                for (int j = 0; j < kEach; ++j)
                    top[i][j] =
                        larger(fabs(tile.query[c][ty + i * kSide] - tile.row[c][tx + j * kSide]),
                               top[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) {
            const long long q = first_query + ty + i * kSide, b = first_row + tx + j * kSide;
            if (q < job.n_queries && b < last)
                job.distance[(q - job.begin) * job.span + b - first] = top[i][j];
        }
}

// Shifts the sign of a number into a mask.
__device__ inline unsigned push_sign(unsigned mask, double number) {
    return __funnelshift_l(static_cast<unsigned>(__double2hiint(number)), mask, 1);
}
__device__ inline unsigned push_sign(unsigned mask, float number) {
    return __funnelshift_l(__float_as_uint(number), mask, 1);
}

// Takes note of the first two features whose columns are beyond the limit, as codes in two bytes.
// Features with the same code count as one: then a pair may be taken for close that is not, which
// costs time.
__device__ inline unsigned note(unsigned seen, unsigned mask, const unsigned char *codes) {
    while (mask != 0) {
        const int bit = 31 - __clz(static_cast<int>(mask));
        const unsigned code = codes[kDepth - 1 - bit];
        mask ^= 1u << bit;
        if ((seen & 255) == kNoCode)
            seen = (seen & 0xFF00) | code;
        else if (code != (seen & 255) && code != kNoCode)
            return (seen & 255) | code << 8;
    }
    return seen;
}

__device__ inline void append_close(const Job &job, long long q, int b) {
    const int slot = atomicAdd(job.n_close + q, 1);
    if (slot >= job.capacity) {
        job.changed[q] = 1;  // too many: the row must be scored, and will be retired
        return;
    }
    job.close_row[q * job.capacity + slot] = b;
    job.close_first_feature[q * job.capacity + slot] = kUnmeasured;
}

// What is known of a pair after a look at all columns: two watches, or it is close.
__device__ inline void settle(const Job &job, long long q, int b, double limit, unsigned seen) {
    const bool alone = limit < 0.0;  // in its class
    const bool close = seen >> 8 == kNoCode && !alone && b != job.query[q];
    if (close) append_close(job, q, b);
    if (job.watches == nullptr) return;
    const bool unwatched = close || b == job.query[q];
    job.watches[q * job.watch_stride + b] =
        static_cast<unsigned short>(unwatched ? kNoCodes : seen);
}

// Far pairs get two watches, the others become close pairs, to be measured.
extern "C" __global__ void __launch_bounds__(256) sort_pairs(const Job job) {
    __shared__ Tile tile;
    const long long first_query = static_cast<long long>(blockIdx.y) * kTile;
    const long long first_row = static_cast<long long>(blockIdx.x) * kTile;
    const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
    unsigned seen[kEach][kEach];
    double limit[kEach];
    for (int i = 0; i < kEach; ++i) {
        const long long q = first_query + ty + i * kSide;
        limit[i] = q < job.n_queries ? job.limit[q] : kNever;
        for (int j = 0; j < kEach; ++j) seen[i][j] = kNoCodes;
    }
    for (int column = 0; column < job.width; column += kDepth) {
        load_tile(job, tile, first_query, first_row, column);
        __syncthreads();
        unsigned mask[kEach][kEach] = {};
#pragma unroll
        for (int c = 0; c < kDepth; ++c)
#pragma unroll
            for (int i = 0; i < kEach; ++i)
#pragma unroll
                for (int j = 0; j < kEach; ++j)
                    mask[i][j] =
                        push_sign(mask[i][j], limit[i] - fabs(tile.query[c][ty + i * kSide] -
                                                              tile.row[c][tx + j * kSide]));
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kEach; ++i)
#pragma unroll
            for (int j = 0; j < kEach; ++j)
                if (mask[i][j] != 0 && seen[i][j] >> 8 == kNoCode)
                    seen[i][j] = note(seen[i][j], mask[i][j], job.code_of_column + column);
    }
    for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) {
            const long long q = first_query + ty + i * kSide, b = first_row + tx + j * kSide;
            if (q < job.n_queries && b < job.rows)
                settle(job, q, static_cast<int>(b), limit[i], seen[i][j]);
        }
}
