"""Temporary."""
from dataclasses import asdict, dataclass, replace
from typing import Any


class _Settings:
    def get_params(self, deep=True):
        return {k: getattr(self, k) for k in self.__dataclass_fields__}

    def replace_params(self, **changes):
        return replace(self, **changes)

    def __sklearn_clone__(self):
        return self


@dataclass(frozen=True)
class KNNSettings(_Settings):
    n_neighbors: int = 3
    scale: str = "copula"
    score: str = "difference"
    max_samples: int | None = None


@dataclass(frozen=True)
class EngineSettings(_Settings):
    name: str = "auto"
    client: Any = None
    max_memory: int | None = None
