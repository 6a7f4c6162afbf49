"""What the tests of the Python package share."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, os.environ.get("POISE_PYTHON", os.path.join(os.path.dirname(__file__), "../../build/python")))


TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/data.sh"


@pytest.fixture(scope="session")
def data():
    """A function: where a file or folder of the data folder is (docs/data.md). What is missing skips the test, what is another file
    than listed fails it."""

    def find(name):
        done = subprocess.run([TOOL, "has", name], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 77:
            pytest.skip(done.stdout.strip())
        assert done.returncode == 0, done.stdout
        return pathlib.Path(os.environ["POISE_DATA"], name)

    return find


@pytest.fixture(scope="session")
def arm():
    import poise

    return poise.scene("arm7")


@pytest.fixture(scope="session")
def humanoid():
    import poise

    return poise.scene("humanoid-quaternion")
