// What every kernel is told, and the few rules they share.
//
// The files of this folder are one program for NVRTC, put together in the order that _device.py
// gives. They use no header: the tests compile the same text as C++ for the CPU, with a shim that
// runs the threads of a block in turn from barrier to barrier.

#ifndef DYNAMIC_SHARED  // the shim has its own
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

constexpr double kTolerance = 1e-10;                    // relative; docs/estimator.md
constexpr double kFarthest = 1e100;                     // this far and farther counts as infinite
constexpr double kAlmostFarthest = 9.999999999999999e99;  // the double before it
constexpr double kNever = 1.7976931348623157e308;       // stands for infinity
constexpr int kUnmeasured = -2;                         // feature of a close pair not yet measured
constexpr int kNoFeature = -1;                             // padding columns; no feature at all
constexpr unsigned kNobody = 255;                       // a watch that no feature answers to
constexpr unsigned kNobodyTwice = 0xFFFF;

// Eight bytes each, in the order of _job.py.
struct Job {
    // The table: rows sorted by class, columns of the current set in `table`.
    const double *source;
    const long long *columns;         // (width,) of source; -1 pads
    double *table;                    // (rows, width)
    float *rounded;                   // (rows, rounded_width) the same in single precision, or null
    const int *feature_of_column;        // (width,)
    const unsigned char *code_of_column;  // (width,) feature modulo 255; 255 pads
    // The target.
    const int *labels;                // (rows,) or null
    const double *target;             // (rows, targets) or null
    const double *sorted_target;      // (rows,) or null
    const int *company_first;         // (rows,) rows that can be neighbours: first ...
    const int *company_last;          // ... and one past the last
    const long long *digamma;         // (rows + 1,), fixed point
    // The query rows at work.
    const int *query;                 // (n_queries,) row of each
    double *distance;                 // (queries of a batch, span)
    double *radius, *limit;           // (n_queries,)
    int *n_close;                     // (n_queries,) close pairs; more than capacity: too many
    int *close_row, *close_first_feature, *close_second_feature;  // (n_queries, capacity)
    double *close_first, *close_second, *close_target;      // m1, m2 and the target's distance
    unsigned short *watches;          // (n_queries, watch_stride), or null: two codes a pair
    int *changed, *retired;           // (n_queries,)
    long long *term;                  // (n_queries,) what each row has added to the sums ...
    int *n_changes, *change_feature;     // (n_queries, change_capacity) ... for each feature
    long long *change_sum;
    long long *sums;                  // (n_features + 2,): features, information, rows retired
    // Forward.
    int *near_row;                    // (queries of a batch, rows)
    double *candidates;               // (rows, candidate_width)
    const int *lane_first;            // (n_lanes + 1,) first column of each lane
    const int *lane_feature;             // (n_lanes,)
    // Numbers.
    long long rows, source_width, width, targets, n_queries, begin, span, everyone;
    long long capacity, change_capacity, watch_stride, rank, n_features, direct, removed;
    long long rounded_width, row_in_shared, n_lanes, candidate_width, n_active;
    double share, rounding;           // rounding: how far single precision can move a distance
};

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

// Neighbours that define the ball of row a: fewer where its class is small.
__device__ inline int rank_of(const Job &job, int a) {
    const int others = job.company_last[a] - job.company_first[a] - 1;
    return job.rank < others ? static_cast<int>(job.rank) : others;
}
