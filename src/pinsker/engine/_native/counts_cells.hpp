// What a cell of a contingency table holds, what it costs, and how columns are stored.
//
// Every entropy here is a sum over cells, H = base - sum f(cell), and f is kept in 64-bit fixed point:
// integer sums have no rounding, so the result does not depend on the order of rows, of levels or of
// threads, and identities between tables (a duplicated column adds nothing) hold exactly.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "dispatch.hpp"

namespace pinsker {

// Costs are multiples of 2^-56 nats: a sum over any table (at most log n < 32 nats) fits 64 bits.
constexpr double kCostsPerNat = 72057594037927936.0;

// Rows that count one each; the cost of a count is looked up.
struct CountedRows {
    using Cell = std::uint32_t;
    const std::int64_t *cost;  // (n_rows + 1,) IN: f(0) = 0, f(1), ..., f(n_rows)

    PINSKER_INLINE void add(Cell &cell, std::size_t) const { ++cell; }
    PINSKER_INLINE std::int64_t cost_of(Cell cell) const { return cost[cell]; }
};

// Rows with weights in fixed point, so that their sums are exact too; plug-in cost p log p.
struct WeightedRows {
    using Cell = std::uint64_t;
    const std::uint64_t *weight;  // (n_rows,) IN
    double total;

    PINSKER_INLINE void add(Cell &cell, std::size_t row) const { cell += weight[row]; }
    std::int64_t cost_of(Cell cell) const {
        if (cell == 0) return 0;
        const double share = static_cast<double>(cell) / total;
        return std::llround(share * std::log(share) * kCostsPerNat);
    }
};

// Columns of codes. Columns with few levels share a byte (mixed radix, product of levels <= 256);
// columns with more than 256 levels have 32 bits of their own.
struct PackedColumns {
    const std::uint8_t *bytes;    // (n_packs, n_rows) IN
    const std::uint32_t *wide;    // (n_wide, n_rows) IN
    const std::int64_t *home;     // (n_columns,) IN: row of `bytes`, or -1 - row of `wide`
    const std::int64_t *stride;   // (n_columns,) IN: code of a column = byte / stride % levels
    const std::int64_t *levels;   // (n_columns,) IN
    std::size_t n_columns;
    std::size_t n_rows;

    bool is_wide(std::size_t column) const { return home[column] < 0; }
    const std::uint8_t *packed(std::size_t column) const {
        return bytes + static_cast<std::size_t>(home[column]) * n_rows;
    }
    const std::uint32_t *unpacked(std::size_t column) const {
        return wide + static_cast<std::size_t>(-1 - home[column]) * n_rows;
    }
    std::uint32_t code(std::size_t column, std::uint8_t byte) const {
        return static_cast<std::uint32_t>(byte / stride[column] % levels[column]);
    }
};

// The condition a column is counted against: a group (selected features) and a class per row.
struct Condition {
    const std::uint32_t *group;  // (n_rows,) IN
    const std::uint32_t *label;  // (n_rows,) IN
    std::size_t n_groups;
    std::size_t n_classes;

    std::size_t n_states() const { return n_groups * n_classes; }
};

// Sums of costs of the tables (x, group, class) and (x, group), one pair per column.
struct CostSums {
    std::int64_t *with_classes;     // (n_columns,) OUT
    std::int64_t *without_classes;  // (n_columns,) OUT
};

}  // namespace pinsker
