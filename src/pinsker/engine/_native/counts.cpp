// Contingency tables of every candidate column against (selected features, class), in one call.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

#include "counts_dense.hpp"
#include "counts_sparse.hpp"
#include "thread_pool.hpp"

namespace nb = nanobind;

namespace pinsker {

PINSKER_CLONES
void fill_cells(const std::uint8_t *code, const std::uint16_t *state, std::size_t rows,
                std::uint16_t n_states, std::uint16_t *cell) {
    for (std::size_t j = 0; j < rows; ++j)
        cell[j] = static_cast<std::uint16_t>(code[j] * n_states + state[j]);
}

PINSKER_CLONES
void fill_cells_wide(const std::uint32_t *code, const std::uint16_t *state, std::size_t rows,
                     std::uint16_t n_states, std::uint16_t *cell) {
    for (std::size_t j = 0; j < rows; ++j)
        cell[j] = static_cast<std::uint16_t>(code[j] * n_states + state[j]);
}

namespace {

// Columns of a pack are neighbours; they are counted together when their joint table is small.
struct Plan {
    std::vector<DenseJob> dense;
    std::vector<std::size_t> sparse;
};

template <class Counter>
Plan plan_jobs(const PackedColumns &columns, const Counter *dense, const std::uint8_t *active) {
    Plan plan;
    for (std::size_t first = 0, last; first < columns.n_columns; first = last) {
        std::size_t joint = 1, n_active = 0;
        for (last = first; last < columns.n_columns && columns.home[last] == columns.home[first]; ++last) {
            joint *= static_cast<std::size_t>(columns.levels[last]);
            n_active += active[last] != 0;
        }
        if (n_active > 1 && dense && dense->fits(joint, kPackCells)) {
            plan.dense.push_back({first, last, joint});
            continue;
        }
        for (std::size_t column = first; column < last; ++column) {
            if (!active[column]) continue;
            const auto levels = static_cast<std::size_t>(columns.levels[column]);
            if (dense && dense->fits(levels, kDenseCells))
                plan.dense.push_back({column, column + 1, levels});
            else
                plan.sparse.push_back(column);
        }
    }
    return plan;
}

constexpr std::size_t kRowsPerThread = 200000;  // about 100 microseconds of counting

// How many threads are worth waking for so many jobs of so many rows.
std::size_t useful_threads(int n_threads, std::size_t n_jobs, std::size_t n_rows) {
    const std::size_t asked = static_cast<std::size_t>(std::max(n_threads, 1));
    return std::min({asked, n_jobs, 1 + n_jobs * n_rows / kRowsPerThread});
}

// Call work(job, thread) for every job. Jobs write to places of their own, so the order is free.
template <class Work>
void share(std::size_t n_jobs, std::size_t threads, const Work &work) {
    pinsker::ThreadPool::shared().run(
        static_cast<std::int64_t>(n_jobs), 1, static_cast<int>(threads),
        [&](std::int64_t job, int slot) {
            work(static_cast<std::size_t>(job), static_cast<std::size_t>(slot));
        });
}

template <class Rows>
void joint_costs(const PackedColumns &columns, const Condition &condition, const Rows &rows,
                 const std::uint8_t *active, int n_threads, const CostSums &out) {
    using Cell = typename Rows::Cell;
    std::vector<DenseCounter<Rows>> dense;  // none when even the states alone are too many
    if (condition.n_states() <= kDenseCells) dense.emplace_back(columns, condition, rows);
    const Plan plan = plan_jobs(columns, dense.empty() ? nullptr : dense.data(), active);

    if (!plan.dense.empty()) {
        const std::size_t n_jobs = plan.dense.size();
        const std::size_t threads = useful_threads(n_threads, n_jobs, columns.n_rows);
        const std::unique_ptr<Cell[]> scratch(new Cell[threads * kDenseCells]);
        share(n_jobs, threads, [&](std::size_t job, std::size_t thread) {
            dense[0].run(plan.dense[job], active, out, scratch.get() + thread * kDenseCells);
        });
    }
    if (!plan.sparse.empty()) {
        const SortedRows sorted(condition, columns.n_rows);
        const std::int64_t alone = cost_alone(sorted, rows);
        std::size_t room = 0;
        for (std::size_t column : plan.sparse)
            room = std::max(room, 2 * static_cast<std::size_t>(columns.levels[column]));
        const std::size_t n_jobs = plan.sparse.size();
        const std::size_t threads = useful_threads(n_threads, n_jobs, columns.n_rows);
        std::vector<Cell> cells(threads * room);
        std::vector<std::uint32_t> level(threads * columns.n_rows);
        share(n_jobs, threads, [&](std::size_t job, std::size_t thread) {
            count_sparse(columns, sorted, rows, plan.sparse[job], cells.data() + thread * room,
                         level.data() + thread * columns.n_rows, alone, out);
        });
    }
}

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

PackedColumns view(const Matrix<std::uint8_t> &bytes, const Matrix<std::uint32_t> &wide,
                   const Vector<std::int64_t> &home, const Vector<std::int64_t> &stride,
                   const Vector<std::int64_t> &levels) {
    return {bytes.data(), wide.data(), home.data(), stride.data(), levels.data(), home.shape(0), bytes.shape(1)};
}

void count_rows(Matrix<std::uint8_t> bytes, Matrix<std::uint32_t> wide, Vector<std::int64_t> home,
                Vector<std::int64_t> stride, Vector<std::int64_t> levels, Vector<std::uint8_t> active,
                Vector<std::uint32_t> group, std::int64_t n_groups, Vector<std::uint32_t> label,
                std::int64_t n_classes, Vector<std::int64_t> cost, int n_threads, Output with_classes,
                Output without_classes) {
    const PackedColumns columns = view(bytes, wide, home, stride, levels);
    const Condition condition{group.data(), label.data(), static_cast<std::size_t>(n_groups),
                              static_cast<std::size_t>(n_classes)};
    joint_costs(columns, condition, CountedRows{cost.data()}, active.data(), n_threads,
                {with_classes.data(), without_classes.data()});
}

void weigh_rows(Matrix<std::uint8_t> bytes, Matrix<std::uint32_t> wide, Vector<std::int64_t> home,
                Vector<std::int64_t> stride, Vector<std::int64_t> levels, Vector<std::uint8_t> active,
                Vector<std::uint32_t> group, std::int64_t n_groups, Vector<std::uint32_t> label,
                std::int64_t n_classes, Vector<std::uint64_t> weight, int n_threads, Output with_classes,
                Output without_classes) {
    const PackedColumns columns = view(bytes, wide, home, stride, levels);
    const Condition condition{group.data(), label.data(), static_cast<std::size_t>(n_groups),
                              static_cast<std::size_t>(n_classes)};
    double total = 0.0;
    for (std::size_t i = 0; i < columns.n_rows; ++i) total += static_cast<double>(weight.data()[i]);
    joint_costs(columns, condition, WeightedRows{weight.data(), total}, active.data(), n_threads,
                {with_classes.data(), without_classes.data()});
}

}  // namespace
}  // namespace pinsker

void bind_packing(nb::module_ &m);  // counts_pack.cpp

void bind_counts(nb::module_ &m) {
    bind_packing(m);
    const auto release = nb::call_guard<nb::gil_scoped_release>();
    m.def("count_rows", &pinsker::count_rows, release,
          "Sums of cell costs of (column, group, class) and (column, group); rows count one each.");
    m.def("weigh_rows", &pinsker::weigh_rows, release,
          "Sums of cell costs of (column, group, class) and (column, group); rows carry weights.");
    m.attr("COSTS_PER_NAT") = pinsker::kCostsPerNat;
}
