// The Python module pinsker.engine._kernels. Each source file binds its own kernels.
#include <nanobind/nanobind.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace nb = nanobind;

void bind_neighbours(nb::module_ &m);  // neighbours.cpp: radii and counts for one set of columns
void bind_backward(nb::module_ &m);    // backward.cpp: every removal at once
void bind_forward(nb::module_ &m);     // forward.cpp: every addition at once
void bind_counts(nb::module_ &m);      // counts.cpp: contingency tables
void bind_trees(nb::module_ &m);      // trees.cpp: randomised trees, grown and questioned at once

NB_MODULE(_kernels, m) {
    m.doc() = "Compiled kernels of pinsker. Arrays and scalars in and out; no Python objects inside.";
#ifdef _OPENMP
    m.attr("openmp") = true;
#else
    m.attr("openmp") = false;
#endif
    bind_neighbours(m);
    bind_backward(m);
    bind_forward(m);
    bind_counts(m);
    bind_trees(m);
}
