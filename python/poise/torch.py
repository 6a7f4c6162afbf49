"""Inverse kinematics as a function of torch, with exact gradients.

    import poise.torch

    q, report = poise.torch.solve(robot, "hand", targets)      # (N, 4, 4), (N, 7): x y z, quaternion x y z w, or (N, 3)
    loss(q).backward()                                          # targets.grad

The derivative is that of the answer within its limits (poise.Model.sensitivity).

Where an answer has no derivative (it is singular, or no minimum) its gradient is zero, and a RuntimeWarning says how many there are.
So is that of an answer that on_error="mark" marks as refused, whose numbers are NaN: leave it out of the loss by report.outcome. A NaN in
dL/dq comes out as NaN.
"""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np
import torch

from . import _poise, device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FRAMES, _PLACES = ("pose", "relative"), ("position", "aim", "plane", "line", "distance", "center_of_mass")


# ---- Configurations and steps ----------------------------------------------------------------------------------------------


def _quaternions(model: _poise.Model) -> list[tuple[int, int]]:
    """Where quaternions begin, in a configuration and in a step."""
    places, v = [], 0
    names = model.coordinates
    i = 0
    while i < len(names):
        if names[i].endswith(".qx"):
            places.append((i, v))
            i, v = i + 4, v + 3
        else:
            i, v = i + 1, v + 1
    return places


def _plain(model: _poise.Model) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which numbers of a configuration, and of a step, are of no quaternion."""
    of_q, of_v = np.ones(model.nq, bool), np.ones(model.nv, bool)
    for i, v in _quaternions(model):
        of_q[i : i + 4] = of_v[v : v + 3] = False
    return of_q, of_v


def _quaternion_steps(u: Floats) -> Floats:
    """(N, 4, 3): how unit quaternions u move with a step v, which makes u (v, 0) / 2 of them."""
    x, y, z, w = u.T
    return 0.5 * np.stack([np.stack([w, -z, y], 1), np.stack([z, w, -x], 1), np.stack([-y, x, w], 1), np.stack([-x, -y, -z], 1)], 1)


def _step_gradient(model: _poise.Model, q: Floats, grad: Floats) -> Floats:
    """dL/dq by components of a step."""
    if model.nq == model.nv:
        return grad
    out = np.zeros((len(q), model.nv))
    of_q, of_v = _plain(model)
    out[:, of_v] = grad[:, of_q]
    for i, v in _quaternions(model):
        out[:, v : v + 3] = np.einsum("nij,ni->nj", _quaternion_steps(q[:, i : i + 4]), grad[:, i : i + 4])
    return out


def _configuration_gradient(model: _poise.Model, q: Floats, steps: Floats) -> Floats:
    """The other way round: dL/dq of a configuration, with quaternions of any length, from that by components of its step."""
    if model.nq == model.nv:
        return steps
    out = np.zeros((len(q), model.nq))
    of_q, of_v = _plain(model)
    out[:, of_q] = steps[:, of_v]
    for i, v in _quaternions(model):
        length = np.linalg.norm(q[:, i : i + 4], axis=1, keepdims=True)
        moved = np.einsum("nij,nj->ni", _quaternion_steps(q[:, i : i + 4] / length), steps[:, v : v + 3])
        out[:, i : i + 4] = 4 * moved / length
    return out


# ---- Targets ---------------------------------------------------------------------------------------------------------------


def _rotation_gradient(matrices: Floats, r: Floats) -> Floats:
    """dL/dM for rotations M, from dL/d(turn about the world's axes): [r]x M / 2, what M is nearest to counts."""
    a, b, c = r.T
    zero = np.zeros_like(a)
    across = np.stack([np.stack([zero, -c, b], 1), np.stack([c, zero, -a], 1), np.stack([-b, a, zero], 1)], 1)
    return 0.5 * across @ matrices


def _quaternion_gradient(quaternions: Floats, r: Floats) -> Floats:
    """The same for quaternions of any length: a turn by the small vector r moves the unit quaternion u to u + (r, 0) u / 2."""
    length = np.linalg.norm(quaternions, axis=1, keepdims=True)
    x, y, z, w = (quaternions / length).T
    a, b, c = r.T
    return 2 * np.stack([a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -a * x - b * y - c * z], 1) / length


def _target_gradient(kind: str, targets: Floats, translation: Floats, rotation: Floats) -> Floats:
    """dL/dtargets in their own shape, from dL/d(translation, rotation) of each."""
    out = np.zeros_like(targets)
    if kind == "direction":
        length = np.linalg.norm(targets, axis=1, keepdims=True)
        return np.cross(rotation, targets / length) / length
    if kind in _PLACES:
        return translation
    if kind == "orientation":
        return (_rotation_gradient if targets.ndim == 3 else _quaternion_gradient)(targets, rotation)
    if targets.ndim == 3:
        out[:, :3, :3] = _rotation_gradient(targets[:, :3, :3], rotation)
        out[:, :3, 3] = translation
    else:
        out[:, :3] = translation
        out[:, 3:] = _quaternion_gradient(targets[:, 3:], rotation)
    return out


def _straight(targets: torch.Tensor, kind: str) -> torch.Tensor:
    """Quaternions of length 1, and matrices that are rotations in double precision where they nearly are."""
    out = targets.detach().double()
    if kind in _FRAMES or kind == "orientation":
        return _straight_matrices(out) if out.ndim == 3 else torch.cat([out[:, :-4], torch.nn.functional.normalize(out[:, -4:])], 1)
    return out


def _are_poses(straight: Floats) -> NDArray[np.bool_]:
    """Are these, from _straight_matrices, rotations, with a last row 0 0 0 1 if they have one?"""
    M = straight[:, :3, :3]
    off = np.abs(M.transpose(0, 2, 1) @ M - np.eye(3)).max((1, 2), initial=0)
    end = np.abs(straight[:, 3] - [0, 0, 0, 1]).max(1, initial=0) if straight.shape[1] == 4 else 0
    are: NDArray[np.bool_] = (off < 1e-9) & (np.linalg.det(M) > 0) & (end == 0)
    return are


def _straight_matrices(out: torch.Tensor) -> torch.Tensor:
    M, one = out[:, :3, :3], torch.eye(3, dtype=torch.double, device=out.device)
    off = M.transpose(1, 2) @ M - one
    near = off.abs().amax((1, 2)) < 2e-3
    out = out.clone()
    for _ in range(2):  # each step squares what is off
        M = torch.where(near[:, None, None], M @ (1.5 * one - 0.5 * M.transpose(1, 2) @ M), M)
    out[:, :3, :3] = M
    if out.shape[1] == 4:  # the last row says nothing
        end = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.double, device=out.device)
        out[:, 3] = torch.where(((out[:, 3] - end).abs().amax(1) < 1e-3)[:, None], end, out[:, 3])
    return out


# ---- The function ----------------------------------------------------------------------------------------------------------


class _Problem(NamedTuple):
    """What is solved. Goals number `moved` have their targets in tensors; with `has_weights` there is one tensor more."""

    model: _poise.Model
    goals: list[_poise.Goal]
    body: Any  # of the goal, if that is one pose without more to it: the fast way; None: none is
    moved: list[int]
    has_weights: bool
    start: Any
    options: dict[str, Any]
    reports: list[Any]  # what comes beside the answers

    def rows(self, targets: Sequence[Floats], weights: Floats | None) -> list[tuple[_poise.Goal, ...]]:
        """The goals of every answer."""
        count = len(targets[0])
        for i, matrices in zip(self.moved, targets):
            odd = np.flatnonzero(~_are_poses(matrices)) if matrices.ndim == 3 and self.options.get("on_error") != "mark" else []
            if len(odd):
                raise ValueError(f"targets[{i}]: matrix {odd[0]} is none of a rotation or a pose (a rotation to 1e-3, last row 0 0 0 1)")
        columns = [self.goals[i].each(targets[self.moved.index(i)]) if i in self.moved else
                   [goal if weights is None else copy.copy(goal) for _ in range(count)] for i, goal in enumerate(self.goals)]
        if weights is not None:
            for column, numbers in zip(columns, np.broadcast_to(weights, (count, len(columns))).T):
                for goal, weight in zip(column, numbers):
                    goal.weight = weight
        return list(zip(*columns))


def _host(numbers: Any) -> Any:
    return numbers.detach().cpu().double().numpy() if isinstance(numbers, torch.Tensor) else numbers


def _solve_poses(p: _Problem, targets: torch.Tensor) -> torch.Tensor:
    """Answers where the targets are: on their device, if it serves such a robot and libpoise_cuda is there, or from the host."""
    if targets.is_cuda and device.is_there():
        start = None if p.start is None else torch.as_tensor(p.start, dtype=torch.float64, device=targets.device)
        try:
            there, report = p.model.solve_batch(p.body, targets, start, **p.options)
            p.reports.append(report)
            answers: torch.Tensor = torch.utils.dlpack.from_dlpack(there)
            return answers
        except _poise.Error as refusal:
            if refusal.status != "unsupported":
                raise
    rows, report = p.model.solve_batch(p.body, _host(targets), _host(p.start), **p.options)
    p.reports.append(report)
    return torch.from_numpy(rows)


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *arguments: Any, **unused: Any) -> torch.Tensor:
        p: _Problem = arguments[0]
        tensors: tuple[torch.Tensor, ...] = arguments[1:]
        straight = [_straight(t, p.goals[i].kind) for t, i in zip(tensors, p.moved)]
        if p.body is not None:
            answers = _solve_poses(p, straight[0])
        else:
            ctx.goals = p.rows([_host(t) for t in straight], _host(tensors[-1]) if p.has_weights else None)
            numbers, report = p.model.solve_batch(ctx.goals, _host(p.start), **p.options)
            p.reports.append(report)
            answers = torch.from_numpy(numbers)
        ctx.problem, ctx.straight, ctx.answers = p, straight, answers
        ctx.save_for_backward(*tensors)
        return answers.to(tensors[0])

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        p: _Problem = ctx.problem
        answers, by_q = _host(ctx.answers), _host(gradients[0])
        refused = np.isnan(answers).any(1)
        is_nan = np.isnan(by_q).any(1) & ~refused
        rows = np.flatnonzero(~refused & ~is_nan & by_q.any(1))  # that the loss depends on
        steps = np.ascontiguousarray(_step_gradient(p.model, answers[rows], by_q[rows]))
        if p.body is not None:
            found = p.model.pose_gradients(p.body, _host(ctx.straight[0])[rows], answers[rows], steps)
            parts = {"translation": found[:, None, :3], "rotation": found[:, None, 3:]}
        else:
            parts = p.model.goal_gradients([ctx.goals[i] for i in rows], answers[rows], steps)
            if len(rows) == 0:  # nobody said how many goals there are
                parts = {name: np.zeros((0, len(p.goals), numbers.shape[-1])[: numbers.ndim]) for name, numbers in parts.items()}
                parts["posture"] = np.zeros((0, len(p.goals), p.model.nv))
        undefined = np.isnan(parts["translation"]).any((1, 2))
        if undefined.any():
            warnings.warn(f"{undefined.sum()} of {len(answers)} answers have no derivative (singular, or no minimum): their gradient is 0",
                          RuntimeWarning, stacklevel=2)
        out = []
        for i, tensor in zip(p.moved, ctx.saved_tensors):
            targets = _host(tensor)[rows]
            if p.goals[i].kind == "posture":
                found = _configuration_gradient(p.model, targets, parts["posture"][:, i])
            else:
                by = parts["translation"][:, i], parts["rotation"][:, i]
                if p.goals[i].kind == "relative":  # from the world's axes to those of the body that sees it
                    axes = p.model.fk(answers[rows], p.goals[i].other)[:, :3, :3]
                    by = np.einsum("nij,ni->nj", axes, by[0]), np.einsum("nij,ni->nj", axes, by[1])
                found = _target_gradient(p.goals[i].kind, targets, *by)
            out.append(_spread(found, undefined, rows, is_nan, tensor.shape))
        if p.has_weights:
            by_weight = _spread(parts["weight"], undefined, rows, is_nan, (len(answers), len(p.goals)))
            out.append(by_weight if ctx.saved_tensors[-1].ndim == 2 else by_weight.sum(0))
        return (None, *(torch.from_numpy(part).to(tensor) for part, tensor in zip(out, ctx.saved_tensors)))


def _spread(found: Floats, undefined: Any, rows: Any, is_nan: Any, shape: Any) -> Floats:
    """What was found of some rows in the shape of all: 0 of the others, and NaN for a NaN."""
    out = np.zeros(shape)
    out[rows] = np.where(undefined.reshape(-1, *[1] * (found.ndim - 1)), 0, found)
    out[is_nan] = np.nan
    return out


# ---- The call --------------------------------------------------------------------------------------------------------------


def _goal_of(goal: Any, targets: torch.Tensor | None) -> tuple[_poise.Goal, Any]:
    """A goal for a body's name, by the shape of its targets; and the body, if the goal is a plain pose of it."""
    if isinstance(goal, _poise.Goal):
        return goal, None
    if targets is not None and targets.ndim == 2 and targets.shape[1] == 3:
        return _poise.position(goal, (0, 0, 0)), None
    return _poise.pose(goal, np.eye(4)), goal


def _check(goal: _poise.Goal, targets: Any, what: str, nq: int) -> None:
    shapes = (((4, 4), (7,)) if goal.kind in _FRAMES else ((3, 3), (4,)) if goal.kind == "orientation" else
              ((nq,),) if goal.kind == "posture" else ((3,),))
    if not isinstance(targets, torch.Tensor) or tuple(targets.shape[1:]) not in shapes:
        given = f"of shape {tuple(targets.shape)}" if isinstance(targets, torch.Tensor) else f"but {type(targets)}"
        wanted = " or ".join("(N, " + ", ".join(map(str, shape)) + ")" for shape in shapes)
        raise ValueError(f"{what}: expected a tensor of shape {wanted} for a {goal.kind} goal, got one {given}")


def solve(
    model: _poise.Model,
    goals: Any,
    targets: Any,
    q: Any = None,
    *,
    weights: torch.Tensor | None = None,
    **options: Any,
) -> tuple[torch.Tensor, Any]:
    """Joint values (N, nq) for N targets, and the report of solve_batch. Gradients flow to the targets.

    `goals` is the name of a body and `targets` a tensor: (N, 4, 4) matrices, (N, 7) x y z and a quaternion x y z w of any
    length, or (N, 3) places. Or it is a goal, which gets the targets instead of its own, or a list of names and goals with
    a list of tensors, as many; None is for a goal that keeps its own target. Directions and places are (N, 3), orientations
    (N, 3, 3) or (N, 4), postures (N, nq).

    `q` are starts, and options those of solve_batch. `weights`, (goals) or (N, goals), stand for those of the goals and have
    gradients, too. Poses of one arm on a CUDA device are solved there.
    """
    several = isinstance(goals, (list, tuple))
    listed: Sequence[Any] = goals if several else [goals]
    tensors: Sequence[Any] = targets if several else [targets]
    if several and (not isinstance(targets, (list, tuple)) or len(targets) != len(listed) or all(t is None for t in targets)):
        raise ValueError(f"targets: expected a list of {len(listed)} tensors, one for each goal; None keeps the goal's own, but not of all")
    made = [_goal_of(goal, t) for goal, t in zip(listed, tensors)]
    moved = [i for i, t in enumerate(tensors) if t is not None]
    for i in moved:
        _check(made[i][0], tensors[i], f"targets[{i}]" if several else "targets", model.nq)
    inputs = [tensors[i] for i in moved] + ([] if weights is None else [weights])
    count = len(inputs[0])
    if any(len(tensors[i]) != count for i in moved):
        raise ValueError(f"targets: expected the same number of rows for each, got {[len(tensors[i]) for i in moved]}")
    if weights is not None and tuple(weights.shape) not in ((len(listed),), (count, len(listed))):
        raise ValueError(f"weights: expected a tensor of shape ({len(listed)},) or ({count}, {len(listed)}), got {tuple(weights.shape)}")
    body = made[0][1] if not several and weights is None else None
    p = _Problem(model, [goal for goal, _ in made], body, moved, weights is not None, q, options, [])
    answers: torch.Tensor = _Solve.apply(p, *inputs)
    return answers, p.reports[0]
