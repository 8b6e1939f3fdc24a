// Python door of the backward search.
#include "backward.hpp"

#include <memory>

#include "arrays.hpp"

namespace nb = nanobind;

namespace {

class PyBackward {
   public:
    PyBackward(Matrix values, Features features, int64_t n_features, std::optional<Integers> labels,
               std::optional<Matrix> target, Integers digamma, Integers queries, int rank,
               bool direct, int64_t watched_queries)
        : arrays_{values, features, labels, target, digamma, queries}, n_features_(n_features) {
        auto input = arrays_.input<BackwardInput>(n_features, rank, direct);
        input.watched_queries = watched_queries;
        search_ = std::make_unique<BackwardSearch>(input);
    }

    void start(Flags active, int threads) {
        const uint8_t *flags = active.data();
        nb::gil_scoped_release release;
        search_->start(flags, threads);
    }

    void remove(int32_t feature, int threads) {
        nb::gil_scoped_release release;
        search_->remove(feature, threads);
    }

    int64_t information() const { return search_->information(); }

    void changes(SumsOut out) const {
        const int64_t *sums = search_->changes();
        std::copy(sums, sums + n_features_, out.data());
    }

    int64_t close_pairs() const { return search_->close_pairs(); }

   private:
    SearchArrays arrays_;
    int64_t n_features_;
    std::unique_ptr<BackwardSearch> search_;
};

}  // namespace

void bind_backward(nb::module_ &m) {
    nb::class_<PyBackward>(m, "Backward", "Scores every removal; see pinsker.engine.Backward.")
        .def(nb::init<Matrix, Features, int64_t, std::optional<Integers>, std::optional<Matrix>,
                      Integers, Integers, int, bool, int64_t>(),
             nb::arg("values"), nb::arg("features"), nb::arg("n_features"), nb::arg("labels").none(),
             nb::arg("target").none(), nb::arg("digamma"), nb::arg("queries"), nb::arg("rank"),
             nb::arg("direct"), nb::arg("watched_queries"))
        .def("start", &PyBackward::start, nb::arg("active"), nb::arg("threads"))
        .def("remove", &PyBackward::remove, nb::arg("feature"), nb::arg("threads"))
        .def("information", &PyBackward::information)
        .def("changes", &PyBackward::changes, nb::arg("out"))
        .def("close_pairs", &PyBackward::close_pairs);
}
