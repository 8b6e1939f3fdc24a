// Binds the search for neighbours of one (x, y, z); docs/estimator.md is the definition.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "neighbours_plan.hpp"

namespace nb = nanobind;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

pinsker::Rows rows_of(const Matrix &matrix) {
    return {matrix.data(), (int64_t)matrix.shape(0), (int64_t)matrix.shape(1)};
}

// Six rows of counts: xz, yz, z, each open and closed.
pinsker::Marginals marginals_of(int64_t *to, int64_t n) {
    return {{to, to + n}, {to + 2 * n, to + 3 * n}, {to + 4 * n, to + 5 * n}};
}

// IN x, y, z, k, strategy, widest registers in bits, n_threads. OUT radius (n,) and counts (8, n):
// k_i, the closed joint count, then open and closed counts of xz, yz and z. Both are zero on entry.
void neighbour_counts(Matrix x, Matrix y, Matrix z, int64_t k, int strategy, int widest,
                      int n_threads, Vector radius, Counts counts) {
    const pinsker::Rows in_x = rows_of(x), in_y = rows_of(y), in_z = rows_of(z);
    const int64_t n = in_x.n;
    double *rho = radius.data();
    int64_t *found = counts.data(), *closed = found + n;
    nb::gil_scoped_release released;
    if (n == 0) return;
    std::vector<uint8_t> crowded(n, 0), live(n, 0);
    pinsker::Plan plan(in_x, in_y, in_z, k, (pinsker::Strategy)strategy, widest, n_threads);
    plan.find_all({rho, found, crowded.data()}, live.data(), marginals_of(found + 2 * n, n));
    std::copy_n(found, n, closed);
    plan.count_joint(rho, crowded.data(), closed);
}

// IN x, y, z, radius (n,), widest, n_threads. OUT extents (3, n): the largest distance in z, x and
// y among the rows inside or on the radius; counts (6, n): open and closed counts of xz, yz and z
// in boxes of that size. Both are zero on entry. Without z its extent is taken to be the radius.
void box_counts(Matrix x, Matrix y, Matrix z, ConstVector radius, int widest, int n_threads,
                Table extents, Counts counts) {
    const pinsker::Rows in_x = rows_of(x), in_y = rows_of(y), in_z = rows_of(z);
    const int64_t n = in_x.n;
    const double *rho = radius.data();
    double *extent = extents.data();
    int64_t *to = counts.data();
    nb::gil_scoped_release released;
    if (n == 0) return;
    const std::vector<uint8_t> live(n, 1);
    pinsker::Plan plan(in_x, in_y, in_z, 1, pinsker::kAuto, widest, n_threads);
    plan.find_extents(rho, live.data(), {{extent, extent + n, extent + 2 * n}});
    if (in_z.d == 0) std::copy_n(rho, n, extent);
    plan.count_marginals({extent, extent + n, extent + 2 * n, live.data()}, marginals_of(to, n));
}

}  // namespace

void bind_neighbours(nb::module_ &m) {
    m.def("neighbour_counts", &neighbour_counts, nb::arg("x"), nb::arg("y"), nb::arg("z"),
          nb::arg("k"), nb::arg("strategy"), nb::arg("widest"), nb::arg("n_threads"),
          nb::arg("radius").noconvert(), nb::arg("counts").noconvert());
    m.def("box_counts", &box_counts, nb::arg("x"), nb::arg("y"), nb::arg("z"), nb::arg("radius"),
          nb::arg("widest"), nb::arg("n_threads"), nb::arg("extents").noconvert(),
          nb::arg("counts").noconvert());
}
