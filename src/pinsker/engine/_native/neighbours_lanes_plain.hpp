// Eight lanes as loops, for every other CPU and compiler; the vectoriser does what it can.
// Included by neighbours_kernels.cpp, inside a namespace.

struct Lanes {
    double lane[kLanes];
};
struct Mask {
    int64_t lane[kLanes];  // 1 where a comparison holds
};
struct Count {
    int64_t lane[kLanes];
};

PINSKER_INLINE Lanes zero() { return {}; }
PINSKER_INLINE Lanes load(const Octet &from) {
    Lanes a;
    for (int i = 0; i < kLanes; ++i) a.lane[i] = from.lane[i];
    return a;
}
PINSKER_INLINE void store(Octet &to, const Lanes &a) {
    for (int i = 0; i < kLanes; ++i) to.lane[i] = a.lane[i];
}

PINSKER_INLINE Lanes larger(Lanes a, const Lanes &b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
PINSKER_INLINE Lanes minus(Lanes a, double b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] -= b;
    return a;
}
PINSKER_INLINE Lanes minus(double a, Lanes b) {
    for (int i = 0; i < kLanes; ++i) b.lane[i] = a - b.lane[i];
    return b;
}
// The larger of far and |a - b|.
PINSKER_INLINE Lanes widen(const Lanes &far, Lanes a, double b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] = std::fabs(a.lane[i] - b);
    return larger(far, a);
}

PINSKER_INLINE Mask below(const Lanes &a, double limit) {
    Mask m;
    for (int i = 0; i < kLanes; ++i) m.lane[i] = a.lane[i] < limit;
    return m;
}
PINSKER_INLINE Mask up_to(const Lanes &a, double limit) {
    Mask m;
    for (int i = 0; i < kLanes; ++i) m.lane[i] = a.lane[i] <= limit;
    return m;
}
PINSKER_INLINE Mask both(Mask a, const Mask &b) {
    for (int i = 0; i < kLanes; ++i) a.lane[i] &= b.lane[i];
    return a;
}
PINSKER_INLINE unsigned bits(const Mask &a) {
    unsigned set = 0;
    for (int i = 0; i < kLanes; ++i) set |= (unsigned)a.lane[i] << i;
    return set;
}
PINSKER_INLINE bool any(const Mask &a) { return bits(a) != 0; }

PINSKER_INLINE Count nothing() { return {}; }
PINSKER_INLINE void tally(Count &count, const Mask &a) {
    for (int i = 0; i < kLanes; ++i) count.lane[i] += a.lane[i];
}
PINSKER_INLINE int64_t total(const Count &count) {
    int64_t sum = 0;
    for (int i = 0; i < kLanes; ++i) sum += count.lane[i];
    return sum;
}
