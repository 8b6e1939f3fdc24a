// One generic build, fast everywhere: hot leaf functions are compiled once per instruction set and
// the loader picks the best one for the CPU it finds (GNU ifunc). Elsewhere the macro is empty and
// the baseline code runs.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(PINSKER_NO_CLONES)
#define PINSKER_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PINSKER_CLONES
#endif

// What a cloned function calls must be inlined into it, or it stays baseline code.
#if defined(__GNUC__) || defined(__clang__)
#define PINSKER_INLINE inline __attribute__((always_inline))
#else
#define PINSKER_INLINE inline
#endif
