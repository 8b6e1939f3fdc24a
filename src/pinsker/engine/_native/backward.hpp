// Backward search: the state of every query row, kept up to date as units are removed.
//
// A far pair has two units beyond its row's radius. Removals shrink the radius and the distances, so
// the pair cannot become close before one of those two goes: it is enough to watch them. A pair is
// looked at again only when a watched unit is removed. See docs/engine.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "close_pairs.hpp"
#include "scan.hpp"
#include "target.hpp"
#include "terms.hpp"

struct BackwardInput {
    const double *values;        // (rows, columns), metric form, C order
    const int32_t *units;        // (columns,)
    const int64_t *labels;       // (rows,) or null
    const double *target;        // (rows, targets) or null
    const int64_t *digamma;      // (rows + 1,), fixed point
    const int64_t *queries;      // (n_queries,)
    int64_t rows, columns, n_units, targets, n_queries;
    int64_t watched_queries;     // the first so many queries keep their state between steps
    int rank;                    // k
    bool direct;
};

class BackwardSearch {
   public:
    virtual ~BackwardSearch() = default;
    virtual void start(const uint8_t *active, int threads) = 0;
    virtual void remove(int32_t unit, int threads) = 0;
    virtual int64_t information() const = 0;          // fixed point, summed over the queries
    virtual const int64_t *changes() const = 0;       // (n_units,), fixed point
    virtual int64_t close_pairs() const = 0;          // diagnostics: close pairs held now
};

std::unique_ptr<BackwardSearch> make_backward(const BackwardInput &input);
