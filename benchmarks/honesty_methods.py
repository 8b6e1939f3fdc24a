"""The selectors that are compared: from a table to one set of columns per budget."""

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection

BUDGETS = (0.02, 0.05, 0.1, 0.2)


def ours(make):
    """Fit once at the default budget; the others are read off without fitting again."""

    def run(table):
        metric = "error" if table.task == "classification" else "r2"
        selector = make(metric=metric, random_state=0).fit(table.X, table.y)
        masks = [selector.support_at(error_budget=budget) for budget in BUDGETS]
        certificate = selector.certificate_
        return masks, {"verdict": certificate.verdict}

    return run


METHODS = {
    "FeatureSelector": ours(FeatureSelector),
    "BackwardElimination": ours(lambda **k: BackwardElimination(cv=5, **k)),
    "ForwardSelection": ours(lambda **k: ForwardSelection(cv=5, **k)),
    "Backward path alone": ours(BackwardElimination),
}
