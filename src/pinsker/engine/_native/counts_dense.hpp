// Small contingency tables, held in cache: one pass over the rows of a pack counts all its columns.
#pragma once

#include <algorithm>
#include <vector>

#include "counts_cells.hpp"

namespace pinsker {

constexpr std::size_t kDenseCells = 65536;   // cell numbers are 16 bits wide
constexpr std::size_t kPackCells = 16384;    // larger joint tables of a pack leave the first cache
constexpr std::size_t kTableBytes = 32768;   // interleaved copies of a table share this much
constexpr std::size_t kBlock = 2048;         // rows whose cell numbers are computed ahead

void fill_cells(const std::uint8_t *code, const std::uint16_t *state, std::size_t rows,
                std::uint16_t n_states, std::uint16_t *cell);
void fill_cells_wide(const std::uint32_t *code, const std::uint16_t *state, std::size_t rows,
                     std::uint16_t n_states, std::uint16_t *cell);

// Rows next to each other often fall into the same cell; `Copies` tables in turn keep one update
// from waiting for the one before it.
template <std::size_t Copies, class Rows>
void tally(const Rows &rows, const std::uint16_t *cell, std::size_t first, std::size_t count,
           std::size_t n_cells, typename Rows::Cell *tables) {
    std::size_t j = 0;
    for (; j + Copies <= count; j += Copies)
        for (std::size_t copy = 0; copy < Copies; ++copy)
            rows.add(tables[copy * n_cells + cell[j + copy]], first + j + copy);
    for (; j < count; ++j) rows.add(tables[cell[j]], first + j);
}

// One table (levels x states) of one column, or the joint table of the columns of a pack.
struct DenseJob {
    std::size_t first;    // first column
    std::size_t last;     // one past the last column; one column unless the pack is counted jointly
    std::size_t levels;   // of the joint table
};

template <class Rows>
class DenseCounter {
   public:
    using Cell = typename Rows::Cell;

    DenseCounter(const PackedColumns &columns, const Condition &condition, const Rows &rows)
        : columns_(columns), condition_(condition), rows_(rows), state_(columns.n_rows) {
        for (std::size_t i = 0; i < columns.n_rows; ++i)
            state_[i] = static_cast<std::uint16_t>(condition.group[i] * condition.n_classes +
                                                   condition.label[i]);
    }

    // Whether a table is small enough, and worth clearing and reading for this many rows.
    bool fits(std::size_t levels, std::size_t limit) const {
        const std::size_t n_cells = levels * condition_.n_states();
        return n_cells <= limit && n_cells <= 4 * columns_.n_rows + 1024;
    }

    // `scratch` has room for kDenseCells: copies of a table take at most kTableBytes or are one.
    void run(const DenseJob &job, const std::uint8_t *active, const CostSums &out, Cell *scratch) const {
        const std::size_t n_cells = job.levels * condition_.n_states();
        count(job, n_cells, scratch);
        if (job.last - job.first == 1) {
            sum_costs(scratch, job.levels, job.first, out);
            return;
        }
        for (std::size_t column = job.first; column < job.last; ++column) {
            if (!active[column]) continue;
            marginal(scratch, job.levels, column, scratch + n_cells);
            sum_costs(scratch + n_cells, columns_.levels[column], column, out);
        }
    }

   private:
    void count(const DenseJob &job, std::size_t n_cells, Cell *tables) const {
        const std::size_t copies = n_copies(n_cells);
        std::fill(tables, tables + copies * n_cells, Cell{0});
        std::uint16_t cell[kBlock];
        std::uint16_t offset[256];
        const bool joint = is_joint(job);
        if (!joint) fill_offsets(job.first, offset);
        for (std::size_t first = 0; first < columns_.n_rows; first += kBlock) {
            const std::size_t count = std::min(kBlock, columns_.n_rows - first);
            number_cells(job, joint, offset, first, count, cell);
            if (copies == 8) tally<8>(rows_, cell, first, count, n_cells, tables);
            else if (copies == 4) tally<4>(rows_, cell, first, count, n_cells, tables);
            else if (copies == 2) tally<2>(rows_, cell, first, count, n_cells, tables);
            else tally<1>(rows_, cell, first, count, n_cells, tables);
        }
        for (std::size_t copy = 1; copy < copies; ++copy)
            for (std::size_t c = 0; c < n_cells; ++c) tables[c] += tables[copy * n_cells + c];
    }

    // As many as the cache holds and the number of rows repays.
    std::size_t n_copies(std::size_t n_cells) const {
        const std::size_t room = std::min(kTableBytes / sizeof(Cell), columns_.n_rows / 2) / n_cells;
        return room >= 8 ? 8 : room >= 4 ? 4 : room >= 2 ? 2 : 1;
    }

    // Whether the byte of a row is the table's level as it stands.
    bool is_joint(const DenseJob &job) const {
        if (columns_.is_wide(job.first) || job.last - job.first > 1) return true;
        const bool alone = job.first + 1 == columns_.n_columns ||
                           columns_.home[job.first + 1] != columns_.home[job.first];
        return columns_.stride[job.first] == 1 && alone;
    }

    void fill_offsets(std::size_t column, std::uint16_t *offset) const {
        for (std::size_t byte = 0; byte < 256; ++byte)
            offset[byte] = static_cast<std::uint16_t>(
                columns_.code(column, static_cast<std::uint8_t>(byte)) * condition_.n_states());
    }

    void number_cells(const DenseJob &job, bool joint, const std::uint16_t *offset, std::size_t first,
                      std::size_t count, std::uint16_t *cell) const {
        const auto n_states = static_cast<std::uint16_t>(condition_.n_states());
        const std::uint16_t *state = state_.data() + first;
        if (columns_.is_wide(job.first)) {
            fill_cells_wide(columns_.unpacked(job.first) + first, state, count, n_states, cell);
        } else if (joint) {
            fill_cells(columns_.packed(job.first) + first, state, count, n_states, cell);
        } else {
            const std::uint8_t *byte = columns_.packed(job.first) + first;
            for (std::size_t j = 0; j < count; ++j)
                cell[j] = static_cast<std::uint16_t>(offset[byte[j]] + state[j]);
        }
    }

    // Add up the joint table over the other columns of the pack; byte = x * stride + others.
    void marginal(const Cell *joint, std::size_t n_bytes, std::size_t column, Cell *table) const {
        const std::size_t n_states = condition_.n_states();
        const auto levels = static_cast<std::size_t>(columns_.levels[column]);
        const auto stride = static_cast<std::size_t>(columns_.stride[column]);
        std::fill(table, table + levels * n_states, Cell{0});
        const Cell *from = joint;
        for (std::size_t high = 0; high < n_bytes; high += levels * stride)
            for (std::size_t x = 0; x < levels; ++x)
                for (std::size_t low = 0; low < stride; ++low, from += n_states)
                    for (std::size_t s = 0; s < n_states; ++s) table[x * n_states + s] += from[s];
    }

    void sum_costs(const Cell *table, std::size_t levels, std::size_t column, const CostSums &out) const {
        std::int64_t with_classes = 0, without_classes = 0;
        for (std::size_t row = 0; row < levels * condition_.n_groups; ++row) {
            Cell total = 0;
            for (std::size_t label = 0; label < condition_.n_classes; ++label) {
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
    std::vector<std::uint16_t> state_;
};

}  // namespace pinsker
