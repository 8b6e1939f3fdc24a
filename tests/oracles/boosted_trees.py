"""Gradient boosting of trees, slow and obvious: every split of every leaf from its rows."""

from math import exp, floor, fsum, isnan, log

FEWEST_OF_CATEGORY = 10  # rows in a node
SMOOTHING = 10.0
LEAST_HESSIAN = 1e-3
BETTER = 1.0 + 1e-9  # by more than rounding


def edges_of(values, n_bins):
    """Return where the bins of some numbers end: each has its share of the rows that are left."""
    known = sorted(v for v in values if not isnan(v))
    few = len(set(known)) <= n_bins
    edges, start = [], 0
    for i in range(1, len(known)):
        bins_left = n_bins - len(edges)
        full = few or (i - start) * bins_left >= len(known) - start
        if known[i - 1] < known[i] and full and bins_left > 1:
            middle = 0.5 * known[i - 1] + 0.5 * known[i]
            edges.append(middle if middle < known[i] else known[i - 1])
            start = i
    return edges


def bin_of(value, edges):
    """Return the number of edges below a value; None for a gap."""
    return None if isnan(value) else sum(edge < value for edge in edges)


class Split:
    """A column, the bins that go left, and whether other bins do."""

    def __init__(self, column, left, right, most_left):
        self.column, self.left, self.right, self.most_left = column, left, right, most_left

    def goes_left(self, row):
        value = row[self.column]
        if value in self.left or value in self.right:
            return value in self.left
        return self.most_left


def sums(rows, gradients, hessians):
    return fsum(gradients[i] for i in rows), fsum(hessians[i] for i in rows)


def score(rows, gradients, hessians):
    gradient, hessian = sums(rows, gradients, hessians)
    return gradient**2 / hessian


def partitions_of_numbers(bins, n_bins):
    """Return sets of bins that may go left: those up to each one, without and with gaps."""
    known = range(n_bins)
    yield from (set(known[: end + 1]) for end in known)
    if None in bins:
        yield from ({*known[: end + 1], None} for end in known)


def partitions_of_categories(bins, rows, gradients, hessians):
    """Return sets of categories that may go left: the lowest ones by mean, then the highest."""

    def mean(code):
        gradient, hessian = sums([i for i in rows if bins[i] == code], gradients, hessians)
        return gradient / (hessian + SMOOTHING)

    count = {code: sum(bins[i] == code for i in rows) for code in {bins[i] for i in rows}}
    codes = sorted(code for code in count if count[code] >= FEWEST_OF_CATEGORY)
    codes.sort(key=mean)
    for order in (codes, codes[::-1]):
        yield from (set(order[: k + 1]) for k in range(len(order)))


def find_split(rows, table, n_bins, categorical, gradients, hessians, min_leaf):
    """Return the gain of the best split of some rows, and the split; 0 and None without one."""
    if len(rows) < 2 * min_leaf or not sums(rows, gradients, hessians)[1] > LEAST_HESSIAN:
        return 0.0, None
    whole = best = score(rows, gradients, hessians)
    split = None
    for column in range(len(table[0])):
        bins = {i: table[i][column] for i in rows}
        if categorical[column]:
            partitions = partitions_of_categories(bins, rows, gradients, hessians)
        else:
            partitions = partitions_of_numbers(set(bins.values()), n_bins[column])
        for chosen in partitions:
            left = [i for i in rows if bins[i] in chosen]
            right = [i for i in rows if bins[i] not in chosen]
            if min(len(left), len(right)) < min_leaf:
                continue
            if min(sums(side, gradients, hessians)[1] for side in (left, right)) < LEAST_HESSIAN:
                continue
            found = score(left, gradients, hessians) + score(right, gradients, hessians)
            if found > best * BETTER:
                best = found
                here = set(bins.values()) if categorical[column] else set(range(n_bins[column]))
                here |= {None} & set(bins.values())
                split = Split(column, chosen & here, here - chosen, len(left) > len(right))
    return best - whole, split


class Tree:
    """A tree grown from the leaf with the largest gain."""

    def __init__(self, rows, table, n_bins, categorical, gradients, hessians, how):
        def leaf(own):
            given = (table, n_bins, categorical, gradients, hessians, how["min_leaf"])
            return {"rows": own, "found": find_split(own, *given), "children": None}

        self.root = leaf(rows)
        leaves = [self.root]
        while len(leaves) < how["n_leaves"]:
            widest = max(leaves, key=lambda node: node["found"][0])
            gain, split = widest["found"]
            if split is None or not gain > 0:
                break
            sides = (
                [i for i in widest["rows"] if split.goes_left(table[i])],
                [i for i in widest["rows"] if not split.goes_left(table[i])],
            )
            widest["children"] = [leaf(side) for side in sides]
            leaves.remove(widest)
            leaves.extend(widest["children"])
        for node in leaves:
            gradient, hessian = sums(node["rows"], gradients, hessians)
            enough = hessian > LEAST_HESSIAN
            node["value"] = -how["rate"] * gradient / hessian if enough else 0.0

    def predict(self, row):
        node = self.root
        while node["children"]:
            node = node["children"][0 if node["found"][1].goes_left(row) else 1]
        return node["value"]


def probabilities(scores):
    """Return class probabilities of scores; a single one is the log-odds of the second class."""
    scores = [0.0, *scores] if len(scores) == 1 else scores
    parts = [exp(score - max(scores)) for score in scores]
    return [part / fsum(parts) for part in parts]


def first_scores(y, weights, n_classes):
    if not n_classes:
        return [fsum(w * v for w, v in zip(weights, y, strict=True)) / fsum(weights)]
    shares = [
        1e-9 + fsum(w for w, v in zip(weights, y, strict=True) if v == c) for c in range(n_classes)
    ]
    return [log(share / shares[0]) for share in shares][1 if n_classes == 2 else 0 :]


def slopes(scores, truth, n_classes):
    """Return gradient and hessian of the loss by each score."""
    if not n_classes:
        return [(scores[0] - truth, 1.0)]
    shares = probabilities(scores)
    each = [(p - (c == truth), p * (1 - p)) for c, p in enumerate(shares)]
    return each[1:] if n_classes == 2 else each


def loss(scores, truth, n_classes):
    if not n_classes:
        return (scores[0] - truth) ** 2 / 2
    return -log(probabilities(scores)[truth])


def boosted(x, y, questions, categorical, weights, n_classes, n_fit, **how):
    """Return the scores of all questions after the round that was best for the rows set aside."""
    n_columns = len(x[0])
    edges = [
        edges_of([row[c] for row in x], how["n_bins"]) if not categorical[c] else []
        for c in range(n_columns)
    ]

    def as_bins(row):
        pairs = zip(row, edges, categorical, strict=True)
        return [floor(v) if nominal else bin_of(v, own) for v, own, nominal in pairs]

    table, asked = [as_bins(row) for row in x], [as_bins(row) for row in questions]
    n_bins = [len(own) + 1 for own in edges]
    fitted, aside = list(range(n_fit)), list(range(n_fit, len(x)))
    first = first_scores(y[:n_fit], weights[:n_fit], n_classes)
    scores, answers = [list(first) for _ in x], [list(first) for _ in questions]

    def loss_aside():
        return fsum(weights[i] * loss(scores[i], y[i], n_classes) for i in aside)

    best, best_round, kept = loss_aside(), 0, [list(own) for own in answers]
    for turn in range(1, how["n_rounds"] + 1):
        each = {i: slopes(scores[i], y[i], n_classes) for i in fitted}
        for k in range(len(first)):
            gradients = {i: weights[i] * each[i][k][0] for i in fitted}
            hessians = {i: weights[i] * each[i][k][1] for i in fitted}
            tree = Tree(fitted, table, n_bins, categorical, gradients, hessians, how)
            for row, own in zip(table, scores, strict=True):
                own[k] += tree.predict(row)
            for row, own in zip(asked, answers, strict=True):
                own[k] += tree.predict(row)
        now = loss_aside()
        if not aside or now < best:
            best, best_round, kept = now, turn, [list(own) for own in answers]
        elif turn >= best_round + how["patience"]:
            break
    return kept
