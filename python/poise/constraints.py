"""Constraints: obstacles to keep clear of, loops to close, balance to keep. Model.solve holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _poise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CAPSULE, _BOX, _HALF_SPACE = range(3)  # poise_shape_kind
_CONNECT, _WELD, _HINGE, _DISTANCE, _PLANE, _BALANCE = range(1, 7)  # poise_constraint_kind
_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def _vector(value: Any, what: str) -> NDArray[np.float64]:
    v = np.asarray(value, dtype=np.float64)
    if v.shape != (3,) or not np.isfinite(v).all():
        raise ValueError(f"{what}: expected three finite numbers, got {value!r}")
    return v


def _frame(value: Any, what: str) -> NDArray[np.float64]:
    """A pose, or a point alone."""
    v = np.asarray(value, dtype=np.float64)
    return np.concatenate([_vector(v, what), _IDENTITY[3:]]) if v.shape == (3,) else v


def _along(origin: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """x y z and the quaternion of the shortest turn from the z axis to `z`."""
    length = np.linalg.norm(z)
    if length == 0:
        return np.concatenate([origin, _IDENTITY[3:]])
    x, y, w = -z[1] / length, z[0] / length, 1 + z[2] / length
    turn = np.array([1.0, 0, 0, 0]) if w < 1e-12 else np.array([x, y, 0, w])
    return np.concatenate([origin, turn / np.linalg.norm(turn)])


class Shape:
    """An obstacle, made by poise.box, sphere, capsule or half_space: in the world, or carried by a body."""

    def __init__(self, kind: str, parts: tuple[Any, ...]):
        self.kind = kind
        self._parts = parts  # (kind, body, frame, half, radius)
        _poise.check_shape((parts[0], None, *parts[2:]))

    @property
    def body(self) -> Any:
        """That carries it; None: the world."""
        return self._parts[1]

    def __repr__(self) -> str:
        x, y, z = self._parts[2][:3] if np.shape(self._parts[2]) == (7,) else np.asarray(self._parts[2])[:3, 3]
        return f"<poise.Shape: {self.kind} at {x:g} {y:g} {z:g}{f' of {self.body}' if self.body is not None else ''}>"


def box(pose: Any, sides: Any, *, body: Any = None, radius: float = 0.0) -> Shape:
    """A box: its centre, or its pose, and the lengths of its sides. A radius around it rounds its edges."""
    return Shape("box", (_BOX, body, _frame(pose, "box"), 0.5 * _vector(sides, "sides"), float(radius)))


def sphere(center: Any, radius: float, *, body: Any = None) -> Shape:
    """A sphere."""
    return _capsule("sphere", center, center, radius, body)


def capsule(start: Any, end: Any, radius: float, *, body: Any = None) -> Shape:
    """All that is at most `radius` from the segment between two points."""
    return _capsule("capsule", start, end, radius, body)


def _capsule(kind: str, start: Any, end: Any, radius: float, body: Any) -> Shape:
    a, b = _vector(start, kind), _vector(end, kind)
    half = (0.0, 0.0, 0.5 * float(np.linalg.norm(b - a)))
    return Shape(kind, (_CAPSULE, body, _along(0.5 * (a + b), b - a), half, float(radius)))


def half_space(point: Any, normal: Any = (0, 0, 1), *, body: Any = None) -> Shape:
    """All below the plane through a point: a floor, or by another normal, which points out of it, a wall."""
    direction = _vector(normal, "normal")
    if not direction.any():
        raise ValueError("normal: must not be zero")
    return Shape("half_space", (_HALF_SPACE, body, _along(_vector(point, "point"), direction), (0.0, 0.0, 0.0), 0.0))


class Constraint:
    """What must hold in an answer: made by poise.weld, connect, hinge, rod, band or balance."""

    def __init__(self, name: str, constraint: tuple[Any, ...]):
        self.name = name
        self._constraint = constraint
        _poise.check_constraint((constraint[0], 0, None, *constraint[3:]))

    def __repr__(self) -> str:
        return f"<poise.Constraint: {self.name}>"


def _tie(
    name: str, kind: int, body: Any, other: Any, local: Any, target: Any, lower: float = 0.0, upper: float = 0.0
) -> Constraint:
    frames = _frame(local, "point"), _frame(target, "target")
    return Constraint(name, (kind, body, other, *frames, float(lower), float(upper), 0.0, None, (0.0, 0.0, 1.0)))


def connect(body: Any, target: Any, point: Any = (0, 0, 0), *, other: Any = None) -> Constraint:
    """A point of a body is one with `target`, a point of `other`, or of the world: a ball joint."""
    return _tie("connect", _CONNECT, body, other, point, target)


def weld(body: Any, target: Any, local: Any = _IDENTITY, *, other: Any = None) -> Constraint:
    """A frame of a body is one with `target`, a pose on `other`, or in the world."""
    return _tie("weld", _WELD, body, other, local, target)


def hinge(body: Any, target: Any, local: Any = _IDENTITY, *, other: Any = None) -> Constraint:
    """The origins and z axes of two frames are one."""
    return _tie("hinge", _HINGE, body, other, local, target)


def rod(body: Any, target: Any, lower: float, upper: float | None = None, point: Any = (0, 0, 0), *, other: Any = None) -> Constraint:
    """A point of a body is between `lower` and `upper` away from `target`; without `upper` just `lower`."""
    return _tie("rod", _DISTANCE, body, other, point, target, lower, lower if upper is None else upper)


def band(body: Any, plane: Any, lower: float = 0.0, upper: float = np.inf, point: Any = (0, 0, 0), *, other: Any = None) -> Constraint:
    """A point of a body is between `lower` and `upper` above the x, y plane of the pose `plane`."""
    return _tie("band", _PLANE, body, other, point, plane, lower, upper)


def balance(polygon: Any, margin: float = 0.0, axis: Any = (0, 0, 1)) -> Constraint:
    """The centre of mass is `margin` inside a convex polygon, corners counter-clockwise about `axis`, seen along it.

    Corners are points of the world; (x, y) will do where z is up."""
    corners = np.asarray(polygon, dtype=np.float64)
    if corners.ndim == 2 and corners.shape[1] == 2 and tuple(axis) == (0, 0, 1):
        corners = np.column_stack((corners, np.zeros(len(corners))))
    return Constraint("balance", (_BALANCE, 0, None, _IDENTITY, _IDENTITY, 0.0, 0.0, float(margin), corners, tuple(axis)))
