import os
from typing import Any, NamedTuple, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Body = Union[str, int]
Goals = Union[Goal, Sequence[Goal], str]

__version__: str

class Error(ValueError):
    status: str
    line: int
    column: int

class Goal:
    kind: str
    weight: float
    def __setattr__(self, name: str, value: Any) -> None: ...

def position(body: Body, target: ArrayLike, point: ArrayLike = ..., *, weight: float = ..., priority: int = ..., tolerance: ArrayLike = ..., loss: str = ..., loss_scale: float = ...) -> Goal: ...
def direction(body: Body, direction: ArrayLike, axis: ArrayLike = ..., *, weight: float = ..., priority: int = ...) -> Goal: ...
def orientation(body: Body, target: ArrayLike, *, local: ArrayLike = ..., weight: float = ..., priority: int = ..., rotation_tolerance: ArrayLike = ...) -> Goal: ...
def pose(body: Body, target: ArrayLike, local: ArrayLike = ..., *, weight: float = ..., rotation_weight: float = ..., priority: int = ..., tolerance: ArrayLike = ..., rotation_tolerance: ArrayLike = ..., loss: str = ..., loss_scale: float = ...) -> Goal: ...
def aim(body: Body, target: ArrayLike, axis: ArrayLike = ..., *, point: ArrayLike = ..., weight: float = ..., priority: int = ...) -> Goal: ...
def plane(body: Body, target: ArrayLike, normal: ArrayLike, point: ArrayLike = ..., *, weight: float = ..., priority: int = ..., loss: str = ..., loss_scale: float = ...) -> Goal: ...
def line(body: Body, target: ArrayLike, direction: ArrayLike, point: ArrayLike = ..., *, weight: float = ..., priority: int = ..., loss: str = ..., loss_scale: float = ...) -> Goal: ...
def distance(body: Body, target: ArrayLike, distance: float, point: ArrayLike = ..., *, weight: float = ..., priority: int = ..., loss: str = ..., loss_scale: float = ...) -> Goal: ...
def posture(q: ArrayLike, weight: float = ..., weights: ArrayLike | None = ..., *, priority: int = ...) -> Goal: ...
def smoothness(q: ArrayLike, q_before: ArrayLike | None = ..., weight: float = ..., weights: ArrayLike | None = ..., *, priority: int = ...) -> Goal: ...
def relative(body: Body, other: Body, target: ArrayLike, local: ArrayLike = ..., *, weight: float = ..., rotation_weight: float = ..., priority: int = ...) -> Goal: ...
def center_of_mass(target: ArrayLike, weight: float = ..., *, priority: int = ...) -> Goal: ...

class GoalError(NamedTuple):
    error: float
    unit: str
    rotation_error: float

class Report:
    outcome: str
    reason: str
    reached: bool
    errors: list[GoalError]
    iterations: int
    evaluations: int
    restarts: int
    active_limits: int
    moved_joints: int
    start_cost: float
    cost: float
    gradient: float
    distance: float
    worst_length: float
    worst_angle: float
    holds: bool
    closure: float
    clearance: float | None
    nearest: tuple[str, str] | None
    blocking: str | None
    def _asdict(self) -> dict[str, Any]: ...
    def __bool__(self) -> bool: ...

class BatchReport(NamedTuple):
    reached: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    restarts: NDArray[np.int64]
    cost: Array
    worst_length: Array
    worst_angle: Array
    outcome: NDArray[np.str_]

class Shape:
    kind: str
    body: Body | None

class Constraint:
    name: str

def box(pose: ArrayLike, sides: ArrayLike, *, body: Body | None = ..., radius: float = ...) -> Shape: ...
def sphere(center: ArrayLike, radius: float, *, body: Body | None = ...) -> Shape: ...
def capsule(start: ArrayLike, end: ArrayLike, radius: float, *, body: Body | None = ...) -> Shape: ...
def half_space(point: ArrayLike, normal: ArrayLike = ..., *, body: Body | None = ...) -> Shape: ...
def connect(body: Body, target: ArrayLike, point: ArrayLike = ..., *, other: Body | None = ...) -> Constraint: ...
def weld(body: Body, target: ArrayLike, local: ArrayLike = ..., *, other: Body | None = ...) -> Constraint: ...
def hinge(body: Body, target: ArrayLike, local: ArrayLike = ..., *, other: Body | None = ...) -> Constraint: ...
def rod(body: Body, target: ArrayLike, lower: float, upper: float | None = ..., point: ArrayLike = ..., *, other: Body | None = ...) -> Constraint: ...
def band(body: Body, plane: ArrayLike, lower: float = ..., upper: float = ..., point: ArrayLike = ..., *, other: Body | None = ...) -> Constraint: ...
def balance(polygon: ArrayLike, margin: float = ..., axis: ArrayLike = ...) -> Constraint: ...

class Model:
    nq: int
    nv: int
    lower: Array
    upper: Array
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    tools: tuple[str, ...]
    parents: tuple[int, ...]
    types: tuple[str, ...]
    coordinates: tuple[str, ...]
    loops: tuple[str, ...]
    shapes: tuple[tuple[str, str | None, Array, Array, float], ...]
    source: str | None
    def neutral(self) -> Array: ...
    def clamp(self, q: ArrayLike) -> Array: ...
    def within_limits(self, q: ArrayLike) -> bool: ...
    def retract(self, q: ArrayLike, v: ArrayLike) -> Array: ...
    def difference(self, q: ArrayLike, q_to: ArrayLike) -> Array: ...
    def solve(self, goals: Goals, q: ArrayLike | None = ..., *, avoid: bool = ..., margin: float = ..., obstacles: Sequence[Shape] = ..., constraints: Sequence[Constraint] = ..., loops: bool = ..., neighbours: int = ..., errors: bool = ..., method: str = ..., start: str = ..., use_limits: bool = ..., max_iterations: int = ..., restarts: int = ..., seed: int = ..., cost_tolerance: float = ..., gradient_tolerance: float = ..., position_tolerance: float = ..., rotation_tolerance: float = ..., prior: float = ..., step_limit: float = ..., damping: float = ..., coupled_goals: int = ...) -> tuple[Array, Report]: ...
    def solve_all(self, goal: Goal, q: ArrayLike | None = ..., most: int = ..., **options: Any) -> tuple[Array, Report]: ...
    def solve_batch(self, body: Body | Sequence[Goals], targets: ArrayLike = ..., q: ArrayLike | None = ..., *, threads: int = ..., lanes: int = ..., on_error: str = ..., loops: bool = ..., **options: Any) -> tuple[Array, BatchReport]: ...
    def fk(self, q: ArrayLike, body: Body | None = ...) -> Array: ...
    def jacobian(self, q: ArrayLike, body: Body, point: ArrayLike = ...) -> Array: ...
    def tensor(self, q: ArrayLike, body: Body, point: ArrayLike = ...) -> Array: ...
    def evaluate(self, goals: Goals, q: ArrayLike, *, hessian: str | None = ...) -> tuple[float, Array, Array | None]: ...

    def sensitivity(self, goals: Goals, q: ArrayLike, *, use_limits: bool = ...) -> Sensitivity: ...
    def pose_gradients(self, body: Body, targets: ArrayLike, q: ArrayLike, dL_dq: ArrayLike) -> Array: ...

class Sensitivity:
    def forward(self, goal: int = ..., *, translation: ArrayLike = ..., rotation: ArrayLike = ..., weight: float = ..., rotation_weight: float = ...) -> Array: ...
    def jacobian(self, goal: int = ...) -> Array: ...
    def backward(self, dL_dq: ArrayLike) -> dict[str, Array]: ...

class ErikReport(NamedTuple):
    reached: bool
    iterations: int
    error: float
    orientation: float
    posture: float
    angle: float

class Erik:
    def __init__(self, model: Model, *, body: Body = ..., **options: Any) -> None: ...
    def solve(self, posture: ArrayLike, target: ArrayLike, q: ArrayLike | None = ...) -> tuple[Array, ErikReport]: ...

class ExpressiveReport(NamedTuple):
    reached: bool
    error: float
    goal: float
    posture: float
    worst_length: float
    worst_angle: float
    kept_branch: bool
    on_the_way: bool

class Expressive:
    def __init__(self, model: Model, *, body: Body = ..., **options: Any) -> None: ...
    def solve(self, goals: Goals, posture: ArrayLike, q: ArrayLike | None = ...) -> tuple[Array, ExpressiveReport]: ...

class Filter:
    rests: bool
    def __init__(self, model: Model, *, velocity: float = ..., acceleration: float = ..., jerk: float = ..., smoothness: float = ..., responsiveness: float = ..., soft: float = ..., length_unit: float = ..., mode: str = ...) -> None: ...
    def reset(self, q: ArrayLike) -> None: ...
    def step(self, q: ArrayLike, dt: float) -> Array: ...

class Clip:
    q: Array
    frame_time: float
    start_time: float
    times: Array
    def __init__(self, q: ArrayLike, frame_time: float, start_time: float = ...) -> None: ...
    def __len__(self) -> int: ...

class Markers:
    labels: tuple[str, ...]
    positions: Array
    rate: float
    start_time: float
    metres: float
    up: str
    times: Array
    def __init__(self, labels: Sequence[str], positions: ArrayLike, rate: float, start_time: float = ..., metres: float = ..., up: str = ...) -> None: ...
    def __len__(self) -> int: ...

class File:
    format: str
    title: str | None
    model: Model | None
    clip: Clip | None
    markers: Markers | None
    postures: dict[str, Array]
    placements: dict[str, tuple[int, tuple[float, float, float], float]]
    warnings: list[str]
    metres: float
    up: str

class Finding(NamedTuple):
    kind: str
    level: str
    name: str | None
    other: str | None
    value: float
    text: str

class Track:
    model: Model
    clip: Clip
    q: Array
    markers: Markers
    placements: dict[str, tuple[int, tuple[float, float, float], float]]
    verdict: str
    findings: list[Finding]
    left_out: list[str]
    undetermined: list[str]
    residuals: Array
    held: NDArray[np.bool_]
    distances: Array
    deviations: Array
    mean: float
    rms: float
    first: int
    metres: float
    up: str
    is_calibrated: bool
    size: float
    def __bool__(self) -> bool: ...

def track(model: Model | File, recording: Markers | File | tuple[Model, Clip], *, placements: dict[str, tuple[int | str, Sequence[float], float]] | None = ..., labels: str | None = ..., subject: str | None = ..., pairs: Sequence[str] = ..., metres: float = ..., up: str = ..., source_metres: float = ..., source_up: str = ..., **options: Any) -> Track: ...
class Viewer:
    model: Model
    address: str
    goal: Array | None
    def show(self, q: ArrayLike) -> None: ...
    def play(self, motion: Clip | ArrayLike, rate: float | None = ...) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Viewer: ...
    def __exit__(self, *unused: Any) -> None: ...

def view(model: Model | File | str | os.PathLike[str], q: Clip | ArrayLike | None = ..., *, body: str | None = ..., browser: bool = ..., command: str | None = ..., studio: str | None = ..., port: int = ...) -> Viewer: ...
def read(path: str | os.PathLike[str], *, model: Model | None = ..., floating: bool = ..., animation: int = ..., meshes: bool = ...) -> File: ...
def load(path: str | os.PathLike[str], *, floating: bool = ..., meshes: bool = ...) -> Model: ...
def parse(data: bytes | str, name: str, *, folder: str | os.PathLike[str] = ..., model: Model | None = ..., floating: bool = ..., animation: int = ..., meshes: bool = ...) -> File: ...
def dump(name: str, model: Model | None = ..., *, clip: Clip | None = ..., markers: Markers | None = ..., metres: float = ..., up: str = ...) -> bytes: ...
def save(path: str | os.PathLike[str], model: Model | None = ..., *, clip: Clip | None = ..., markers: Markers | None = ..., metres: float = ..., up: str = ...) -> None: ...
def scene(name: str) -> Model: ...
def scenes() -> dict[str, str]: ...
