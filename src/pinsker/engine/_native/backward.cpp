// Python door of the backward search. Arrays are kept alive by the object that reads them.
#include "backward.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

namespace nb = nanobind;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Units = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SumsOut = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class PyBackward {
   public:
    PyBackward(Matrix values, Units units, int64_t n_units, std::optional<Integers> labels,
               std::optional<Matrix> target, Integers digamma, Integers queries,
               int64_t watched_queries, int rank, bool direct)
        : values_(values), units_(units), labels_(labels), target_(target), digamma_(digamma),
          queries_(queries) {
        BackwardInput in{};
        in.values = values_.data();
        in.units = units_.data();
        in.labels = labels_ ? labels_->data() : nullptr;
        in.target = target_ ? target_->data() : nullptr;
        in.digamma = digamma_.data();
        in.queries = queries_.data();
        in.rows = static_cast<int64_t>(values_.shape(0));
        in.columns = static_cast<int64_t>(values_.shape(1));
        in.n_units = n_units;
        in.targets = target_ ? static_cast<int64_t>(target_->shape(1)) : 0;
        in.n_queries = static_cast<int64_t>(queries_.shape(0));
        in.watched_queries = watched_queries;
        in.rank = rank;
        in.direct = direct;
        n_units_ = n_units;
        search_ = make_backward(in);
    }

    void start(Flags active, int threads) {
        const uint8_t *flags = active.data();
        nb::gil_scoped_release release;
        search_->start(flags, threads);
    }

    void remove(int32_t unit, int threads) {
        nb::gil_scoped_release release;
        search_->remove(unit, threads);
    }

    int64_t information() const { return search_->information(); }

    void changes(SumsOut out) const {
        const int64_t *sums = search_->changes();
        std::copy(sums, sums + n_units_, out.data());
    }

    int64_t close_pairs() const { return search_->close_pairs(); }

   private:
    Matrix values_;
    Units units_;
    std::optional<Integers> labels_;
    std::optional<Matrix> target_;
    Integers digamma_, queries_;
    int64_t n_units_ = 0;
    std::unique_ptr<BackwardSearch> search_;
};

}  // namespace

void bind_backward(nb::module_ &m) {
    nb::class_<PyBackward>(m, "Backward", "Scores every removal; see pinsker.engine.Backward.")
        .def(nb::init<Matrix, Units, int64_t, std::optional<Integers>, std::optional<Matrix>,
                      Integers, Integers, int64_t, int, bool>(),
             nb::arg("values"), nb::arg("units"), nb::arg("n_units"), nb::arg("labels").none(),
             nb::arg("target").none(), nb::arg("digamma"), nb::arg("queries"),
             nb::arg("watched_queries"), nb::arg("rank"), nb::arg("direct"))
        .def("start", &PyBackward::start, nb::arg("active"), nb::arg("threads"))
        .def("remove", &PyBackward::remove, nb::arg("unit"), nb::arg("threads"))
        .def("information", &PyBackward::information)
        .def("changes", &PyBackward::changes, nb::arg("out"))
        .def("close_pairs", &PyBackward::close_pairs);
}
