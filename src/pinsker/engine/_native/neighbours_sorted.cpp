#include "neighbours_sorted.hpp"

namespace pinsker {

namespace {

struct Entry {
    double value;
    int32_t row;
};

// Number of leading entries of sorted[0 .. n) for which `inside` holds; no branch in the loop.
template <class Inside>
int64_t prefix(const double *sorted, int64_t n, Inside inside) {
    const double *at = sorted;
    while (n > 1) {
        const int64_t half = n / 2;
        at += inside(at[half - 1]) ? half : 0;
        n -= half;
    }
    return (at - sorted) + (n == 1 && inside(*at));
}

// Merge outwards from position p until k rows are seen, or none is left at finite distance.
void radius_at(const SortedColumn &sorted, int32_t p, int k, const Radii &out) {
    const double *values = sorted.values.data();
    const double own = values[p];
    int32_t left = p - 1, right = p + 1;
    const int32_t begin = sorted.begin[p], end = sorted.end[p];
    double radius = 0.0, next = 0.0;
    int found = 0;
    for (;; ++found) {
        const double down = left >= begin ? own - values[left] : kFarthest;
        const double up = right < end ? values[right] - own : kFarthest;
        next = std::min(down, up);
        if (found == k || next >= kFarthest) break;
        radius = next;
        if (down <= up) {
            --left;
        } else {
            ++right;
        }
    }
    const int32_t row = sorted.rows[p];
    out.radius[row] = radius;
    out.found[row] = found;
    out.crowded[row] = found == k && next <= closed_limit(radius);
}

void count_at(const SortedColumn &sorted, int32_t p, double radius, const Tally &out) {
    const double own = sorted.values[p];
    const double open = open_limit(radius), closed = closed_limit(radius);
    const double *values = sorted.values.data();
    const int32_t begin = sorted.begin[p], end = sorted.end[p];
    const double *above = values + p + 1, *first = values + begin;
    const int64_t n_above = end - p - 1, n_below = p - begin;
    const int64_t up = prefix(above, n_above, [=](double v) { return v - own < open; });
    const int64_t out_of = prefix(first, n_below, [=](double v) { return own - v >= open; });
    // Seldom is more than one row on the boundary, so the closed ends are near the open ones.
    int64_t up_closed = up, out_of_closed = out_of;
    int steps = 0;
    while (up_closed < n_above && above[up_closed] - own <= closed && steps < 4) {
        ++up_closed;
        ++steps;
    }
    while (out_of_closed > 0 && own - first[out_of_closed - 1] <= closed && steps < 4) {
        --out_of_closed;
        ++steps;
    }
    if (steps == 4) {
        up_closed = prefix(above, n_above, [=](double v) { return v - own <= closed; });
        out_of_closed = prefix(first, n_below, [=](double v) { return own - v > closed; });
    }
    const int32_t row = sorted.rows[p];
    out.open[row] = up + n_below - out_of;
    out.closed[row] = up_closed + n_below - out_of_closed;
}

}  // namespace

SortedColumn sort_column(const double *column, const Cells &cells, int n_threads) {
    const int64_t n = (int64_t)cells.rows.size();
    SortedColumn sorted;
    sorted.values.resize(n);
    sorted.rows.resize(n);
    sorted.begin.resize(n);
    sorted.end.resize(n);
    std::vector<Entry> entries(n);
    (void)n_threads;  // unused without OpenMP
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
    for (int32_t cell = 0; cell < cells.n_cells(); ++cell) {
        const int32_t begin = cells.start[cell], end = cells.start[cell + 1];
        for (int32_t i = begin; i < end; ++i) entries[i] = {column[cells.rows[i]], cells.rows[i]};
        std::sort(entries.begin() + begin, entries.begin() + end,
                  [](const Entry &a, const Entry &b) { return a.value < b.value; });
        for (int32_t i = begin; i < end; ++i) {
            sorted.values[i] = entries[i].value;
            sorted.rows[i] = entries[i].row;
            sorted.begin[i] = begin;
            sorted.end[i] = end;
        }
    }
    return sorted;
}

void find_radii(const SortedColumn &sorted, int k, int n_threads, const Radii &out) {
    const int32_t n = (int32_t)sorted.rows.size();
    (void)n_threads;
#pragma omp parallel for num_threads(n_threads) schedule(static)
    for (int32_t p = 0; p < n; ++p) radius_at(sorted, p, k, out);
}

void count_inside(const SortedColumn &sorted, const double *radius, const uint8_t *live,
                  const Tally &out, int n_threads) {
    const int32_t n = (int32_t)sorted.rows.size();
    (void)n_threads;
#pragma omp parallel for num_threads(n_threads) schedule(static)
    for (int32_t p = 0; p < n; ++p) {
        const int32_t row = sorted.rows[p];
        if (live[row]) count_at(sorted, p, radius[row], out);
    }
}

}  // namespace pinsker
