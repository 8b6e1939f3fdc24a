// The Python module pinsker.engine._kernels.
#include "common/arrays.hpp"

NB_MODULE(_kernels, m) {
    m.doc() =
        "Compiled kernels of pinsker. Arrays and scalars in and out; no Python objects inside.";
    pinsker::bind_neighbors(m);
    pinsker::bind_searches(m);
    pinsker::bind_contingency(m);
    pinsker::bind_pairs(m);
    pinsker::bind_trees(m);
    pinsker::bind_boosted(m);
}
