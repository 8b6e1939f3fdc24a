// Included once per instruction set by dispatch.cpp: cells of one column with eight others.

// Bits that the words of one set share with those of eight others.
#if defined(PINSKER_COUNTS_BITS)
PINSKER_INLINE void count_shared(const uint64_t *one, const uint64_t *eight, size_t begin,
                                 size_t end, int64_t *count) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t word = begin; word < end; ++word) {
        const __m512i bits = _mm512_set1_epi64(static_cast<int64_t>(one[word]));
        const __m512i others = _mm512_loadu_si512(eight + word * kPairLanes);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_and_si512(bits, others)));
    }
    _mm512_storeu_si512(count, sum);
}
#else
PINSKER_INLINE uint64_t bits_of(uint64_t bits) {
#if defined(__GNUC__)
    return static_cast<uint64_t>(__builtin_popcountll(bits));
#else
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return bits * 0x0101010101010101u >> 56;
#endif
}

PINSKER_INLINE void count_shared(const uint64_t *one, const uint64_t *eight, size_t begin,
                                 size_t end, int64_t *count) {
    for (size_t lane = 0; lane < kPairLanes; ++lane) {
        uint64_t sum = 0;
        for (size_t word = begin; word < end; ++word)
            sum += bits_of(one[word] & eight[word * kPairLanes + lane]);
        count[lane] = static_cast<int64_t>(sum);
    }
}
#endif

PINSKER_INLINE void add_costs(const int64_t *cost, const int64_t *count, int64_t *sum) {
#pragma omp simd
    for (size_t lane = 0; lane < kPairLanes; ++lane) sum[lane] += cost[count[lane]];
}

void count_eight(const PairLayout &layout, const uint64_t *first, const int64_t *first_margins,
                 const uint64_t *second, const int64_t *second_margins, int64_t *sums) {
    using Lanes = int64_t[kPairLanes];
    const size_t bins = layout.n_bins, last = bins - 1, n_words = layout.n_words;
    const int64_t *cost = layout.cost;
    alignas(64) Lanes cells[kPairBins][kPairBins];
    alignas(64) Lanes totals[kPairBins * kPairBins];
    alignas(64) Lanes sum = {}, less = {};
    for (size_t stratum = 0, state = 0; stratum < layout.n_strata; ++stratum) {
        for (size_t cell = 0; cell < bins * bins; ++cell)
#pragma omp simd
            for (size_t lane = 0; lane < kPairLanes; ++lane) totals[cell][lane] = 0;
        for (size_t label = 0; label < layout.n_classes; ++label, ++state) {
            const auto begin = static_cast<size_t>(layout.first_word[state]);
            const auto end = static_cast<size_t>(layout.first_word[state + 1]);
            const int64_t *mine = first_margins + state * bins;
            const int64_t *theirs = second_margins + state * bins * kPairLanes;
            alignas(64) Lanes left[kPairBins];  // of the margins of the second columns
            for (size_t b = 0; b < bins; ++b)
#pragma omp simd
                for (size_t lane = 0; lane < kPairLanes; ++lane)
                    left[b][lane] = theirs[b * kPairLanes + lane];
            for (size_t a = 0; a < last; ++a) {
                alignas(64) Lanes rest;
#pragma omp simd
                for (size_t lane = 0; lane < kPairLanes; ++lane) rest[lane] = mine[a];
                for (size_t b = 0; b < last; ++b) {
                    alignas(64) Lanes count;
                    count_shared(first + a * n_words, second + b * n_words * kPairLanes, begin, end,
                                 count);
#pragma omp simd
                    for (size_t lane = 0; lane < kPairLanes; ++lane) {
                        cells[a][b][lane] = count[lane];
                        rest[lane] -= count[lane];
                        left[b][lane] -= count[lane];
                    }
                }
#pragma omp simd
                for (size_t lane = 0; lane < kPairLanes; ++lane) {
                    cells[a][last][lane] = rest[lane];
                    left[last][lane] -= rest[lane];
                }
            }
            for (size_t b = 0; b < bins; ++b)
#pragma omp simd
                for (size_t lane = 0; lane < kPairLanes; ++lane)
                    cells[last][b][lane] = left[b][lane];
            for (size_t a = 0; a < bins; ++a)
                for (size_t b = 0; b < bins; ++b) {
#pragma omp simd
                    for (size_t lane = 0; lane < kPairLanes; ++lane)
                        totals[a * bins + b][lane] += cells[a][b][lane];
                    add_costs(cost, cells[a][b], sum);
                }
        }
        for (size_t cell = 0; cell < bins * bins; ++cell) add_costs(cost, totals[cell], less);
    }
#pragma omp simd
    for (size_t lane = 0; lane < kPairLanes; ++lane) sums[lane] = sum[lane] - less[lane];
}

constexpr PairKernels kCountPairs = {count_eight};
