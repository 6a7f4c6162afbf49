#!/usr/bin/env python3
"""Is the skeleton where it was? Joints of a track against a published motion, in millimetres, after one rigid alignment.

    compare_joints.py HDM_dg.asf take.c3d HDM_dg.asf take.amc            the recording's own skeleton: all joints
    compare_joints.py humanoid.json walk.trc scaled.osim walk_ik.mot     another one: hips, knees, ankles, shoulders, elbows, wrists

SKELETON RECORDING MODEL MOTION: what follows the recording, and the model and motion that were published for it. Frames in which
an AMC misses its own median marker places by more than 60 mm do not count. Needs the Python package (make python) on the path.
"""

import sys

import numpy as np
import poise

WRONG = 60.0  # mm
EVERY = 10  # frames of the recording: one in so many is measured
LIMBS = {  # the same joint, by what skeletons call the body behind it
    f"{joint} {side}": {name.format(s=side[0], side=side) for name in names}
    for side in ("right", "left")
    for joint, names in {
        "hip": ("femur_{s}", "{side}_thigh", "{s}femur"),
        "knee": ("tibia_{s}", "{side}_shin", "{s}tibia"),
        "ankle": ("talus_{s}", "{side}_foot", "{s}foot"),
        "shoulder": ("humerus_{s}", "{side}_upper_arm", "{s}humerus"),
        "elbow": ("ulna_{s}", "{side}_ulna", "{s}radius"),
        "wrist": ("hand_{s}", "{side}_hand", "{s}hand"),
    }.items()
}


def poses(model, q):
    return np.array([np.asarray(model.fk(row)) for row in q])


def align(x, y):
    """The rigid motion R, a, b that brings y nearest to x: R (y - b) + a (W. Kabsch 1976)."""
    a, b = x.reshape(-1, 3).mean(0), y.reshape(-1, 3).mean(0)
    u, _, v = np.linalg.svd((x - a).reshape(-1, 3).T @ (y - b).reshape(-1, 3))
    return u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v, a, b


def common(model, other):
    """Names and bodies that both have: all where they are the same skeleton."""
    if model.bodies == other.bodies:
        return list(model.bodies), range(len(model.bodies)), range(len(model.bodies))
    rows = []
    for joint, names in LIMBS.items():
        here, there = ([i for i, body in enumerate(m.bodies) if body in names] for m in (model, other))
        if here and there:
            rows.append((joint, here[0], there[0]))
    return tuple(zip(*rows))


def believed(track, truth, rows, motion):
    """Rows in which the published motion is near the median of its own marker places."""
    rotation, a, b = motion
    markers = (track.markers.positions[rows] * (track.markers.metres or track.metres) - b) @ rotation.T + a
    labels, miss = list(track.markers.labels), []
    for label, (body, _, _) in track.placements.items():
        pose = truth[:, body]
        local = np.einsum("fji,fj->fi", pose[:, :3, :3], markers[:, labels.index(label)] - pose[:, :3, 3])
        miss.append(np.linalg.norm(local - np.nanmedian(local, 0), axis=1))
    return 1000 * np.nanmean(miss, 0) <= WRONG


def main(skeleton, recording, model, motion):
    track = poise.track(poise.read(skeleton), poise.read(recording))
    published = poise.read(model)
    clip = poise.read(motion, model=published.model).clip
    times = track.clip.times[::EVERY]
    near = np.abs(clip.times[None] - times[:, None])
    keep = (near.min(1) < 0.6 * clip.frame_time) & ~track.away[::EVERY]
    rows = np.arange(0, len(track.q), EVERY)[keep]
    truth = poses(published.model, clip.q[near.argmin(1)[keep]])
    truth[..., :3, 3] *= published.metres or track.metres
    found = poses(track.model, track.q[rows])[..., :3, 3] * track.metres
    names, here, there = common(track.model, published.model)
    x, y = truth[:, list(there)][..., :3, 3], found[:, list(here)]
    if track.model.bodies == published.model.bodies:
        counts = believed(track, truth, rows, align(x, y))
        x, y = x[counts], y[counts]
    rotation, a, b = align(x, y)
    joints = 1000 * np.linalg.norm(x - ((y - b) @ rotation.T + a), axis=2).mean(0)
    worst = int(np.argmax(joints))
    print(f"{recording}: {track.verdict}, residual {1000 * track.metres * track.mean:.1f} mm; {len(joints)} joints in {len(x)} of {len(rows)} frames: "
          f"mean {joints.mean():.1f} mm, worst {names[worst]} {joints[worst]:.1f} mm")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
