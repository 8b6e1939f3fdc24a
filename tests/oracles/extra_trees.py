"""Extremely randomised trees, slow and obvious: recursion over lists of rows."""

MASK = (1 << 64) - 1


class Random:
    """SplitMix64."""

    def __init__(self, state):
        self.state = state & MASK

    def next(self):
        """Return 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        """Return a number in [0, 1)."""
        return (self.next() >> 11) * 2.0**-53


def class_worth(labels):
    """Sum of squared class counts over the number of rows: high where few classes are."""
    return sum(labels.count(c) ** 2 for c in set(labels)) / len(labels) if labels else 0.0


def number_worth(left, whole):
    """Squared sums over the numbers of rows on both sides."""
    inside = 0.0
    for value in left:
        inside += value
    everything = 0.0
    for value in whole:
        everything += value
    outside = everything - inside
    n_right = len(whole) - len(left)
    return (inside * inside / len(left) if left else 0.0) + (
        outside * outside / n_right if n_right else 0.0
    )


def find_split(rows, x, y, classes, min_leaf, n_candidates, random):
    """Return (column, threshold) of the best random split, or None."""
    columns = list(range(len(x[0])))
    best, best_worth, tried = None, -1.0, 0
    for drawn in range(len(columns)):
        if tried == n_candidates:
            break
        other = drawn + int(random.uniform() * (len(columns) - drawn))
        columns[drawn], columns[other] = columns[other], columns[drawn]
        values = [x[row][columns[drawn]] for row in rows]
        low, high = min(values), max(values)
        if low == high:
            continue
        tried += 1
        threshold = low + random.uniform() * (high - low)
        threshold = low if threshold >= high else threshold
        left = [y[row] for row, v in zip(rows, values, strict=True) if v <= threshold]
        right = [y[row] for row, v in zip(rows, values, strict=True) if v > threshold]
        if min(len(left), len(right)) < min_leaf:
            continue
        if classes:
            worth = class_worth(left) + class_worth(right)
        else:
            worth = number_worth(left, [y[row] for row in rows])
        if worth > best_worth:
            best, best_worth = (columns[drawn], threshold), worth
    return best


def answer(rows, x, y, question, classes, min_leaf, n_candidates, seed):
    """Return what one tree says about one row of values."""
    random = Random(seed)
    own = [y[row] for row in rows]
    split = None
    if len(set(own)) > 1 and len(rows) >= 2 * min_leaf:
        split = find_split(rows, x, y, classes, min_leaf, n_candidates, random)
    if split is None:
        if classes:
            return [own.count(c) / len(own) for c in range(classes)]
        total = 0.0
        for value in own:
            total += value
        return [total / len(own)]
    column, threshold = split
    seeds = random.next(), random.next()
    goes_left = question[column] <= threshold
    side = [row for row in rows if (x[row][column] <= threshold) == goes_left]
    seed = seeds[0] if goes_left else seeds[1]
    return answer(side, x, y, question, classes, min_leaf, n_candidates, seed)


def forest(x, y, questions, classes, *, n_trees, min_leaf, n_candidates, seed):
    """Return the mean answer of all trees to each question; `classes` is 0 for numbers."""
    rows = list(range(len(x)))
    said = []
    for question in questions:
        total = [0.0] * max(classes, 1)
        for tree in range(n_trees):
            start = Random(seed + tree * 0xD1342543DE82EF95).next()
            shares = answer(rows, x, y, question, classes, min_leaf, n_candidates, start)
            total = [a + b for a, b in zip(total, shares, strict=True)]
        said.append([value / n_trees for value in total])
    return said
