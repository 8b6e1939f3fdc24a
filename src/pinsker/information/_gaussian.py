"""Information of jointly Gaussian columns, from log-determinants without bias."""

import math

import numpy as np
from scipy.linalg import qr
from scipy.special import digamma

from pinsker._types import FloatArray

#: A column whose part outside the span of others is relatively smaller than this adds nothing.
_SPAN_TOLERANCE = 1e-12
#: Rounding of the data themselves, in units of a column's largest value over its spread.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def gaussian_information(x: FloatArray, y: FloatArray, z: FloatArray | None) -> float:
    """Information in nats between jointly Gaussian columns, given others or nothing."""
    n_rows = x.shape[0]
    given = np.empty((n_rows, 0)) if z is None else z
    table, _, tolerance = _unit_columns(np.hstack([given, x, y]))
    # The triangular factor has the same inner products as the table, in few rows.
    table = np.asarray(np.linalg.qr(table, mode="r"), dtype=np.float64)
    n_z, n_x = given.shape[1], x.shape[1]
    z_part, x_part, y_part = table[:, :n_z], table[:, n_z : n_z + n_x], table[:, n_z + n_x :]
    z_part = _independent_part(z_part, z_part[:, :0], tolerance)
    x_part = _independent_part(x_part, z_part, tolerance)
    y_part = _independent_part(y_part, z_part, tolerance)
    xz, yz = np.hstack([z_part, x_part]), np.hstack([z_part, y_part])
    if _independent_part(y_part, xz, tolerance).shape[1] < y_part.shape[1]:
        return math.inf
    parts = (xz, yz, z_part, np.hstack([xz, y_part]))
    h_xz, h_yz, h_z, h_xyz = (_half_log_determinant(part, n_rows) for part in parts)
    return (h_xz - h_z) - (h_xyz - h_yz)


def gaussian_entropy(x: FloatArray) -> float:
    """Differential entropy in nats of Gaussian columns; ``-inf`` when they are dependent."""
    n_rows, n_columns = x.shape
    table, log_norms, tolerance = _unit_columns(x)
    table = np.asarray(np.linalg.qr(table, mode="r"), dtype=np.float64)
    if _independent_part(table, table[:, :0], tolerance).shape[1] < n_columns:
        return -math.inf
    in_user_units: float = _half_log_determinant(table, n_rows) + float(log_norms.sum())
    entropy: float = 0.5 * n_columns * math.log(math.pi * math.e) + in_user_units
    return entropy


def _unit_columns(table: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Centre columns and divide them by their norms; constants become zero."""
    if table.shape[1] == 0:
        return table, np.empty(0), _SPAN_TOLERANCE
    # Dividing by the largest value first keeps squares of huge and tiny values in range.
    largest = np.abs(table).max(axis=0)
    table = table / np.where(largest > 0, largest, 1.0)
    centred = table - table.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    constant = np.ptp(table, axis=0) <= _ROUNDING
    norms = np.where(constant, 1.0, norms)
    unit = np.where(constant, 0.0, centred / norms)
    log_norms = np.log(norms) + np.log(np.where(largest > 0, largest, 1.0))
    lost_digits = _ROUNDING * math.sqrt(table.shape[0]) / float(norms.min())
    return unit, log_norms, max(_SPAN_TOLERANCE, lost_digits)


def _independent_part(part: FloatArray, basis: FloatArray, tolerance: float) -> FloatArray:
    """Columns of `part` that are no linear functions of `basis` and of each other."""
    if part.shape[1] == 0:
        return part
    outside = part
    if basis.shape[1] > 0:
        directions = np.linalg.qr(basis)[0]
        for _ in range(2):  # once is not enough when little is left
            outside = outside - directions @ (directions.T @ outside)
    triangle, order = qr(outside, mode="r", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(triangle)) > tolerance))
    independent: FloatArray = part[:, np.sort(order[:rank])]
    return independent


def _half_log_determinant(part: FloatArray, n_rows: int) -> float:
    """Half the logarithm of a scatter matrix's determinant, less its mean for a unit covariance."""
    n_columns = part.shape[1]
    if n_columns == 0:
        return 0.0
    diagonal = np.abs(np.diag(np.linalg.qr(part, mode="r")))
    bias = digamma((n_rows - np.arange(1, n_columns + 1)) / 2)
    return float(np.sum(np.log(diagonal)) - 0.5 * np.sum(bias))
