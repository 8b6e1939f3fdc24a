// The arrays that cross the border to Python: C order, on the CPU, read or written in place.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>

namespace pinsker {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using AnyOrderMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using VectorOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MatrixOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Each stage binds its own kernels.
void bind_neighbors(nb::module_ &m);    // knn/neighbors.cpp: radii and counts for one (x, y, z)
void bind_searches(nb::module_ &m);     // search/bind.cpp: every removal or addition at once
void bind_contingency(nb::module_ &m);  // contingency/counts.cpp: contingency tables
void bind_pairs(nb::module_ &m);        // contingency/pairs.cpp: all pairs of columns
void bind_trees(nb::module_ &m);        // trees.cpp: extremely randomized trees
void bind_boosted(nb::module_ &m);      // boosted.cpp: gradient boosting of histogram trees

}  // namespace pinsker
