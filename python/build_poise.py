"""Make the wheel of the Python package: the backend of pyproject.toml, without needs of its own.

    pip install .                                     builds the library with CMake and a C compiler
    python3 python/build_poise.py FOLDER [EXTENSION]  writes the wheel into FOLDER, from an extension that is built already

One wheel serves every Python from 3.9 on (stable ABI). The version is that of include/poise/base.h.
"""

import base64
import hashlib
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
    return "\n".join(lines) + "\n\n" + (ROOT / "docs/python.md").read_text()


def build_extension(folder):
    """Build the extension alone, in `folder`. Returns its path."""
    if not shutil.which("cmake"):
        sys.exit("poise: building needs CMake and a C compiler (Debian: cmake gcc python3-dev)")
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


def write_wheel(folder, extension):
    info = f"{NAME}-{version()}.dist-info"
    files = {f"poise/{EXTENSION}": stripped(extension)}
    for path in sorted((ROOT / "python/poise").iterdir()):
        if path.suffix in (".py", ".pyi", ".typed"):
            files[f"poise/{path.name}"] = path.read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: poise\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    record.append(f"{info}/RECORD,,")
    files[f"{info}/RECORD"] = ("\n".join(record) + "\n").encode()

    name = f"{NAME}-{version()}-{tag()}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


# ---- what pip calls --------------------------------------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        return write_wheel(wheel_directory, build_extension(folder))


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}-{version()}"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz") as archive:
        for path in filter(None, listed.split("\0")):
            archive.add(ROOT / path, f"{name}/{path}")
    return f"{name}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if len(sys.argv) == 3:
        print(write_wheel(sys.argv[1], sys.argv[2]))
    else:
        print(build_wheel(sys.argv[1]))
