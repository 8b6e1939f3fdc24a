// The arrays that cross the border to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

using Matrix = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Integers = nanobind::ndarray<const int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Features = nanobind::ndarray<const int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Flags = nanobind::ndarray<const uint8_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using SumsOut = nanobind::ndarray<int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// What a search reads, kept alive for as long as the search is.
struct SearchArrays {
    Matrix values;
    Features features;
    std::optional<Integers> labels;
    std::optional<Matrix> target;
    Integers digamma, queries;

    template <class Input>
    Input input(int64_t n_features, int rank, bool direct) const {
        Input in{};
        in.values = values.data();
        in.features = features.data();
        in.labels = labels ? labels->data() : nullptr;
        in.target = target ? target->data() : nullptr;
        in.digamma = digamma.data();
        in.queries = queries.data();
        in.rows = static_cast<int64_t>(values.shape(0));
        in.columns = static_cast<int64_t>(values.shape(1));
        in.targets = target ? static_cast<int64_t>(target->shape(1)) : 0;
        in.n_queries = static_cast<int64_t>(queries.shape(0));
        in.n_features = n_features;
        in.rank = rank;
        in.direct = direct;
        return in;
    }
};
