#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_neighbours(nb::module_ &) {}
