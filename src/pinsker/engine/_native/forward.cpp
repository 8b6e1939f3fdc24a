// Python door of the forward search.
#include "forward.hpp"

#include "arrays.hpp"

namespace nb = nanobind;

namespace {

class PyForward {
   public:
    PyForward(Matrix values, Features features, int64_t n_features, std::optional<Integers> labels,
              std::optional<Matrix> target, Integers digamma, Integers queries, int rank,
              bool direct)
        : arrays_{values, features, labels, target, digamma, queries},
          n_features_(n_features),
          search_(arrays_.input<ForwardInput>(n_features, rank, direct)) {}

    void start(Flags active, int threads) {
        const uint8_t *flags = active.data();
        nb::gil_scoped_release release;
        search_.start(flags, threads);
    }

    void add(int32_t feature, int threads) {
        nb::gil_scoped_release release;
        search_.add(feature, threads);
    }

    int64_t information() const { return search_.information(); }

    void sums(SumsOut out) const { std::copy(search_.sums(), search_.sums() + n_features_, out.data()); }

   private:
    SearchArrays arrays_;
    int64_t n_features_;
    ForwardSearch search_;
};

}  // namespace

void bind_forward(nb::module_ &m) {
    nb::class_<PyForward>(m, "Forward", "Scores every addition; see pinsker.engine.Forward.")
        .def(nb::init<Matrix, Features, int64_t, std::optional<Integers>, std::optional<Matrix>,
                      Integers, Integers, int, bool>(),
             nb::arg("values"), nb::arg("features"), nb::arg("n_features"), nb::arg("labels").none(),
             nb::arg("target").none(), nb::arg("digamma"), nb::arg("queries"), nb::arg("rank"),
             nb::arg("direct"))
        .def("start", &PyForward::start, nb::arg("active"), nb::arg("threads"))
        .def("add", &PyForward::add, nb::arg("feature"), nb::arg("threads"))
        .def("information", &PyForward::information)
        .def("sums", &PyForward::sums, nb::arg("out"));
}
