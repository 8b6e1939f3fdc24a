// The argument of every kernel.
//
// The files of this folder are one program for NVRTC, put together in the order that _device.py
// gives. They use no header: the tests compile the same text as C++ for the CPU, with a shim that
// runs the threads of a block in turn from barrier to barrier.

// Addresses, `long long` and `double`: eight bytes each. _job.py reads these declarations, so that
// a field is written here and nowhere else.
struct Job {
    // The table: rows sorted by class, columns of the current set in `table`.
    const double *source;
    const long long *columns;      // (width,) of source; -1 pads
    double *table;                 // (rows, width)
    float *rounded;                // (rows, rounded_width) the same in single precision, or null
    const int *feature_of_column;  // (width,)
    const unsigned char *code_of_column;  // (width,) feature modulo 255; 255 pads
    // The target.
    const int *labels;            // (rows,) or null
    const double *target;         // (rows, targets) or null
    const double *sorted_target;  // (rows,) or null
    const int *same_class_first;  // (rows,) rows of the same class, all without classes: first ...
    const int *same_class_last;   // ... and one past the last
    const long long *digamma;     // (rows + 1,), fixed point
    // The query rows at work.
    const int *query;        // (n_queries,) row of each
    double *distance;        // (queries of a batch, span)
    double *radius, *limit;  // (n_queries,)
    int *n_close;            // (n_queries,) close pairs; more than capacity: too many
    int *close_row, *close_first_feature, *close_second_feature;  // (n_queries, capacity)
    double *close_first, *close_second, *close_target;  // m1, m2 and the target's distance
    unsigned short *watches;          // (n_queries, watch_stride), or null: two codes a pair
    int *changed, *retired;           // (n_queries,)
    long long *term;                  // (n_queries,) what each row has added to the sums ...
    int *n_changes, *change_feature;  // (n_queries, change_capacity) ... for each feature
    long long *change_sum;
    long long *sums;  // (n_features + 2,): features, information, rows retired
    // Forward.
    int *near_row;            // (queries of a batch, rows)
    double *candidates;       // (rows, candidate_width)
    const int *lane_first;    // (n_lanes + 1,) first column of each lane
    const int *lane_feature;  // (n_lanes,)
    // Numbers.
    long long rows, source_width, width, targets, n_queries, begin, span, all_rows;
    long long capacity, change_capacity, watch_stride, rank, n_features, direct, removed;
    long long rounded_width, row_in_shared, n_lanes, candidate_width, n_active;
    double fraction, rounding;  // rounding: how far single precision can move a distance
};
