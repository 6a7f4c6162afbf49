"""Make the wheel of the Python package: the backend of pyproject.toml, without needs of its own.

    pip install .                                     builds the library with CMake and a C compiler
    pip install -e .                                  the same, and what python/poise says counts at once
    python3 python/build_poise.py FOLDER [EXTENSION]  writes the wheel into FOLDER, from an extension that is built already

One wheel serves every Python from 3.9 on (stable ABI). The version is that of include/poise/base.h.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "poise_ik"
EXTENSION = "_poise.abi3.so"


def version():
    header = (ROOT / "include/poise/base.h").read_text()
    return ".".join(re.search(rf"POISE_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp39-abi3-{platform}"


def metadata():
    project = (ROOT / "pyproject.toml").read_text()
    summary = re.search(r'^description = "(.*)"$', project, re.M).group(1)
    lines = [
        "Metadata-Version: 2.1",
        "Name: poise-ik",
        f"Version: {version()}",
        f"Summary: {summary}",
        "Requires-Python: >=3.9",
        "Requires-Dist: numpy",
        "Description-Content-Type: text/markdown",
    ]
    manual = (ROOT / "docs/python.md").read_text()
    return "\n".join(lines) + "\n\n" + manual[: manual.index("## Goals")]  # what it is like; the rest is for a clone


def check_needs():
    """Stop, and say so, where something that a build takes is missing."""
    compiler = os.environ.get("CC", "cc").split()[0]
    headers = pathlib.Path(sysconfig.get_path("include")) / "Python.h"
    for needed, there in ((compiler, shutil.which(compiler)), ("cmake", shutil.which("cmake")), (headers, headers.exists())):
        if not there:
            sys.exit(f"poise: {needed} is missing: building needs CMake, a C compiler and Python's headers (Debian: cmake gcc python3-dev)")


def build_extension(folder):
    """Build the extension alone, in `folder`. Returns its path."""
    check_needs()
    options = ["BUILD_TESTING=OFF", "POISE_BUILD_BENCH=OFF", "POISE_BUILD_APP=OFF", "POISE_BUILD_CUDA=OFF",
               "POISE_BUILD_MPI=OFF", "CMAKE_BUILD_TYPE=Release", f"Python3_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *("-D" + option for option in options)], check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", folder, "--target", "poise_python", "-j", jobs], check=True)
    return pathlib.Path(folder) / "python/poise" / EXTENSION


def stripped(extension):
    """The bytes of the extension without symbols, and without tables for unwinding, which C does not need."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / EXTENSION
        shutil.copy(extension, copy)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", "-R", ".eh_frame", "-R", ".eh_frame_hdr", copy], check=True)
        return copy.read_bytes()


def info_files():
    """What the wheel says of itself, by name."""
    return {
        "METADATA": metadata().encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: poise\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode(),
    }


def package_files(extension):
    """All of the package, by name."""
    files = {f"poise/{EXTENSION}": stripped(extension)}
    for path in sorted((ROOT / "python/poise").iterdir()):
        if path.suffix in (".py", ".pyi", ".typed"):
            files[f"poise/{path.name}"] = path.read_bytes()
    return files


def write_wheel(folder, files):
    info = f"{NAME}-{version()}.dist-info"
    files.update({f"{info}/{name}": data for name, data in info_files().items()})
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    record.append(f"{info}/RECORD,,")
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()

    name = f"{NAME}-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data, compresslevel=9)
    return name


# ---- what pip calls --------------------------------------------------------------------------------------------------------


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """So that pip looks for numpy before it builds."""
    info = pathlib.Path(metadata_directory) / f"{NAME}-{version()}.dist-info"
    info.mkdir()
    for name, data in info_files().items():
        (info / name).write_bytes(data)
    return info.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        return write_wheel(wheel_directory, package_files(build_extension(folder)))


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """For `pip install -e .`: the package stays in python/poise, with the extension beside it; after a change of C, once more."""
    shutil.copy(build_extension(ROOT / "build/editable"), ROOT / "python/poise" / EXTENSION)
    return write_wheel(wheel_directory, {f"{NAME}.pth": f"{ROOT / 'python'}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}-{version()}"
    about = metadata().encode()
    entry = tarfile.TarInfo(f"{name}/PKG-INFO")
    entry.size = len(about)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        archive.addfile(entry, io.BytesIO(about))
        for path in filter(None, listed.split("\0")):
            archive.add(ROOT / path, f"{name}/{path}")
    return f"{name}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if len(sys.argv) == 3:
        print(write_wheel(sys.argv[1], package_files(sys.argv[2])))
    else:
        print(build_wheel(sys.argv[1]))
