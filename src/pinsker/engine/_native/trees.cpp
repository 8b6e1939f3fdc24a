// Extremely randomized trees that are grown and evaluated in one descent.
//
// A held-out model is fitted hundreds of times and evaluated once each time, so no tree is stored:
// the rows to predict go down together with those the tree is grown from, and a branch that none of
// them takes is never grown. A node's random numbers come from its place in the tree, so
// that growing less changes nothing.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/arrays.hpp"

namespace pinsker {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a few instructions, and any seed is a good one.
struct Random {
    uint64_t state;
    uint64_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    size_t below(size_t n) { return static_cast<size_t>(uniform() * static_cast<double>(n)); }
};

struct Settings {
    size_t n_trees, min_leaf, n_candidates;
    uint64_t seed;
};

// Columns are contiguous: a node reads a few columns of many rows.
struct Columns {
    const double *train, *test;
    size_t n_columns, n_train, n_test;
};

// What leaves predict and what makes a split good. `left` holds the rows on one side of a
// threshold. Only the classes that a node holds are counted: most nodes have few rows, and where
// there are fifty classes the empty ones would take most of the time.
class ClassTarget {
public:
    ClassTarget(const int64_t *labels, size_t n_classes)
        : labels_(labels), place_(n_classes, kAbsent) {}

    size_t width() const { return place_.size(); }

    bool enter(const uint32_t *rows, size_t n) {  // false: nothing is left to tell apart
        for (const size_t c : present_) place_[c] = kAbsent;
        present_.clear();
        whole_.clear();
        own_.resize(n);
        for (size_t i = 0; i < n; ++i) {
            const auto c = static_cast<size_t>(labels_[rows[i]]);
            if (place_[c] == kAbsent) {
                place_[c] = present_.size();
                present_.push_back(c);
                whole_.push_back(0);
            }
            ++whole_[own_[i] = place_[c]];
        }
        left_.resize(whole_.size());
        odd_.resize(whole_.size());
        n_ = n;
        return whole_.size() > 1;
    }

    double gain(const double *values, double threshold, size_t &n_left) {
        std::fill(left_.begin(), left_.end(), 0);
        std::fill(odd_.begin(), odd_.end(), 0);
        size_t i = 0;
        for (; i + 2 <= n_; i += 2) {  // two tables: rows of one class would wait for each other
            left_[own_[i]] += values[i] <= threshold;
            odd_[own_[i + 1]] += values[i + 1] <= threshold;
        }
        if (i < n_) left_[own_[i]] += values[i] <= threshold;
        n_left = 0;
        for (size_t c = 0; c < left_.size(); ++c)
            n_left += static_cast<size_t>(left_[c] += odd_[c]);
        int64_t left = 0, right = 0;
        for (size_t c = 0; c < left_.size(); ++c) {
            left += left_[c] * left_[c];
            right += (whole_[c] - left_[c]) * (whole_[c] - left_[c]);
        }
        return square_over_size(left, n_left) +
               square_over_size(right, n_ - n_left);  // falls as the Gini impurity rises
    }

    void predict(double *out) const {
        for (size_t c = 0; c < whole_.size(); ++c)
            out[present_[c]] += static_cast<double>(whole_[c]) / static_cast<double>(n_);
    }

private:
    static double square_over_size(int64_t squares, size_t n) {
        return n ? static_cast<double>(squares) / static_cast<double>(n) : 0.0;
    }
    static constexpr size_t kAbsent = static_cast<size_t>(-1);
    const int64_t *labels_;
    std::vector<size_t> place_, present_;  // of a class in the node, and the class of a place
    std::vector<int64_t> whole_, left_, odd_;
    std::vector<size_t> own_;
    size_t n_ = 0;
};

class NumberTarget {
public:
    explicit NumberTarget(const double *numbers) : numbers_(numbers) {}

    size_t width() const { return 1; }

    bool enter(const uint32_t *rows, size_t n) {
        own_.resize(n);
        whole_ = 0.0;
        for (size_t i = 0; i < n; ++i) whole_ += own_[i] = numbers_[rows[i]];
        n_ = n;
        const auto [low, high] = std::minmax_element(own_.begin(), own_.end());
        return *low < *high;
    }

    double gain(const double *values, double threshold, size_t &n_left) {
        double left = 0.0;
        int64_t count = 0;
        for (size_t i = 0; i < n_; ++i) {
            const int64_t goes_left = values[i] <= threshold;
            left += own_[i] *
                    static_cast<double>(goes_left);  // no branch: half of them would be missed
            count += goes_left;
        }
        n_left = static_cast<size_t>(count);
        const double right = whole_ - left;  // falls as the variance inside of the sides rises
        return square_over_size(left, n_left) + square_over_size(right, n_ - n_left);
    }

    void predict(double *out) const { out[0] += whole_ / static_cast<double>(n_); }

private:
    static double square_over_size(double sum, size_t n) {
        return n ? sum * sum / static_cast<double>(n) : 0.0;
    }
    const double *numbers_;
    std::vector<double> own_;
    double whole_ = 0.0;
    size_t n_ = 0;
};

template <class Target>
class Forest {
public:
    Forest(const Columns &columns, Target &target, const Settings &settings, double *out)
        : columns_(columns),
          target_(target),
          settings_(settings),
          out_(out),
          spare_(std::max(columns.n_train, columns.n_test)),
          values_(columns.n_train),
          features_(columns.n_columns) {}

    void grow() {
        for (size_t tree = 0; tree < settings_.n_trees; ++tree) {
            Random random{settings_.seed + tree * 0xd1342543de82ef95ull};
            descend(random.next());
        }
    }

private:
    struct Node {
        size_t train, n_train, test, n_test;  // where its rows lie, and how many they are
        uint64_t seed;
    };
    struct Split {
        size_t feature = 0;
        double threshold = 0.0, gain = -1.0;
    };

    void descend(uint64_t seed) {
        train_.resize(columns_.n_train);
        test_.resize(columns_.n_test);
        std::iota(train_.begin(), train_.end(), 0u);
        std::iota(test_.begin(), test_.end(), 0u);
        stack_.assign(1, Node{0, columns_.n_train, 0, columns_.n_test, seed});
        while (!stack_.empty()) {
            const Node node = stack_.back();
            stack_.pop_back();
            visit(node);
        }
    }

    void visit(const Node &node) {
        Random random{node.seed};
        const bool mixed = target_.enter(&train_[node.train], node.n_train);
        const Split split =
            mixed && node.n_train >= 2 * settings_.min_leaf ? find_split(node, random) : Split{};
        if (split.gain < 0.0) {
            for (size_t i = 0; i < node.n_test; ++i)
                target_.predict(out_ + test_[node.test + i] * target_.width());
            return;
        }
        const double *train = columns_.train + split.feature * columns_.n_train;
        const double *test = columns_.test + split.feature * columns_.n_test;
        const size_t left = partition(&train_[node.train], node.n_train, train, split.threshold);
        const size_t test_left = partition(&test_[node.test], node.n_test, test, split.threshold);
        const uint64_t seed_left = random.next(), seed_right = random.next();
        if (test_left < node.n_test)
            stack_.push_back({node.train + left, node.n_train - left, node.test + test_left,
                              node.n_test - test_left, seed_right});
        if (test_left) stack_.push_back({node.train, left, node.test, test_left, seed_left});
    }

    // The best of one random threshold in each of a few random columns that vary in the node.
    Split find_split(const Node &node, Random &random) {
        std::iota(features_.begin(), features_.end(), size_t{0});
        Split best;
        size_t tried = 0;
        for (size_t drawn = 0; drawn < features_.size() && tried < settings_.n_candidates;
             ++drawn) {
            std::swap(features_[drawn], features_[drawn + random.below(features_.size() - drawn)]);
            const size_t feature = features_[drawn];
            const double *column = columns_.train + feature * columns_.n_train;
            const auto [low, high] = read(column, &train_[node.train], node.n_train);
            if (!(low < high)) continue;
            ++tried;
            double threshold = low + random.uniform() * (high - low);
            if (threshold >= high) threshold = low;  // rounding
            size_t n_left = 0;
            const double gain = target_.gain(values_.data(), threshold, n_left);
            if (std::min(n_left, node.n_train - n_left) < settings_.min_leaf) continue;
            if (gain > best.gain) best = {feature, threshold, gain};
        }
        return best;
    }

    // Copies what a column holds in some rows; returns the least and the greatest of it.
    std::pair<double, double> read(const double *column, const uint32_t *rows, size_t n) {
        constexpr size_t kChains = 4;  // a chain of comparisons would wait for each other
        double low[kChains], high[kChains];
        std::fill_n(low, kChains, column[rows[0]]);
        std::fill_n(high, kChains, column[rows[0]]);
        size_t i = 0;
        for (; i + kChains <= n; i += kChains)
            for (size_t j = 0; j < kChains; ++j) {
                const double value = values_[i + j] = column[rows[i + j]];
                low[j] = std::min(low[j], value);
                high[j] = std::max(high[j], value);
            }
        for (; i < n; ++i) {
            const double value = values_[i] = column[rows[i]];
            low[0] = std::min(low[0], value);
            high[0] = std::max(high[0], value);
        }
        return {*std::min_element(low, low + kChains), *std::max_element(high, high + kChains)};
    }

    // Puts the rows at or below a threshold first, and leaves both sides in their order.
    size_t partition(uint32_t *rows, size_t n, const double *column, double threshold) {
        size_t left = 0, right = 0;
        for (size_t i = 0; i < n; ++i) {
            const uint32_t row = rows[i];
            const bool goes_left = column[row] <= threshold;
            rows[left] = row;
            spare_[right] = row;
            left += goes_left;
            right += !goes_left;
        }
        std::copy_n(spare_.begin(), right, rows + left);
        return left;
    }

    Columns columns_;
    Target &target_;
    Settings settings_;
    double *out_;
    std::vector<uint32_t> train_, test_, spare_;
    std::vector<double> values_;
    std::vector<size_t> features_;
    std::vector<Node> stack_;
};

template <class Target>
void grow_forest(Matrix<double> train, Matrix<double> test, Target target, const Settings &settings,
                 MatrixOut<double> out) {
    const Columns columns{train.data(), test.data(), train.shape(0), train.shape(1), test.shape(1)};
    double *sums = out.data();
    nb::gil_scoped_release release;
    Forest<Target>(columns, target, settings, sums).grow();
}

}  // namespace

void bind_trees(nb::module_ &m) {
    m.def(
        "class_trees",
        [](Matrix<double> train, Vector<int64_t> labels, Matrix<double> test, size_t n_trees,
           size_t min_leaf, size_t n_candidates, uint64_t seed, MatrixOut<double> out) {
            const ClassTarget target(labels.data(), out.shape(1));
            grow_forest(train, test, target, {n_trees, min_leaf, n_candidates, seed}, out);
        },
        nb::arg("train"), nb::arg("labels"), nb::arg("test"), nb::arg("n_trees"),
        nb::arg("min_leaf"), nb::arg("n_candidates"), nb::arg("seed"), nb::arg("out").noconvert());
    m.def(
        "number_trees",
        [](Matrix<double> train, Vector<double> numbers, Matrix<double> test, size_t n_trees,
           size_t min_leaf, size_t n_candidates, uint64_t seed, MatrixOut<double> out) {
            grow_forest(train, test, NumberTarget(numbers.data()),
                        {n_trees, min_leaf, n_candidates, seed}, out);
        },
        nb::arg("train"), nb::arg("numbers"), nb::arg("test"), nb::arg("n_trees"),
        nb::arg("min_leaf"), nb::arg("n_candidates"), nb::arg("seed"), nb::arg("out").noconvert());
}

}  // namespace pinsker
