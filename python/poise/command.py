"""The command poise, for what is not in the package: the studio, retargeting."""

from __future__ import annotations

import os
import shutil

from . import _poise


def find_command(given: str | None = None) -> str:
    """The program poise: as given, by POISE_COMMAND, of the build that this package lies in, or of the path."""
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "bin", "poise")
    for candidate in (given,) if given else (os.environ.get("POISE_COMMAND"), os.path.normpath(built), "poise"):
        found = shutil.which(candidate) if candidate else None
        if found:
            return found
    raise _poise.Error(
        f"{given or 'poise'}: there is no such program. This needs the command poise, which is not in the wheel: "
        '"make web install" in a clone installs it with the studio; POISE_COMMAND or command= name it elsewhere'
    )
