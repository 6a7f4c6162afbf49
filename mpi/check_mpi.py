#!/usr/bin/env python3
"""poise-mpi gives the files that poise gives, with 2 and 4 ranks; a rank that is killed takes nothing along; a run that was
stopped goes on, with another number of ranks and in one process too.

    check_mpi.py POISE POISE_MPI FILE_EVENTS
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "app"))
from events import Events

HANGS = 800  # seconds after which a program hangs: far longer than anything takes, on a machine that does much else
poise, poise_mpi, file_events = (os.path.abspath(path) for path in sys.argv[1:4])
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root"]
EVALUATION = ["reproduce", "erik-table8", "erik-fig12", "--full", "--threads", "1", "--samples"]
FILES = ["erik-table8.csv", "erik-table8.svg", "erik-fig12.csv", "erik-fig12-summary.csv", "erik-fig12.svg"]
failed = 0


def check(condition, what):
    global failed
    print("ok  " if condition else "NOT ", what, flush=True)
    failed += not condition


def run(*words, ranks=0):
    """The finished process, without what mpirun itself says of a rank that fails, between two rules of dashes."""
    command = [*MPIRUN, "-n", str(ranks), poise_mpi] if ranks else [poise]
    result = subprocess.run([*command, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=HANGS)
    result.stderr = re.sub(r"^-{60,}\n.*?^-{60,}\n\n?", "", result.stderr, flags=re.DOTALL | re.MULTILINE)
    return result


def same(one, other, files):
    for name in files:
        with open(os.path.join(one, name), "rb") as a, open(os.path.join(other, name), "rb") as b:
            if a.read() != b.read():
                return False
    return True


def parts(folder):
    """How many parts lie there, whole, and how many files hold some."""
    whole, files = 0, 0
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if ".progress" in name:
            with open(os.path.join(folder, name), "rb") as file:
                count = file.read().count(b" end\n")
            whole, files = whole + count, files + (count > 0)
    return whole, files


def evaluations(samples):
    check(run(*EVALUATION, samples, "-o", "one").returncode == 0, "one process")
    for ranks in (2, 4):
        folder = f"ranks{ranks}"
        result = run(*EVALUATION, samples, "-o", folder, ranks=ranks)
        check(result.returncode == 0 and result.stderr == "", f"{ranks} ranks: {result.stderr}")
        check(result.stdout.count("erik-table8:") == 1 and "\033" not in result.stdout, f"{ranks} ranks: rank 0 alone prints")
        check(same("one", folder, FILES), f"{ranks} ranks: the same bytes as one process")
        check(parts(folder)[0] == parts("one")[0] and parts(folder)[1] > 2, f"{ranks} ranks: parts {parts(folder)}, each once")


def kill_one(samples, events):
    """What was finished when a rank was killed is used again. Rank 1 is killed when it has written its second part, and rank 0
    waits at its own for the end that this brings; mpirun may wake it before that, and it goes on for a while."""
    whole = parts("one")[0]
    command = [*MPIRUN]
    for rank, sent in ((0, signal.SIGSTOP), (1, signal.SIGKILL)):
        there = events.environment(of="fsync", at=2, signal=sent)
        changed = [f"{name}={value}" for name, value in there.items() if os.environ.get(name) != value]
        command += [":"] * rank + ["-n", "1", "env", *changed, poise_mpi, *EVALUATION, samples, "-o", "killed"]
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=HANGS)
    kept = parts("killed")[0]
    check(result.returncode != 0 and 2 <= kept < whole, f"a rank was killed when {kept} of {whole} parts were finished")
    for folder in ("alone", "cut"):
        shutil.copytree("killed", folder)
    # as if the last whole line had been cut off while it was written
    with open("cut/erik-evaluation.progress.1", "rb+") as file:
        file.truncate(file.read().rindex(b" end\n") - 100)
    for folder, ranks, found in (("killed", 2, kept), ("alone", 0, kept), ("cut", 3, kept - 1)):
        result = run(*EVALUATION, samples, "-o", folder, ranks=ranks)
        there = sum(int(n) for n in re.findall(r"Going on: (\d+) of", result.stdout))
        check(result.returncode == 0 and there == found, f"{folder}: goes on from {there} parts {result.stderr}")
        check(same("one", folder, FILES), f"{folder}: the same bytes as one process")


def lists():
    clips = [f"{name}{kind}" for name in ("walk", "punch", "kick") for kind in ("", "/noisy")] + ["swim"]
    for folder in ("jobs1", "jobs2", "jobs4"):
        os.mkdir(folder)
        with open(folder + ".list", "w", encoding="ascii") as file:
            file.writelines(f"scene:humanoid scene:humanoid/{c} {folder}/{c.replace('/', '-')}.json\n" for c in clips)
    one = run("track", "--jobs-from", "jobs1.list")
    outs = sorted(os.listdir("jobs1"))
    check(one.returncode == 2 and len(outs) == len(clips) - 1, "a list in one process, one job fails")

    def plain(text):
        return re.sub(r"jobs\d/|[\d.]+ us", "", text)

    for ranks in (2, 4):
        many = run("track", "--jobs-from", f"jobs{ranks}.list", ranks=ranks)
        check(many.returncode == 2 and plain(many.stdout) == plain(one.stdout), f"{ranks} ranks: the same lines in order")
        check(many.stderr == one.stderr, f"{ranks} ranks: the same complaint: {many.stderr.strip()}")
        check(sorted(os.listdir(f"jobs{ranks}")) == outs and same("jobs1", f"jobs{ranks}", outs), f"{ranks} ranks: same bytes")
    for name in outs[:2]:
        os.unlink("jobs2/" + name)
    many = run("track", "--jobs-from", "jobs2.list", ranks=2)
    check("4 of 7 jobs were done before" in many.stdout and many.stdout.count("\n") == 4, "only what is missing is done")
    check(same("jobs1", "jobs2", outs), "to the same bytes")


def complaints():
    for words, text in ((["reproduce", "erik-tabel8"], 'did you mean "erik-table8"'),
                        (["track", "--jobs-from", "jobs2.list", "--device", "cuda"], "for one process"),
                        (["track", "scene:arm7", "x.trc"], "--jobs-from")):
        result = run(*words, ranks=2)
        check(result.returncode == 2 and result.stderr.count("\n") == 1 and text in result.stderr, result.stderr.strip())
    os.makedirs("spoilt/erik-evaluation.progress.1")
    result = run(*EVALUATION, "500", "-o", "spoilt", ranks=2)
    check(result.returncode == 2 and "rank 1: spoilt/erik-evaluation.progress.1: cannot be written" in result.stderr,
          result.stderr.strip())


def main():
    if not shutil.which("mpirun"):
        print("skipped: no mpirun (Debian package openmpi-bin)")
        return 77
    # two cores will do for four ranks, and for those of other tests
    os.environ["OMPI_MCA_hwloc_base_binding_policy"] = "none"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        evaluations("15000")
        kill_one("15000", Events(file_events))
        lists()
        complaints()
        os.chdir("/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
