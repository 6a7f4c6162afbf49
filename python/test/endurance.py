"""The package for as long as you like: calls of every kind, well and badly made, and memory that stays flat.

    python3 endurance.py [ROUNDS]        15,000 rounds are more than 10^6 calls
    python3-dbg endurance.py [ROUNDS]    the same with the interpreter's own checks of memory and references

First every call by itself: no block of memory and no reference to what it was handed may be left. (The sum of all
references says nothing: numpy is not compiled to count it.) Then all of them, over and over. Ends with 1 where something grows.
`make nightly` runs both.
"""

import gc
import os
import sys

sys.path.insert(0, os.environ.get("POISE_PYTHON", os.path.join(os.path.dirname(__file__), "../../build/python")))

import numpy as np
import poise

arm, body = poise.scene("arm7"), poise.scene("humanoid-quaternion")
q = np.full(arm.nq, 0.4)
T = arm.fk(q, "tip")
targets = np.repeat(T[None], 4, axis=0)
lost = targets.copy()
lost[1, 0, 3] = np.nan
steps = np.ones((4, arm.nv))
goal = poise.pose("tip", T)
lamp = poise.scene("lamp")
erik, expressive, motors = poise.Erik(lamp), poise.Expressive(lamp), poise.Filter(lamp, velocity=3)
motors.reset(lamp.neutral())
document = poise.dump("arm.json", arm)
ball = poise.sphere((2, 2, 2), 0.1, body="tip")
bars = poise.parse("""<mujoco><worldbody><body name="a"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .5"/>
<body name="b" pos="0 0 .5"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .5"/></body></body>
</worldbody></mujoco>""", "bars.xml").model


def set_target():
    goal.target = T


def gradients():
    s = arm.sensitivity(goal, q)
    s.jacobian(), s.forward(0, translation=(1, 0, 0)), s.backward(np.ones(arm.nv))


def solve_in_words():
    report = arm.solve("position tip 0.3 0.1 0.6; aim tip to 1 0 0.5", q)[1]
    return report.errors, report.outcome, report.reason, report._asdict(), repr(report), bool(report)


def pull(frame):
    return 0.5, np.zeros(6)


def fails(frame):
    raise ValueError("of mine")


clip, markers = poise.Clip(np.tile(q, (5, 1)), 0.1), poise.Markers("ab", np.zeros((4, 2, 3)), 10)

q4, far = np.repeat(q[None], 4, axis=0), poise.sphere((1, 1, 1), 0.1)
pairs = list(zip(goal.each(targets), poise.posture(q, 0.1).each(q4)))

CALLS = [
    lambda: arm.solve(goal, q),
    lambda: arm.solve([poise.callback("tip", pull), goal], q, max_iterations=3),
    lambda: arm.solve_batch([poise.callback("tip", pull)] * 2, q, max_iterations=2, threads=2),
    lambda: (body.center_of_mass(body.neutral()), body.center_of_mass_jacobian(body.neutral()), body.mass),
    lambda: (clip.resampled(arm, 20), clip.at(arm, [0.1, 0.2]), clip[1:3], markers.resampled(20)),
    lambda: arm.solve_all(goal, most=2, restarts=5, constraints=[poise.band("tip", (0, 0, -9))]),
    lambda: arm.solve([goal, poise.posture(q, 1e-4)], q, restarts=2, locked=["elbow"]),
    solve_in_words,
    lambda: bars.solve("position b 0.1 0 0.9", obstacles=[poise.sphere((1, 1, 1), 0.1)], margin=0.01),
    lambda: arm.solve_all(goal, most=2),
    lambda: arm.solve_batch("tip", targets, q, threads=1),
    lambda: arm.solve_batch([goal] * 3, q, threads=1),
    lambda: arm.solve_batch("tip", lost, on_error="mark", threads=1),
    lambda: (arm.fk(q), arm.fk(q, "tip"), arm.jacobian(q, "tip"), arm.tensor(q, "tip"), arm.evaluate(goal, q)),
    lambda: (arm.retract(q, q), arm.difference(q, q), arm.clamp(q), arm.within_limits(q), arm.neutral()),
    lambda: (arm.joints, arm.tools, arm.types, arm.parents, arm.coordinates, arm.lower, arm.shapes, arm.loops, repr(arm)),
    lambda: body.fk(body.neutral()),
    lambda: arm.configuration({"elbow": 0.5}),
    gradients,
    lambda: arm.pose_gradients("tip", targets, np.repeat(q[None], 4, axis=0), steps),
    lambda: arm.goal_gradients(pairs, q4, steps),
    lambda: [getattr(goal, name) for name in ("target", "body", "tolerance", "local", "loss", "priority")],
    lambda: (poise.posture(q).each(q4), poise.pose("tip", T).each(lost), poise.direction("tip", (0, 0, 1)).each(np.ones((4, 3)))),
    lambda: bars.solve("position b 0.1 0 0.9", obstacles=far, constraints=poise.band("b", (0, 0, -9))),
    lambda: poise.edit((arm, clip), pins="tip 0.3 0.1 0.6 from 0.1 s to 0.2 s", hold="elbow", metres=1, up="z"),
    set_target,
    lambda: erik.solve(lamp.neutral(), (0, 0, 0, 1)),
    lambda: expressive.solve(poise.aim("light", (0.6, 0, 0.2), axis=(0, 1, 0)), posture=lamp.neutral()),
    lambda: motors.step(lamp.neutral(), 0.001),
    lambda: poise.Control(arm, velocity=1, acceleration=[2] * arm.nv, locked=["elbow"]).step(goal, q, q, 0.01),
    lambda: poise.Tracker(arm, [("tip", (0, 0, 0), 1), (0, (0, 0, 1), 2)], least_markers=1).next(np.ones((2, 3))),
    lambda: poise.dh([(0.4, 0, 0, 0), (0.3, 0, 0, 0, -1, 1)]),
    lambda: poise.parse(document, "arm.json"),
    lambda: poise.dump("arm.json", arm),
    lambda: (poise.scene("arm6"), poise.scenes()),
    lambda: [poise.relative("tip", 0, T), poise.center_of_mass((0, 0, 1)), poise.line("tip", (0, 0, 0), (0, 0, 1))],
]
REFUSED = [
    lambda: arm.goal_gradients([pairs[0], pairs[1][:1]], q4[:2], steps[:2]),
    lambda: arm.goal_gradients(pairs, q4, steps * np.nan),
    lambda: arm.sensitivity(poise.posture(q + 1), q),
    lambda: setattr(goal, "target", [np.nan] * 7),
    lambda: goal.distance.real,
    lambda: poise.sphere((0, 0, 0), -1),
    lambda: poise.balance([(0, 0), (0, 1), (1, 0)]),
    lambda: goal.each(np.ones((2, 3))),
    lambda: poise.edit((arm, clip), pins="tip 0.3 0.1 0.6", hold="nobody"),
    lambda: arm.solve(poise.callback("tip", fails), q),
    lambda: arm.solve_batch([poise.callback("tip", fails)] * 2, q, threads=2),
    lambda: arm.sensitivity(poise.callback("tip", lambda frame: 7), q),
    lambda: arm.center_of_mass(q),
    lambda: clip.at(arm, np.nan),
    lambda: arm.solve(goal, q0=q),
    lambda: arm.solve(poise.position("tpi", (0, 0, 1))),
    lambda: arm.solve("position tip 0.3 0.1"),
    lambda: arm.solve(goal, np.ones(3)),
    lambda: arm.solve(goal, q, method="none"),
    lambda: arm.solve(goal, q, locked=["nobody"]),
    lambda: arm.solve_batch("tip", lost),
    lambda: arm.solve_batch("tip", np.ones((3, 5))),
    lambda: arm.solve_batch("tip", targets, out=q),
    lambda: arm.fk(np.ones((2, 2, 2))),
    lambda: arm.jacobian(q, "nobody"),
    lambda: arm.sensitivity([goal, 7], q),
    lambda: arm.pose_gradients("tip", targets, steps, steps * np.nan),
    lambda: poise.pose("tip", np.ones((4, 4))),
    lambda: poise.position("tip", "here"),
    lambda: poise.parse(b"<robot", "arm.urdf"),
    lambda: poise.scene("nowhere"),
    lambda: poise.Control(arm, velocity=[1, 2]),
    lambda: poise.Control(arm, locked=["elbow"], speed=1),
    lambda: poise.Control(arm).step(goal, q, np.ones(2), 0.01),
    lambda: poise.Control(arm).step(goal, q, q, -1),
    lambda: poise.Tracker(arm, [("nobody", (0, 0, 0), 1)]),
    lambda: poise.Tracker(arm, [("tip", (0, 0, 0), -1)]),
    lambda: poise.dh([(0.4, 0, 0, "x")]),
    lambda: expressive.solve(goal, posture=np.ones(2)),
    lambda: arm.solve(goal, q, obstacles=[ball, 7]),
]


def one_round():
    for call in CALLS:
        call()
    for call in REFUSED:
        try:
            call()
        except (TypeError, ValueError, AttributeError):
            continue
        raise AssertionError(f"a call at line {call.__code__.co_firstlineno} was not refused")


def memory():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


WATCHED = [arm, body, lamp, goal, q, T, targets, steps, ball, erik, expressive, motors, document, None, True, False, (),
           poise.Goal, poise.Report, poise.GoalError, poise.BatchReport, poise.Error, poise.Model, poise.Sensitivity]


def counted():
    """Blocks of memory that are in use, and references to what calls are handed."""
    gc.collect()
    return [sys.getallocatedblocks(), *(sys.getrefcount(thing) for thing in WATCHED)]


def leaks_of(call, repeats=200, windows=4):
    """What each call leaves, of any of these, in the window that has least: lists of free blocks fill at first. 0: nothing."""
    def again():
        try:
            call()
        except (TypeError, ValueError, AttributeError):
            pass

    counts = [counted()]
    for _ in range(windows):
        for _ in range(repeats):
            again()
        counts.append(counted())
    growths = [[(after - before) // repeats for before, after in zip(*pair)] for pair in zip(counts, counts[1:])]
    return max(min(column) for column in zip(*growths))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    grown = 0
    for call in CALLS + REFUSED:
        left = leaks_of(call)
        if left > 0:
            print(f"a call at line {call.__code__.co_firstlineno} leaves {left} blocks or references")
            grown = 1
    for _ in range(20):
        one_round()
    gc.collect()
    before = memory()
    for _ in range(rounds):
        one_round()
    gc.collect()
    after = memory()
    print(f"{rounds * (len(CALLS) + len(REFUSED))} calls, {(after - before) / 1024:.0f} KB more memory ({before // 1024} to {after // 1024} KB)")
    sys.exit(grown or after - before > 2_000_000)


if __name__ == "__main__":
    main()
