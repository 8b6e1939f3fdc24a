// Eight numbers side by side: what the neighbour kernels work on, in memory.
#pragma once

#include <cstdint>

namespace pinsker {

constexpr int kLanes = 8;

struct alignas(64) Octet {
    double lane[kLanes];
};

}  // namespace pinsker
