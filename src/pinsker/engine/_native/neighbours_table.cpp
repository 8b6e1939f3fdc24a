#include "neighbours_table.hpp"

namespace pinsker {

namespace {

// Give the pairs (a, b) of codes new codes 0 .. m - 1; returns m.
int64_t merge_codes(std::vector<int32_t> &a, int64_t n_a, const std::vector<int32_t> &b,
                    int64_t n_b) {
    const size_t n = a.size();
    std::vector<int64_t> pair(n);
    for (size_t i = 0; i < n; ++i) pair[i] = a[i] * n_b + b[i];
    int64_t n_codes = 0;
    if (n_a * n_b <= (int64_t)(4 * n + 1024)) {  // a table of all pairs is small: no sorting
        std::vector<int32_t> code((size_t)(n_a * n_b), -1);
        for (size_t i = 0; i < n; ++i) {
            int32_t &known = code[pair[i]];
            if (known < 0) known = (int32_t)n_codes++;
            a[i] = known;
        }
        return n_codes;
    }
    std::vector<int64_t> distinct(pair);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (size_t i = 0; i < n; ++i) {
        const auto at = std::lower_bound(distinct.begin(), distinct.end(), pair[i]);
        a[i] = (int32_t)(at - distinct.begin());
    }
    return (int64_t)distinct.size();
}

// Whether the column holds multiples of the nominal step only, or one value only.
bool read_levels(const double *column, int64_t n, std::vector<int32_t> &codes, int64_t &n_codes) {
    codes.assign(n, 0);
    n_codes = 1;
    if (std::all_of(column, column + n, [=](double v) { return v == column[0]; })) return true;
    for (int64_t i = 0; i < n; ++i) {
        const double multiple = std::round(column[i] / kNominalStep);
        if (!(multiple >= 0.0 && multiple < 2147483647.0)) return false;
        if (multiple * kNominalStep != column[i]) return false;
        codes[i] = (int32_t)multiple;
        n_codes = std::max(n_codes, (int64_t)codes[i] + 1);
    }
    return true;
}

}  // namespace

Block::Block(const Rows &rows, bool partition) {
    const int64_t n = rows.n, d = rows.d;
    std::vector<const double *> columns;
    if (d > 1) {
        transposed_.resize((size_t)(n * d));
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t c = 0; c < d; ++c) transposed_[c * n + i] = rows.values[i * d + c];
        }
    }
    std::vector<int32_t> codes;
    int64_t n_codes = 1;
    for (int64_t c = 0; c < d; ++c) {
        const double *column = d > 1 ? transposed_.data() + c * n : rows.values;
        if (!partition || n == 0 || !read_levels(column, n, codes, n_codes)) {
            numeric.push_back(column);
        } else if (n_codes > 1) {
            merge_levels(codes, n_codes);
        }
    }
}

void Block::merge_levels(const std::vector<int32_t> &other, int64_t n_other) {
    if (level.empty()) level.assign(other.size(), 0);
    n_levels = merge_codes(level, n_levels, other, n_other);
}

CellsPtr make_cells(int64_t n, const std::vector<const Block *> &blocks) {
    std::vector<int32_t> code(n, 0);
    int64_t n_codes = 1;
    for (const Block *block : blocks) {
        if (block->level.empty()) continue;
        n_codes = merge_codes(code, n_codes, block->level, block->n_levels);
    }
    auto cells = std::make_shared<Cells>();
    cells->start.assign(n_codes + 1, 0);
    cells->rows.resize(n);
    for (int32_t c : code) ++cells->start[c + 1];
    for (int64_t c = 0; c < n_codes; ++c) cells->start[c + 1] += cells->start[c];
    std::vector<int32_t> next(cells->start.begin(), cells->start.end() - 1);
    for (int64_t i = 0; i < n; ++i) cells->rows[next[code[i]]++] = (int32_t)i;
    return cells;
}

}  // namespace pinsker
