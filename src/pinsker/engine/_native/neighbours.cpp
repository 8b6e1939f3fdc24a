// Radii and neighbour counts of one (x, y, z), for every row; docs/estimator.md is the definition.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nb = nanobind;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Radii = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr double kFarthest = 1e100;
constexpr double kTolerance = 1e-10;

double row_distance(const double *rows, int64_t d, int64_t a, int64_t b) {
    double largest = 0.0;
    for (int64_t c = 0; c < d; ++c) {
        largest = std::max(largest, std::fabs(rows[a * d + c] - rows[b * d + c]));
    }
    return largest;
}

void neighbour_counts(Matrix x, Matrix y, Matrix z, int64_t k, int n_threads, Radii radius,
                      Counts counts) {
    const double *px = x.data(), *py = y.data(), *pz = z.data();
    const int64_t n = x.shape(0), dx = x.shape(1), dy = y.shape(1), dz = z.shape(1);
    double *out_radius = radius.data();
    int64_t *out = counts.data();
    nb::gil_scoped_release release;
#pragma omp parallel for num_threads(n_threads) schedule(static)
    for (int64_t i = 0; i < n; ++i) {
        std::vector<double> in_x(n), in_y(n), in_z(n), finite;
        for (int64_t j = 0; j < n; ++j) {
            in_x[j] = row_distance(px, dx, i, j);
            in_y[j] = row_distance(py, dy, i, j);
            in_z[j] = row_distance(pz, dz, i, j);
            const double joint = std::max({in_x[j], in_y[j], in_z[j]});
            if (j != i && joint < kFarthest) finite.push_back(joint);
        }
        const int64_t used = std::min<int64_t>(k, finite.size());
        double rho = 0.0;
        if (used > 0) {
            std::nth_element(finite.begin(), finite.begin() + used - 1, finite.end());
            rho = finite[used - 1];
        }
        const double open = rho * (1.0 - kTolerance);
        const double closed = std::min(rho * (1.0 + kTolerance), std::nextafter(kFarthest, 0.0));
        int64_t found[7] = {0, 0, 0, 0, 0, 0, 0};
        for (int64_t j = 0; j < n && used > 0; ++j) {
            if (j == i) continue;
            const double xz = std::max(in_x[j], in_z[j]), yz = std::max(in_y[j], in_z[j]);
            found[0] += std::max(xz, yz) <= closed;
            found[1] += xz < open;
            found[2] += xz <= closed;
            found[3] += yz < open;
            found[4] += yz <= closed;
            found[5] += in_z[j] < open;
            found[6] += in_z[j] <= closed;
        }
        out_radius[i] = rho;
        out[i] = used;
        for (int64_t c = 0; c < 7; ++c) out[(c + 1) * n + i] = found[c];
    }
}

}  // namespace

void bind_neighbours(nb::module_ &m) {
    m.def("neighbour_counts", &neighbour_counts);
}
