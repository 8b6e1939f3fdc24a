// The columns of the features that are still in the set, laid out for the scans.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/estimator.hpp"
#include "search/scan.hpp"

namespace pinsker {

// The columns of the features that are still there, row by row, padded with zeros to whole blocks.
//
// The first columns stand a second time in single precision, two cache lines a row: enough to tell
// that a distance is beyond a limit for certain, in most of the cases where it is. What single
// precision cannot tell is compared in double precision.
class ActiveTable {
public:
    // `change` per feature: what its removal would do to the information; the most negative one is
    // the most costly.
    void build(const double *source, int64_t rows, int64_t source_columns,
               const int32_t *feature_of_column, const std::vector<uint8_t> &active,
               const std::vector<int64_t> &change) {
        std::vector<int32_t> columns;
        for (int64_t c = 0; c < source_columns; ++c)
            if (active[static_cast<size_t>(feature_of_column[c])])
                columns.push_back(static_cast<int32_t>(c));
        // Features that are costly to remove come first: scans find them first, so pairs watch
        // features that stay long and are seldom looked at again. Order never changes a result.
        std::stable_sort(columns.begin(), columns.end(), [&](int32_t p, int32_t q) {
            return change[static_cast<size_t>(feature_of_column[p])] <
                   change[static_cast<size_t>(feature_of_column[q])];
        });
        width_ =
            (static_cast<int>(columns.size()) + kColumnBlock - 1) / kColumnBlock * kColumnBlock;
        used_ = static_cast<int>(columns.size());
        features_.assign(static_cast<size_t>(width_), kNoFeature);
        values_.assign(static_cast<size_t>(rows) * static_cast<size_t>(width_), 0.0);
        column_of_feature_.assign(active.size(), -1);
        one_column_per_feature_ = true;
        for (size_t c = 0; c < columns.size(); ++c) {
            features_[c] = feature_of_column[columns[c]];
            int32_t &first = column_of_feature_[static_cast<size_t>(features_[c])];
            one_column_per_feature_ &= first < 0;
            if (first < 0) first = static_cast<int32_t>(c);
        }
        for (int64_t row = 0; row < rows; ++row) {
            double *to = values_.data() + row * width_;
            for (size_t c = 0; c < columns.size(); ++c)
                to[c] = source[row * source_columns + columns[c]];
        }
        build_front(rows);
    }

    // A column of zeros is at distance zero from itself: gone, until the next build makes room.
    void erase(int32_t feature, int64_t rows) {
        for (int c = 0; c < width_; ++c) {
            if (features_[static_cast<size_t>(c)] != feature) continue;
            features_[static_cast<size_t>(c)] = kNoFeature;
            --used_;
            for (int64_t row = 0; row < rows; ++row)
                values_[static_cast<size_t>(row * width_ + c)] = 0.0;
            for (int64_t row = 0; c < kFront && row < rows; ++row)
                front_[static_cast<size_t>(row * kFront + c)] = 0.0F;
        }
    }

    bool sparse() const { return used_ < width_ - width_ / 4 && width_ > kColumnBlock; }
    int width() const { return width_; }
    const int32_t *features() const { return features_.data(); }
    const double *row(int64_t r) const { return values_.data() + r * width_; }
    // Bits of the first columns that are beyond `limit` for certain; others may be, too.
    const float *front(int64_t r) const { return front_.data() + r * kFront; }
    float front_limit(double limit) const {
        // Rounding moves a distance by less than 2^-23 of the values and of itself, and the limit
        // by 2^-24: a millionth more is safe.
        return static_cast<float>(std::min((limit + front_margin_) * (1.0 + 1e-6), 1e39));
    }

    bool one_column_per_feature() const { return one_column_per_feature_; }
    int32_t first_column(int32_t feature) const {
        return column_of_feature_[static_cast<size_t>(feature)];
    }

private:
    void build_front(int64_t rows) {
        front_.assign(static_cast<size_t>(rows * kFront), 0.0F);
        double largest = 0.0;
        for (int64_t row = 0; row < rows; ++row)
            for (int c = 0; c < std::min(used_, kFront); ++c) {
                const double value = values_[static_cast<size_t>(row * width_ + c)];
                // Categories of nominal columns are infinite here: equal ones give NaN, and no bit.
                const bool category = std::fabs(value) >= kFarthest;
                if (!category) largest = std::max(largest, std::fabs(value));
                front_[static_cast<size_t>(row * kFront + c)] =
                    category ? HUGE_VALF : static_cast<float>(value);
            }
        // Values that single precision cannot hold leave everything to the doubles.
        // Rounding to float, and numbers so small that they are rounded to, or taken for, zero.
        front_margin_ = largest < 1e30 ? largest * 0x1p-22 + 0x1p-124 : kInfinity;
    }

    std::vector<float> front_;  // (rows, kFront)
    double front_margin_ = 0.0;
    std::vector<double> values_;
    std::vector<int32_t> features_;
    std::vector<int32_t> column_of_feature_;
    bool one_column_per_feature_ = true;
    int width_ = 0, used_ = 0;
};

}  // namespace pinsker
