#include "knn/kernels.hpp"

#include <algorithm>
#include <cstring>

#include "common/estimator.hpp"

namespace pinsker {

namespace {

constexpr int kDigit = 11, kDigits = 6, kBuckets = 1 << kDigit;
constexpr int32_t kRadixRows = 1024;  // below it comparing is faster

struct Entry {
    uint64_t key;
    int32_t row;
};

// An integer that orders as the number does.
uint64_t ordinal(double value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    return word >> 63 ? ~word : word | (uint64_t)1 << 63;
}

int bucket(uint64_t key, int digit) { return (int)(key >> (digit * kDigit)) & (kBuckets - 1); }

// Least significant digit first.
void radix_sort(std::vector<Entry> &entries) {
    std::vector<Entry> other(entries.size());
    std::vector<int32_t> counts(size_t{kDigits} * kBuckets, 0);
    for (const Entry &entry : entries) {
        for (int digit = 0; digit < kDigits; ++digit) {
            ++counts[digit * kBuckets + bucket(entry.key, digit)];
        }
    }
    for (int digit = 0; digit < kDigits; ++digit) {
        int32_t *next = counts.data() + int64_t{digit} * kBuckets, start = 0;
        for (int i = 0; i < kBuckets; ++i) {
            const int32_t here = next[i];
            next[i] = start;
            start += here;
        }
        for (const Entry &entry : entries) other[next[bucket(entry.key, digit)]++] = entry;
        entries.swap(other);
    }
}

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
    out.crowded[row] = found == k && next <= finite_closed_limit(radius);
}

void count_at(const SortedColumn &sorted, int32_t p, double radius, const Tally &out) {
    const double own = sorted.values[p];
    const double open = open_limit(radius), closed = finite_closed_limit(radius);
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

void sort_rows(const double *column, int32_t *rows, int32_t n) {
    if (n < kRadixRows) {
        std::sort(rows, rows + n, [=](int32_t a, int32_t b) { return column[a] < column[b]; });
        return;
    }
    std::vector<Entry> entries(n);
    for (int32_t i = 0; i < n; ++i) entries[i] = {ordinal(column[rows[i]]), rows[i]};
    radix_sort(entries);
    for (int32_t i = 0; i < n; ++i) rows[i] = entries[i].row;
}

SortedColumn sort_column(const double *column, const Cells &cells) {
    const int64_t n = (int64_t)cells.rows.size();
    SortedColumn sorted;
    sorted.values.resize(n);
    sorted.rows = cells.rows;
    sorted.begin.resize(n);
    sorted.end.resize(n);
    for (int32_t cell = 0; cell < cells.n_cells(); ++cell) {
        const int32_t begin = cells.start[cell], end = cells.start[cell + 1];
        sort_rows(column, sorted.rows.data() + begin, end - begin);
        for (int32_t i = begin; i < end; ++i) {
            sorted.values[i] = column[sorted.rows[i]];
            sorted.begin[i] = begin;
            sorted.end[i] = end;
        }
    }
    return sorted;
}

namespace {

// Call work(p) for all positions; `cost` is the nanoseconds of one.
template <class Work>
void for_positions(const SortedColumn &sorted, double cost, Team &team, const Work &work) {
    constexpr int32_t kChunk = 1024;
    const int32_t n = (int32_t)sorted.rows.size(), n_chunks = (n + kChunk - 1) / kChunk;
    team.run(n_chunks, cost * n, [&](int64_t chunk) {
        const int32_t first = (int32_t)chunk * kChunk, last = std::min(first + kChunk, n);
        for (int32_t p = first; p < last; ++p) work(p);
    });
}

}  // namespace

void find_radii(const SortedColumn &sorted, int k, Team &team, const Radii &out) {
    for_positions(sorted, 10.0 * k, team, [&](int32_t p) { radius_at(sorted, p, k, out); });
}

void count_inside(const SortedColumn &sorted, const double *radius, const uint8_t *live,
                  const Tally &out, Team &team) {
    for_positions(sorted, 50.0, team, [&](int32_t p) {
        const int32_t row = sorted.rows[p];
        if (live[row]) count_at(sorted, p, radius[row], out);
    });
}

// By an index.

namespace {

// Call work(first, last) for all blocks, a few at a time.
template <class Work>
void for_blocks(const Index &index, Team &team, const Work &work) {
    constexpr int64_t kChunk = 8;
    const int64_t n_blocks = index.n_blocks(), n_chunks = (n_blocks + kChunk - 1) / kChunk;
    // At least: each block looks at itself and a dozen others.
    team.run(n_chunks, 500.0 * (double)n_blocks * (index.d + 2), [&](int64_t chunk) {
        work(chunk * kChunk, std::min((chunk + 1) * kChunk, n_blocks));
    });
}

}  // namespace

void find_radii(const Index &index, int k, Team &team, const Radii &out) {
    const NeighborKernels kernels = neighbor_kernels(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.radii_of_blocks(index, k, first, last, out);
    });
}

void count_inside(const Index &index, const Spaces &spaces, const Balls &balls, Team &team) {
    const NeighborKernels kernels = neighbor_kernels(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.count_blocks(index, spaces, balls, first, last);
    });
}

void find_radii_and_count(const Index &index, int k, const Spaces &spaces, Team &team,
                          const Radii &out, uint8_t *live) {
    const NeighborKernels kernels = neighbor_kernels(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.radii_and_counts(index, k, spaces, first, last, out, live);
    });
}

void find_extents(const Index &index, const Span *spans, const Balls &balls, const Extents &out,
                  Team &team) {
    const NeighborKernels kernels = neighbor_kernels(index.widest);
    for_blocks(index, team, [&](int64_t first, int64_t last) {
        kernels.extents_of_blocks(index, spans, balls, first, last, out);
    });
}

}  // namespace pinsker
