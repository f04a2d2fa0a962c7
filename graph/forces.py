"""Forces on points in a plane: what is tied draws together, all others keep apart.

After Fruchterman and Reingold (1991), with the masses of ForceAtlas2 (Jacomy et al.,
2014): a point pushes by how much it is tied, so that hubs have room around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Places = NDArray[np.int64]
Weights = NDArray[np.float64]

# How far apart two points settle that are tied to each other alone.
LENGTH = 60.0
# As much as spreads points evenly, one to each square of that length.
GRAVITY = 0.6
# Up to here each pair is looked at; beyond, the push is read from a field on a grid.
EACH_PAIR = 800
GRID = 256
# Successive points at this angle never fall into rows: as seeds of a sunflower.
GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, slots=True)
class Ties:
    """Edges between points by their numbers, each with how strongly it draws."""

    sources: Places
    targets: Places
    weights: Weights


def spiral(count: int, distance: float = LENGTH) -> Points:
    """Return points from the origin outwards, about `distance` from each other."""
    number = np.arange(count, dtype=float)
    radius, angle = distance * 0.6 * np.sqrt(number), number * GOLDEN
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))


def relax(
    at: Points,
    ties: Ties,
    *,
    movable: NDArray[np.bool_] | None = None,
    steps: int = 120,
    heat: float = 2 * LENGTH,
) -> Points:
    """Return where the points come to rest; only `movable` ones move, at first by up to
    `heat` a step, at the end hardly. The same input has the same result."""
    at = at.astype(float).copy()
    if len(at) < 2:
        return at
    mass = _masses(len(at), ties)
    push = _push_of_pairs if len(at) <= EACH_PAIR else _push_of_field
    for step in range(steps):
        force = push(at, mass) + _pull(at, ties, mass)
        force -= GRAVITY * mass[:, None] * (at - at.mean(axis=0))
        if movable is not None:
            force[~movable] = 0
        reach = np.hypot(force[:, 0], force[:, 1])
        most = heat * (1 - step / steps) ** 1.5
        at += force * (np.minimum(reach, most) / np.maximum(reach, 1e-9))[:, None]
    return at


def separate(at: Points, width: float, height: float, *, rounds: int = 30) -> Points:
    """Return the points moved as little as it takes that no two boxes of that size
    around them overlap, as far as `rounds` can do it."""
    at = at.copy()
    for _ in range(rounds):
        one, other = _overlapping(at, width, height)
        if not len(one):
            break
        across = at[one] - at[other]
        overlap = np.array((width, height)) - np.abs(across)
        # Along the axis where there is less to go; of equal places the later moves on.
        axis = np.where(overlap[:, 0] / width < overlap[:, 1] / height, 0, 1)
        number = np.arange(len(one))
        sign = np.where(across[number, axis] >= 0, 1.0, -1.0)
        apart = 0.3 * sign * overlap[number, axis]
        shift = np.zeros_like(at)
        np.add.at(shift, (one, axis), apart)
        np.add.at(shift, (other, axis), -apart)
        at += np.clip(shift, -width, width)
    return at


def _overlapping(at: Points, width: float, height: float) -> tuple[Places, Places]:
    """Return the pairs of points whose boxes overlap: of those in the order of x, each
    is compared with the next, the next but one, ... as long as any may."""
    order = np.argsort(at[:, 0], kind="stable")
    x, y = at[order, 0], at[order, 1]
    ones, others = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for step in range(1, len(at)):
        near = x[step:] - x[:-step] < width
        if not near.any():
            break
        found = np.flatnonzero(near & (np.abs(y[step:] - y[:-step]) < height))
        ones.append(order[found])
        others.append(order[found + step])
    return np.concatenate(ones), np.concatenate(others)


def _masses(count: int, ties: Ties) -> Weights:
    ends = np.bincount(np.r_[ties.sources, ties.targets], minlength=count)
    return np.sqrt(1.0 + ends)


def _pull(at: Points, ties: Ties, mass: Weights) -> Points:
    """Return the pull of edges; one that a hub has thousands of draws it little."""
    across = at[ties.targets] - at[ties.sources]
    length = np.hypot(across[:, 0], across[:, 1])
    drawn = across * (ties.weights * length / LENGTH)[:, None]
    force = np.zeros_like(at)
    for axis in (0, 1):
        force[:, axis] = np.bincount(
            ties.sources, drawn[:, axis] / mass[ties.sources], len(at)
        ) - np.bincount(ties.targets, drawn[:, axis] / mass[ties.targets], len(at))
    return force


def _push_of_pairs(at: Points, mass: Weights) -> Points:
    across = at[:, None, :] - at[None, :, :]
    square = (across**2).sum(axis=2) + 1.0
    strength = mass[:, None] * mass[None, :] * LENGTH**2 / square
    np.fill_diagonal(strength, 0.0)
    return (across * strength[..., None]).sum(axis=1)


def _push_of_field(at: Points, mass: Weights) -> Points:
    """Return the push of all points on each, by a field on a grid: masses are shared
    among the four corners around them, the field is read back from the same four."""
    low = at.min(axis=0)
    cell = max(float((at.max(axis=0) - low).max()) / (GRID - 2), 1e-6)
    place = (at - low) / cell
    corner = place.astype(np.int64)
    rest = place - corner
    laid = np.zeros(GRID * GRID)
    corners = []
    for dx, dy in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = np.abs(1 - dx - rest[:, 0]) * np.abs(1 - dy - rest[:, 1])
        index = (corner[:, 0] + dx) * GRID + corner[:, 1] + dy
        corners.append((index, share))
        laid += np.bincount(index, mass * share, GRID * GRID)
    field = _field(laid.reshape(GRID, GRID))
    found = np.zeros_like(at)
    for index, share in corners:
        for axis in (0, 1):
            found[:, axis] += share * field[axis].ravel()[index]
    return found * (mass * LENGTH**2 / cell)[:, None]


def _field(laid: Points) -> tuple[Points, Points]:
    """Return the sum over all masses of direction by inverse distance, in cells."""
    size = (2 * GRID, 2 * GRID)
    wave = np.fft.rfft2(laid, size)
    across, along = (
        np.fft.irfft2(wave * kernel, size)[:GRID, :GRID] for kernel in _kernels()
    )
    return across, along


@cache
def _kernels() -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return what one mass does around it, softened within its cell, as waves."""
    steps = np.fft.fftfreq(2 * GRID, 1 / (2 * GRID))
    x, y = np.meshgrid(steps, steps, indexing="ij")
    square = x**2 + y**2 + 1.0
    return np.fft.rfft2(x / square), np.fft.rfft2(y / square)
