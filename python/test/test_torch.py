"""Gradients through inverse kinematics in torch."""

import numpy as np
import poise
import pytest
from test_sensitivity import singular_wrist

torch = pytest.importorskip("torch", reason="python3-torch is not installed")
import poise.torch  # noqa: E402

TIGHT = dict(position_tolerance=1e-13, rotation_tolerance=1e-13, gradient_tolerance=1e-14)


def quaternion(matrix):
    """x y z w of a rotation with a positive trace."""
    w = np.sqrt(1 + np.trace(matrix)) / 2
    return np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1], 4 * w * w]) / (4 * w)


def sevens(poses, length=1.0):
    return np.array([np.append(T[:3, 3], length * quaternion(T[:3, :3])) for T in poses])


def tensor(numbers):
    return torch.tensor(np.asarray(numbers), requires_grad=True)


def checks(function, *inputs):
    return torch.autograd.gradcheck(function, inputs, eps=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def problem():
    arm = poise.scene("arm6")
    q = np.array([[0.3, -0.4, 0.8, 0.2, 0.5, -0.1], [-0.2, 0.3, 0.5, -0.4, 0.3, 0.6]])
    return arm, q, arm.fk(q, "tip")


def test_quaternions_and_matrices_have_gradients(problem):
    arm, q, poses = problem
    for targets in (sevens(poses, 1.3), poses):
        assert checks(lambda t: poise.torch.solve(arm, "tip", t, q, **TIGHT)[0], tensor(targets))
    answers, report = poise.torch.solve(arm, "tip", tensor(poses), q + 0.01)
    assert isinstance(report, poise.BatchReport) and report.reached.all() and np.allclose(answers.detach(), q, atol=1e-5)


def test_differences_of_answers_that_miss_agree(problem):
    """Beside a posture the cost is not 0 and tells gradients down to 1e-8 only: the last steps are judged by the gradient."""
    arm, q, poses = problem
    goals = ["tip", poise.posture(arm.neutral(), 0.3)]
    weights = tensor([[1.0, 0.3]] * 2)
    for targets in (sevens(poses), poses[:, :3, 3]):
        solve = lambda t, w: poise.torch.solve(arm, goals, [t, None], q, weights=w, gradient_tolerance=1e-14)[0]  # noqa: E731
        assert torch.autograd.gradcheck(solve, (tensor(targets), weights), eps=1e-6, atol=1e-6, rtol=1e-6)


def test_matrices_that_are_no_rotations_are_refused_by_name(problem):
    arm, q, poses = problem
    poses = poses.copy()
    poses[1, 0, 0] += 0.1
    for goals, targets in (("tip", poses), (["tip"], [poses]), (poise.orientation("tip", np.eye(3)), poses[:, :3, :3])):
        tensors = [torch.tensor(t) for t in targets] if isinstance(targets, list) else torch.tensor(targets)
        with pytest.raises(ValueError, match=r"(targets\[1\]: the matrix|targets\[0\]: matrix 1) is"):
            poise.torch.solve(arm, goals, tensors, q)
        _, report = poise.torch.solve(arm, goals, tensors, q, on_error="mark")
        assert list(report.outcome) == ["reached", "refused"]


def test_the_matrix_gradient_is_that_of_its_rotation(problem):
    """Through a rotation vector, which torch differentiates on its own, matrices and quaternions give the same."""
    arm, q, poses = problem
    grads = []
    for as_matrix in (True, False):
        turn = tensor(np.zeros((2, 3)))
        T = torch.tensor(poses)
        if as_matrix:
            a, b, c = turn.T
            o = torch.zeros_like(a)
            R = torch.matrix_exp(torch.stack([o, -c, b, c, o, -a, -b, a, o], 1).reshape(-1, 3, 3)) @ T[:, :3, :3]
            targets = torch.cat([torch.cat([R, T[:, :3, 3:]], 2), T[:, 3:]], 1)
        else:
            u = torch.tensor(sevens(poses)[:, 3:])
            a, b, c = turn.T / 2
            x, y, z, w = u.T
            by = torch.stack([a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -a * x - b * y - c * z], 1)
            targets = torch.cat([T[:, :3, 3], u + by], 1)
        (poise.torch.solve(arm, "tip", targets, q, **TIGHT)[0] ** 2).sum().backward()
        grads.append(turn.grad.numpy())
    assert np.abs(grads[0]).max() > 0.1 and np.allclose(*grads, atol=1e-9)


def test_single_precision_is_served(problem):
    arm, q, poses = problem
    targets = torch.tensor(poses, dtype=torch.float32, requires_grad=True)
    answers, report = poise.torch.solve(arm, "tip", targets, q)
    answers.sum().backward()
    assert report.reached.all() and answers.dtype == targets.grad.dtype == torch.float32
    exact = tensor(poses)
    poise.torch.solve(arm, "tip", exact, q)[0].sum().backward()
    assert np.allclose(targets.grad, exact.grad, rtol=1e-4, atol=1e-4)


HANDS = ["left_hand", "right_hand"]


@pytest.fixture(scope="module")
def person():
    """Two configurations away from all limits, at which answers have kinks."""
    body = poise.scene("humanoid-quaternion")
    rng = np.random.default_rng(1)
    q = np.stack([body.retract(body.neutral(), 0.2 * rng.normal(size=body.nv)) for _ in range(2)])
    limited = np.isfinite(body.lower) & np.isfinite(body.upper)
    inside = body.lower[limited] + rng.uniform(0.3, 0.6, (2, limited.sum())) * (body.upper - body.lower)[limited]
    q[:, limited] = inside
    return body, q


def test_goals_of_every_kind_have_gradients(person):
    """Beside a posture, which makes the minimum sharp; targets out of reach, too."""
    body, q = person
    q = q[:1]
    rest = poise.posture(q[0], 0.3)
    hand = body.fk(q, "left_hand")
    near = hand[:, :3, 3] + 0.02
    nearby = hand.copy()
    nearby[:, :3, 3] += 0.02
    by_kind = {
        "position": (poise.position("left_hand", (0, 0, 0)), near),
        "pose": (poise.pose("left_hand", np.eye(4)), nearby),
        "orientation": (poise.orientation("left_hand", np.eye(3)), body.fk(q, "right_hand")[:, :3, :3]),
        "quaternion": (poise.orientation("left_hand", np.eye(3)), 1.2 * sevens(body.fk(q, "right_hand"))[:, 3:]),
        "direction": (poise.direction("left_hand", (0, 0, 1)), np.array([[0.3, 2, 0.4]])),
        "aim": (poise.aim("head", (0, 0, 1)), near + 1),
        "plane": (poise.plane("left_hand", (0, 0, 0), (0, 1, 0)), near),
        "line": (poise.line("left_hand", (0, 0, 0), (0, 1, 0)), near + 0.1),
        "distance": (poise.distance("left_hand", (0, 0, 0), 0.3), near + 0.2),
        "relative": (poise.relative("left_hand", "right_hand", np.eye(4)), np.linalg.inv(body.fk(q, "right_hand")) @ nearby),
        "center_of_mass": (poise.center_of_mass((0, 0, 0)), body.center_of_mass(q) + 0.03),
    }
    some = slice(0, 40)  # root to left hand
    for kind, (goal, targets) in by_kind.items():
        assert checks(lambda t: poise.torch.solve(body, [goal, rest], [t, None], q, **TIGHT)[0][:, some], tensor(targets)), kind


def test_several_goals_and_their_weights(person):
    body, q = person
    rest = poise.posture(q[0], 0.3)
    places = [tensor(body.fk(q, hand)[:, :3, 3] + 0.02) for hand in HANDS]
    weights = tensor([1.0, 2.0, 0.4])

    def answers(left, right, weights):
        return poise.torch.solve(body, [*HANDS, rest], [left, right, None], q, weights=weights, **TIGHT)[0][:, 7::5]

    assert checks(answers, *places, weights)
    assert checks(answers, *places, tensor([[1.0, 2.0, 0.4], [0.5, 1.0, 0.3]]))
    assert rest.weight == 0.3


def test_a_posture_is_learned(person):
    """Its gradient, of quaternions of any length as well."""
    body, q = person
    hand = torch.tensor(body.fk(q, "left_hand")[:, :3, 3] + 0.05)
    posture = q * np.where([".q" in name for name in body.coordinates], 1.2, 1)
    goals = ["left_hand", poise.posture(q[0], 0.5)]
    assert checks(lambda p: poise.torch.solve(body, goals, [hand, p], q, **TIGHT)[0][:, 7:60:4], tensor(posture))


def test_rows_that_are_refused_have_no_gradient_and_a_nan_stays_one(problem):
    arm, q, poses = problem
    poses = np.concatenate([poses, poses, poses])
    poses[1, 0, 3], poses[4, :3, :3] = np.nan, 0
    targets = tensor(poses)
    answers, report = poise.torch.solve(arm, "tip", targets, np.tile(q, (3, 1)), on_error="mark")
    good = torch.tensor(report.outcome != "refused")
    assert good.tolist() == [True, False, True, True, False, True] and torch.isnan(answers[~good]).all()
    answers[good].sum().backward(retain_graph=True)
    assert torch.equal(targets.grad[~good], torch.zeros_like(targets.grad[~good])) and (targets.grad[good].abs().amax((1, 2)) > 0.1).all()
    wanted = targets.grad.clone()
    targets.grad = None
    answers.sum().backward(retain_graph=True)  # NaN, but the rows are each for themselves
    assert torch.equal(targets.grad, wanted)
    targets.grad = None
    answers.backward(torch.where(torch.arange(6)[:, None] == 3, torch.nan, 1.0) * torch.ones(6, 6))
    assert torch.isnan(targets.grad[3]).all() and torch.equal(targets.grad[0], wanted[0])
    with pytest.raises(ValueError, match="problem 1: .* finite"):
        poise.torch.solve(arm, "tip", targets, q[0])
    goals = [poise.pose("tip", np.eye(4)), poise.posture(q[0], 0.1)]
    answers, report = poise.torch.solve(arm, goals, [targets, None], q[0], on_error="mark")
    targets.grad = None
    answers[good].sum().backward()
    assert (report.outcome == "refused").tolist() == (~good).tolist() and not torch.isnan(targets.grad).any()


def test_answers_without_a_derivative_are_warned_of(problem):
    arm, q, _ = problem
    q = q.copy()
    q[1, 4] = singular_wrist(arm, q[1])
    targets = tensor(arm.fk(q, "tip"))
    answers, _ = poise.torch.solve(arm, "tip", targets, q)
    with pytest.warns(RuntimeWarning, match="1 of 2 answers have no derivative"):
        answers.sum().backward()
    assert targets.grad[0].abs().sum() > 0 and targets.grad[1].abs().sum() == 0


def test_what_is_wrong_is_said(problem):
    arm, q, poses = problem
    T = torch.tensor(poses)
    for call, words in (
        (lambda: poise.torch.solve(arm, "tip", T[0]), "got one of shape"),
        (lambda: poise.torch.solve(arm, "tip", poses), "expected a tensor of shape .* for a pose goal"),
        (lambda: poise.torch.solve(arm, ["tip", "tip"], [T]), "a list of 2 tensors"),
        (lambda: poise.torch.solve(arm, ["tip", "tip"], [None, None]), "but not of all"),
        (lambda: poise.torch.solve(arm, ["tip", "tip"], [T, T[:1]]), "same number of rows"),
        (lambda: poise.torch.solve(arm, "tip", T, weights=torch.ones(3)), "weights: expected a tensor of shape"),
        (lambda: poise.torch.solve(arm, "tpi", T), "did you mean"),
        (lambda: poise.torch.solve(arm, ["tpi"], [T]), "did you mean"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_quaternion_joints(person):
    """dL/dq of quaternions is that of their steps."""
    model, q = person
    grad = np.random.default_rng(3).normal(size=q[:1].shape)
    steps = poise.torch._step_gradient(model, q[:1], grad)[0]
    for i in range(model.nv):
        e = np.zeros(model.nv)
        e[i] = 1e-6
        measured = (model.retract(q[0], e) - model.retract(q[0], -e)) @ grad[0] / 2e-6
        assert np.isclose(measured, steps[i], atol=1e-7)


def test_a_tool_is_calibrated_by_descent_through_ik(problem):
    """Joint values were recorded with a tool whose offset is unknown; find the offset from them."""
    arm, q, poses = problem
    offset = np.array([0.03, -0.02, 0.05])
    rotations = torch.tensor(poses[:, :3, :3])
    tips = torch.tensor(poses[:, :3, 3] + poses[:, :3, :3] @ offset)  # what the camera saw: the tool's end
    turns = torch.tensor(np.array([quaternion(T[:3, :3]) for T in poses]))
    guess = torch.zeros(3, dtype=torch.double, requires_grad=True)
    descent = torch.optim.LBFGS([guess], max_iter=50, line_search_fn="strong_wolfe")

    def loss():
        descent.zero_grad()
        targets = torch.cat([tips - rotations @ guess, turns], dim=1)
        answers, _ = poise.torch.solve(arm, "tip", targets, q, position_tolerance=1e-10)
        value = ((answers - torch.tensor(q)) ** 2).sum()
        value.backward()
        return value

    descent.step(loss)
    assert np.allclose(guess.detach().numpy(), offset, atol=1e-5)
