// All pairs of columns against (stratum, class), from bit sets.
//
// A bin of a column is the set of its rows, one bit a row. Rows are sorted by state (stratum, then
// class), and every state begins a new word, so that the rows that two bins share in a state are
// the bits of a conjunction. Eight second columns lie side by side: one vector register holds the
// same word of each, and nothing is added up across lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinsker {

constexpr size_t kPairLanes = 8;
constexpr size_t kPairBins = 8;  // at most

struct PairLayout {
    size_t n_bins;              // of every column; a column with fewer has empty ones
    size_t n_strata;            // of the rows
    size_t n_classes;           // states = strata x classes
    size_t n_words;             // of a bit set
    const int64_t *first_word;  // (n_states + 1,) IN
    const int64_t *cost;        // (n_rows + 1,) IN: f(0) = 0, f(1), ..., f(n_rows)
};

// One column against eight: sums of f(cell with class) - f(cell without) over all cells. The last
// bin has no bit set: its cells are what the others leave of the margins.
struct PairKernels {
    void (*count_eight)(const PairLayout &layout,
                        const uint64_t *first,          // (bins - 1, words) IN
                        const int64_t *first_margins,   // (states, bins) IN
                        const uint64_t *second,         // (bins - 1, words, 8) IN
                        const int64_t *second_margins,  // (states, bins, 8) IN
                        int64_t *sums);                 // (8,) OUT
};

extern const PairKernels kPairKernels;  // for this CPU (dispatch.cpp)

}  // namespace pinsker
