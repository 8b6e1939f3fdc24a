// Eight numbers side by side, for one instruction set: dispatch.cpp includes this file once per
// set, inside a namespace, with PINSKER_LANES the bits of a register (512, 256 or 128).
//
// Lanes are doubles; a Mask holds in which lanes a comparison is true; a LaneCount counts how often
// it was. A comparison with not-a-number does not hold.

#if PINSKER_LANES == 512

struct Lanes {
    __m512d all;
};
using Mask = __mmask8;
struct LaneCount {
    __m512i all;
};

PINSKER_INLINE Lanes zero() { return {_mm512_setzero_pd()}; }
PINSKER_INLINE Lanes fill(double a) { return {_mm512_set1_pd(a)}; }
PINSKER_INLINE Lanes load(const double *from) { return {_mm512_loadu_pd(from)}; }
PINSKER_INLINE void store(double *to, Lanes a) { _mm512_storeu_pd(to, a.all); }

PINSKER_INLINE Lanes larger(Lanes a, Lanes b) { return {_mm512_max_pd(a.all, b.all)}; }
PINSKER_INLINE Lanes plus(Lanes a, Lanes b) { return {_mm512_add_pd(a.all, b.all)}; }
PINSKER_INLINE Lanes minus(Lanes a, Lanes b) { return {_mm512_sub_pd(a.all, b.all)}; }
PINSKER_INLINE Lanes magnitude(Lanes a) { return {_mm512_abs_pd(a.all)}; }

PINSKER_INLINE Mask below(Lanes a, Lanes b) { return _mm512_cmp_pd_mask(a.all, b.all, _CMP_LT_OQ); }
PINSKER_INLINE Mask up_to(Lanes a, Lanes b) { return _mm512_cmp_pd_mask(a.all, b.all, _CMP_LE_OQ); }
PINSKER_INLINE Mask equal(Lanes a, Lanes b) { return _mm512_cmp_pd_mask(a.all, b.all, _CMP_EQ_OQ); }
PINSKER_INLINE Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
PINSKER_INLINE bool any(Mask a) { return a != 0; }
PINSKER_INLINE uint32_t bits(Mask a) { return a; }
PINSKER_INLINE Lanes select(Mask where, Lanes yes, Lanes no) {
    return {_mm512_mask_mov_pd(no.all, where, yes.all)};
}

PINSKER_INLINE Mask first_of(Mask a) { return static_cast<Mask>(a & -a); }
PINSKER_INLINE double value_at(Mask one, Lanes a) {
    return _mm512_cvtsd_f64(_mm512_maskz_compress_pd(one, a.all));
}
PINSKER_INLINE double largest(Lanes a) { return _mm512_reduce_max_pd(a.all); }

PINSKER_INLINE LaneCount nothing() { return {_mm512_setzero_si512()}; }
PINSKER_INLINE void tally(LaneCount &count, Mask a) {
    count.all = _mm512_mask_add_epi64(count.all, a, count.all, _mm512_set1_epi64(1));
}
PINSKER_INLINE int64_t total(const LaneCount &count) { return _mm512_reduce_add_epi64(count.all); }

// Bit c of 16: |a[c] - b[c]| > limit.
PINSKER_INLINE uint32_t bits_above(const float *a, const float *b, float limit) {
    const __m512 gap = _mm512_abs_ps(_mm512_sub_ps(_mm512_loadu_ps(a), _mm512_loadu_ps(b)));
    return _mm512_cmp_ps_mask(gap, _mm512_set1_ps(limit), _CMP_GT_OQ);
}

#elif PINSKER_LANES == 256

struct Lanes {
    __m256d lower, upper;
};
using Mask = Lanes;  // all bits of a lane are set where a comparison holds
struct LaneCount {
    __m256i both;
};

PINSKER_INLINE Lanes zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
PINSKER_INLINE Lanes fill(double a) { return {_mm256_set1_pd(a), _mm256_set1_pd(a)}; }
PINSKER_INLINE Lanes load(const double *from) {
    return {_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
}
PINSKER_INLINE void store(double *to, Lanes a) {
    _mm256_storeu_pd(to, a.lower);
    _mm256_storeu_pd(to + 4, a.upper);
}

PINSKER_INLINE Lanes larger(Lanes a, Lanes b) {
    return {_mm256_max_pd(a.lower, b.lower), _mm256_max_pd(a.upper, b.upper)};
}
PINSKER_INLINE Lanes plus(Lanes a, Lanes b) {
    return {_mm256_add_pd(a.lower, b.lower), _mm256_add_pd(a.upper, b.upper)};
}
PINSKER_INLINE Lanes minus(Lanes a, Lanes b) {
    return {_mm256_sub_pd(a.lower, b.lower), _mm256_sub_pd(a.upper, b.upper)};
}
PINSKER_INLINE Lanes magnitude(Lanes a) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, a.lower), _mm256_andnot_pd(sign, a.upper)};
}

PINSKER_INLINE Mask below(Lanes a, Lanes b) {
    return {_mm256_cmp_pd(a.lower, b.lower, _CMP_LT_OQ),
            _mm256_cmp_pd(a.upper, b.upper, _CMP_LT_OQ)};
}
PINSKER_INLINE Mask up_to(Lanes a, Lanes b) {
    return {_mm256_cmp_pd(a.lower, b.lower, _CMP_LE_OQ),
            _mm256_cmp_pd(a.upper, b.upper, _CMP_LE_OQ)};
}
PINSKER_INLINE Mask equal(Lanes a, Lanes b) {
    return {_mm256_cmp_pd(a.lower, b.lower, _CMP_EQ_OQ),
            _mm256_cmp_pd(a.upper, b.upper, _CMP_EQ_OQ)};
}
PINSKER_INLINE Mask both(Mask a, Mask b) {
    return {_mm256_and_pd(a.lower, b.lower), _mm256_and_pd(a.upper, b.upper)};
}
PINSKER_INLINE bool any(Mask a) { return _mm256_movemask_pd(_mm256_or_pd(a.lower, a.upper)) != 0; }
PINSKER_INLINE uint32_t bits(Mask a) {
    return static_cast<uint32_t>(_mm256_movemask_pd(a.lower) | _mm256_movemask_pd(a.upper) << 4);
}
PINSKER_INLINE Lanes select(Mask where, Lanes yes, Lanes no) {
    return {_mm256_blendv_pd(no.lower, yes.lower, where.lower),
            _mm256_blendv_pd(no.upper, yes.upper, where.upper)};
}

PINSKER_INLINE Mask first_of(Mask a) {
    return equal(load(kLaneNumbers), fill(count_trailing_zeros(bits(a))));
}
PINSKER_INLINE double value_at(Mask one, Lanes a) {
    const Lanes kept = both(one, a);
    const __m256d four = _mm256_or_pd(kept.lower, kept.upper);
    const __m128d two = _mm_or_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_or_pd(two, _mm_unpackhi_pd(two, two)));
}
PINSKER_INLINE double largest(Lanes a) {
    const __m256d four = _mm256_max_pd(a.lower, a.upper);
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_max_pd(two, _mm_unpackhi_pd(two, two)));
}

PINSKER_INLINE LaneCount nothing() { return {_mm256_setzero_si256()}; }
// A lane that holds is the integer -1; the two halves share a counter.
PINSKER_INLINE void tally(LaneCount &count, Mask a) {
    const __m256i held =
        _mm256_add_epi64(_mm256_castpd_si256(a.lower), _mm256_castpd_si256(a.upper));
    count.both = _mm256_sub_epi64(count.both, held);
}
PINSKER_INLINE int64_t total(const LaneCount &count) {
    alignas(32) int64_t lane[4];
    _mm256_store_si256(reinterpret_cast<__m256i *>(lane), count.both);
    return lane[0] + lane[1] + lane[2] + lane[3];
}

PINSKER_INLINE uint32_t bits_above(const float *a, const float *b, float limit) {
    const __m256 sign = _mm256_set1_ps(-0.0F), edge = _mm256_set1_ps(limit);
    uint32_t above = 0;
    for (int c = 0; c < 2 * kLanes; c += kLanes) {
        const __m256 gap = _mm256_sub_ps(_mm256_loadu_ps(a + c), _mm256_loadu_ps(b + c));
        const __m256 far = _mm256_cmp_ps(_mm256_andnot_ps(sign, gap), edge, _CMP_GT_OQ);
        above |= static_cast<uint32_t>(_mm256_movemask_ps(far)) << c;
    }
    return above;
}

#else  // loops, for every other CPU: the compiler makes of them what it can

struct Lanes {
    double lane[kLanes];
};
struct Mask {
    int64_t lane[kLanes];  // 1 where a comparison holds
};
struct LaneCount {
    int64_t lane[kLanes];
};

PINSKER_INLINE Lanes zero() { return {}; }
PINSKER_INLINE Lanes fill(double value) {
    Lanes a;
    for (double &lane : a.lane) lane = value;
    return a;
}
PINSKER_INLINE Lanes load(const double *from) {
    Lanes a;
    for (int i = 0; i < kLanes; ++i) a.lane[i] = from[i];
    return a;
}
PINSKER_INLINE void store(double *to, const Lanes &a) {
    for (int i = 0; i < kLanes; ++i) to[i] = a.lane[i];
}

PINSKER_INLINE Lanes larger(Lanes a, const Lanes &b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
PINSKER_INLINE Lanes minus(Lanes a, const Lanes &b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] -= b.lane[i];
    return a;
}
PINSKER_INLINE Lanes magnitude(Lanes a) {
    for (double &lane : a.lane) lane = std::fabs(lane);
    return a;
}

PINSKER_INLINE Mask below(const Lanes &a, const Lanes &b) {
    Mask m;
    for (int i = 0; i < kLanes; ++i) m.lane[i] = a.lane[i] < b.lane[i];
    return m;
}
PINSKER_INLINE Mask up_to(const Lanes &a, const Lanes &b) {
    Mask m;
    for (int i = 0; i < kLanes; ++i) m.lane[i] = a.lane[i] <= b.lane[i];
    return m;
}
PINSKER_INLINE Mask both(Mask a, const Mask &b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] &= b.lane[i];
    return a;
}
PINSKER_INLINE uint32_t bits(const Mask &a) {
    uint32_t set = 0;
    for (int i = 0; i < kLanes; ++i) set |= static_cast<uint32_t>(a.lane[i]) << i;
    return set;
}
PINSKER_INLINE bool any(const Mask &a) { return bits(a) != 0; }

PINSKER_INLINE LaneCount nothing() { return {}; }
PINSKER_INLINE void tally(LaneCount &count, const Mask &a) {
    for (int i = 0; i < kLanes; ++i) count.lane[i] += a.lane[i];
}
PINSKER_INLINE int64_t total(const LaneCount &count) {
    int64_t sum = 0;
    for (const int64_t lane : count.lane) sum += lane;
    return sum;
}

PINSKER_INLINE uint32_t bits_above(const float *a, const float *b, float limit) {
    uint32_t above = 0;
    for (int c = 0; c < 2 * kLanes; ++c)
        above |= static_cast<uint32_t>(std::fabs(a[c] - b[c]) > limit) << c;
    return above;
}

#endif

// For all instruction sets.

// The larger of far and |a - b|.
PINSKER_INLINE Lanes widen(const Lanes &far, const Lanes &a, double b) {
    return larger(far, magnitude(minus(a, fill(b))));
}
