#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_forward(nb::module_ &) {}
