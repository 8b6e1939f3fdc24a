// Contingency tables of every candidate column against (selected features, class), in one call.
#include <algorithm>
#include <memory>
#include <vector>

#include "common/arrays.hpp"
#include "common/thread_pool.hpp"
#include "contingency/tables.hpp"

namespace pinsker {

namespace {

constexpr size_t kTileRows = 64;  // a cache line of packed bytes; its source rows stay cached

// From a table of integers, in any memory order, to packed columns (tables.hpp).
// `packed` must be zero on entry: every column adds code * stride to its byte.
template <class T>
void pack_columns(AnyOrderMatrix<T> table, Vector<int64_t> home, Vector<int64_t> stride,
                  MatrixOut<uint8_t> packed, MatrixOut<uint32_t> wide) {
    const size_t n_rows = table.shape(0), n_columns = table.shape(1);
    const int64_t row_step = table.stride(0), column_step = table.stride(1);
    for (size_t first = 0; first < n_rows; first += kTileRows) {
        const size_t last = std::min(first + kTileRows, n_rows);
        for (size_t column = 0; column < n_columns; ++column) {
            const T *code = table.data() + static_cast<int64_t>(column) * column_step;
            const int64_t place = home.data()[column];
            if (place < 0) {
                uint32_t *to = wide.data() + static_cast<size_t>(-1 - place) * n_rows;
                for (size_t i = first; i < last; ++i)
                    to[i] = static_cast<uint32_t>(code[static_cast<int64_t>(i) * row_step]);
                continue;
            }
            const auto factor = static_cast<uint8_t>(stride.data()[column]);
            uint8_t *to = packed.data() + static_cast<size_t>(place) * n_rows;
            for (size_t i = first; i < last; ++i)
                to[i] = static_cast<uint8_t>(
                    to[i] +
                    factor * static_cast<uint8_t>(code[static_cast<int64_t>(i) * row_step]));
        }
    }
}

// Columns of a pack are neighbors; they are counted together when their joint table is small.
struct JobPlan {
    std::vector<DenseJob> dense;
    std::vector<size_t> sparse;
};

template <class Counter>
JobPlan plan_jobs(const PackedColumns &columns, const Counter *dense, const uint8_t *active) {
    JobPlan plan;
    for (size_t first = 0, last; first < columns.n_columns; first = last) {
        size_t joint = 1, n_active = 0;
        for (last = first; last < columns.n_columns && columns.home[last] == columns.home[first];
             ++last) {
            joint *= static_cast<size_t>(columns.categories[last]);
            n_active += active[last] != 0;
        }
        if (n_active > 1 && dense && dense->fits(joint, kPackCells)) {
            plan.dense.push_back({first, last, joint});
            continue;
        }
        for (size_t column = first; column < last; ++column) {
            if (!active[column]) continue;
            const auto categories = static_cast<size_t>(columns.categories[column]);
            if (dense && dense->fits(categories, kDenseCells))
                plan.dense.push_back({column, column + 1, categories});
            else
                plan.sparse.push_back(column);
        }
    }
    return plan;
}

constexpr size_t kRowsPerThread = 200000;  // about 100 microseconds of counting

// How many threads are worth waking for this many jobs of this many rows.
size_t useful_threads(int n_threads, size_t n_jobs, size_t n_rows) {
    const size_t wanted = static_cast<size_t>(std::max(n_threads, 1));
    return std::min({wanted, n_jobs, 1 + n_jobs * n_rows / kRowsPerThread});
}

// Call work(job, thread) for every job. Jobs write to places of their own, so the order is free.
template <class Work>
void run_jobs(size_t n_jobs, size_t threads, const Work &work) {
    ThreadPool::shared().run(
        static_cast<int64_t>(n_jobs), 1, static_cast<int>(threads),
        [&](int64_t job, int slot) { work(static_cast<size_t>(job), static_cast<size_t>(slot)); });
}

template <class Rows>
void joint_costs(const PackedColumns &columns, const Condition &condition, const Rows &rows,
                 const uint8_t *active, int n_threads, const CostSums &out) {
    using Cell = typename Rows::Cell;
    std::vector<DenseCounter<Rows>> dense;  // none when even the states alone are too many
    if (condition.n_states() <= kDenseCells) dense.emplace_back(columns, condition, rows);
    const JobPlan plan = plan_jobs(columns, dense.empty() ? nullptr : dense.data(), active);

    if (!plan.dense.empty()) {
        const size_t n_jobs = plan.dense.size();
        const size_t threads = useful_threads(n_threads, n_jobs, columns.n_rows);
        const std::unique_ptr<Cell[]> scratch(new Cell[threads * kDenseCells]);
        run_jobs(n_jobs, threads, [&](size_t job, size_t thread) {
            dense[0].run(plan.dense[job], active, out, scratch.get() + thread * kDenseCells);
        });
    }
    if (!plan.sparse.empty()) {
        const SortedRows sorted(condition, columns.n_rows);
        const int64_t alone = cost_alone(sorted, rows);
        size_t room = 0;
        for (size_t column : plan.sparse)
            room = std::max(room, 2 * static_cast<size_t>(columns.categories[column]));
        const size_t n_jobs = plan.sparse.size();
        const size_t threads = useful_threads(n_threads, n_jobs, columns.n_rows);
        std::vector<Cell> cells(threads * room);
        std::vector<uint32_t> category(threads * columns.n_rows);
        run_jobs(n_jobs, threads, [&](size_t job, size_t thread) {
            count_sparse(columns, sorted, rows, plan.sparse[job], cells.data() + thread * room,
                         category.data() + thread * columns.n_rows, alone, out);
        });
    }
}

PackedColumns view(const Matrix<uint8_t> &bytes, const Matrix<uint32_t> &wide,
                   const Vector<int64_t> &home, const Vector<int64_t> &stride,
                   const Vector<int64_t> &categories) {
    return {bytes.data(),      wide.data(),   home.data(),   stride.data(),
            categories.data(), home.shape(0), bytes.shape(1)};
}

void count_rows(Matrix<uint8_t> bytes, Matrix<uint32_t> wide, Vector<int64_t> home,
                Vector<int64_t> stride, Vector<int64_t> categories, Vector<uint8_t> active,
                Vector<uint32_t> group, int64_t n_groups, Vector<uint32_t> label, int64_t n_classes,
                Vector<int64_t> cost, int n_threads, VectorOut<int64_t> with_classes,
                VectorOut<int64_t> without_classes) {
    const PackedColumns columns = view(bytes, wide, home, stride, categories);
    const Condition condition{group.data(), label.data(), static_cast<size_t>(n_groups),
                              static_cast<size_t>(n_classes)};
    joint_costs(columns, condition, CountedRows{cost.data()}, active.data(), n_threads,
                {with_classes.data(), without_classes.data()});
}

void weigh_rows(Matrix<uint8_t> bytes, Matrix<uint32_t> wide, Vector<int64_t> home,
                Vector<int64_t> stride, Vector<int64_t> categories, Vector<uint8_t> active,
                Vector<uint32_t> group, int64_t n_groups, Vector<uint32_t> label, int64_t n_classes,
                Vector<uint64_t> weight, int n_threads, VectorOut<int64_t> with_classes,
                VectorOut<int64_t> without_classes) {
    const PackedColumns columns = view(bytes, wide, home, stride, categories);
    const Condition condition{group.data(), label.data(), static_cast<size_t>(n_groups),
                              static_cast<size_t>(n_classes)};
    double total = 0.0;
    for (size_t i = 0; i < columns.n_rows; ++i) total += static_cast<double>(weight.data()[i]);
    joint_costs(columns, condition, WeightedRows{weight.data(), total}, active.data(), n_threads,
                {with_classes.data(), without_classes.data()});
}

}  // namespace

void bind_contingency(nb::module_ &m) {
    const auto release = nb::call_guard<nb::gil_scoped_release>();
    const char *doc =
        "Write the codes of all columns into packed bytes (zero on entry) and wide words.";
    m.def("pack_columns", &pack_columns<uint8_t>, release, doc, nb::arg("table").noconvert(),
          nb::arg("home"), nb::arg("stride"), nb::arg("packed"), nb::arg("wide"));
    m.def("pack_columns", &pack_columns<int64_t>, release, doc, nb::arg("table").noconvert(),
          nb::arg("home"), nb::arg("stride"), nb::arg("packed"), nb::arg("wide"));
    m.def("count_rows", &count_rows, release,
          "Sums of cell costs of (column, group, class) and (column, group); rows count one each.");
    m.def("weigh_rows", &weigh_rows, release,
          "Sums of cell costs of (column, group, class) and (column, group); rows carry weights.");
    m.attr("COSTS_PER_NAT") = kCostsPerNat;
}

}  // namespace pinsker
