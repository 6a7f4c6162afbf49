"""The library for CUDA devices, libpoise_cuda, which solve_batch loads when it is handed arrays of a device."""

from __future__ import annotations

import ctypes
import functools
import os

from . import _poise

_CALLS = (  # in the order of device_solve.c
    "poise_cuda_create",
    "poise_cuda_destroy",
    "poise_cuda_solve_arrays",
    "poise_cuda_allocate",
    "poise_cuda_free",
)


def _places() -> list[str]:
    """Where it may be: what the variable POISE_CUDA names, beside this file, where the system looks for libraries."""
    named = os.environ.get("POISE_CUDA")
    return [named] if named else [os.path.join(os.path.dirname(__file__), "libpoise_cuda.so"), "libpoise_cuda.so"]


@functools.lru_cache(None)
def is_there() -> bool:
    """Can it be loaded?"""
    try:
        return bool(load())
    except _poise.Error:
        return False


def load() -> tuple[int, ...]:
    """Addresses of its calls."""
    reasons = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
            break
        except OSError as error:
            reasons.append(str(error))
    else:
        raise _poise.Error(
            "arrays on a CUDA device need libpoise_cuda.so of this version of Poise: build it in a clone with\n"
            "    cmake -B build -DPOISE_BUILD_CUDA=ON && cmake --build build --target poise_cuda_shared\n"
            "and name it, export POISE_CUDA=build/libpoise_cuda.so; or hand over host memory, targets.cpu(). "
            f"It was not found: {'; '.join(reasons)}"
        )
    library.poise_version.restype = ctypes.c_char_p
    version = library.poise_version().decode()
    if version != _poise.__version__:
        raise _poise.Error(f"{place} is of Poise {version}, and this package of {_poise.__version__}: build both from one clone")
    return tuple(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _CALLS)
