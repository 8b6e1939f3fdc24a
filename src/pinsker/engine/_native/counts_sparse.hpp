// Large or mostly empty tables: rows sorted by group and class, counted run by run, no table at all.
#pragma once

#include <algorithm>
#include <vector>

#include "counts_cells.hpp"

namespace pinsker {

// Rows in order of (group, class) and where each run ends. A row that has a group to itself is in a
// cell of its own whatever the column: such rows are set apart.
class SortedRows {
   public:
    explicit SortedRows(const Condition &condition, std::size_t n_rows) : order(n_rows) {
        std::vector<std::uint32_t> by_label(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) order[i] = static_cast<std::uint32_t>(i);
        counting_sort(order, condition.label, condition.n_classes, by_label);
        counting_sort(by_label, condition.group, condition.n_groups, order);
        set_apart(condition.group);
        for (std::size_t i = 1; i <= order.size(); ++i) {
            const bool ends = i == order.size();
            const bool group_ends =
                ends || condition.group[order[i]] != condition.group[order[i - 1]];
            if (group_ends || condition.label[order[i]] != condition.label[order[i - 1]]) {
                run_end.push_back(static_cast<std::uint32_t>(i));
                ends_group.push_back(group_ends);
            }
        }
    }

    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> alone;
    std::vector<std::uint32_t> run_end;
    std::vector<std::uint8_t> ends_group;

   private:
    void set_apart(const std::uint32_t *group) {
        std::size_t kept = 0;
        for (std::size_t first = 0, last; first < order.size(); first = last) {
            for (last = first + 1; last < order.size(); ++last) {
                if (group[order[last]] != group[order[first]]) break;
            }
            if (last - first == 1) {
                alone.push_back(order[first]);
            } else {
                for (std::size_t i = first; i < last; ++i) order[kept++] = order[i];
            }
        }
        order.resize(kept);
    }

    static void counting_sort(const std::vector<std::uint32_t> &from, const std::uint32_t *key,
                              std::size_t n_keys, std::vector<std::uint32_t> &to) {
        std::vector<std::uint32_t> start(n_keys + 1, 0);
        for (std::uint32_t row : from) ++start[key[row] + 1];
        for (std::size_t k = 0; k < n_keys; ++k) start[k + 1] += start[k];
        for (std::uint32_t row : from) to[start[key[row]]++] = row;
    }
};

// Histogram of one run of rows, cleared as it is read.
template <class Rows>
class RunHistogram {
   public:
    using Cell = typename Rows::Cell;
    RunHistogram(const Rows &rows, Cell *cells, std::size_t levels)
        : rows_(rows), cells_(cells), levels_(levels) {
        std::fill(cells, cells + levels, Cell{0});
    }
    void add(std::uint32_t level, std::size_t row) { rows_.add(cells_[level], row); }
    // `level` holds the levels of the run's `length` rows: with many levels only those are visited.
    std::int64_t take(const std::uint32_t *level, std::size_t length) {
        std::int64_t sum = 0;
        if (length < levels_) {
            for (std::size_t i = 0; i < length; ++i) sum += take_one(cells_[level[i]]);
        } else {
            for (std::size_t x = 0; x < levels_; ++x) sum += take_one(cells_[x]);
        }
        return sum;
    }

   private:
    std::int64_t take_one(Cell &cell) {
        if (cell == 0) return 0;
        const std::int64_t cost = rows_.cost_of(cell);
        cell = 0;
        return cost;
    }
    const Rows &rows_;
    Cell *cells_;
    std::size_t levels_;
};

// What rows cost that share their cell with nobody.
template <class Rows>
std::int64_t cost_alone(const SortedRows &sorted, const Rows &rows) {
    std::int64_t sum = 0;
    for (const std::uint32_t row : sorted.alone) {
        typename Rows::Cell cell = 0;
        rows.add(cell, row);
        sum += rows.cost_of(cell);
    }
    return sum;
}

// `alone` is the cost of the rows that were set apart.
template <class Rows>
void count_sparse(const PackedColumns &columns, const SortedRows &sorted, const Rows &rows,
                  std::size_t column, typename Rows::Cell *cells, std::uint32_t *level,
                  std::int64_t alone, const CostSums &out) {
    const std::size_t levels = static_cast<std::size_t>(columns.levels[column]);
    std::uint32_t code_of[256] = {};
    const bool wide = columns.is_wide(column);
    if (!wide)
        for (std::size_t b = 0; b < 256; ++b) code_of[b] = columns.code(column, static_cast<std::uint8_t>(b));
    for (std::size_t i = 0; i < sorted.order.size(); ++i)
        level[i] = wide ? columns.unpacked(column)[sorted.order[i]]
                        : code_of[columns.packed(column)[sorted.order[i]]];

    RunHistogram<Rows> run(rows, cells, levels), group(rows, cells + levels, levels);
    std::int64_t with_classes = alone, without_classes = alone;
    std::size_t run_start = 0, group_start = 0;
    for (std::size_t r = 0; r < sorted.run_end.size(); ++r) {
        const std::size_t end = sorted.run_end[r];
        for (std::size_t i = run_start; i < end; ++i) {
            run.add(level[i], sorted.order[i]);
            group.add(level[i], sorted.order[i]);
        }
        with_classes += run.take(level + run_start, end - run_start);
        if (sorted.ends_group[r]) {
            without_classes += group.take(level + group_start, end - group_start);
            group_start = end;
        }
        run_start = end;
    }
    out.with_classes[column] = with_classes;
    out.without_classes[column] = without_classes;
}

}  // namespace pinsker
