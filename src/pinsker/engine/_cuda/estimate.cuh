// The target's distances and counts, and the terms of docs/estimator.md in fixed point.

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
    // The radius may be zero: then nobody is strictly inside, not even the row itself.
    const int open = how_many(job, [&](double y) { return y - here < low; }) -
                     how_many(job, [&](double y) { return here - y >= low; }) - 1;
    const int closed = how_many(job, [&](double y) { return y - here <= high; }) -
                       how_many(job, [&](double y) { return here - y > high; }) - 1;
    return {open > 0 ? open : 0, closed};
}

// Other rows within a radius of row a in the target alone.
__device__ inline Count count_target(const Job &job, int a, double radius) {
    if (job.labels) {
        const int closed = job.company_last[a] - job.company_first[a] - 1;
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

// I(X;Y): neighbours k, joint closed count kt, marginal counts of x and y.
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
