// From a table of integers, in any memory order, to packed columns; see counts_cells.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nb = nanobind;

namespace {

constexpr std::size_t kTileRows = 64;  // a cache line of packed bytes; its source rows stay cached

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Places = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// `packed` must be zero on entry: every column adds code * stride to its byte.
template <class T>
void pack_columns(Table<T> table, Places home, Places stride, Output<std::uint8_t> packed,
                  Output<std::uint32_t> wide) {
    const std::size_t n_rows = table.shape(0), n_columns = table.shape(1);
    const std::int64_t row_step = table.stride(0), column_step = table.stride(1);
    for (std::size_t first = 0; first < n_rows; first += kTileRows) {
        const std::size_t last = std::min(first + kTileRows, n_rows);
        for (std::size_t column = 0; column < n_columns; ++column) {
            const T *code = table.data() + static_cast<std::int64_t>(column) * column_step;
            const std::int64_t place = home.data()[column];
            if (place < 0) {
                std::uint32_t *to = wide.data() + static_cast<std::size_t>(-1 - place) * n_rows;
                for (std::size_t i = first; i < last; ++i)
                    to[i] = static_cast<std::uint32_t>(code[static_cast<std::int64_t>(i) * row_step]);
                continue;
            }
            const auto factor = static_cast<std::uint8_t>(stride.data()[column]);
            std::uint8_t *to = packed.data() + static_cast<std::size_t>(place) * n_rows;
            for (std::size_t i = first; i < last; ++i)
                to[i] = static_cast<std::uint8_t>(
                    to[i] +
                    factor * static_cast<std::uint8_t>(code[static_cast<std::int64_t>(i) * row_step]));
        }
    }
}

}  // namespace

void bind_packing(nb::module_ &m) {
    const auto release = nb::call_guard<nb::gil_scoped_release>();
    const char *doc = "Write the codes of all columns into packed bytes (zero on entry) and wide words.";
    m.def("pack_columns", &pack_columns<std::uint8_t>, release, doc, nb::arg("table").noconvert(),
          nb::arg("home"), nb::arg("stride"), nb::arg("packed"), nb::arg("wide"));
    m.def("pack_columns", &pack_columns<std::int64_t>, release, doc, nb::arg("table").noconvert(),
          nb::arg("home"), nb::arg("stride"), nb::arg("packed"), nb::arg("wide"));
}
