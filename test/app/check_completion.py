#!/usr/bin/env python3
"""What bash offers after a part of a command line: the script of `poise help --completion bash`, run by bash.

    check_completion.py POISE
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

poise = os.path.abspath(sys.argv[1])
bash = shutil.which("bash")
if not bash:
    print("skipped: there is no bash")
    sys.exit(77)

COMPLETE = r"""
source <(poise help --completion bash)
COMP_LINE=$1 COMP_POINT=${#1}
%s
_poise
printf '%%s\n' "${COMPREPLY[@]}"
"""


def offered(line, breaks=True):
    """The words that bash offers for the last one of a line. Where a colon breaks words, as by default, bash wants what follows it."""
    words = "" if breaks else "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}"
    environment = {**os.environ, "PATH": os.path.dirname(poise) + os.pathsep + os.environ["PATH"]}
    done = subprocess.run([bash, "-c", COMPLETE % words, "bash", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, cwd=folder, check=False)
    if done.stderr.strip():
        sys.exit(f"{line!r}: {done.stderr.decode()}")
    return sorted(done.stdout.decode().split())


def expect(line, words, **more):
    found = offered(line, **more)
    if found != sorted(words):
        sys.exit(f"{line!r}: offered {found}, expected {sorted(words)}")


def expect_some(line, words, count):
    found = offered(line)
    if not set(words) <= set(found) or len(found) < count:
        sys.exit(f"{line!r}: offered {found}, expected {words} and more, {count} at least")


def names(command, key):
    out = subprocess.run([poise, *command, "--json"], stdout=subprocess.PIPE, check=True).stdout
    return [item["name"] for item in json.loads(out)[key]]


with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "robot.urdf"), "w").close()
    open(os.path.join(folder, "score.txt"), "w").close()
    # scenes and their motions, wherever a file is asked for
    expect("poise info scene:arm", ["arm2d", "arm6", "arm7"])
    expect("poise info scene:arm", ["scene:arm2d", "scene:arm6", "scene:arm7"], breaks=False)
    expect("poise track scene:humanoid scene:humanoid/wa", ["humanoid/walk", "humanoid/walk/noisy"])
    expect("poise solve -g 'position tip 1 2 3' scene:lam", ["lamp"])
    expect("poise fk sc", ["scene:", "score.txt"])
    expect("poise fk ", ["robot.urdf", "scene:", "score.txt"])
    expect("poise edit --append scene:gan", ["gantry"])
    # postures of the skeleton that the line names, under the names of today and of old
    postures = subprocess.run([poise, "info", "scene:lamp", "--names", "postures"], stdout=subprocess.PIPE,
                              check=True).stdout.decode().split()
    if len(postures) < 3:
        sys.exit(f"postures of the lamp: {postures}")
    for option in ("aim scene:lamp --posture", "aim scene:lamp -p", "fk scene:lamp --q", "solve -g x scene:lamp --from"):
        expect(f"poise {option} ", ["neutral", *postures])
    expect("poise aim scene:lamp --posture cu", [name for name in postures if name.startswith("cu")])
    # the rest, as before
    expect("poise solve --meth", ["--method"])
    expect_some("poise solve --method ", ["auto", "newton"], 10)
    expect("poise ret", ["retarget"])
    expect_some("poise help ", ["solve", "scenes"], 10)
    if "--limits" in offered("poise solve --"):
        sys.exit("old spellings must not be offered")
    beside = os.path.dirname(poise)
    if os.path.exists(os.path.join(beside, "poise-reproduce")):
        expect("poise reproduce ", ["all", *names(["reproduce"], "experiments")])
        expect("poise reproduce erik-table8 erik-table", ["erik-table8", "erik-table9"])
    if os.path.exists(os.path.join(beside, "poise-bench")):
        expect_some("poise bench ", names(["bench", "--list"], "suites"), 10)
        expect("poise bench arm-", ["arm-batches"])
