// The first step of the forward search: every column on its own, from sorted values.
#include "forward.hpp"
#include "thread_pool.hpp"

namespace {

// One column in increasing order, and what is known around one of its values.
class SortedColumn {
   public:
    SortedColumn(const double *column, int64_t rows)
        : values_(static_cast<size_t>(rows)), row_(static_cast<size_t>(rows)), rank_(static_cast<size_t>(rows)) {
        for (size_t i = 0; i < row_.size(); ++i) row_[i] = static_cast<int32_t>(i);
        std::stable_sort(row_.begin(), row_.end(), [&](int32_t p, int32_t q) { return column[p] < column[q]; });
        for (size_t i = 0; i < row_.size(); ++i) {
            values_[i] = column[row_[i]];
            rank_[static_cast<size_t>(row_[i])] = static_cast<int64_t>(i);
        }
    }

    // Walks outwards from row a, nearest first, until `visit(row, distance)` says stop.
    template <class Visit>
    void walk(int64_t a, Visit visit) const {
        const int64_t n = static_cast<int64_t>(values_.size());
        const int64_t here = rank_[static_cast<size_t>(a)];
        int64_t left = here - 1, right = here + 1;
        while (left >= 0 || right < n) {
            const double to_left = left >= 0 ? value(here) - value(left) : kInfinity;
            const double to_right = right < n ? value(right) - value(here) : kInfinity;
            const bool go_left = to_left <= to_right;
            const int64_t at = go_left ? left-- : right++;
            if (!visit(row_[static_cast<size_t>(at)], go_left ? to_left : to_right)) return;
        }
    }

    Count count(int64_t a, double radius) const {
        const double low = strictly_inside(radius), high = inside_or_on(radius);
        const double x = value(rank_[static_cast<size_t>(a)]);
        const auto within = [&](auto outside_left, auto inside_right) {
            const auto first = std::partition_point(values_.begin(), values_.end(), outside_left);
            const auto last = std::partition_point(first, values_.end(), inside_right);
            return static_cast<int>(last - first) - 1;  // the row itself is no other
        };
        return {std::max(within([&](double v) { return x - v >= low; }, [&](double v) { return v - x < low; }), 0),
                within([&](double v) { return x - v > high; }, [&](double v) { return v - x <= high; })};
    }

   private:
    double value(int64_t rank) const { return values_[static_cast<size_t>(rank)]; }

    std::vector<double> values_;  // in increasing order
    std::vector<int32_t> row_;    // row of each
    std::vector<int64_t> rank_;   // place of each row
};

}  // namespace

void ForwardSearch::measure_columns_alone(int threads) {
    const auto lanes = static_cast<int64_t>(feature_of_lane_.size());
    pinsker::ThreadPool::shared().run(lanes, 1, threads, [&](int64_t lane, int) {
        const size_t feature = static_cast<size_t>(feature_of_lane_[static_cast<size_t>(lane)]);
        const SortedColumn column(by_column_.data() + columns_of_feature_[feature].front() * in_.rows, in_.rows);
        std::vector<double> nearest;  // joint distances of the best neighbours, increasing
        std::vector<double> seen;
        int64_t sum = 0;
        for (int64_t q = 0; q < in_.n_queries; ++q) {
            const int64_t a = in_.queries[q];
            const size_t rank = std::min(static_cast<size_t>(in_.rank), target_.company(a).size() - 1);
            if (rank == 0) continue;
            nearest.clear();
            seen.clear();
            column.walk(a, [&](int32_t b, double dx) {
                const bool full = nearest.size() == rank;
                if (dx >= kFarthest || (full && dx > inside_or_on(nearest.back()))) return false;
                const double joint = std::max(dx, target_.distance(a, b));
                if (joint >= kFarthest) return true;
                seen.push_back(joint);
                if (full && joint >= nearest.back()) return true;
                if (full) nearest.pop_back();
                nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), joint), joint);
                return true;
            });
            if (nearest.empty()) continue;
            const double radius = nearest.back();
            const int kt = count_up_to(seen.data(), static_cast<int>(seen.size()), inside_or_on(radius));
            Count y{0, 0};
            target_.count(a, radius, y.open, y.closed);
            sum += terms_.information(radius, static_cast<int>(nearest.size()), kt, column.count(a, radius), y);
        }
        sums_[feature] = sum;
    });
}
