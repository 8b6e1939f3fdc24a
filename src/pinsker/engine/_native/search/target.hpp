// What a search works on: the columns, and the target as a distance between rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/estimator.hpp"

namespace pinsker {

// What backward and forward search read. The arrays outlive the search.
struct SearchInput {
    const double *values;     // (rows, columns), metric form, C order
    const int32_t *features;  // (columns,)
    const int64_t *labels;    // (rows,) or null
    const double *target;     // (rows, targets) or null
    const int64_t *digamma;   // (rows + 1,), fixed point
    const int64_t *queries;   // (n_queries,)
    int64_t rows, columns, n_features, targets, n_queries;
    int rank;  // k
    bool direct;
};

// Classes: distance 0 or infinite. Numbers: max norm over one or several columns.
class TargetSpace {
public:
    TargetSpace(const int64_t *labels, const double *values, int64_t rows, int64_t columns)
        : labels_(labels), values_(values), rows_(rows), columns_(columns) {
        if (labels_ != nullptr) {
            const int64_t classes = *std::max_element(labels_, labels_ + rows_) + 1;
            members_.resize(static_cast<size_t>(classes));
            for (int64_t b = 0; b < rows_; ++b)
                members_[static_cast<size_t>(labels_[b])].push_back(static_cast<int32_t>(b));
        } else {
            all_rows_.resize(static_cast<size_t>(rows_));
            for (int64_t b = 0; b < rows_; ++b)
                all_rows_[static_cast<size_t>(b)] = static_cast<int32_t>(b);
            if (columns_ == 1) {
                sorted_.assign(values_, values_ + rows_);
                std::sort(sorted_.begin(), sorted_.end());
            }
        }
    }

    bool is_class() const { return labels_ != nullptr; }

    double distance(int64_t a, int64_t b) const {
        if (is_class()) return labels_[a] == labels_[b] ? 0.0 : kInfinity;
        double top = 0.0;
        for (int64_t c = 0; c < columns_; ++c)
            top = std::max(top, std::fabs(values_[a * columns_ + c] - values_[b * columns_ + c]));
        return top;
    }

    // Distances of row a to all rows.
    void distances(int64_t a, double *out) const {
        if (is_class()) {
            const int64_t here = labels_[a];
            for (int64_t b = 0; b < rows_; ++b) out[b] = labels_[b] == here ? 0.0 : kInfinity;
        } else if (columns_ == 1) {
            for (int64_t b = 0; b < rows_; ++b) out[b] = std::fabs(values_[b] - values_[a]);
        } else {
            for (int64_t b = 0; b < rows_; ++b) out[b] = distance(a, b);
        }
    }

    // Rows that can be neighbors of row a in the joint space: those of its class, or all.
    const std::vector<int32_t> &same_class(int64_t a) const {
        return is_class() ? members_[static_cast<size_t>(labels_[a])] : all_rows_;
    }

    // Other rows within a radius of row a in the target alone: strictly, and on the edge too.
    void count(int64_t a, double radius, int &open, int &closed) const {
        if (is_class()) {
            closed = static_cast<int>(same_class(a).size()) - 1;
            open = radius > 0.0 ? closed : 0;
            return;
        }
        const double low = open_limit(radius), high = closed_limit(radius);
        if (columns_ == 1) {
            // Rounding is monotone, so the sorted values split exactly where the differences do.
            const double here = values_[a];
            auto first = std::partition_point(sorted_.begin(), sorted_.end(),
                                              [&](double y) { return here - y >= low; });
            auto last = std::partition_point(first, sorted_.end(),
                                             [&](double y) { return y - here < low; });
            open = std::max(static_cast<int>(last - first) - 1, 0);  // the row itself is no other
            // Few values lie on the edge itself, unless they are tied: walk a little, then search.
            const auto stop_first =
                first - std::min<std::ptrdiff_t>(first - sorted_.begin(), kWalk);
            while (first != stop_first && here - *(first - 1) <= high) --first;
            if (first == stop_first)
                first = std::partition_point(sorted_.begin(), first,
                                             [&](double y) { return here - y > high; });
            const auto stop_last = last + std::min<std::ptrdiff_t>(sorted_.end() - last, kWalk);
            while (last != stop_last && *last - here <= high) ++last;
            if (last == stop_last)
                last = std::partition_point(last, sorted_.end(),
                                            [&](double y) { return y - here <= high; });
            closed = static_cast<int>(last - first) - 1;
            return;
        }
        open = closed = 0;
        for (int64_t b = 0; b < rows_; ++b) {
            if (b == a) continue;
            const double gap = distance(a, b);
            open += gap < low;
            closed += gap <= high;
        }
    }

private:
    static constexpr std::ptrdiff_t kWalk = 4;

    const int64_t *labels_;
    const double *values_;
    int64_t rows_, columns_;
    std::vector<std::vector<int32_t>> members_;
    std::vector<int32_t> all_rows_;
    std::vector<double> sorted_;
};

}  // namespace pinsker
