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
#include <numeric>
#include <utility>
#include <vector>

#include "common/arrays.hpp"

namespace pinsker {

namespace {

// Categories of fewer rows in a node are not told apart; others are ordered by their smoothed mean.
constexpr uint32_t kFewestOfCategory = 10;
constexpr double kSmoothing = 10.0;
// Rows whose hessians add up to less tell too little about a step: a side or a leaf has more.
constexpr double kLeastHessian = 1e-3;
// A split is better than those before it by more than rounding: of two that part the rows alike the
// first one is taken, whatever the order of sums.
constexpr double kBetter = 1.0 + 1e-9;

struct BoostSettings {
    size_t n_rounds, n_leaves, min_leaf, patience, n_bins;
    double rate;
};

// Columns as bins: ranges of numbers that hold about as many rows each, or codes of categories. The
// bin behind them is that of gaps, and of categories that no training row has.
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
            const double *values = train + c * n_train;
            if (categorical[c])
                n_bins[c] = 1 + static_cast<size_t>(*std::max_element(values, values + n_train));
            else
                cut(values, c, most_bins);
            assign(values, n_train, c, train_bins.data() + c * n_train);
            assign(test + c * n_test, n_test, c, test_bins.data() + c * n_test);
            starts[c + 1] = starts[c] + n_bins[c] + 1;
        }
    }

    const size_t n_columns, n_train, n_test;
    const uint8_t *categorical;
    std::vector<uint8_t> train_bins, test_bins;
    std::vector<size_t> n_bins, starts;

private:
    void cut(const double *values, size_t c, size_t most_bins) {
        edges_.clear();
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
            edges_.push_back(middle < high ? middle : low);  // rounding, and infinite ones
            first = next;
            --bins_left;
        }
        n_bins[c] = edges_.size() + 1;
    }

    void assign(const double *values, size_t n, size_t c, uint8_t *bins) const {
        const double end = static_cast<double>(n_bins[c]);
        for (size_t i = 0; i < n; ++i) {
            if (std::isnan(values[i]))
                bins[i] = static_cast<uint8_t>(n_bins[c]);
            else if (categorical[c])
                bins[i] = static_cast<uint8_t>(std::min(values[i], end));
            else
                bins[i] = static_cast<uint8_t>(
                    std::lower_bound(edges_.begin(), edges_.end(), values[i]) - edges_.begin());
        }
    }

    std::vector<double> edges_, sorted_;
};

// Sums over some rows.
struct Cell {
    double gradient = 0.0, hessian = 0.0;
    uint32_t n = 0;
    Cell &operator+=(const Cell &o) {
        gradient += o.gradient, hessian += o.hessian, n += o.n;
        return *this;
    }
    Cell &operator-=(const Cell &o) {
        gradient -= o.gradient, hessian -= o.hessian, n -= o.n;
        return *this;
    }
};

struct Split {
    double score = 0.0, to_beat = 0.0;  // of both sides
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
          terms_(n_fit),
          histograms_(settings.n_leaves) {}

    void grow(const double *gradient, const double *hessian) {
        gradient_ = gradient, hessian_ = hessian;
        std::iota(rows_.begin(), rows_.end(), 0u);
        Node root;
        root.n = n_fit_;
        add_up(root);
        if (start(root))
            for (size_t c = 0; c < columns_.n_columns; ++c) {
                count(root, c);
                find_split(root, c);
            }
        nodes_.assign(1, root);
        for (size_t n_leaves = 1; n_leaves < settings_.n_leaves; ++n_leaves) {
            size_t best = 0;
            double most = 0.0;
            for (size_t k = 0; k < nodes_.size(); ++k) {
                const double gain = nodes_[k].split.score - nodes_[k].score;
                if (!nodes_[k].left && gain > most) best = k, most = gain;
            }
            if (!(most > 0.0)) break;
            divide(best, n_leaves, n_leaves + 1 < settings_.n_leaves);
        }
        for (Node &node : nodes_)
            if (node.sum.hessian > kLeastHessian)
                node.value = -settings_.rate * node.sum.gradient / node.sum.hessian;
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
    // Reads the gradients and hessians of a node's rows, in their order, and adds them up.
    void add_up(Node &node) {
        for (size_t i = 0; i < node.n; ++i) {
            const uint32_t row = rows_[node.start + i];
            terms_[i] = {gradient_[row], hessian_[row], 1};
            node.sum += terms_[i];
        }
    }

    // Returns whether a node may be divided, which starts with no split.
    bool start(Node &node) const {
        if (node.n < 2 * settings_.min_leaf || !(node.sum.hessian > kLeastHessian)) return false;
        node.score = node.split.score = node.sum.gradient * node.sum.gradient / node.sum.hessian;
        node.split.to_beat = kBetter * node.score;
        return true;
    }

    Cell *cells_of(const Node &node, size_t c) {
        std::vector<Cell> &cells = histograms_[node.histogram];
        if (cells.empty()) cells.resize(columns_.starts.back());
        return cells.data() + columns_.starts[c];
    }

    // Makes the histogram of a column, of a node that was added up last.
    void count(const Node &node, size_t c) {
        Cell *cells = cells_of(node, c);
        std::fill(cells, cells + columns_.n_bins[c] + 1, Cell{});
        const uint8_t *bins = &columns_.train_bins[c * columns_.n_train];
        const uint32_t *rows = &rows_[node.start];
        for (size_t i = 0; i < node.n; ++i) cells[bins[rows[i]]] += terms_[i];
    }

    void divide(size_t place, size_t free_histogram, bool goes_on) {
        const Node parent = nodes_[place];
        Node left, right;
        const uint8_t *bins = &columns_.train_bins[parent.split.column * columns_.n_train];
        size_t n_left = 0, n_right = 0;
        for (size_t i = 0; i < parent.n; ++i) {
            const uint32_t row = rows_[parent.start + i];
            const bool goes_left = parent.split.left[bins[row]];
            rows_[parent.start + n_left] = row;
            spare_[n_right] = row;
            n_left += goes_left;
            n_right += !goes_left;
        }
        std::copy_n(spare_.begin(), n_right, rows_.begin() + parent.start + n_left);
        left.start = parent.start, left.n = n_left;
        right.start = parent.start + n_left, right.n = n_right;
        Node &small = n_left <= n_right ? left : right, &large = n_left <= n_right ? right : left;
        add_up(small);
        large.sum = parent.sum;
        large.sum -= small.sum;
        small.histogram = free_histogram, large.histogram = parent.histogram;
        if (goes_on) find_splits(small, large);
        nodes_[place].left = nodes_.size();
        nodes_[place].right = nodes_.size() + 1;
        nodes_.push_back(left);
        nodes_.push_back(right);
    }

    // Counts the small side, which leaves the large one of what was counted for both.
    void find_splits(Node &small, Node &large) {
        const bool of_small = start(small), of_large = start(large);
        if (!of_small && !of_large) return;
        for (size_t c = 0; c < columns_.n_columns; ++c) {
            Cell *rest = cells_of(large, c);
            if (of_small) {
                count(small, c);
                const Cell *less = cells_of(small, c);
                for (size_t b = 0; b <= columns_.n_bins[c]; ++b) rest[b] -= less[b];
                find_split(small, c);
            } else {
                const uint8_t *bins = &columns_.train_bins[c * columns_.n_train];
                const uint32_t *rows = &rows_[small.start];
                for (size_t i = 0; i < small.n; ++i) rest[bins[rows[i]]] -= terms_[i];
            }
            if (of_large) find_split(large, c);
        }
    }

    void find_split(Node &node, size_t c) {
        const Cell *cells = cells_of(node, c);
        if (columns_.categorical[c])
            split_categories(node, c, cells);
        else
            split_numbers(node, c, cells);
    }

    // Takes the sums on the left for the best split so far, if they are, and says whether. The
    // score is a fraction, and is divided only then.
    bool improves(Node &node, const Cell &left) const {
        Cell right = node.sum;
        right -= left;
        if (left.n < settings_.min_leaf || right.n < settings_.min_leaf) return false;
        if (left.hessian < kLeastHessian || right.hessian < kLeastHessian) return false;
        const double above = left.gradient * left.gradient * right.hessian +
                             right.gradient * right.gradient * left.hessian;
        const double below = left.hessian * right.hessian;
        if (!(above > node.split.to_beat * below)) return false;
        node.split.score = above / below;
        node.split.to_beat = node.split.score * kBetter;
        return true;
    }

    void split_numbers(Node &node, size_t c, const Cell *cells) const {
        const size_t n_bins = columns_.n_bins[c], most = node.n - settings_.min_leaf;
        const bool has_gaps = cells[n_bins].n > 0;
        size_t end = 0, n_below = 0;
        bool gaps_left = false;
        for (int gaps = 0; gaps <= (has_gaps ? 1 : 0); ++gaps) {
            Cell left = gaps ? cells[n_bins] : Cell{};
            size_t b = 0;
            while (b < n_bins && left.n + cells[b].n < settings_.min_leaf) left += cells[b++];
            for (; b < n_bins && left.n < most; ++b) {
                left += cells[b];
                if (improves(node, left)) end = b + 1, n_below = left.n, gaps_left = gaps != 0;
            }
        }
        if (!end) return;
        node.split.column = c;
        node.split.left.reset();
        for (size_t b = 0; b < end; ++b) node.split.left.set(b);
        // Gaps go with most rows where no row of the node has one.
        if (has_gaps ? gaps_left : 2 * n_below > node.n) node.split.left.set(n_bins);
    }

    void split_categories(Node &node, size_t c, const Cell *cells) {
        const size_t n_bins = columns_.n_bins[c];
        ordered_.clear();
        for (size_t b = 0; b < n_bins; ++b)
            if (cells[b].n >= kFewestOfCategory)
                ordered_.emplace_back(cells[b].gradient / (cells[b].hessian + kSmoothing), b);
        std::sort(ordered_.begin(), ordered_.end());
        for (int turn = 0; turn < 2; ++turn) {  // rare categories stay with either end
            Cell left;
            size_t taken = 0, n_taken = 0;
            for (size_t k = 0; k < ordered_.size(); ++k) {
                left += cells[ordered_[k].second];
                if (improves(node, left)) taken = k + 1, n_taken = left.n;
            }
            if (taken) {
                node.split.column = c;
                node.split.left.reset();
                for (size_t k = 0; k < taken; ++k) node.split.left.set(ordered_[k].second);
                // Categories that no row of the node has go with most rows.
                if (2 * n_taken > node.n)
                    for (size_t b = 0; b <= n_bins; ++b)
                        if (!cells[b].n) node.split.left.set(b);
            }
            std::reverse(ordered_.begin(), ordered_.end());
        }
    }

    const BinnedColumns &columns_;
    const size_t n_fit_;
    const BoostSettings settings_;
    const double *gradient_ = nullptr, *hessian_ = nullptr;
    std::vector<uint32_t> rows_, spare_;
    std::vector<Cell> terms_;
    std::vector<std::vector<Cell>> histograms_;
    std::vector<Node> nodes_;
    std::vector<std::pair<double, size_t>> ordered_;  // categories by their mean
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

// Boosts as long as the loss of the rows behind the first `n_fit` falls, and keeps what was best;
// all rounds where there are none, or none with a weight.
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
    const bool stops =
        std::any_of(weights + n_fit, weights + n_train, [](double w) { return w > 0; });
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
            tree.add_to(columns.test_bins, n_test, 0, scores.data() + c, width);
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
