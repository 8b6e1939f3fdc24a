"""What a fitted selector can say for its choice from the path alone."""

from dataclasses import dataclass

from pinsker.bounds import TargetFacts
from pinsker.selection._error_budget import ErrorBudget
from pinsker.selection._path import SelectionPath
from pinsker.selection._rules import Decision, StoppingRule

#: The weakest kind of evidence: nothing was held out.
PATH_ALONE = "path alone: estimate on the rows used for the search"


@dataclass(frozen=True)
class PathEvidence:
    """What was chosen, and what the path says about it.

    Attributes
    ----------
    rule : StoppingRule
        The rule that cut the path.
    size : int
        Features kept.
    n_features : int
        Features there were.
    budget : float
        Information that the rule lets go, in nats; NaN if it does not count it.
    information : float
        I(Y; X_S) of the set kept, in nats.
    lost : float
        Information of the reference (the best set seen, unless the rule says otherwise) minus that
        of the set kept, in nats.
    bound : float
        Growth of the ideal error that `lost` allows, in `unit`.
    unit : str
        Unit of `bound`.
    tier : str
        The kind of evidence.
    notes : tuple of str
        What a user should know.
    """

    rule: StoppingRule
    size: int
    n_features: int
    budget: float
    information: float
    lost: float
    bound: float
    unit: str
    tier: str = PATH_ALONE
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        path: SelectionPath,
        rule: StoppingRule,
        decision: Decision,
        facts: TargetFacts,
        tier: str = PATH_ALONE,
    ) -> "PathEvidence":
        """Collect what a path says about a decision."""
        budget = rule if isinstance(rule, ErrorBudget) else None
        reference = budget.reference if budget else "best"
        position = int(abs(decision.size - path.sizes[0]))
        return cls(
            rule=rule,
            size=decision.size,
            n_features=path.n_features,
            budget=decision.budget,
            information=path.information[position],
            lost=float(path.lost(reference)[position]),
            bound=path.bound_at(decision.size),
            unit=path.unit or facts.default_metric,
            tier=tier,
            notes=decision.notes,
        )

    def __str__(self) -> str:
        full = isinstance(self.rule, ErrorBudget) and self.rule.reference == "full"
        reference = "all features" if full else "the best set seen"
        lines = [
            f"kept {self.size} of {self.n_features} features by {self.rule}",
            f"  information kept      {self.information:.4f} nats",
            f"  information lost      {self.lost:.4f} nats (against {reference})",
        ]
        if self.budget == self.budget:  # not NaN
            lines.append(f"  information to spend  {self.budget:.4f} nats")
        growth = f"{self.bound:.4f} ({self.unit})"
        lines.append(f"  => if no more is lost, the ideal error grows by at most {growth}")
        lines.append(f"  evidence: {self.tier}")
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])
