"""The live viewer: what a page gets and sends, through the server of `poise view`."""

import base64
import json
import os
import pathlib
import re
import socket
import struct
import time
import urllib.request

import numpy as np
import poise
import pytest

COMMAND = pathlib.Path(poise.__file__).resolve().parents[2] / "bin/poise"
PATIENCE = 120  # seconds: far more than anything takes, on a machine that does much else
needs_command = pytest.mark.skipif(not COMMAND.exists(), reason="the command poise is not built")


class Page:
    """A browser's end of the WebSocket."""

    def __init__(self, address):
        port = int(re.search(r":(\d+)/", address).group(1))
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode())
        self.bytes = self.socket.makefile("rb")
        assert b"101" in self.bytes.readline()
        while self.bytes.readline().strip():
            pass

    def line(self):
        first, size = self.bytes.read(2)
        assert first == 0x81 and size <= 126  # one whole text, shorter than 64 kB
        if size == 126:
            (size,) = struct.unpack(">H", self.bytes.read(2))
        return json.loads(self.bytes.read(size))

    def send(self, text):
        mask = b"\x01\x02\x03\x04"
        body = bytes(c ^ mask[i % 4] for i, c in enumerate(text.encode()))
        self.socket.sendall(bytes([0x81, 0x80 | len(body)]) + mask + body)

    def close(self):
        self.bytes.close()
        self.socket.close()


@pytest.fixture
def studio(tmp_path):
    (tmp_path / "index.html").write_text("<title>studio</title>")
    return str(tmp_path)


@needs_command
def test_a_page_sees_what_is_shown_and_its_goal_comes_back(studio):
    arm = poise.scene("arm7")
    with poise.view(arm, np.full(7, 0.25), body="tip", browser=False, studio=studio) as viewer:
        assert b"studio" in urllib.request.urlopen(viewer.address).read()
        path = re.search(r"file=([^&]*)", viewer.address).group(1)
        model = urllib.request.urlopen(re.sub(r"/\?.*", path, viewer.address)).read()
        assert json.loads(model) and viewer.goal is None
        page = Page(viewer.address)
        assert page.line()["end"] == "tip" and page.line()["q"] == [0.25] * 7
        viewer.show(np.full(7, 0.5))
        assert page.line()["q"] == [0.5] * 7
        viewer.play(poise.Clip(np.linspace(0, 1, 21).reshape(3, 7), frame_time=0.001))
        while page.line()["q"][-1] != 1.0:
            pass
        page.send('{"aim":[1,2,3.5]}')
        end = time.monotonic() + PATIENCE
        while viewer.goal is None and time.monotonic() < end:
            time.sleep(0.01)
        assert (viewer.goal == (1, 2, 3.5)).all()
        page.close()
        for wrong in (np.zeros(6), np.full(7, np.nan), np.zeros((2, 7))):
            with pytest.raises(ValueError, match="7 finite numbers"):
                viewer.show(wrong)
    with pytest.raises(poise.Error, match="closed"):
        viewer.show(np.zeros(7))
    viewer.close()


@needs_command
def test_a_robot_is_shown_by_its_own_file(studio, tmp_path):
    path = tmp_path / "one.urdf"
    path.write_text(
        '<robot name="one"><link name="base"/><link name="arm"/><joint name="turn" type="continuous"><parent link="base"/>'
        '<child link="arm"/><axis xyz="0 0 1"/></joint></robot>'
    )
    robot = poise.load(path)
    assert robot.source == str(path) and poise.load(path, floating=True).source is None
    for model in (robot, path, poise.read(path)):
        with poise.view(model, browser=False, studio=studio) as viewer:
            assert "one.urdf" in viewer.address


def test_what_is_missing_is_named(monkeypatch, studio):
    arm = poise.scene("arm7")
    with pytest.raises(poise.Error, match="no such program.*make web install"):
        poise.view(arm, browser=False, command="/nowhere/poise")
    with pytest.raises(poise.Error, match="did you mean"):
        poise.view(arm, body="tpi", browser=False)
    if COMMAND.exists():
        with pytest.raises(poise.Error, match="does not start: .*/nowhere"):
            poise.view(arm, browser=False, studio="/nowhere")
        with pytest.raises(ValueError, match="7 finite numbers"):
            poise.view(arm, np.zeros(3), browser=False, studio=studio)
