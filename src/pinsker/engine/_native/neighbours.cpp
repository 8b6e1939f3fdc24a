// Binds the search for neighbours of one (x, y, z); docs/estimator.md is the definition.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "neighbours_plan.hpp"

namespace nb = nanobind;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

pinsker::Rows rows_of(const Matrix &matrix) {
    return {matrix.data(), (int64_t)matrix.shape(0), (int64_t)matrix.shape(1)};
}

// IN x, y, z, k, strategy, n_threads; OUT radius (n,) and counts (8, n), both zero on entry.
void neighbour_counts(Matrix x, Matrix y, Matrix z, int64_t k, int strategy, int n_threads,
                      Vector radius, Counts counts) {
    const pinsker::Rows in_x = rows_of(x), in_y = rows_of(y), in_z = rows_of(z);
    const int64_t n = in_x.n;
    int64_t *to = counts.data();
    const pinsker::Neighbours out = {radius.data(), to,
                                     to + n,        {to + 2 * n, to + 3 * n},
                                     {to + 4 * n, to + 5 * n}, {to + 6 * n, to + 7 * n}};
    nb::gil_scoped_release released;
    pinsker::find_neighbours(in_x, in_y, in_z, k, (pinsker::Strategy)strategy, n_threads, out);
}

}  // namespace

void bind_neighbours(nb::module_ &m) {
    m.def("neighbour_counts", &neighbour_counts, nb::arg("x"), nb::arg("y"), nb::arg("z"),
          nb::arg("k"), nb::arg("strategy"), nb::arg("n_threads"), nb::arg("radius"),
          nb::arg("counts"));
}
