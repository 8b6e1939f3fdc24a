"""Recursive elimination, the slow obvious way: Newton's method to its end, one column at a time."""

import numpy as np


def eliminate(X, y, classes, penalty=0.01):
    """Return columns, the last to leave first; the smallest coefficients leave, one at a time."""
    X = np.asarray(X, dtype=float)
    left, gone = list(range(X.shape[1])), []
    while left:
        spread = X[:, left].std(axis=0)
        Z = (X[:, left] - X[:, left].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        W = logistic(Z, y, penalty) if classes else ridge(Z, y, penalty)
        gone.append(left.pop(int(np.argmin(np.linalg.norm(W, axis=1)))))
    return gone[::-1]


def ridge(Z, y, penalty):
    """Return the coefficients that minimise mean squares / 2 and the penalty."""
    target = (y - y.mean()) / y.std()
    n, p = Z.shape
    return np.linalg.solve(Z.T @ Z / n + penalty * np.eye(p), Z.T @ target / n)[:, None]


def logistic(Z, y, penalty, n_steps=100):
    """Return the coefficients of a softmax by Newton's method, halving steps that go too far."""
    n, p = Z.shape
    k = int(y.max()) + 1
    A, Y = np.column_stack([Z, np.ones(n)]), np.eye(k)[y]
    ridge_part = np.kron(np.diag(np.append(np.full(p, penalty), 1e-9)), np.eye(k))

    def loss(W):
        scores = A @ W
        log_total = np.log(np.exp(scores).sum(axis=1))
        return np.mean(log_total - (scores * Y).sum(axis=1)) + penalty / 2 * np.sum(W[:p] ** 2)

    W = np.zeros((p + 1, k))
    for _ in range(n_steps):
        P = np.exp(A @ W)
        P /= P.sum(axis=1, keepdims=True)
        slope = (A.T @ (P - Y) / n).ravel() + ridge_part @ W.ravel()
        curvature = ridge_part.copy()
        for row, shares in zip(A, P, strict=True):
            curvature += np.kron(np.outer(row, row), np.diag(shares) - np.outer(shares, shares)) / n
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0].reshape(W.shape)
        length = 1.0
        while loss(W - length * step) > loss(W) + 1e-12 and length > 1e-6:
            length /= 2
        W = W - length * step
        if np.abs(step).max() < 1e-10:
            break
    return W[:p]
