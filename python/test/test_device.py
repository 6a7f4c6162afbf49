"""Arrays of a CUDA device: what is refused needs none, since capsules can be made that only say so. The rest needs a device,
torch and libpoise_cuda."""

import ctypes
import os

import numpy as np
import poise
import pytest

CPU, CUDA = 1, 2
INT, FLOAT = 0, 2
READ_ONLY = 1


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("axes", ctypes.c_int32), ("kind", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


Destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("owner", ctypes.c_void_p), ("destroy", Destroy)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p), ("destroy", Destroy),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


make_capsule = ctypes.pythonapi.PyCapsule_New
make_capsule.restype = ctypes.py_object
make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Fake:
    """An array that says it is on a device; there is no memory behind it."""

    def __init__(self, shape, *, kind=FLOAT, bits=64, lanes=1, strides=None, device=(CUDA, 0), flags=None, major=1):
        self.released = 0
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
        tensor = Tensor(0x1000, device, len(shape), kind, bits, lanes, self.shape, self.strides, 0)
        self.destroy = Destroy(self._release)
        self.name = b"dltensor" if flags is None else b"dltensor_versioned"
        self.managed = Managed(tensor, None, self.destroy) if flags is None else Versioned(major, 0, None, self.destroy, flags, tensor)

    def _release(self, _):
        self.released += 1

    def __dlpack_device__(self):
        return (CUDA, 0)

    def __dlpack__(self, *, stream=None, **words):
        assert stream == 1  # the default stream waits for what was queued
        if words and self.name == b"dltensor":
            raise TypeError("an old library does not know max_version")
        return make_capsule(ctypes.addressof(self.managed), self.name, None)


GOOD = dict(shape=(5, 7))

REFUSED = [
    (Fake((5, 7), kind=INT), {}, TypeError, "targets: expected float32 or float64 on a device, got int64"),
    (Fake((5, 7), bits=16), {}, TypeError, "targets: expected float32 or float64 on a device, got float16"),
    (Fake((5, 7), kind=77), {}, TypeError, "got unknown"),
    (Fake((5, 7), lanes=4), {}, TypeError, "float32 or float64"),
    (Fake((5, 7), device=(CPU, 0)), {}, ValueError, "targets: expected memory of a CUDA device"),
    (Fake((5, 7), flags=0, major=2), {}, BufferError, "targets: expected an array of DLPack 1, got 2"),
    (Fake((5, 6)), {}, ValueError, r"targets: expected an array of shape \(N, 4, 4\) or \(N, 7\)"),
    (Fake((5, 4, 3)), {}, ValueError, r"\(N, 4, 4\) or \(N, 7\)"),
    (Fake((5, 2, 4, 4)), {}, ValueError, "expected an array of 1 to 3 axes, got one of 4"),
    (Fake((7,)), {}, ValueError, r"\(N, 4, 4\) or \(N, 7\)"),
    (Fake(**GOOD), {"q": np.zeros((5, 7))}, TypeError, "q: the targets are on a device, and so must be q"),
    (Fake(**GOOD), {"q": Fake((4, 7))}, ValueError, r"q: expected an array of shape \(5, 7\) or of one row"),
    (Fake(**GOOD), {"q": Fake((5, 7), device=(CUDA, 1))}, ValueError, "q: is on cuda:1, but the targets are on cuda:0"),
    (Fake(**GOOD), {"out": Fake((5, 7), flags=READ_ONLY)}, ValueError, "out: the array is read-only"),
    (Fake(**GOOD), {"out": Fake((5, 7), bits=32)}, TypeError, "out: answers are float64"),
    (Fake(**GOOD), {"out": Fake((5, 7), strides=(14, 2))}, ValueError, "out: expected an array in C order, without gaps"),
    (Fake(**GOOD), {"out": Fake((1, 7))}, ValueError, r"out: expected an array of shape \(5, 7\)"),
    (Fake(**GOOD), {"threads": 2}, TypeError, "does not support threads"),
    (Fake(**GOOD), {"locked": ["elbow"]}, TypeError, "does not support threads, lanes or locked"),
]


@pytest.mark.parametrize("targets, words, kind, text", REFUSED, ids=[row[3] for row in REFUSED])
def test_what_is_refused_is_released(arm, targets, words, kind, text):
    with pytest.raises(kind, match=text):
        arm.solve_batch("tip", targets, **words)
    assert targets.released == (0 if "does not support" in text or "DLPack 1" in text else 1)
    for other in words.values():
        assert not isinstance(other, Fake) or other.released == 1


def test_an_unused_capsule_is_wanted(arm):
    class Used(Fake):
        def __dlpack__(self, **words):
            return make_capsule(ctypes.addressof(self.managed), b"used_dltensor", None)

    with pytest.raises(TypeError, match="no DLPack capsule that is unused"):
        arm.solve_batch("tip", Used(**GOOD))


def test_what_the_producer_raises_comes_through(arm):
    class Learns(Fake):
        def __dlpack__(self, **words):
            raise BufferError("can't export tensors that require gradient, use tensor.detach()")

    with pytest.raises(BufferError, match="tensor.detach"):
        arm.solve_batch("tip", Learns(**GOOD))


def test_host_targets_take_no_out(arm):
    with pytest.raises(TypeError, match="targets on a device"):
        arm.solve_batch("tip", np.zeros((0, 7)), out=np.zeros((0, 7)))


def test_without_the_library_the_way_out_is_named(arm, monkeypatch, tmp_path):
    if os.environ.get("POISE_CUDA"):
        pytest.skip("POISE_CUDA names the library")
    monkeypatch.setenv("POISE_CUDA", str(tmp_path / "libpoise_cuda.so"))
    targets = Fake((5, 4, 4), flags=0)
    with pytest.raises(poise.Error, match="(?s)poise_cuda_shared.*POISE_CUDA=.*targets.cpu"):
        arm.solve_batch("tip", targets)
    assert targets.released == 1


# ---- on a device -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("there is no CUDA device")
    if not os.environ.get("POISE_CUDA"):
        pytest.skip("POISE_CUDA does not name libpoise_cuda.so")
    return module


def targets_of(arm, count, seed=1):
    q = np.random.default_rng(seed).uniform(-0.5, 0.5, (count, arm.nq)) + arm.neutral()
    return arm.fk(arm.clamp(q), "tip")


def pose_numbers(matrices):
    """x y z and the quaternion x y z w, of rotations by less than 180 degrees."""
    R = matrices[:, :3, :3]
    w = np.sqrt(1 + R[:, 0, 0] + R[:, 1, 1] + R[:, 2, 2]) / 2
    turn = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], 1) / (4 * w[:, None])
    return np.concatenate([matrices[:, :3, 3], turn, w[:, None]], 1)


@pytest.mark.parametrize("count", [1, 3000, 100_000])
def test_answers_reach_their_targets(arm, torch, count):
    T = targets_of(arm, count)
    q, report = arm.solve_batch("tip", torch.tensor(T, device="cuda"))
    assert q.shape == (count, arm.nq) and q.dtype == "float64" and q.device == "cuda:0"
    answers = torch.from_dlpack(q)
    assert answers.data_ptr() == q.__cuda_array_interface__["data"][0]  # no copy
    assert bool(torch.from_dlpack(report.reached).all()) and int(torch.from_dlpack(report.outcome).max()) == 0
    rows = answers.cpu().numpy()
    assert arm.within_limits(rows).all() and np.abs(arm.fk(rows, "tip") - T).max() < 3e-6
    assert float(torch.from_dlpack(report.worst_length).max()) <= 1e-6


def test_layouts_give_the_same_answers(arm, torch):
    T = targets_of(arm, 500)
    numbers = torch.tensor(pose_numbers(T), device="cuda")
    wide = torch.zeros((1000, 14), dtype=torch.float64, device="cuda")
    wide[::2, ::2] = numbers
    matrices = torch.tensor(np.ascontiguousarray(T.transpose(0, 2, 1)), device="cuda").transpose(1, 2)
    answers = [torch.from_dlpack(arm.solve_batch("tip", t)[0]) for t in (numbers, wide[::2, ::2], matrices)]
    assert torch.equal(answers[0], answers[1])
    assert torch.allclose(answers[0], answers[2], atol=1e-5)
    single, report = arm.solve_batch("tip", numbers.float())
    assert bool(torch.from_dlpack(report.reached).all()) and torch.from_dlpack(single).dtype == torch.float64


def test_starts_and_out(arm, torch):
    T = torch.tensor(targets_of(arm, 500), device="cuda")
    q, _ = arm.solve_batch("tip", T)
    start = torch.from_dlpack(q).clone()
    again, report = arm.solve_batch("tip", T, q)  # an array of our own goes in again
    near = torch.from_dlpack(again)
    assert torch.allclose(near, start, atol=1e-3) and bool(torch.from_dlpack(report.reached).all())
    out = torch.empty_like(start)
    given, _ = arm.solve_batch("tip", T, start, out=out)
    assert given is out and torch.equal(out, near)
    one = torch.tensor(arm.neutral(), device="cuda")
    from_one, _ = arm.solve_batch("tip", T, one, restarts=300)
    from_many, _ = arm.solve_batch("tip", T, one.expand(500, -1), restarts=300)
    assert torch.equal(torch.from_dlpack(from_one), torch.from_dlpack(from_many))


def test_gradients_are_those_of_the_host(arm, torch):
    import poise.torch

    numbers = pose_numbers(targets_of(arm, 2000))
    targets = torch.tensor(numbers, device="cuda", requires_grad=True)
    q, _ = poise.torch.solve(arm, "tip", targets)
    by_q = torch.randn_like(q)
    (q * by_q).sum().backward()
    rows = arm.pose_gradients("tip", numbers, q.detach().cpu().numpy(), by_q.cpu().numpy())
    assert q.is_cuda and targets.grad.is_cuda and np.isfinite(rows).all(1).mean() > 0.99
    there = targets.grad[:, :3].cpu().numpy()  # but for rounding: lengths of quaternions are taken on the device
    np.testing.assert_allclose(there, np.nan_to_num(rows[:, :3]), rtol=1e-9, atol=1e-9)


def test_a_busy_stream_is_waited_for(arm, torch):
    T = targets_of(arm, 2000)
    with torch.cuda.stream(torch.cuda.Stream()):
        matrix = torch.randn(8000, 8000, device="cuda")
        for _ in range(20):
            matrix = matrix @ matrix * 1e-4
        late = torch.tensor(T, device="cuda") + 0 * matrix[0, 0].double().nan_to_num()
        _, report = arm.solve_batch("tip", late)
    assert bool(torch.from_dlpack(report.reached).all())


def test_refused_problems_are_named_or_marked(arm, torch):
    T = torch.tensor(targets_of(arm, 50), device="cuda")
    T[7, 0, 3] = float("nan")
    T[9, :3, :3] *= 2
    with pytest.raises(poise.Error, match='problem 7: .*on_error="mark"'):
        arm.solve_batch("tip", T)
    q, report = arm.solve_batch("tip", T, on_error="mark")
    outcome = torch.from_dlpack(report.outcome).cpu()
    assert outcome[7] == 5 and outcome[9] == 5 and int((outcome == 0).sum()) == 48
    assert bool(torch.from_dlpack(q)[[7, 9]].isnan().all())


def test_arrays_outlive_what_made_them(torch):
    robot = poise.scene("arm7")
    q, report = robot.solve_batch("tip", torch.tensor(targets_of(robot, 1000), device="cuda"))
    tensor, copy = torch.from_dlpack(q), torch.from_dlpack(q).clone()
    del q, report, robot
    torch.empty(10_000_000, device="cuda").fill_(7)
    assert torch.equal(tensor, copy)
    before = torch.cuda.mem_get_info()[0]
    arm = poise.scene("arm7")
    T = torch.tensor(targets_of(arm, 100_000), device="cuda")
    for _ in range(200):
        arm.solve_batch("tip", T)
    assert before - torch.cuda.mem_get_info()[0] < 300_000_000


def test_other_libraries(arm, torch):
    T = targets_of(arm, 100)
    expected = torch.from_dlpack(arm.solve_batch("tip", torch.tensor(T, device="cuda"))[0]).cpu().numpy()
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    q, report = arm.solve_batch("tip", cupy.asarray(T))
    assert (cupy.asnumpy(cupy.from_dlpack(q)) == expected).all() and (cupy.asnumpy(cupy.asarray(q)) == expected).all()
    assert cupy.asnumpy(cupy.asarray(report.reached)).all()


def test_jax(arm, torch):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no device")
    T = targets_of(arm, 100)
    q, report = arm.solve_batch("tip", jax.numpy.asarray(T))
    answers = jax.dlpack.from_dlpack(q)
    assert np.abs(arm.fk(np.asarray(answers), "tip") - T).max() < 3e-6
    assert bool(jax.dlpack.from_dlpack(report.reached).all())
