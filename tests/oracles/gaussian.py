"""Gaussian information, slow and obvious: covariance, determinant by expansion, bias by formula."""

import math

from oracles.discrete import digamma


def covariance(columns):
    """Sample covariance (n - 1) of a list of columns."""
    n = len(columns[0])
    means = [math.fsum(column) / n for column in columns]
    return [
        [
            math.fsum((a - ma) * (b - mb) for a, b in zip(left, right, strict=True)) / (n - 1)
            for right, mb in zip(columns, means, strict=True)
        ]
        for left, ma in zip(columns, means, strict=True)
    ]


def determinant(matrix):
    """Laplace expansion along the first row; 1 for no columns."""
    if not matrix:
        return 1.0
    total = 0.0
    for j, value in enumerate(matrix[0]):
        minor = [row[:j] + row[j + 1 :] for row in matrix[1:]]
        total += (-1) ** j * value * determinant(minor)
    return total


def entropy(columns, n):
    """Unbiased Gaussian entropy: plug-in less (d/2) ln(2/(n-1)) + ½ sum of psi((n-i)/2)."""
    d = len(columns)
    if d == 0:
        return 0.0
    plug_in = 0.5 * d * math.log(2 * math.pi * math.e)
    plug_in += 0.5 * math.log(determinant(covariance(columns)))
    bias = d / 2 * math.log(2 / (n - 1))
    bias += 0.5 * sum(digamma((n - i) / 2) for i in range(1, d + 1))
    return plug_in - bias


def information(x, y, z):
    """H(XZ) + H(YZ) - H(Z) - H(XYZ); x, y, z are lists of columns."""
    n = len(x[0])
    return entropy(x + z, n) + entropy(y + z, n) - entropy(z, n) - entropy(x + y + z, n)
