// One row as the kernels compare it with others: its coordinates, the most telling ones first.
#pragma once

#include <cmath>

#include "neighbours_index.hpp"

namespace pinsker {

constexpr int kStretch = 12;  // columns between two looks at whether all rows are too far

// A coordinate far from its column's centre is far from most rows: with such columns in front, most
// comparisons end in the first stretch. Few columns are left as they are.
struct Probe {
    std::vector<int32_t> column;
    std::vector<double> at;

    explicit Probe(int d) : column(d), at(d) {}

    void aim(const Index &index, int64_t block, int lane, int from, int to) {
        const Octet *values = index.block(block);
        for (int c = from; c < to; ++c) column[c] = c;
        if (to - from > kStretch) {
            const double *centre = index.centre.data();
            const auto is_telling = [=](int32_t a, int32_t b) {
                return std::fabs(values[a].lane[lane] - centre[a]) >
                       std::fabs(values[b].lane[lane] - centre[b]);
            };
            int32_t *first = column.data() + from;
            std::nth_element(first, first + kStretch, first + (to - from), is_telling);
        }
        for (int c = from; c < to; ++c) at[c] = values[column[c]].lane[lane];
    }
};

}  // namespace pinsker
