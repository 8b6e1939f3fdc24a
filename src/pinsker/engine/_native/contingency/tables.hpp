// Contingency tables of columns against (group, class): what a cell holds, what it costs, how
// columns are stored, and two ways to count.
//
// Every entropy here is a sum over cells, H = base - sum f(cell), and f is kept in 64-bit fixed
// point: integer sums have no rounding, so the result does not depend on the order of rows, of
// categories or of threads, and identities between tables (a duplicated column adds nothing) hold
// exactly.
//
// Small tables are held in cache: one pass over the rows of a pack counts all its columns. Large or
// mostly empty tables are never written down: rows are sorted by group and class and counted run by
// run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/compiler.hpp"

namespace pinsker {

// Costs are multiples of 2^-56 nats: a sum over any table (at most log n < 32 nats) fits 64 bits.
constexpr double kCostsPerNat = 72057594037927936.0;

// Rows that count one each; the cost of a count is looked up.
struct CountedRows {
    using Cell = uint32_t;
    const int64_t *cost;  // (n_rows + 1,) IN: f(0) = 0, f(1), ..., f(n_rows)

    PINSKER_INLINE void add(Cell &cell, size_t) const { ++cell; }
    PINSKER_INLINE int64_t cost_of(Cell cell) const { return cost[cell]; }
};

// Rows with weights in fixed point, so that their sums are exact too; plug-in cost p log p.
struct WeightedRows {
    using Cell = uint64_t;
    const uint64_t *weight;  // (n_rows,) IN
    double total;

    PINSKER_INLINE void add(Cell &cell, size_t row) const { cell += weight[row]; }
    int64_t cost_of(Cell cell) const {
        if (cell == 0) return 0;
        const double probability = static_cast<double>(cell) / total;
        return std::llround(probability * std::log(probability) * kCostsPerNat);
    }
};

// Columns of codes. Columns with few categories share a byte (mixed radix, product of categories <=
// 256); columns with more than 256 categories have 32 bits of their own.
struct PackedColumns {
    const uint8_t *bytes;       // (n_packs, n_rows) IN
    const uint32_t *wide;       // (n_wide, n_rows) IN
    const int64_t *home;        // (n_columns,) IN: row of `bytes`, or -1 - row of `wide`
    const int64_t *stride;      // (n_columns,) IN: code of a column = byte / stride % categories
    const int64_t *categories;  // (n_columns,) IN
    size_t n_columns;
    size_t n_rows;

    bool is_wide(size_t column) const { return home[column] < 0; }
    const uint8_t *packed(size_t column) const {
        return bytes + static_cast<size_t>(home[column]) * n_rows;
    }
    const uint32_t *unpacked(size_t column) const {
        return wide + static_cast<size_t>(-1 - home[column]) * n_rows;
    }
    uint32_t code(size_t column, uint8_t byte) const {
        return static_cast<uint32_t>(byte / stride[column] % categories[column]);
    }
};

// The condition a column is counted against: a group (selected features) and a class per row.
struct Condition {
    const uint32_t *group;  // (n_rows,) IN
    const uint32_t *label;  // (n_rows,) IN
    size_t n_groups;
    size_t n_classes;

    size_t n_states() const { return n_groups * n_classes; }
};

// Sums of costs of the tables (x, group, class) and (x, group), one pair per column.
struct CostSums {
    int64_t *with_classes;     // (n_columns,) OUT
    int64_t *without_classes;  // (n_columns,) OUT
};

// Loops compiled once per instruction set (number_cells.inl): the cell of a row is its code times
// the number of states, plus its state.
struct CellKernels {
    void (*number_cells)(const uint8_t *code, const uint16_t *state, size_t rows, uint16_t n_states,
                         uint16_t *cell);
    void (*number_wide_cells)(const uint32_t *code, const uint16_t *state, size_t rows,
                              uint16_t n_states, uint16_t *cell);
};

extern const CellKernels kCellKernels;  // for this CPU (dispatch.cpp)

// Small tables.

constexpr size_t kDenseCells = 65536;  // cell numbers are 16 bits wide
constexpr size_t kPackCells = 16384;   // larger joint tables of a pack leave the first cache
constexpr size_t kTableBytes = 32768;  // interleaved copies of a table share this much
constexpr size_t kRowsAhead = 2048;    // rows whose cell numbers are computed ahead

// Rows next to each other often fall into the same cell; `Copies` tables in turn keep one update
// from waiting for the one before it.
template <size_t Copies, class Rows>
void count_in_turn(const Rows &rows, const uint16_t *cell, size_t first, size_t count,
                   size_t n_cells, typename Rows::Cell *tables) {
    size_t j = 0;
    for (; j + Copies <= count; j += Copies)
        for (size_t copy = 0; copy < Copies; ++copy)
            rows.add(tables[copy * n_cells + cell[j + copy]], first + j + copy);
    for (; j < count; ++j) rows.add(tables[cell[j]], first + j);
}

// One table (categories x states) of one column, or the joint table of the columns of a pack.
struct DenseJob {
    size_t first;       // first column
    size_t last;        // one past the last column; one column unless the pack is counted jointly
    size_t categories;  // of the joint table
};

template <class Rows>
class DenseCounter {
public:
    using Cell = typename Rows::Cell;

    DenseCounter(const PackedColumns &columns, const Condition &condition, const Rows &rows)
        : columns_(columns), condition_(condition), rows_(rows), state_(columns.n_rows) {
        for (size_t i = 0; i < columns.n_rows; ++i)
            state_[i] = static_cast<uint16_t>(condition.group[i] * condition.n_classes +
                                              condition.label[i]);
    }

    // Whether a table is small enough, and worth clearing and reading for this many rows.
    bool fits(size_t categories, size_t limit) const {
        const size_t n_cells = categories * condition_.n_states();
        return n_cells <= limit && n_cells <= 4 * columns_.n_rows + 1024;
    }

    // `scratch` has room for kDenseCells: copies of a table take at most kTableBytes or are one.
    void run(const DenseJob &job, const uint8_t *active, const CostSums &out, Cell *scratch) const {
        const size_t n_cells = job.categories * condition_.n_states();
        count(job, n_cells, scratch);
        if (job.last - job.first == 1) {
            sum_costs(scratch, job.categories, job.first, out);
            return;
        }
        for (size_t column = job.first; column < job.last; ++column) {
            if (!active[column]) continue;
            marginal(scratch, job.categories, column, scratch + n_cells);
            sum_costs(scratch + n_cells, columns_.categories[column], column, out);
        }
    }

private:
    void count(const DenseJob &job, size_t n_cells, Cell *tables) const {
        const size_t copies = n_copies(n_cells);
        std::fill(tables, tables + copies * n_cells, Cell{0});
        uint16_t cell[kRowsAhead];
        uint16_t offset[256];
        const bool joint = is_joint(job);
        if (!joint) fill_offsets(job.first, offset);
        for (size_t first = 0; first < columns_.n_rows; first += kRowsAhead) {
            const size_t count = std::min(kRowsAhead, columns_.n_rows - first);
            number_job_cells(job, joint, offset, first, count, cell);
            if (copies == 8)
                count_in_turn<8>(rows_, cell, first, count, n_cells, tables);
            else if (copies == 4)
                count_in_turn<4>(rows_, cell, first, count, n_cells, tables);
            else if (copies == 2)
                count_in_turn<2>(rows_, cell, first, count, n_cells, tables);
            else
                count_in_turn<1>(rows_, cell, first, count, n_cells, tables);
        }
        for (size_t copy = 1; copy < copies; ++copy)
            for (size_t c = 0; c < n_cells; ++c) tables[c] += tables[copy * n_cells + c];
    }

    // As many as the cache holds and the number of rows repays.
    size_t n_copies(size_t n_cells) const {
        const size_t room = std::min(kTableBytes / sizeof(Cell), columns_.n_rows / 2) / n_cells;
        return room >= 8 ? 8 : room >= 4 ? 4 : room >= 2 ? 2 : 1;
    }

    // Whether the byte of a row is the table's category as it stands.
    bool is_joint(const DenseJob &job) const {
        if (columns_.is_wide(job.first) || job.last - job.first > 1) return true;
        const bool alone = job.first + 1 == columns_.n_columns ||
                           columns_.home[job.first + 1] != columns_.home[job.first];
        return columns_.stride[job.first] == 1 && alone;
    }

    void fill_offsets(size_t column, uint16_t *offset) const {
        for (size_t byte = 0; byte < 256; ++byte)
            offset[byte] = static_cast<uint16_t>(columns_.code(column, static_cast<uint8_t>(byte)) *
                                                 condition_.n_states());
    }

    void number_job_cells(const DenseJob &job, bool joint, const uint16_t *offset, size_t first,
                          size_t count, uint16_t *cell) const {
        const auto n_states = static_cast<uint16_t>(condition_.n_states());
        const uint16_t *state = state_.data() + first;
        if (columns_.is_wide(job.first)) {
            kCellKernels.number_wide_cells(columns_.unpacked(job.first) + first, state, count,
                                           n_states, cell);
        } else if (joint) {
            kCellKernels.number_cells(columns_.packed(job.first) + first, state, count, n_states,
                                      cell);
        } else {
            const uint8_t *byte = columns_.packed(job.first) + first;
            for (size_t j = 0; j < count; ++j)
                cell[j] = static_cast<uint16_t>(offset[byte[j]] + state[j]);
        }
    }

    // Add up the joint table over the other columns of the pack; byte = x * stride + others.
    void marginal(const Cell *joint, size_t n_bytes, size_t column, Cell *table) const {
        const size_t n_states = condition_.n_states();
        const auto categories = static_cast<size_t>(columns_.categories[column]);
        const auto stride = static_cast<size_t>(columns_.stride[column]);
        std::fill(table, table + categories * n_states, Cell{0});
        const Cell *from = joint;
        for (size_t high = 0; high < n_bytes; high += categories * stride)
            for (size_t x = 0; x < categories; ++x)
                for (size_t low = 0; low < stride; ++low, from += n_states)
                    for (size_t s = 0; s < n_states; ++s) table[x * n_states + s] += from[s];
    }

    void sum_costs(const Cell *table, size_t categories, size_t column, const CostSums &out) const {
        int64_t with_classes = 0, without_classes = 0;
        for (size_t row = 0; row < categories * condition_.n_groups; ++row) {
            Cell total = 0;
            for (size_t label = 0; label < condition_.n_classes; ++label) {
                const Cell cell = table[row * condition_.n_classes + label];
                with_classes += rows_.cost_of(cell);
                total += cell;
            }
            without_classes += rows_.cost_of(total);
        }
        out.with_classes[column] = with_classes;
        out.without_classes[column] = without_classes;
    }

    const PackedColumns &columns_;
    const Condition &condition_;
    const Rows &rows_;
    std::vector<uint16_t> state_;
};

// Large tables.

// Rows in order of (group, class) and where each run ends. A row that has a group to itself is in a
// cell of its own whatever the column: such rows are set apart.
class SortedRows {
public:
    explicit SortedRows(const Condition &condition, size_t n_rows) : order(n_rows) {
        std::vector<uint32_t> by_label(n_rows);
        for (size_t i = 0; i < n_rows; ++i) order[i] = static_cast<uint32_t>(i);
        counting_sort(order, condition.label, condition.n_classes, by_label);
        counting_sort(by_label, condition.group, condition.n_groups, order);
        set_apart(condition.group);
        for (size_t i = 1; i <= order.size(); ++i) {
            const bool ends = i == order.size();
            const bool group_ends =
                ends || condition.group[order[i]] != condition.group[order[i - 1]];
            if (group_ends || condition.label[order[i]] != condition.label[order[i - 1]]) {
                run_end.push_back(static_cast<uint32_t>(i));
                ends_group.push_back(group_ends);
            }
        }
    }

    std::vector<uint32_t> order;
    std::vector<uint32_t> alone;
    std::vector<uint32_t> run_end;
    std::vector<uint8_t> ends_group;

private:
    void set_apart(const uint32_t *group) {
        size_t kept = 0;
        for (size_t first = 0, last; first < order.size(); first = last) {
            for (last = first + 1; last < order.size(); ++last) {
                if (group[order[last]] != group[order[first]]) break;
            }
            if (last - first == 1) {
                alone.push_back(order[first]);
            } else {
                for (size_t i = first; i < last; ++i) order[kept++] = order[i];
            }
        }
        order.resize(kept);
    }

    static void counting_sort(const std::vector<uint32_t> &from, const uint32_t *key, size_t n_keys,
                              std::vector<uint32_t> &to) {
        std::vector<uint32_t> start(n_keys + 1, 0);
        for (uint32_t row : from) ++start[key[row] + 1];
        for (size_t k = 0; k < n_keys; ++k) start[k + 1] += start[k];
        for (uint32_t row : from) to[start[key[row]]++] = row;
    }
};

// Histogram of one run of rows, cleared as it is read.
template <class Rows>
class RunHistogram {
public:
    using Cell = typename Rows::Cell;
    RunHistogram(const Rows &rows, Cell *cells, size_t categories)
        : rows_(rows), cells_(cells), categories_(categories) {
        std::fill(cells, cells + categories, Cell{0});
    }
    void add(uint32_t category, size_t row) { rows_.add(cells_[category], row); }
    // `category` holds the categories of the run's `length` rows: with many categories only those
    // are visited.
    int64_t take(const uint32_t *category, size_t length) {
        int64_t sum = 0;
        if (length < categories_) {
            for (size_t i = 0; i < length; ++i) sum += take_one(cells_[category[i]]);
        } else {
            for (size_t x = 0; x < categories_; ++x) sum += take_one(cells_[x]);
        }
        return sum;
    }

private:
    int64_t take_one(Cell &cell) {
        if (cell == 0) return 0;
        const int64_t cost = rows_.cost_of(cell);
        cell = 0;
        return cost;
    }
    const Rows &rows_;
    Cell *cells_;
    size_t categories_;
};

// What rows cost that have their cell to themselves.
template <class Rows>
int64_t cost_alone(const SortedRows &sorted, const Rows &rows) {
    int64_t sum = 0;
    for (const uint32_t row : sorted.alone) {
        typename Rows::Cell cell = 0;
        rows.add(cell, row);
        sum += rows.cost_of(cell);
    }
    return sum;
}

// `alone` is the cost of the rows that were set apart.
template <class Rows>
void count_sparse(const PackedColumns &columns, const SortedRows &sorted, const Rows &rows,
                  size_t column, typename Rows::Cell *cells, uint32_t *category, int64_t alone,
                  const CostSums &out) {
    const size_t categories = static_cast<size_t>(columns.categories[column]);
    uint32_t code_of[256] = {};
    const bool wide = columns.is_wide(column);
    if (!wide)
        for (size_t b = 0; b < 256; ++b) code_of[b] = columns.code(column, static_cast<uint8_t>(b));
    for (size_t i = 0; i < sorted.order.size(); ++i)
        category[i] = wide ? columns.unpacked(column)[sorted.order[i]]
                           : code_of[columns.packed(column)[sorted.order[i]]];

    RunHistogram<Rows> run(rows, cells, categories), group(rows, cells + categories, categories);
    int64_t with_classes = alone, without_classes = alone;
    size_t run_start = 0, group_start = 0;
    for (size_t r = 0; r < sorted.run_end.size(); ++r) {
        const size_t end = sorted.run_end[r];
        for (size_t i = run_start; i < end; ++i) {
            run.add(category[i], sorted.order[i]);
            group.add(category[i], sorted.order[i]);
        }
        with_classes += run.take(category + run_start, end - run_start);
        if (sorted.ends_group[r]) {
            without_classes += group.take(category + group_start, end - group_start);
            group_start = end;
        }
        run_start = end;
    }
    out.with_classes[column] = with_classes;
    out.without_classes[column] = without_classes;
}

}  // namespace pinsker
