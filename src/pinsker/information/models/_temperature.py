"""One parameter that turns scores into probabilities."""

import numpy as np
from scipy.special import logsumexp

from pinsker._types import FloatArray, IntArray

#: The weight of a score is looked for up to this: beyond it, scores of size 1 are certainties.
_LARGEST = 1e3
_STEPS = 60


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return the logarithms of probabilities proportional to the exponentials of scores.

    Examples
    --------
    >>> np.exp(log_softmax(np.array([[0.0, 0.0]]))).round(3).tolist()
    [[0.5, 0.5]]
    """
    return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))


def fit_temperature(scores: FloatArray, labels: IntArray) -> float:
    r"""Return the weight b that makes softmax(b * scores) most likely.

    .. math:: \min_{b \ge 0} \frac1n \sum_i \log\sum_c e^{b s_{ic}} - b\, s_{i y_i}

    is convex in b (the reciprocal of a temperature), so that Newton's method, kept inside of an
    interval that always holds the minimum, finds it.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Larger means more likely. From rows that the scoring model has not seen.
    labels : ndarray of shape (n_rows,)
        Classes 0..n_classes-1.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger (2017). On calibration of modern neural networks, section 4.2.

    Examples
    --------
    >>> scores = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> round(fit_temperature(scores, np.array([0, 0, 1, 1])), 4)  # log 3
    1.0986
    """
    centred = scores - scores.max(axis=1, keepdims=True)
    own = centred[np.arange(len(labels)), labels].mean()
    low, high, weight = 0.0, _LARGEST, 1.0
    for _ in range(_STEPS):
        shares = np.exp(log_softmax(weight * centred))
        means = np.sum(shares * centred, axis=1)
        slope = means.mean() - own
        curve = (np.sum(shares * centred**2, axis=1) - means**2).mean()
        low, high = (low, weight) if slope > 0 else (weight, high)
        proposed = weight - slope / curve if curve > 0 else np.inf
        step = proposed if low < proposed < high else (low + high) / 2
        if abs(step - weight) <= 1e-9 * max(weight, 1.0):
            break
        weight = float(step)
    return float(weight)
