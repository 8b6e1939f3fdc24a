// Costs of all pairs of columns with a target, a block of first columns at a time.
#include "contingency/pairs.hpp"

#include <vector>

#include "common/arrays.hpp"
#include "common/thread_pool.hpp"
#include "contingency/tables.hpp"

namespace pinsker {

namespace {

// What every pair (first, second > first) of a block knows of the target beyond the two columns
// alone, in nats; other places are left as they are. `bits` and `margins` lie by groups of eight
// columns: (groups, bins - 1, words, 8) and (groups, states, bins, 8), the last group filled up
// with empty columns.
void pair_surplus(Vector<uint64_t> bits, Vector<int64_t> margins, Vector<int64_t> first_word,
                  int64_t n_columns, int64_t n_bins, int64_t n_strata, int64_t n_classes,
                  Vector<int64_t> cost, Vector<int64_t> alone, int64_t begin, int n_threads,
                  MatrixOut<float> surplus) {
    PairLayout layout{};
    layout.n_bins = static_cast<size_t>(n_bins);
    layout.n_strata = static_cast<size_t>(n_strata);
    layout.n_classes = static_cast<size_t>(n_classes);
    const size_t n_states = layout.n_strata * layout.n_classes;
    layout.first_word = first_word.data();
    layout.n_words = static_cast<size_t>(first_word.data()[n_states]);
    layout.cost = cost.data();
    const auto columns = static_cast<size_t>(n_columns);
    const size_t bits_of_group = (layout.n_bins - 1) * layout.n_words * kPairLanes;
    const size_t margins_of_group = n_states * layout.n_bins * kPairLanes;

    ThreadPool::shared().run(
        static_cast<int64_t>(surplus.shape(0)), 1, n_threads, [&](int64_t row, int) {
            const auto i = static_cast<size_t>(begin + row);
            const uint64_t *group = bits.data() + i / kPairLanes * bits_of_group + i % kPairLanes;
            const int64_t *margin =
                margins.data() + i / kPairLanes * margins_of_group + i % kPairLanes;
            std::vector<uint64_t> mine((layout.n_bins - 1) * layout.n_words);
            for (size_t k = 0; k < mine.size(); ++k) mine[k] = group[k * kPairLanes];
            std::vector<int64_t> sizes(n_states * layout.n_bins);
            for (size_t k = 0; k < sizes.size(); ++k) sizes[k] = margin[k * kPairLanes];
            float *out = surplus.data() + static_cast<size_t>(row) * columns;
            for (size_t g = (i + 1) / kPairLanes; g * kPairLanes < columns; ++g) {
                alignas(64) int64_t sums[kPairLanes];
                kPairKernels.count_eight(layout, mine.data(), sizes.data(),
                                         bits.data() + g * bits_of_group,
                                         margins.data() + g * margins_of_group, sums);
                for (size_t lane = 0; lane < kPairLanes; ++lane) {
                    const size_t j = g * kPairLanes + lane;
                    if (j <= i || j >= columns) continue;
                    const int64_t beyond = sums[lane] - alone.data()[i] - alone.data()[j];
                    out[j] = static_cast<float>(static_cast<double>(beyond) / kCostsPerNat);
                }
            }
        });
}

}  // namespace

void bind_pairs(nb::module_ &m) {
    m.def("pair_surplus", &pair_surplus, nb::call_guard<nb::gil_scoped_release>(),
          "What pairs of columns know of a target beyond the columns alone, in nats.");
    m.attr("PAIR_LANES") = kPairLanes;
    m.attr("PAIR_BINS") = kPairBins;
}

}  // namespace pinsker
