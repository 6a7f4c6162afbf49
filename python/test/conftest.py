"""What the tests of the Python package share."""

import os
import sys

import pytest

sys.path.insert(0, os.environ.get("POISE_PYTHON", os.path.join(os.path.dirname(__file__), "../../build/python")))


@pytest.fixture(scope="session")
def arm():
    import poise

    return poise.scene("arm7")


@pytest.fixture(scope="session")
def humanoid():
    import poise

    return poise.scene("humanoid-quaternion")
