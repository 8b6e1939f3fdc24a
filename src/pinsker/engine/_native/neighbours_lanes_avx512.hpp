// Eight lanes in one register. Included by neighbours_kernels.cpp, inside a namespace.

struct Lanes {
    __m512d all;
};
typedef __mmask8 Mask;
struct Count {
    __m512i all;
};

PINSKER_INLINE Lanes zero() { return {_mm512_setzero_pd()}; }
PINSKER_INLINE Lanes load(const Octet &from) { return {_mm512_load_pd(from.lane)}; }
PINSKER_INLINE void store(Octet &to, Lanes a) { _mm512_store_pd(to.lane, a.all); }

PINSKER_INLINE Lanes larger(Lanes a, Lanes b) { return {_mm512_max_pd(a.all, b.all)}; }
PINSKER_INLINE Lanes minus(Lanes a, double b) {
    return {_mm512_sub_pd(a.all, _mm512_set1_pd(b))};
}
PINSKER_INLINE Lanes minus(double a, Lanes b) {
    return {_mm512_sub_pd(_mm512_set1_pd(a), b.all)};
}
// The larger of far and |a - b|.
PINSKER_INLINE Lanes widen(Lanes far, Lanes a, double b) {
    return {_mm512_max_pd(far.all, _mm512_abs_pd(minus(a, b).all))};
}

PINSKER_INLINE Mask below(Lanes a, double limit) {
    return _mm512_cmp_pd_mask(a.all, _mm512_set1_pd(limit), _CMP_LT_OQ);
}
PINSKER_INLINE Mask up_to(Lanes a, double limit) {
    return _mm512_cmp_pd_mask(a.all, _mm512_set1_pd(limit), _CMP_LE_OQ);
}
PINSKER_INLINE Mask both(Mask a, Mask b) { return (Mask)(a & b); }
PINSKER_INLINE bool any(Mask a) { return a != 0; }
PINSKER_INLINE unsigned bits(Mask a) { return a; }

PINSKER_INLINE Count nothing() { return {_mm512_setzero_si512()}; }
PINSKER_INLINE void tally(Count &count, Mask a) {
    count.all = _mm512_mask_add_epi64(count.all, a, count.all, _mm512_set1_epi64(1));
}
PINSKER_INLINE int64_t total(const Count &count) { return _mm512_reduce_add_epi64(count.all); }
