"""A live viewer: the studio of `poise view` in the browser, shown what Python solves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _poise
from .command import find_command
from .files import Clip, File, read, save

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RATE = 60.0  # frames that a page shows in a second
_WITH_MESHES = (".urdf", ".xml", ".mjcf")  # files that the page reads itself; of all others it gets the skeleton


class Viewer:
    """A page that shows a model as Python moves it: made by poise.view.

        viewer.show(q)           the pose from now on; pages get the newest, up to 60 times a second
        viewer.play(clip)        a motion at its own speed
        viewer.goal              where the page's goal was dragged to, if `body` names what has one; None: nowhere yet
        viewer.close()           ends it, as leaving a `with` does

    `address` opens it in any browser of this machine; no other machine can reach it.
    """

    def __init__(self, model: _poise.Model, file: str | None, body: str | None, command: str | None, studio: str | None, port: int):
        self.model = model
        self.goal: NDArray[np.float64] | None = None
        self._process: subprocess.Popen[str] | None = None
        program = find_command(command)
        self._folder = tempfile.TemporaryDirectory(prefix="poise-view-")
        self._errors = tempfile.TemporaryFile()
        self._goals = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            if file is None:
                file = os.path.join(self._folder.name, "model.json")
                save(file, model)
            self._goals.bind(("127.0.0.1", 0))
            words = [program, "view", file, "--live", "--no-open", "--json", *(["--port", str(port)] if port else [])]
            self._process = subprocess.Popen(
                words + (["--studio", studio] if studio else []),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, start_new_session=True,
            )
            self.address: str = self._answer()["address"]
            end = {"rate": _RATE, "end": body or "", "coordinates": model.coordinates, "port": self._goals.getsockname()[1]}
            self._send(end)
        except BaseException:
            self.close()
            raise
        threading.Thread(target=self._listen, daemon=True).start()

    def _answer(self) -> dict[str, Any]:
        """What the program says once it serves, or its reason not to."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        try:
            answer: dict[str, Any] = json.loads(line)
            return answer
        except ValueError:
            self._process.wait()  # type: ignore[union-attr]
            raise _poise.Error(f"the viewer does not start: {self._complaint() or line.strip() or 'it ended at once'}") from None

    def _complaint(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip()

    def _send(self, line: dict[str, Any]) -> None:
        if self._process is None:
            raise _poise.Error("the viewer is closed")
        try:
            self._process.stdin.write(json.dumps(line) + "\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise _poise.Error(f"the viewer has ended: {self._complaint() or 'it was stopped'}") from None

    def _listen(self) -> None:
        while True:
            try:
                self.goal = np.array(json.loads(self._goals.recv(65536))["aim"], dtype=np.float64)
            except (ValueError, KeyError, TypeError):
                continue
            except OSError:
                return  # closed

    def show(self, q: Any) -> None:
        """Show the configuration `q`."""
        q = np.asarray(q, dtype=np.float64)
        if q.shape != (self.model.nq,) or not np.isfinite(q).all():
            raise ValueError(f"q: expected {self.model.nq} finite numbers, got an array of shape {q.shape}")
        self._send({"q": q.tolist()})

    def play(self, motion: Any, rate: float | None = None) -> None:
        """Show a Clip, or rows of configurations `rate` (60) a second, in real time; returns when it is over."""
        rows = motion.q if isinstance(motion, Clip) else np.atleast_2d(np.asarray(motion, dtype=np.float64))
        seconds = 1 / rate if rate else motion.frame_time if isinstance(motion, Clip) else 1 / _RATE
        start = time.monotonic()
        for i, q in enumerate(rows):
            wait = start + i * seconds - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            self.show(q)

    def close(self) -> None:
        """End the viewer. Pages keep the last pose."""
        process, self._process = self._process, None
        if process:
            process.terminate()
            process.communicate()
        self._goals.close()
        self._errors.close()
        self._folder.cleanup()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<poise.Viewer: {self.address if self._process else 'closed'}>"


def view(
    model: _poise.Model | File | str | os.PathLike[str],
    q: Any = None,
    *,
    body: str | None = None,
    browser: bool = True,
    command: str | None = None,
    studio: str | None = None,
    port: int = 0,
) -> Viewer:
    """Show a robot in the browser, and go on: a Viewer, whose show(q) moves it.

    `model` is what poise.load gave, with its meshes; `q` a configuration (neutral if there is none), a Clip, or rows of
    configurations, which are played. `body` names a body or tool that gets a goal to drag: viewer.goal says where it is.
    `browser=False` opens none: viewer.address is the page. `command` and `studio` name the program poise and the folder of
    the built studio where they are not found by themselves.
    """
    if isinstance(model, (str, os.PathLike)):
        model = read(model)
    if isinstance(model, File):
        q = model.clip if q is None else q
        if model.model is None:
            raise _poise.Error("there is no skeleton in this file to show")
        model = model.model
    if body is not None and body not in model.bodies + model.tools + model.joints:
        model.fk(model.neutral(), body)  # refuses it, and says what may be meant
    source = model.source if model.source and model.source.lower().endswith(_WITH_MESHES) else None
    viewer = Viewer(model, source, body, command, studio, port)
    motion = q if isinstance(q, Clip) or np.ndim(q) == 2 else None
    try:
        viewer.show(model.neutral() if q is None else q if motion is None else (q.q if isinstance(q, Clip) else q)[0])
        if browser:
            import webbrowser

            webbrowser.open(viewer.address)
        if motion is not None:
            viewer.play(motion)
    except BaseException:
        viewer.close()
        raise
    return viewer
