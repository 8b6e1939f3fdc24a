#include "scan.hpp"

#include "dispatch.hpp"

PINSKER_CLONES
int first_beyond(const double *a, const double *b, const int32_t *units, int from, int width,
                 double limit, int32_t skip) {
    for (int block = from; block < width; block += kBlock) {
        int any = 0;
#pragma omp simd reduction(| : any)
        for (int c = 0; c < kBlock; ++c) any |= std::fabs(a[block + c] - b[block + c]) > limit;
        if (!any) continue;
        for (int c = block; c < block + kBlock; ++c)
            if (std::fabs(a[c] - b[c]) > limit && units[c] != skip) return c;
    }
    return -1;
}

PINSKER_CLONES
Largest largest_except(const double *a, const double *b, const int32_t *units, int width,
                       int32_t skip) {
    double best = -1.0;
    int best_block = -1;
    for (int block = 0; block < width; block += kBlock) {
        double top = -1.0;
#pragma omp simd reduction(max : top)
        for (int c = 0; c < kBlock; ++c) {
            const double gap =
                units[block + c] == skip ? -1.0 : std::fabs(a[block + c] - b[block + c]);
            top = gap > top ? gap : top;
        }
        if (top > best) {
            best = top;
            best_block = block;
        }
    }
    if (best_block < 0) return {-1.0, kNoUnit};
    for (int c = best_block; c < best_block + kBlock; ++c)
        if (units[c] != skip && std::fabs(a[c] - b[c]) == best) return {best, units[c]};
    return {best, kNoUnit};
}

PINSKER_CLONES
double unit_distance(const double *a, const double *b, const int32_t *units, int width,
                     int32_t unit) {
    double top = 0.0;
#pragma omp simd reduction(max : top)
    for (int c = 0; c < width; ++c) {
        const double gap = units[c] == unit ? std::fabs(a[c] - b[c]) : 0.0;
        top = gap > top ? gap : top;
    }
    return top;
}

PINSKER_CLONES
double distance_up_to(const double *a, const double *b, int width, double limit) {
    double top = 0.0;
    for (int block = 0; block < width; block += kBlock) {
        double here = 0.0;
#pragma omp simd reduction(max : here)
        for (int c = 0; c < kBlock; ++c) {
            const double gap = std::fabs(a[block + c] - b[block + c]);
            here = gap > here ? gap : here;
        }
        if (here > top) {
            top = here;
            if (top > limit) return top;
        }
    }
    return top;
}

namespace {

constexpr int kWatchBlock = 64;

template <class Watch>
PINSKER_INLINE int find_watchers_of(const Watch *first, const Watch *second, int n, Watch unit,
                                    int32_t *hits) {
    int found = 0;
    int start = 0;
    for (; start + kWatchBlock <= n; start += kWatchBlock) {
        Watch any = 0;
#pragma omp simd reduction(| : any)
        for (int p = 0; p < kWatchBlock; ++p)
            any |= static_cast<Watch>((first[start + p] == unit) | (second[start + p] == unit));
        if (!any) continue;
        for (int p = start; p < start + kWatchBlock; ++p)
            if (first[p] == unit || second[p] == unit) hits[found++] = p;
    }
    for (; start < n; ++start)
        if (first[start] == unit || second[start] == unit) hits[found++] = start;
    return found;
}

}  // namespace

PINSKER_CLONES
int find_watchers(const uint16_t *first, const uint16_t *second, int n, uint16_t unit,
                  int32_t *hits) {
    return find_watchers_of<uint16_t>(first, second, n, unit, hits);
}

PINSKER_CLONES
int find_watchers(const uint32_t *first, const uint32_t *second, int n, uint32_t unit,
                  int32_t *hits) {
    return find_watchers_of<uint32_t>(first, second, n, unit, hits);
}

PINSKER_CLONES
int count_below(const double *values, int n, double limit) {
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int i = 0; i < n; ++i) count += values[i] < limit;
    return count;
}

PINSKER_CLONES
int count_up_to(const double *values, int n, double limit) {
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int i = 0; i < n; ++i) count += values[i] <= limit;
    return count;
}
