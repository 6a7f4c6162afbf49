"""Constraints: loops of files, shapes that keep apart, and what a report says of them."""

import copy
import threading

import numpy as np
import poise
import pytest

FOUR_BAR = """<mujoco><worldbody>
  <body name="crank"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
    <body name="rod" pos="0 0 .3"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/></body></body>
  <body name="rocker" pos="1 0 -.3"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .6"/></body>
</worldbody><equality><connect body1="rod" body2="rocker" anchor="1 0 0"/></equality></mujoco>"""

# Seven hinges in the places of a Panda's: x y z of the joint on its parent, its roll, its limits, and where a capsule ends.
JOINTS = [
    ((0, 0, 0.333), 0, 2.9, (0, 0, -0.15)),
    ((0, 0, 0), -np.pi / 2, 1.76, (0, -0.2, 0)),
    ((0, -0.316, 0), np.pi / 2, 2.9, (0, 0, -0.1)),
    ((0.0825, 0, 0), np.pi / 2, 3.0, (-0.04, 0.1, 0)),
    ((-0.0825, 0.384, 0), -np.pi / 2, 2.9, (0, 0, -0.25)),
    ((0, 0, 0), np.pi / 2, 3.7, (0.05, 0, 0)),
    ((0.088, 0, 0), np.pi / 2, 2.9, (0, 0, 0.2)),
]
START = np.array([0, -0.4, 0, -2.2, 0, 1.9, 0.7])


def urdf_of_arm():
    links, joints = ['<link name="base"/>'], []
    for i, (place, roll, limit, end) in enumerate(JOINTS):
        end = np.array(end, dtype=float)
        length = np.linalg.norm(end)
        x, y, z = end / length
        rpy = (0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))
        links.append(
            f'<link name="link{i + 1}"><collision><origin xyz="{" ".join(map(repr, map(float, end / 2)))}" '
            f'rpy="{" ".join(map(repr, map(float, rpy)))}"/>'
            f'<geometry><cylinder radius="{0.035 if i in (4, 6) else 0.05}" length="{float(length)!r}"/></geometry></collision></link>')
        joints.append(
            f'<joint name="joint{i + 1}" type="revolute"><parent link="{"base" if i == 0 else f"link{i}"}"/>'
            f'<child link="link{i + 1}"/><origin xyz="{" ".join(map(str, place))}" rpy="{roll!r} 0 0"/><axis xyz="0 0 1"/>'
            f'<limit lower="{-limit}" upper="{limit}" effort="1" velocity="1"/></joint>')
    return f'<robot name="arm">{"".join(links + joints)}</robot>'


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    path = tmp_path_factory.mktemp("bar") / "bar.xml"
    path.write_text(FOUR_BAR)
    return poise.load(path)


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(urdf_of_arm())
    return poise.load(path)


# ---- Distances, by numpy alone ----


def rotation(q):
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def capsules(model, q):
    """(body, one end, the other, radius) in the world."""
    poses = model.fk(q)
    for kind, body, frame, half, radius in model.shapes:
        assert kind == "capsule"
        T = poses[model.bodies.index(body)]
        reach = rotation(frame[3:])[:, 2] * half[2]
        yield body, *((T @ np.append(frame[:3] + s * reach, 1))[:3] for s in (-1, 1)), radius


def least_along(distance, a, b):
    """The least distance of a point of the segment: the distance from something convex is convex along it."""
    low, high = 0.0, 1.0
    for _ in range(100):
        s, t = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, t) if distance(a + s * (b - a)) < distance(a + t * (b - a)) else (s, high)
    return distance(a + low * (b - a))


def outside_box(center, sides):
    return lambda p: np.linalg.norm(np.maximum(np.abs(p - center) - np.asarray(sides) / 2, 0))


def outside_segment(a, b):
    def distance(p):
        along = np.clip((p - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0, 1)
        return np.linalg.norm(p - a - along * (b - a))
    return distance


def clearance(model, q, distance):
    """From an obstacle, whose distance from a point is given, to the bodies."""
    return min(least_along(distance, a, b) - radius for _, a, b, radius in capsules(model, q))


def clearance_within(model, q):
    """Of the model's own shapes, but for those of neighbours."""
    parts = list(capsules(model, q))
    return min(least_along(outside_segment(a, b), c, d) - r - s
               for i, (_, a, b, r) in enumerate(parts) for _, c, d, s in parts[i + 2:])


# ---- Loops ----


def gap(model, q):
    """Between the rod's end and the rocker's, which the file makes one."""
    rod, rocker = model.fk(q, "rod"), model.fk(q, "rocker")
    return np.linalg.norm((rod @ [1, 0, 0, 1] - rocker @ [0, 0, 0.6, 1])[:3])


def test_loops_of_a_file_are_held(bar):
    assert bar.loops == ("the loop of rod and rocker (connect)",)
    goal = poise.position("rod", (0.1, 0, np.sqrt(0.09 - 0.01)))
    q, report = bar.solve(goal)
    assert report and report.holds and report.closure < 1e-12 and gap(bar, q) < 1e-12
    assert np.allclose(bar.fk(q, "rod")[:3, 3], (0.1, 0, np.sqrt(0.08)), atol=1e-6)
    q, report = bar.solve(goal, [0.1, 0.5, -0.4], loops=False)
    assert report and gap(bar, q) > 0.01


def test_copies_and_files_keep_loops_and_shapes(bar, tmp_path):
    poise.save(tmp_path / "bar.json", bar)
    for other in (copy.deepcopy(bar), poise.load(tmp_path / "bar.json")):
        assert other.loops == bar.loops and len(other.shapes) == len(bar.shapes) == 3
        q, report = other.solve("position rod 0.1 0 0.28")
        assert gap(other, q) < 1e-12


def test_calls_that_cannot_hold_loops_say_so(bar):
    T = bar.fk([0.1, 0.2, 0.3], "rod")
    with pytest.raises(poise.Error, match="loops=False"):
        bar.solve_all(poise.pose("rod", T))
    assert bar.solve_batch("rod", T[None], loops=False)[0].shape == (1, 3)
    with pytest.raises(ValueError, match="loops=False"):
        bar.solve("position rod 0 0 1", method="levenberg_marquardt")
    for call in (lambda: bar.sensitivity(poise.pose("rod", T), [0.1, 0.2, 0.3]), lambda: poise.Expressive(bar)):
        with pytest.warns(UserWarning, match="Model.solve holds them"):
            try:
                call()
            except poise.Error:
                pass  # a four-bar is no chain


def test_bodies_that_a_loop_joins_may_touch(bar):
    q, report = bar.solve("position rod 0.1 0 0.28284271", [0.3, -0.3, 0.1], avoid=True)
    assert report and gap(bar, q) < 1e-12  # the rod's end lies in the rocker's
    assert report.clearance > 0 and report.nearest == ("crank", "rocker")


# ---- Shapes ----


def test_an_arm_keeps_clear_of_obstacles_and_itself(robot):
    rng = np.random.default_rng(3)
    sides = np.array([0.1, 0.1, 0.6])
    free, blocked = 0, 0
    for _ in range(20):
        center = np.array([0.4, 0.0, 0.3]) + rng.uniform(-0.1, 0.1, 3)
        q_to = np.clip(START + rng.uniform(-0.7, 0.7, 7), robot.lower, robot.upper)
        goal = poise.position("link7", robot.fk(q_to, "link7")[:3, 3])
        q, report = robot.solve(goal, START, obstacles=[poise.box(center, sides)], margin=0.01, restarts=20)
        real = min(clearance(robot, q, outside_box(center, sides)), clearance_within(robot, q))
        assert robot.within_limits(q)
        if report.holds:
            assert real >= 0.01 - 1e-9
            assert report.clearance >= 0.01
        if report.clearance > 0:  # those that the pairs leave alone are nearer at times
            assert real <= report.clearance + 1e-7
            free += 1
        blocked += not report.reached
        assert report.reached == (report.holds and report.errors[0].error <= 1e-6)
    assert free > 15 and blocked > 0


def test_a_target_inside_an_obstacle_is_blocked_by_name(robot):
    place = robot.fk(START, "link7") @ [0, 0, 0.2, 1]
    ball = poise.sphere(place[:3], 0.08)
    q, report = robot.solve(poise.position("link7", place[:3], (0, 0, 0.2)), START, obstacles=[ball], restarts=5)
    assert not report and report.holds and report.clearance >= 0
    assert report.nearest == ("link7", "obstacle 1 (sphere)") and report.blocking == "link7 and obstacle 1 (sphere)"
    assert "link7 and obstacle 1 (sphere)" in report.reason
    assert clearance(robot, q, lambda p: np.linalg.norm(p - place[:3]) - 0.08) == pytest.approx(report.clearance, abs=1e-7)


SRDF = """<robot name="arm"><disable_collisions link1="link3" link2="link5"/><disable_collisions link1="base" link2="link7"/>
<group_state name="ready" group="arm"><joint name="joint2" value="-0.4"/></group_state></robot>"""


def test_an_srdf_names_pairs_that_may_touch(tmp_path):
    """Bent until the hand overlaps with an upper link: no answer, unless the SRDF says that they may."""
    urdf, srdf = tmp_path / "arm.urdf", tmp_path / "arm.srdf"
    urdf.write_text(urdf_of_arm())
    srdf.write_text(SRDF)
    strict = poise.load(urdf)
    rng = np.random.default_rng(5)
    held = dict(locked=strict.joints[1:], restarts=0)
    at = {}
    for _ in range(300):
        q = strict.random(rng=rng)
        report = strict.solve(poise.posture(q), q, avoid=True, **held)[1]
        if not report.holds:
            at[tuple(sorted(report.nearest))] = q
    pair, q = next(iter(at.items()))
    lenient = poise.load(urdf)
    lenient.exclude([pair])
    assert pair != tuple(sorted(lenient.solve(poise.posture(q), q, avoid=True, **held)[1].nearest))
    read = poise.read(srdf, model=strict)
    assert read.excluded == [("link3", "link5"), ("base", "link7")] and list(read.postures) == ["ready"]
    assert poise.load(urdf, srdf=srdf).bodies == strict.bodies
    with pytest.raises(poise.Error, match="is not an SRDF file"):
        poise.load(urdf, srdf=urdf)
    with pytest.raises(poise.Error, match="no body, joint or tool"):
        lenient.exclude([("link3", "lnik5")])
    with pytest.raises(ValueError, match="expected two bodies"):
        lenient.exclude([("link3",)])


def test_bodies_of_the_robot_have_a_margin_of_their_own(robot):
    ball = poise.sphere((0.5, 0, 0.5), 0.05)
    goal = poise.posture(START)
    near = robot.solve(goal, START, obstacles=[ball], margin=0.02)[1]
    assert robot.solve(goal, START, obstacles=[ball], margin=0.02, self_margin=near.clearance + 1)[1].outcome == "infeasible"
    assert robot.solve(goal, START, obstacles=[ball], margin=0.02, self_margin=0)[1].holds
    with pytest.raises(ValueError, match="add avoid=True"):
        robot.solve(goal, START, self_margin=0.01)


@pytest.mark.parametrize("obstacle, distance", [
    (poise.half_space((0, 0, 0.1)), lambda p: p[2] - 0.1),
    (poise.half_space((0.45, 0, 0), (-1, 0, 0)), lambda p: 0.45 - p[0]),
    (poise.capsule((0.5, -1, 0.2), (0.5, 1, 0.2), 0.1),
     lambda p: outside_segment(np.array([0.5, -1, 0.2]), np.array([0.5, 1, 0.2]))(p) - 0.1),
])
def test_every_kind_of_obstacle_is_where_it_says(robot, obstacle, distance):
    target = (0.55, 0.0, 0.1)
    q, report = robot.solve(poise.position("link7", target), START, obstacles=[obstacle], restarts=20)
    free, _ = robot.solve(poise.position("link7", target), START, restarts=20)
    assert clearance(robot, free, distance) < -0.01  # it is in the way
    assert report.holds and clearance(robot, q, distance) >= 0
    assert report.clearance <= min(clearance(robot, q, distance), clearance_within(robot, q)) + 1e-7


def test_obstacles_may_move_between_calls_and_differ_by_thread(robot):
    goal = poise.position("link7", robot.fk(START, "link7")[:3, 3])
    places = [robot.fk(START, "link7")[:3, 3] + (0, y, 0) for y in np.linspace(-0.2, 0.2, 9)]
    alone = [tuple(robot.solve(goal, START, obstacles=[poise.sphere(p, 0.1)])[0]) for p in places]
    assert len(set(alone)) > 3
    together = [None] * len(places)

    def work(i):
        together[i] = tuple(robot.solve(goal, START, obstacles=[poise.sphere(places[i], 0.1)])[0])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(places))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_a_body_may_carry_a_shape(robot):
    tray = poise.box((0, 0, 0.3), (0.3, 0.3, 0.02), body="link7")
    T = robot.fk(START, "link7")
    corners = [T @ [x, y, z, 1] for x in (-0.15, 0.15) for y in (-0.15, 0.15) for z in (0.29, 0.31)]
    wall = poise.half_space((max(corner[0] for corner in corners) + 0.01, 0, 0), (-1, 0, 0))
    goal = poise.position("link7", T[:3, 3])
    _, light = robot.solve(goal, START, obstacles=[wall])
    _, laden = robot.solve(goal, START, obstacles=[wall, tray])
    assert light.holds and laden.holds and light.clearance > 0.01
    assert laden.clearance == pytest.approx(0.01) and laden.nearest == ("obstacle 1 (plane)", "obstacle 2 (box)")


def test_what_cannot_be_kept_apart_is_refused(arm, robot):
    goal = poise.position(arm.bodies[-1], (0.3, 0, 0.5))
    with pytest.raises(poise.Error, match="no collision shapes"):
        arm.solve(goal, avoid=True)
    with pytest.raises(ValueError, match="avoid=True"):
        arm.solve(goal, margin=0.1)
    with pytest.raises(poise.Error, match='no body, joint or tool is called "hnad"'):
        robot.solve("position link7 0 0 1", obstacles=[poise.sphere((0, 0, 2), 0.1), poise.sphere((0, 0, 2), 1, body="hnad")])
    with pytest.raises(TypeError, match="poise.box"):
        robot.solve("position link7 0 0 1", obstacles=[1])
    with pytest.raises(TypeError, match="poise.weld"):
        robot.solve("position link7 0 0 1", constraints=[poise.sphere((0, 0, 2), 0.1)])
    with pytest.raises(poise.Error, match="no collision shapes"):
        arm.solve_batch(arm.bodies[-1], np.eye(4)[None], avoid=True)
    with pytest.raises(ValueError, match="does not support constraints"):
        robot.solve_batch("link7", np.eye(4)[None], avoid=True, method="levenberg_marquardt")
    with pytest.raises(poise.Error, match="problem 0: .*no mass"):
        robot.solve_batch("link7", np.eye(4)[None], constraints=[poise.balance([(0, 0), (1, 0), (0, 1)])])


# ---- Many at once ----


def test_a_batch_within_constraints_has_the_bits_of_single_solves(robot):
    rng = np.random.default_rng(4)
    targets = robot.fk(robot.clamp(START + rng.uniform(-0.8, 0.8, (40, 7))), "link7")
    given = dict(obstacles=[poise.box((0.45, 0, 0.5), (0.2, 0.2, 0.6))], margin=0.01, restarts=6, start="cold")
    answers, report = robot.solve_batch("link7", targets, START, **given)
    assert answers.shape == (40, 7) and 5 < report.reached.sum() < 40
    for q, target, *row in zip(answers, targets, report.outcome, report.holds, report.clearance, report.blocking):
        alone, single = robot.solve(poise.pose("link7", target), START, **given)
        assert (q == alone).all() and row == [single.outcome, single.holds, single.clearance, single.blocking]
    assert any(name and "obstacle 1" in name for name in report.blocking)
    free = robot.solve_batch("link7", targets[:3])[1]
    assert free.holds.all() and np.isnan(free.clearance).all() and list(free.blocking) == [None] * 3


def test_a_batch_closes_loops_and_names_what_is_in_the_way(bar):
    goals = [f"position rod {x} 0 {(0.09 - x * x) ** 0.5}" for x in (0.1, 0.05, -0.1)]
    answers, report = bar.solve_batch(goals)
    assert report.reached.all() and (report.closure < 1e-12).all() and all(gap(bar, q) < 1e-12 for q in answers)
    everything = poise.box((0, 0, 0), (9, 9, 9))
    _, report = bar.solve_batch(goals, obstacles=[everything], restarts=2)
    assert not report.holds.any() and set(report.outcome) == {"infeasible"}
    assert all("obstacle 1" in name for name in report.blocking) and (report.clearance < 0).all()


# ---- Constraints of the caller's ----


def test_constraints_hold(robot, humanoid):
    goal = poise.position("link7", (0.5, 0.2, 0.3))
    q, report = robot.solve(goal, START, constraints=[poise.band("link7", (0, 0, 0.4))], restarts=5)
    assert report.holds and not report and robot.fk(q, "link7")[2, 3] >= 0.4 - 1e-9
    assert "link7" in report.blocking
    q, report = robot.solve(goal, START, constraints=[poise.rod("link7", (0, 0, 0.3), 0.5)], restarts=5)
    assert report.holds and np.linalg.norm(robot.fk(q, "link7")[:3, 3] - (0, 0, 0.3)) == pytest.approx(0.5, abs=1e-9)
    T = robot.fk(START, "link7")
    q, report = robot.solve(poise.position("link5", (0.3, 0.1, 0.6)), START, constraints=[poise.weld("link7", T)])
    assert report.holds and np.allclose(robot.fk(q, "link7"), T, atol=1e-9)


def test_ties_hold_points_and_axes(robot):
    aim, place = poise.position("link5", (0.3, 0.1, 0.6)), (0, 0, 0.1)
    T = robot.fk(START, "link7")
    point = T[:3, 3] + T[:3, :3] @ place
    q, report = robot.solve(aim, START, constraints=[poise.connect("link7", point, place)])
    now = robot.fk(q, "link7")
    assert report.holds and np.allclose(now[:3, 3] + now[:3, :3] @ place, point, atol=1e-9)
    assert not np.allclose(now, T, atol=1e-3)  # its rotation is free
    q, report = robot.solve(aim, START, constraints=[poise.hinge("link7", T)])
    now = robot.fk(q, "link7")
    assert report.holds and np.allclose(now[:3, 2:], T[:3, 2:], atol=1e-9)  # origin and z
    q, report = robot.solve(aim, START, constraints=[poise.hinge("link7", T), poise.connect("link5", (9, 0, 0))])
    assert report.outcome == "infeasible" and not report.holds and "link5" in report.blocking


def test_two_bodies_can_be_tied_together(humanoid):
    """A hand is held by the other while it reaches away."""
    left, right = "left_palm", "right_palm"
    goal = [poise.position(left, (0.5, 1.4, 0.4)), poise.posture(humanoid.neutral(), weight=1e-3)]
    q, report = humanoid.solve(goal, humanoid.neutral(), constraints=[poise.connect(left, (0, 0.05, 0), other=right)])
    hands = {body: humanoid.fk(q, body) for body in (left, right)}
    assert report.holds and np.allclose(hands[left][:3, 3], (hands[right] @ (0, 0.05, 0, 1))[:3], atol=1e-8)


def test_balance_is_kept(humanoid):
    """Who reaches far ahead leans back, so that the centre of mass stays above the soles."""
    feet = [poise.pose(foot, humanoid.fk(humanoid.neutral(), foot), weight=10) for foot in ("left_foot", "right_foot")]
    goals = [*feet, poise.position("left_palm", (0.3, 0.9, 1.2)), poise.posture(humanoid.neutral(), weight=1e-3)]
    soles = [(-0.1, 0, -0.05), (-0.1, 0, 0.12), (0.1, 0, 0.12), (0.1, 0, -0.05)]
    falls, _ = humanoid.solve(goals, humanoid.neutral())
    stands, report = humanoid.solve(goals, humanoid.neutral(), constraints=[poise.balance(soles, margin=0.02, axis=(0, 1, 0))])
    assert humanoid.center_of_mass(falls)[2] > 0.13
    x, _, z = humanoid.center_of_mass(stands)
    assert report.holds and abs(x) <= 0.08 + 1e-8 and -0.03 - 1e-8 <= z <= 0.10 + 1e-8
    with pytest.raises(poise.Error, match="corner|polygon|convex"):
        humanoid.solve(goals, humanoid.neutral(), constraints=[poise.balance(soles[::-1], axis=(0, 1, 0))])


# ---- Batches ----


def test_a_bad_row_of_a_batch_is_marked(arm):
    Q = np.random.default_rng(5).uniform(-0.5, 0.5, (1000, arm.nq))
    targets = arm.fk(Q, "tip")
    whole, _ = arm.solve_batch("tip", targets)
    targets[417, 0, 3] = np.nan
    with pytest.raises(poise.Error, match="problem 417"):
        arm.solve_batch("tip", targets)
    answers, report = arm.solve_batch("tip", targets, on_error="mark")
    assert np.isnan(answers[417]).all() and report.outcome[417] == "refused" and not report.reached[417]
    rest = np.arange(1000) != 417
    assert (answers[rest] == whole[rest]).all() and report.reached[rest].all()
    assert set(report.outcome[rest]) == {"reached"}
    assert repr(report) == "<poise.BatchReport: 1000 problems: 999 reached, 1 refused>"
    with pytest.raises(ValueError, match="raise, mark"):
        arm.solve_batch("tip", targets, on_error="skip")


def test_shapes_that_were_not_read_are_an_error_unless_allowed(tmp_path):
    text = """<robot name="r"><link name="base"/>
      <link name="a"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <link name="b"><collision><geometry><mesh filename="nowhere.stl"/></geometry></collision></link>
      <joint name="j" type="continuous"><parent link="base"/><child link="a"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
      <joint name="k" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
      </robot>"""
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    model = poise.load(path)
    ball = poise.sphere((2, 0, 0), radius=0.1)
    with pytest.raises(poise.Error, match="allow_missing"):
        model.solve("position b 0.5 0 1.5", avoid=True, obstacles=[ball])
    _, report = model.solve("position b 0.5 0 1.5", avoid=True, obstacles=[ball], allow_missing=True)
    assert report.holds


def test_all_answers_that_hold():
    arm = poise.scene("arm6")
    pose = poise.pose("tip", arm.fk(np.full(6, 0.5), "tip"))
    every, _ = arm.solve_all(pose)
    elbows = arm.fk(every, "elbow")[:, 2, 3]
    high = poise.band("elbow", (0, 0, 0), lower=(elbows.min() + elbows.max()) / 2)
    some, report = arm.solve_all(pose, constraints=[high])
    assert 0 < len(some) < len(every) and report and report.holds
    assert sorted(map(tuple, some)) == sorted(tuple(q) for q, z in zip(every, elbows) if z > elbows.mean())
    none, report = arm.solve_all(pose, constraints=[poise.band("elbow", (0, 0, 0), lower=5)])
    assert len(none) == 0 and not report and report.outcome == "infeasible" and "elbow" in report.blocking
    assert len(arm.solve_all(pose, most=1, constraints=[poise.band("elbow", (0, 0, 0), lower=-5)])[0]) == 1


def test_one_shape_and_one_constraint_need_no_list(robot):
    goal = poise.position("link7", (0.3, 0, 0.5))
    ball, high = poise.sphere((0.3, 0.2, 0.5), 0.05), poise.band("link7", (0, 0, 0.2))
    for one, several in (({"obstacles": ball}, {"obstacles": [ball]}), ({"constraints": high}, {"constraints": [high]})):
        assert np.array_equal(robot.solve(goal, robot.neutral(), **one)[0], robot.solve(goal, robot.neutral(), **several)[0])
    assert robot.solve(goal, robot.neutral(), obstacles=(ball for _ in range(2)))[1].clearance is not None


def test_what_is_in_the_way_is_named(robot):
    """The hand is sent into a ball, which nothing else keeps it from; away from it there is nothing to name."""
    there = robot.fk(START, "link7")[:3, 3] + (0.05, 0.05, 0.05)
    ball = poise.sphere(there, radius=0.3)
    goal = poise.position("link7", there)
    q, report = robot.solve(goal, START, obstacles=[ball])
    assert not report.reached
    assert robot.blockers(goal, START, obstacles=[ball]) == ("shapes",)
    assert robot.blockers(poise.position("link7", (9, 0, 0)), START, obstacles=[ball]) == ()
    assert robot.blockers([goal, poise.posture(START)], START) == ("soft goals",)
    with pytest.raises(ValueError, match="use auto"):
        robot.blockers(goal, START, method="lbfgs")


def test_a_motion_is_judged_by_what_it_should_keep_to(robot):
    """Frames in which the hand is inside a ball are named; where it is not asked for nothing is."""
    there = robot.fk(START, "link7")[:3, 3]
    away = START + [0.8, 0, 0, 0, 0, 0, 0]
    ball = poise.sphere(there, radius=0.05)
    judged = poise.judge_constraints(robot, [away, START, START, away], obstacles=[ball])
    assert not judged and judged.verdict == "doubtful"
    assert judged.broken == {"clearance": [1, 2], "balance": [], "loops": []}
    assert "nearer than they may be in 50.0 % of the frames" in judged.findings[0].text
    assert (judged.findings[0].kind, judged.findings[0].first) == ("clearance", 1)
    assert poise.judge_constraints(robot, [away, away], obstacles=[ball]).verdict == "good"
    pinned = poise.judge_constraints(robot, [START, away], constraints=[poise.connect("link7", there)])
    assert pinned.broken["loops"] == [1] and "open in 50.0 %" in pinned.findings[0].text
    with pytest.raises(TypeError, match="there is no 'goals'"):
        poise.judge_constraints(robot, [away], goals=1)
