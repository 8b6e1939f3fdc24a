// Eight lanes in two registers. Included by neighbours_kernels.cpp, inside a namespace.

struct Lanes {
    __m256d lower, upper;
};
typedef Lanes Mask;  // all bits of a lane are set where a comparison holds
struct Count {
    __m256i both;
};

PINSKER_INLINE Lanes zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
PINSKER_INLINE Lanes load(const Octet &from) {
    return {_mm256_load_pd(from.lane), _mm256_load_pd(from.lane + 4)};
}
PINSKER_INLINE void store(Octet &to, Lanes a) {
    _mm256_store_pd(to.lane, a.lower);
    _mm256_store_pd(to.lane + 4, a.upper);
}

PINSKER_INLINE Lanes larger(Lanes a, Lanes b) {
    return {_mm256_max_pd(a.lower, b.lower), _mm256_max_pd(a.upper, b.upper)};
}
PINSKER_INLINE Lanes minus(Lanes a, double b) {
    const __m256d all = _mm256_set1_pd(b);
    return {_mm256_sub_pd(a.lower, all), _mm256_sub_pd(a.upper, all)};
}
PINSKER_INLINE Lanes minus(double a, Lanes b) {
    const __m256d all = _mm256_set1_pd(a);
    return {_mm256_sub_pd(all, b.lower), _mm256_sub_pd(all, b.upper)};
}
// The larger of far and |a - b|.
PINSKER_INLINE Lanes widen(Lanes far, Lanes a, double b) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    const Lanes gap = minus(a, b);
    return larger(far, {_mm256_andnot_pd(sign, gap.lower), _mm256_andnot_pd(sign, gap.upper)});
}

PINSKER_INLINE Mask below(Lanes a, double limit) {
    const __m256d all = _mm256_set1_pd(limit);
    return {_mm256_cmp_pd(a.lower, all, _CMP_LT_OQ), _mm256_cmp_pd(a.upper, all, _CMP_LT_OQ)};
}
PINSKER_INLINE Mask up_to(Lanes a, double limit) {
    const __m256d all = _mm256_set1_pd(limit);
    return {_mm256_cmp_pd(a.lower, all, _CMP_LE_OQ), _mm256_cmp_pd(a.upper, all, _CMP_LE_OQ)};
}
PINSKER_INLINE Mask both(Mask a, Mask b) {
    return {_mm256_and_pd(a.lower, b.lower), _mm256_and_pd(a.upper, b.upper)};
}
PINSKER_INLINE bool any(Mask a) {
    return _mm256_movemask_pd(_mm256_or_pd(a.lower, a.upper)) != 0;
}
PINSKER_INLINE unsigned bits(Mask a) {
    return (unsigned)(_mm256_movemask_pd(a.lower) | _mm256_movemask_pd(a.upper) << 4);
}

PINSKER_INLINE Count nothing() { return {_mm256_setzero_si256()}; }
// A lane that holds is the integer -1; the two halves share a counter.
PINSKER_INLINE void tally(Count &count, Mask a) {
    const __m256i held = _mm256_add_epi64(_mm256_castpd_si256(a.lower),
                                          _mm256_castpd_si256(a.upper));
    count.both = _mm256_sub_epi64(count.both, held);
}
PINSKER_INLINE int64_t total(const Count &count) {
    alignas(32) int64_t lane[4];
    _mm256_store_si256(reinterpret_cast<__m256i *>(lane), count.both);
    return lane[0] + lane[1] + lane[2] + lane[3];
}
