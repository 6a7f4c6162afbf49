"""Inverse kinematics as a function of torch, with exact gradients.

    import poise.torch

    q = poise.torch.solve(robot, "hand", targets)     # targets (N, 7): x y z, quaternion x y z w
    loss(q).backward()                                 # targets.grad

The derivative is that of the answer within its limits (poise.Model.sensitivity). An answer that no small change of its target
moves smoothly, because it is no minimum, has a gradient of zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from . import _poise, device


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


def _step_gradient(model: _poise.Model, q: np.ndarray, grad: np.ndarray) -> np.ndarray:
    """dL/dq by components of a step: a quaternion q steps by q (v, 0) / 2."""
    if model.nq == model.nv:
        return grad
    out, keep = np.zeros((len(q), model.nv)), np.ones(model.nq, bool)
    plain = np.ones(model.nv, bool)
    for i, v in _quaternions(model):
        keep[i : i + 4] = plain[v : v + 3] = False
        x, y, z, w = (q[:, i + k] for k in range(4))
        gx, gy, gz, gw = (grad[:, i + k] for k in range(4))
        out[:, v] = (w * gx + z * gy - y * gz - x * gw) / 2
        out[:, v + 1] = (-z * gx + w * gy + x * gz - y * gw) / 2
        out[:, v + 2] = (y * gx - x * gy + w * gz - z * gw) / 2
    out[:, plain] = grad[:, keep]
    return out


def _solve(model: _poise.Model, body: Any, targets: torch.Tensor, start: Any, options: dict) -> torch.Tensor:
    """Answers where the targets are: on their device, if it serves such a robot and libpoise_cuda is there, or from the host."""
    if targets.is_cuda and device.is_there():
        there = targets.detach().double()
        there = torch.cat([there[:, :3], torch.nn.functional.normalize(there[:, 3:])], 1)
        start_there = None if start is None else torch.as_tensor(start, dtype=torch.float64, device=targets.device)
        try:
            return torch.from_dlpack(model.solve_batch(body, there, start_there, **options)[0])
        except _poise.Error as refusal:
            if refusal.status != "unsupported":
                raise
    answers, _ = model.solve_batch(body, _host(targets), start if start is None else _host(start), **options)
    return torch.from_numpy(answers)


def _host(numbers: Any) -> np.ndarray:
    return numbers.detach().cpu().double().numpy() if isinstance(numbers, torch.Tensor) else numbers


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, targets: torch.Tensor, model: _poise.Model, body: Any, start: Any, options: dict) -> torch.Tensor:
        answers = _solve(model, body, targets, start, options)
        ctx.model, ctx.body, ctx.targets, ctx.answers = model, body, targets.detach(), answers
        return answers.to(targets)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        numbers, answers = _host(ctx.targets), _host(ctx.answers)
        steps = _step_gradient(ctx.model, answers, _host(grad))
        rows = ctx.model.pose_gradients(ctx.body, numbers, answers, np.ascontiguousarray(steps))
        out = np.empty_like(numbers)
        out[:, :3] = rows[:, :3]
        # a turn by the small vector r moves the unit quaternion u to u + (r, 0) u / 2
        size = np.linalg.norm(numbers[:, 3:], axis=1, keepdims=True)
        x, y, z, w = (numbers[:, 3:] / size).T
        a, b, c = rows[:, 3:].T
        out[:, 3:] = 2 * np.stack([a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -a * x - b * y - c * z], 1)
        out[:, 3:] /= size
        return torch.from_numpy(out).to(grad), None, None, None, None


def solve(model: _poise.Model, body: Any, targets: torch.Tensor, q: Any = None, **options: Any) -> torch.Tensor:
    """Joint values (N, nq) for poses of `body`, (N, 7): x y z and a quaternion x y z w of any length.

    `q` are starts, as solve_batch takes them. Gradients flow to the targets. Targets on a CUDA device are solved there.
    """
    if not isinstance(targets, torch.Tensor) or targets.ndim != 2 or targets.shape[1] != 7:
        given = tuple(targets.shape) if isinstance(targets, torch.Tensor) else type(targets)
        raise ValueError(f"targets: a tensor of shape (N, 7) is wanted, x y z and a quaternion x y z w, not {given}")
    return _Solve.apply(targets, model, body, q, options)
