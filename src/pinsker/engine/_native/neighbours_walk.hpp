// The queries of one block on their way through the tree, and what they have counted.
#pragma once

#include "neighbours_index.hpp"
#include "neighbours_kernels.hpp"
#include "neighbours_probe.hpp"

namespace pinsker {

enum { kBase, kFirst, kSecond, kSpaces };

struct Limits {
    double open[kSpaces], closed[kSpaces];
};

// The counts of one row: whole nodes first, then lane by lane.
struct Found {
    int64_t open[kSpaces], closed[kSpaces];
};

// A subset of the rows of one block that is walked through the tree together, and its scratch.
struct Walk {
    const Index &index;
    const Spaces &spaces;
    std::vector<double> low, high;
    std::vector<int32_t> waiting, blocks;  // nodes to open; blocks to look into row by row
    int lanes[kLanes];
    std::vector<Probe> probe;
    int n_queries = 0;
    Limits limits[kLanes], smallest, largest;
    Found found[kLanes];

    Walk(const Index &at, const Spaces &in)
        : index(at), spaces(in), low(at.d), high(at.d), probe(kLanes, Probe(at.d)) {}
};

// Take the rows of block b that are live, and whose base radius is zero or not, as asked: only rows
// with like balls decide on whole nodes together.
inline void gather(Walk &walk, const Balls &balls, int64_t b, bool zero) {
    const int32_t *rows = walk.index.rows.data() + b * kLanes;
    walk.n_queries = 0;
    for (int l = 0; l < kLanes && rows[l] >= 0; ++l) {
        const int32_t row = rows[l];
        if (!balls.live[row] || (balls.base[row] == 0.0) != zero) continue;
        const int q = walk.n_queries++;
        const double radius[kSpaces] = {balls.base[row], balls.first[row], balls.second[row]};
        walk.lanes[q] = l;
        for (const Span &span : {walk.spaces.base, walk.spaces.first, walk.spaces.second}) {
            walk.probe[q].aim(walk.index, b, l, span.from, span.to);
        }
        walk.found[q] = {};
        for (int s = 0; s < kSpaces; ++s) {
            const double open = open_limit(radius[s]), closed = closed_limit(radius[s]);
            walk.limits[q].open[s] = open;
            walk.limits[q].closed[s] = closed;
            walk.smallest.open[s] = q ? std::min(walk.smallest.open[s], open) : open;
            walk.smallest.closed[s] = q ? std::min(walk.smallest.closed[s], closed) : closed;
            walk.largest.open[s] = q ? std::max(walk.largest.open[s], open) : open;
            walk.largest.closed[s] = q ? std::max(walk.largest.closed[s], closed) : closed;
        }
    }
}

// Every row was found in its own ball, unless the ball is open and of radius zero.
inline void write(const Walk &walk, int64_t b) {
    const int32_t *rows = walk.index.rows.data() + b * kLanes;
    const Spaces &spaces = walk.spaces;
    const Tally out[kSpaces] = {spaces.in_base, spaces.in_first, spaces.in_second};
    for (int q = 0; q < walk.n_queries; ++q) {
        const int32_t row = rows[walk.lanes[q]];
        const Limits &limit = walk.limits[q];
        bool self_open = true;
        for (int s = 0; s < kSpaces; ++s) {
            self_open = limit.open[kBase] > 0.0 && limit.open[s] > 0.0;
            if (!out[s].wanted()) continue;
            out[s].open[row] = walk.found[q].open[s] - self_open;
            out[s].closed[row] = walk.found[q].closed[s] - 1;
        }
    }
}

}  // namespace pinsker
