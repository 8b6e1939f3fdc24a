#include "scan.hpp"

#include "dispatch.hpp"

PINSKER_CLONES
Largest largest_except(const double *a, const double *b, const int32_t *features, int width,
                       int32_t skip) {
    double best = -1.0;
    int best_block = -1;
    for (int block = 0; block < width; block += kBlock) {
        double top = -1.0;
#pragma omp simd reduction(max : top)
        for (int c = 0; c < kBlock; ++c) {
            const double gap =
                features[block + c] == skip ? -1.0 : std::fabs(a[block + c] - b[block + c]);
            top = gap > top ? gap : top;
        }
        if (top > best) {
            best = top;
            best_block = block;
        }
    }
    if (best_block < 0) return {-1.0, kNoFeature};
    for (int c = best_block; c < best_block + kBlock; ++c)
        if (features[c] != skip && std::fabs(a[c] - b[c]) == best) return {best, features[c]};
    return {best, kNoFeature};
}

PINSKER_CLONES
double unit_distance(const double *a, const double *b, const int32_t *features, int width,
                     int32_t feature) {
    double top = 0.0;
#pragma omp simd reduction(max : top)
    for (int c = 0; c < width; ++c) {
        const double gap = features[c] == feature ? std::fabs(a[c] - b[c]) : 0.0;
        top = gap > top ? gap : top;
    }
    return top;
}

PINSKER_CLONES
double max_norm(const double *a, const double *b, int width) {
    double top = 0.0;
#pragma omp simd reduction(max : top)
    for (int c = 0; c < width; ++c) {
        const double gap = std::fabs(a[c] - b[c]);
        top = gap > top ? gap : top;
    }
    return top;
}

namespace {

constexpr int kPairBlock = 64;  // pairs tested at once before any is looked at alone

}  // namespace

PINSKER_CLONES
int find_watchers(const uint16_t *first, const uint16_t *second, int n, uint16_t feature,
                  int32_t *hits) {
    int found = 0;
    int start = 0;
    for (; start + kPairBlock <= n; start += kPairBlock) {
        uint16_t any = 0;
#pragma omp simd reduction(| : any)
        for (int p = 0; p < kPairBlock; ++p)
            any |= static_cast<uint16_t>((first[start + p] == feature) | (second[start + p] == feature));
        if (!any) continue;
        for (int p = start; p < start + kPairBlock; ++p) {
            hits[found] = p;  // branch-free: hits are rare and unpredictable
            found += (first[p] == feature) | (second[p] == feature);
        }
    }
    for (; start < n; ++start)
        if (first[start] == feature || second[start] == feature) hits[found++] = start;
    return found;
}

PINSKER_CLONES
int find_exhausted(const uint32_t *masks, int n, uint32_t alive, int32_t *hits) {
    int found = 0;
    int start = 0;
    for (; start + kPairBlock <= n; start += kPairBlock) {
        uint32_t any = 0;
#pragma omp simd reduction(| : any)
        for (int p = 0; p < kPairBlock; ++p) {
            const uint32_t left = masks[start + p] & alive;
            any |= static_cast<uint32_t>((left & (left - 1)) == 0);
        }
        if (!any) continue;
        for (int p = start; p < start + kPairBlock; ++p) {
            const uint32_t left = masks[p] & alive;
            hits[found] = p;
            found += (left & (left - 1)) == 0;
        }
    }
    for (; start < n; ++start) {
        const uint32_t left = masks[start] & alive;
        if ((left & (left - 1)) == 0) hits[found++] = start;
    }
    return found;
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
