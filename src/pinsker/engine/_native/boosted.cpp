// Gradient boosting of histogram trees (Friedman 2001; Ke et al. 2017), grown and evaluated at
// once.
//
// Like those of trees.cpp these models are fitted hundreds of times to some hundred rows and
// evaluated once: what a call costs beside the arithmetic is most of what a general library takes.
// A tree is forgotten when the rows to predict have gone down it. One thread, sums in a fixed
// order: the same bits wherever it runs beside other fits.
#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "common/arrays.hpp"

namespace pinsker {

namespace {

constexpr size_t kMaxBins = 255;
constexpr uint8_t kMissing = 255;
// Categories of fewer rows in a node are not told apart; others are ordered by their smoothed mean.
constexpr double kFewestOfCategory = 10.0, kSmoothing = 10.0;
constexpr double kLeastHessian = 1e-3;

struct BoostSettings {
    size_t n_rounds, n_leaves, min_leaf, patience, n_bins;
    double rate;
};

// Columns as bins: ranges of numbers that hold about as many rows each, or codes of categories.
class BinnedColumns {
public:
    BinnedColumns(const double *train, size_t n_train, const double *test, size_t n_test,
                  const uint8_t *categorical, size_t n_columns, size_t most_bins)
        : n_columns(n_columns),
          n_train(n_train),
          n_test(n_test),
          categorical(categorical),
          train_bins(n_columns * n_train),
          test_bins(n_columns * n_test),
          n_bins(n_columns),
          starts(n_columns + 1) {
        for (size_t c = 0; c < n_columns; ++c) {
            cut(train + c * n_train, c, most_bins);
            assign(train + c * n_train, n_train, c, &train_bins[c * n_train]);
            assign(test + c * n_test, n_test, c, &test_bins[c * n_test]);
            starts[c + 1] = starts[c] + n_bins[c] + 1;  // the last cell is that of missing values
        }
    }

    const size_t n_columns, n_train, n_test;
    const uint8_t *categorical;
    std::vector<uint8_t> train_bins, test_bins;
    std::vector<size_t> n_bins, starts;

private:
    void cut(const double *values, size_t c, size_t most_bins) {
        edges_.clear();
        if (categorical[c]) {
            n_bins[c] = kMaxBins;
            return;
        }
        sorted_.clear();
        for (size_t i = 0; i < n_train; ++i)
            if (!std::isnan(values[i])) sorted_.push_back(values[i]);
        std::sort(sorted_.begin(), sorted_.end());
        // A bin ends with the value that fills its share of the rows that are left.
        size_t n_distinct = sorted_.empty() ? 0 : 1, first = 0, bins_left = most_bins;
        for (size_t k = 1; k < sorted_.size(); ++k) n_distinct += sorted_[k - 1] < sorted_[k];
        const bool each = n_distinct <= most_bins;
        for (size_t next = 1; next < sorted_.size() && bins_left > 1; ++next) {
            const double low = sorted_[next - 1], high = sorted_[next];
            const bool full = each || (next - first) * bins_left >= sorted_.size() - first;
            if (!(low < high) || !full) continue;
            const double middle = 0.5 * low + 0.5 * high;
            edges_.push_back(middle < high ? middle : low);  // rounding
            first = next;
            --bins_left;
        }
        n_bins[c] = edges_.size() + 1;
    }

    void assign(const double *values, size_t n, size_t c, uint8_t *bins) const {
        for (size_t i = 0; i < n; ++i) {
            const double value = values[i];
            if (std::isnan(value))
                bins[i] = kMissing;
            else if (categorical[c])
                bins[i] = static_cast<uint8_t>(value);
            else
                bins[i] = static_cast<uint8_t>(
                    std::lower_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
        }
    }

    std::vector<double> edges_, sorted_;
};

struct Cell {
    double gradient = 0.0, hessian = 0.0, n = 0.0;
    Cell &operator+=(const Cell &o) {
        gradient += o.gradient, hessian += o.hessian, n += o.n;
        return *this;
    }
    Cell operator-(const Cell &o) const {
        return {gradient - o.gradient, hessian - o.hessian, n - o.n};
    }
    double score() const { return gradient * gradient / hessian; }
};

struct Split {
    double gain = 0.0;
    size_t column = 0;
    std::bitset<256> left;  // bins that go left
};

struct Node {
    size_t start = 0, n = 0;  // its rows
    Cell sum;
    double score = 0.0;  // of all its rows together
    Split split;
    size_t left = 0, right = 0;  // children; 0 for a leaf
    size_t histogram = 0;
    double value = 0.0;
};

// One regression tree of gradients and hessians, grown from the leaf with the largest gain.
class HistogramTree {
public:
    HistogramTree(const BinnedColumns &columns, size_t n_fit, const BoostSettings &settings)
        : columns_(columns),
          n_fit_(n_fit),
          settings_(settings),
          rows_(n_fit),
          spare_(n_fit),
          gradients_(n_fit),
          hessians_(n_fit),
          histograms_(settings.n_leaves) {}

    void grow(const double *gradient, const double *hessian) {
        gradient_ = gradient, hessian_ = hessian;
        std::iota(rows_.begin(), rows_.end(), 0u);
        nodes_.assign(1, Node{});
        nodes_[0].n = n_fit_;
        for (size_t i = 0; i < n_fit_; ++i) nodes_[0].sum += {gradient[i], hessian[i], 1.0};
        count(nodes_[0]);
        find_split(nodes_[0]);
        for (size_t n_leaves = 1; n_leaves < settings_.n_leaves; ++n_leaves) {
            size_t best = 0;
            double gain = 0.0;
            for (size_t k = 0; k < nodes_.size(); ++k)
                if (!nodes_[k].left && nodes_[k].split.gain > gain)
                    best = k, gain = nodes_[k].split.gain;
            if (!(gain > 0.0)) break;
            divide(best, n_leaves, n_leaves + 1 < settings_.n_leaves);
        }
        for (Node &node : nodes_) {
            const double hessian_sum = std::max(node.sum.hessian, 1e-15);
            node.value = -settings_.rate * node.sum.gradient / hessian_sum;
        }
    }

    void add_to_fitted(double *scores, size_t stride) const {
        for (const Node &node : nodes_)
            if (!node.left)
                for (size_t i = 0; i < node.n; ++i)
                    scores[rows_[node.start + i] * stride] += node.value;
    }

    // Adds what the tree predicts for rows from `first` on of some bins by column.
    void add_to(const std::vector<uint8_t> &bins, size_t n_rows, size_t first, double *scores,
                size_t stride) const {
        for (size_t row = first; row < n_rows; ++row) {
            const Node *node = nodes_.data();
            while (node->left) {
                const uint8_t bin = bins[node->split.column * n_rows + row];
                node = &nodes_[node->split.left[bin] ? node->left : node->right];
            }
            scores[row * stride] += node->value;
        }
    }

private:
    void count(const Node &node) {
        std::vector<Cell> &cells = histograms_[node.histogram];
        cells.assign(columns_.starts.back(), Cell{});
        for (size_t i = 0; i < node.n; ++i) {
            gradients_[i] = gradient_[rows_[node.start + i]];
            hessians_[i] = hessian_[rows_[node.start + i]];
        }
        for (size_t c = 0; c < columns_.n_columns; ++c) {
            const uint8_t *bins = &columns_.train_bins[c * columns_.n_train];
            Cell *own = &cells[columns_.starts[c]];
            const size_t n_bins = columns_.n_bins[c];
            for (size_t i = 0; i < node.n; ++i) {
                const size_t bin = bins[rows_[node.start + i]];
                Cell &cell = own[bin == kMissing ? n_bins : bin];
                cell.gradient += gradients_[i];
                cell.hessian += hessians_[i];
                cell.n += 1.0;
            }
        }
    }

    void divide(size_t parent_place, size_t free_histogram, bool goes_on) {
        const Split split = nodes_[parent_place].split;
        Node parent = nodes_[parent_place], left, right;
        const uint8_t *bins = &columns_.train_bins[split.column * columns_.n_train];
        size_t n_left = 0, n_right = 0;
        for (size_t i = 0; i < parent.n; ++i) {
            const uint32_t row = rows_[parent.start + i];
            const bool goes_left = split.left[bins[row]];
            rows_[parent.start + n_left] = row;
            spare_[n_right] = row;
            n_left += goes_left;
            n_right += !goes_left;
        }
        std::copy_n(spare_.begin(), n_right, rows_.begin() + parent.start + n_left);
        left.start = parent.start, left.n = n_left;
        right.start = parent.start + n_left, right.n = n_right;
        Node &small = n_left <= n_right ? left : right, &large = n_left <= n_right ? right : left;
        for (size_t i = 0; i < small.n; ++i) {
            const uint32_t row = rows_[small.start + i];
            small.sum += {gradient_[row], hessian_[row], 1.0};
        }
        large.sum = parent.sum - small.sum;
        if (goes_on) {
            small.histogram = free_histogram, large.histogram = parent.histogram;
            count(small);
            std::vector<Cell> &rest = histograms_[large.histogram];
            const std::vector<Cell> &less = histograms_[small.histogram];
            for (size_t k = 0; k < rest.size(); ++k) rest[k] = rest[k] - less[k];
            find_split(left);
            find_split(right);
        }
        nodes_[parent_place].left = nodes_.size();
        nodes_[parent_place].right = nodes_.size() + 1;
        nodes_.push_back(left);
        nodes_.push_back(right);
    }

    void find_split(Node &node) {
        if (node.n < 2 * settings_.min_leaf || !(node.sum.hessian > kLeastHessian)) return;
        node.score = node.sum.score();
        for (size_t c = 0; c < columns_.n_columns; ++c) {
            const Cell *cells = &histograms_[node.histogram][columns_.starts[c]];
            if (columns_.categorical[c])
                split_categories(node, c, cells);
            else
                split_numbers(node, c, cells);
        }
    }

    // The gain of sums on the left; negative where a side has too few rows.
    double gain(const Node &node, const Cell &left) const {
        const Cell right = node.sum - left;
        const double fewest = static_cast<double>(settings_.min_leaf) - 0.5;
        if (left.n < fewest || right.n < fewest) return -1.0;
        if (left.hessian < kLeastHessian || right.hessian < kLeastHessian) return -1.0;
        return left.score() + right.score() - node.score;
    }

    void split_numbers(Node &node, size_t c, const Cell *cells) const {
        const size_t n_bins = columns_.n_bins[c];
        const bool has_gaps = cells[n_bins].n > 0.5;
        const double most = node.sum.n - static_cast<double>(settings_.min_leaf) + 0.5;
        double best = node.split.gain;
        size_t at = 0;
        bool gaps_left = false, found = false;
        for (int gaps = 0; gaps <= (has_gaps ? 1 : 0); ++gaps) {
            Cell left;
            if (gaps) left += cells[n_bins];
            for (size_t b = 0; b < n_bins && left.n < most; ++b) {
                if (cells[b].n < 0.5) continue;
                left += cells[b];
                const double gained = gain(node, left);
                if (gained > best) best = gained, at = b, gaps_left = gaps != 0, found = true;
            }
        }
        if (!found) return;
        node.split.gain = best;
        node.split.column = c;
        node.split.left.reset();
        for (size_t b = 0; b <= at; ++b) node.split.left.set(b);
        // Rows with a gap where training rows had none take the side of most rows.
        Cell below;
        for (size_t b = 0; b <= at; ++b) below += cells[b];
        if (has_gaps ? gaps_left : 2.0 * below.n > node.sum.n) node.split.left.set(kMissing);
    }

    void split_categories(Node &node, size_t c, const Cell *cells) {
        const size_t n_bins = columns_.n_bins[c];
        codes_.clear();
        for (size_t b = 0; b < n_bins; ++b)
            if (cells[b].n > kFewestOfCategory - 0.5) codes_.push_back(b);
        const auto mean = [&](size_t b) {
            return cells[b].gradient / (cells[b].hessian + kSmoothing);
        };
        std::stable_sort(codes_.begin(), codes_.end(),
                         [&](size_t one, size_t other) { return mean(one) < mean(other); });
        for (int turn = 0; turn < 2; ++turn) {  // rare categories stay with either end
            Cell left;
            size_t taken = 0;
            double best = node.split.gain;
            for (size_t k = 0; k < codes_.size(); ++k) {
                left += cells[codes_[k]];
                const double gained = gain(node, left);
                if (gained > best) best = gained, taken = k + 1;
            }
            if (taken) {
                node.split.gain = best;
                node.split.column = c;
                node.split.left.reset();
                for (size_t k = 0; k < taken; ++k) node.split.left.set(codes_[k]);
            }
            std::reverse(codes_.begin(), codes_.end());
        }
    }

    const BinnedColumns &columns_;
    const size_t n_fit_;
    const BoostSettings settings_;
    const double *gradient_ = nullptr, *hessian_ = nullptr;
    std::vector<uint32_t> rows_, spare_;
    std::vector<double> gradients_, hessians_;
    std::vector<std::vector<Cell>> histograms_;
    std::vector<Node> nodes_;
    std::vector<size_t> codes_;
};

// What is boosted: scores per row, their gradients and hessians, and the loss of one row.
struct NumberLoss {
    const double *numbers;
    size_t width() const { return 1; }
    void start(size_t n_fit, const double *weights, double *first) const {
        double sum = 0.0, total = 0.0;
        for (size_t i = 0; i < n_fit; ++i) sum += weights[i] * numbers[i], total += weights[i];
        first[0] = sum / total;
    }
    void slope(size_t row, const double *scores, double *gradient, double *hessian) const {
        gradient[0] = scores[0] - numbers[row];
        hessian[0] = 1.0;
    }
    double loss(size_t row, const double *scores) const {
        return 0.5 * (scores[0] - numbers[row]) * (scores[0] - numbers[row]);
    }
};

struct ClassLoss {
    const int64_t *labels;
    size_t n_classes;
    // Of two classes the log-odds of the second are enough.
    size_t width() const { return n_classes == 2 ? 1 : n_classes; }
    void start(size_t n_fit, const double *weights, double *first) const {
        std::vector<double> sums(n_classes, 1e-9);
        for (size_t i = 0; i < n_fit; ++i) sums[static_cast<size_t>(labels[i])] += weights[i];
        if (n_classes == 2)
            first[0] = std::log(sums[1] / sums[0]);
        else
            for (size_t c = 0; c < n_classes; ++c) first[c] = std::log(sums[c] / sums[0]);
    }
    void slope(size_t row, const double *scores, double *gradient, double *hessian) const {
        const size_t own = static_cast<size_t>(labels[row]);
        if (n_classes == 2) {
            const double p = 1.0 / (1.0 + std::exp(-scores[0]));
            gradient[0] = p - static_cast<double>(own);
            hessian[0] = p * (1.0 - p);
            return;
        }
        const double top = *std::max_element(scores, scores + n_classes);
        double sum = 0.0;
        for (size_t c = 0; c < n_classes; ++c) sum += gradient[c] = std::exp(scores[c] - top);
        for (size_t c = 0; c < n_classes; ++c) {
            const double p = gradient[c] / sum;
            gradient[c] = p - (c == own ? 1.0 : 0.0);
            hessian[c] = p * (1.0 - p);
        }
    }
    double loss(size_t row, const double *scores) const {
        const size_t own = static_cast<size_t>(labels[row]);
        if (n_classes == 2) {
            const double margin = own ? scores[0] : -scores[0];
            return margin > 0 ? std::log1p(std::exp(-margin))
                              : std::log1p(std::exp(margin)) - margin;
        }
        const double top = *std::max_element(scores, scores + n_classes);
        double sum = 0.0;
        for (size_t c = 0; c < n_classes; ++c) sum += std::exp(scores[c] - top);
        return std::log(sum) + top - scores[own];
    }
};

// Boosts as long as the loss of the rows behind the first `n_fit` falls, and keeps what was best.
template <class Loss>
void boost(const Matrix<double> &train, const Matrix<double> &test,
           const Vector<uint8_t> &categorical, const Loss &loss, const double *weights,
           size_t n_fit, const BoostSettings &settings, double *out) {
    nb::gil_scoped_release release;
    const BinnedColumns columns(train.data(), train.shape(1), test.data(), test.shape(1),
                                categorical.data(), train.shape(0), settings.n_bins);
    const size_t width = loss.width(), n_train = columns.n_train, n_test = columns.n_test;
    std::vector<double> first(width), fitted(n_train * width), scores(n_test * width);
    loss.start(n_fit, weights, first.data());
    for (size_t i = 0; i < fitted.size(); ++i) fitted[i] = first[i % width];
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = first[i % width];
    std::vector<double> gradient(n_fit * width), hessian(n_fit * width), one(n_fit), two(n_fit);
    std::vector<double> each(2 * width);
    HistogramTree tree(columns, n_fit, settings);
    const auto held_out_loss = [&] {
        double sum = 0.0;
        for (size_t i = n_fit; i < n_train; ++i)
            sum += weights[i] * loss.loss(i, &fitted[i * width]);
        return sum;
    };
    const bool stops = n_fit < n_train;
    double least = stops ? held_out_loss() : 0.0;
    size_t best = 0;
    std::copy(scores.begin(), scores.end(), out);
    for (size_t round = 1; round <= settings.n_rounds; ++round) {
        for (size_t i = 0; i < n_fit; ++i) {
            loss.slope(i, &fitted[i * width], each.data(), each.data() + width);
            for (size_t c = 0; c < width; ++c) {
                gradient[c * n_fit + i] = weights[i] * each[c];
                hessian[c * n_fit + i] = weights[i] * each[width + c];
            }
        }
        for (size_t c = 0; c < width; ++c) {
            tree.grow(&gradient[c * n_fit], &hessian[c * n_fit]);
            tree.add_to_fitted(&fitted[c], width);
            tree.add_to(columns.train_bins, n_train, n_fit, &fitted[c], width);
            tree.add_to(columns.test_bins, n_test, 0, &scores[c], width);
        }
        const double now = stops ? held_out_loss() : 0.0;
        if (!stops || now < least) {
            least = now, best = round;
            std::copy(scores.begin(), scores.end(), out);
        } else if (round >= best + settings.patience) {
            break;
        }
    }
}

}  // namespace

void bind_boosted(nb::module_ &m) {
    m.def(
        "boosted_classes",
        [](Matrix<double> train, Vector<int64_t> labels, size_t n_classes, Vector<double> weights,
           Vector<uint8_t> categorical, Matrix<double> test, size_t n_fit, size_t n_rounds,
           size_t n_leaves, size_t min_leaf, size_t patience, size_t n_bins, double rate,
           MatrixOut<double> out) {
            boost(train, test, categorical, ClassLoss{labels.data(), n_classes}, weights.data(),
                  n_fit, {n_rounds, n_leaves, min_leaf, patience, n_bins, rate}, out.data());
        },
        nb::arg("train"), nb::arg("labels"), nb::arg("n_classes"), nb::arg("weights"),
        nb::arg("categorical"), nb::arg("test"), nb::arg("n_fit"), nb::arg("n_rounds"),
        nb::arg("n_leaves"), nb::arg("min_leaf"), nb::arg("patience"), nb::arg("n_bins"),
        nb::arg("rate"), nb::arg("out").noconvert());
    m.def(
        "boosted_numbers",
        [](Matrix<double> train, Vector<double> numbers, Vector<double> weights,
           Vector<uint8_t> categorical, Matrix<double> test, size_t n_fit, size_t n_rounds,
           size_t n_leaves, size_t min_leaf, size_t patience, size_t n_bins, double rate,
           MatrixOut<double> out) {
            boost(train, test, categorical, NumberLoss{numbers.data()}, weights.data(), n_fit,
                  {n_rounds, n_leaves, min_leaf, patience, n_bins, rate}, out.data());
        },
        nb::arg("train"), nb::arg("numbers"), nb::arg("weights"), nb::arg("categorical"),
        nb::arg("test"), nb::arg("n_fit"), nb::arg("n_rounds"), nb::arg("n_leaves"),
        nb::arg("min_leaf"), nb::arg("patience"), nb::arg("n_bins"), nb::arg("rate"),
        nb::arg("out").noconvert());
}

}  // namespace pinsker
