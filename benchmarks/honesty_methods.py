"""The selectors that are compared: from a table to one set of columns per budget."""

from pinsker import BackwardElimination, FeatureSelector, ForwardSelection

BUDGETS = (0.02, 0.05, 0.1, 0.2)


def ours(make):
    """Fit once at the default budget; the others are read off without fitting again."""

    def run(table):
        selector = make(metric=metric_of(table), n_jobs=1, random_state=0).fit(table.X, table.y)
        masks = [selector.support_at(error_budget=budget) for budget in BUDGETS]
        certificate = selector.certificate_
        return masks, {"verdict": certificate.verdict}

    return run


def metric_of(table):
    return "error" if table.task == "classification" else "r2"


def one_fit_per_budget(table):
    """Fit for every budget; the verdict is that of the default budget, as in `ours`."""
    metric, masks, verdicts = metric_of(table), [], {}
    for budget in BUDGETS:
        selector = FeatureSelector(budget, metric=metric, n_jobs=1, random_state=0)
        selector.fit(table.X, table.y)
        masks.append(selector.get_support())
        verdicts[budget] = selector.certificate_.verdict
    return masks, {"verdict": verdicts[0.05]}


METHODS = {
    "FeatureSelector": ours(FeatureSelector),
    "FeatureSelector per budget": one_fit_per_budget,
    "BackwardElimination": ours(lambda **k: BackwardElimination(cv=5, **k)),
    "ForwardSelection": ours(lambda **k: ForwardSelection(cv=5, **k)),
    "Backward path alone": ours(BackwardElimination),
}
