// Python classes of the backward and the forward search.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "common/arrays.hpp"
#include "search/backward.hpp"
#include "search/forward.hpp"

namespace pinsker {

namespace {

// What a search reads, kept alive for as long as the search is.
struct SearchArrays {
    Matrix<double> values;
    Vector<int32_t> features;
    std::optional<Vector<int64_t>> labels;
    std::optional<Matrix<double>> target;
    Vector<int64_t> digamma, queries;

    SearchInput input(int64_t n_features, int rank, bool direct) const {
        SearchInput in{};
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

class PyBackward {
public:
    PyBackward(Matrix<double> values, Vector<int32_t> features, int64_t n_features,
               std::optional<Vector<int64_t>> labels, std::optional<Matrix<double>> target,
               Vector<int64_t> digamma, Vector<int64_t> queries, int rank, bool direct,
               int64_t watched_queries, int64_t state_bytes)
        : arrays_{values, features, labels, target, digamma, queries},
          n_features_(n_features),
          search_(arrays_.input(n_features, rank, direct), watched_queries, state_bytes) {}

    void start(Vector<uint8_t> active, int threads) {
        const uint8_t *flags = active.data();
        nb::gil_scoped_release release;
        search_.start(flags, threads);
    }

    void remove(int32_t feature, int threads) {
        nb::gil_scoped_release release;
        search_.remove(feature, threads);
    }

    int64_t information() const { return search_.information(); }
    int64_t close_pairs() const { return search_.close_pairs(); }
    int64_t state_bytes() const { return search_.state_bytes(); }
    void changes(VectorOut<int64_t> out) const {
        std::copy_n(search_.changes(), n_features_, out.data());
    }

private:
    SearchArrays arrays_;
    int64_t n_features_;
    BackwardSearch search_;
};

class PyForward {
public:
    PyForward(Matrix<double> values, Vector<int32_t> features, int64_t n_features,
              std::optional<Vector<int64_t>> labels, std::optional<Matrix<double>> target,
              Vector<int64_t> digamma, Vector<int64_t> queries, int rank, bool direct)
        : arrays_{values, features, labels, target, digamma, queries},
          n_features_(n_features),
          search_(arrays_.input(n_features, rank, direct)) {}

    void start(Vector<uint8_t> active, int threads) {
        const uint8_t *flags = active.data();
        nb::gil_scoped_release release;
        search_.start(flags, threads);
    }

    void add(int32_t feature, int threads) {
        nb::gil_scoped_release release;
        search_.add(feature, threads);
    }

    int64_t information() const { return search_.information(); }
    void sums(VectorOut<int64_t> out) const {
        std::copy_n(search_.sums(), n_features_, out.data());
    }

private:
    SearchArrays arrays_;
    int64_t n_features_;
    ForwardSearch search_;
};

}  // namespace

void bind_searches(nb::module_ &m) {
    nb::class_<PyBackward>(m, "Backward", "Scores every removal; see pinsker.engine.Backward.")
        .def(nb::init<Matrix<double>, Vector<int32_t>, int64_t, std::optional<Vector<int64_t>>,
                      std::optional<Matrix<double>>, Vector<int64_t>, Vector<int64_t>, int, bool,
                      int64_t, int64_t>(),
             nb::arg("values"), nb::arg("features"), nb::arg("n_features"),
             nb::arg("labels").none(), nb::arg("target").none(), nb::arg("digamma"),
             nb::arg("queries"), nb::arg("rank"), nb::arg("direct"), nb::arg("watched_queries"),
             nb::arg("state_bytes") = std::numeric_limits<int64_t>::max())
        .def("start", &PyBackward::start, nb::arg("active"), nb::arg("threads"))
        .def("remove", &PyBackward::remove, nb::arg("feature"), nb::arg("threads"))
        .def("information", &PyBackward::information)
        .def("changes", &PyBackward::changes, nb::arg("out"))
        .def("close_pairs", &PyBackward::close_pairs)
        .def("state_bytes", &PyBackward::state_bytes);
    nb::class_<PyForward>(m, "Forward", "Scores every addition; see pinsker.engine.Forward.")
        .def(nb::init<Matrix<double>, Vector<int32_t>, int64_t, std::optional<Vector<int64_t>>,
                      std::optional<Matrix<double>>, Vector<int64_t>, Vector<int64_t>, int, bool>(),
             nb::arg("values"), nb::arg("features"), nb::arg("n_features"),
             nb::arg("labels").none(), nb::arg("target").none(), nb::arg("digamma"),
             nb::arg("queries"), nb::arg("rank"), nb::arg("direct"))
        .def("start", &PyForward::start, nb::arg("active"), nb::arg("threads"))
        .def("add", &PyForward::add, nb::arg("feature"), nb::arg("threads"))
        .def("information", &PyForward::information)
        .def("sums", &PyForward::sums, nb::arg("out"));
}

}  // namespace pinsker
