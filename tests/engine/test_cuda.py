"""The CUDA kernels give the engine's integers, bit for bit.

Without a GPU the kernels run on the CPU (`cuda_on_cpu.py`); with PINSKER_TEST_GPU=1, as `make
test-gpu` has it, the same tests run on the GPU.
"""

import os
from dataclasses import replace

import numpy as np
import pytest

from engine import cuda_on_cpu
from engine.tables import STYLES, draw
from oracles import search as oracle
from pinsker import BackwardElimination, EngineSettings, ForwardSelection
from pinsker.engine import Backward, Forward
from pinsker.engine.backends import cuda
from pinsker.exceptions import MemoryBudgetError

# Both sides add at most a few hundred digammas of at most 6: rounding stays far below.
ROUNDING = 1e-12
TARGETS = ("classes", "rare classes", "number", "numbers")
ON_GPU = os.environ.get("PINSKER_TEST_GPU") == "1"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if ON_GPU:
        return None
    if cuda_on_cpu.compiler() is None:
        pytest.skip("no C++ compiler: the CUDA kernels cannot be compiled for the CPU")
    return cuda_on_cpu.build(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def make_device(library):
    """Devices; the options only matter on the CPU."""

    def make(**how):
        return cuda.CupyDevice() if ON_GPU else cuda_on_cpu.CpuDevice(library, **how)

    return make


def on_cuda(search, k, device, **limits):
    """The same search on a device."""
    settings = {**search._settings(search.plan, k), **limits, "device": device}
    if isinstance(search, Backward):
        twin = cuda.CudaBackward(**settings)
    else:
        twin = cuda.CudaForward(**settings)
    twin.start(search._active, 1)
    return twin


def step(search, twin, feature):
    if isinstance(search, Backward):
        search.remove(feature)
        twin.remove(feature, 1)
    else:
        search.add(feature)
        twin.add(feature, 1)


def assert_same_integers(search, twin):
    """Scores that mean something, and the information, as integers."""
    backward = isinstance(search, Backward)
    wanted, found = np.empty((2, search.problem.n_features), dtype=np.int64)
    for one, out in ((search._search, wanted), (twin, found)):
        (one.changes if backward else one.sums)(out)
    there = search._active == backward
    if not backward or there.sum() > 1:  # the empty set has no information
        np.testing.assert_array_equal(found[there], wanted[there])
    assert twin.information() == search._search.information()


def assert_same_path(search, twin, order):
    for feature in order:
        assert_same_integers(search, twin)
        step(search, twin, int(feature))
    assert_same_integers(search, twin)


@pytest.mark.skipif(ON_GPU, reason="the layout is compared on the CPU")
def test_the_job_has_the_layout_of_the_compiler(library):
    expected = {name: offset for name, (_, offset) in cuda.LAYOUT.fields.items()}
    assert cuda_on_cpu.offsets(library) == expected
    assert library.size_of_job() == cuda.LAYOUT.itemsize == 8 * len(expected)
    assert {"source", "sums", "rows", "removed", "rounding"} < set(expected)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("int rank;", "rank in struct Job is a number of type int: use long long or double"),
        ("double limit[4];", r"'double limit\[4\]' in struct Job: declare addresses or numbers"),
    ],
)
def test_a_job_holds_fields_of_eight_bytes(field, message):
    with pytest.raises(ValueError, match=message):
        cuda.layout_of(f"struct Job {{\n    const int *query;  // rows\n    {field}\n}};\n")


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("style", STYLES)
def test_whole_paths_have_the_bits_of_the_engine(style, target, score, make_device, seed):
    table = draw(seed, rows=45, columns=9, style=style, target=target, grouped=style == "tied")
    order = np.random.default_rng(seed).permutation(len(table.features))
    for kind in (Backward, Forward):
        search = kind(table.problem(), n_neighbors=3, score=score)
        assert_same_path(search, on_cuda(search, 3, make_device()), order)


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", ["rare classes", "number"])
def test_scores_are_those_of_a_slow_search(target, score, make_device, seed):
    table = draw(seed, rows=16, columns=5, style="mixed", target=target, grouped=True)
    args = (table.values, table.features, table.target)
    n_features = len(table.features)
    for kind, slow in ((Backward, oracle.SlowBackward), (Forward, oracle.SlowForward)):
        active = range(n_features) if kind is Backward else [1]
        search = kind(table.problem(), n_neighbors=2, score=score, active=active)
        search._search = on_cuda(search, 2, make_device())
        wanted = slow(*args, active, k=2, score=score)
        np.testing.assert_allclose(search.scores(), wanted.scores(), atol=ROUNDING, rtol=0)
        assert search.information == pytest.approx(wanted.information, abs=ROUNDING)


@pytest.mark.parametrize("kind", [Backward, Forward])
@pytest.mark.parametrize("n_neighbors", [1, 8, 9, 29])
def test_many_neighbors(kind, n_neighbors, make_device, seed):
    # Up to 8 neighbors are held by a thread, more are found by halving.
    table = draw(seed, rows=30, columns=5, style="mixed", target="classes")
    search = kind(table.problem(), n_neighbors=n_neighbors)
    assert_same_path(search, on_cuda(search, n_neighbors, make_device()), range(5))


@pytest.mark.parametrize("target", ["classes", "number"])
def test_rows_with_too_many_close_pairs_are_measured_from_scratch(target, make_device, seed):
    table = draw(seed, rows=90, columns=12, style="continuous", target=target)
    retired = set()
    for capacity in (2, 20, 30, 40, 90):
        search = Backward(table.problem())
        twin = on_cuda(search, 3, make_device(), capacity=capacity)
        for feature in range(10):
            assert_same_integers(search, twin)
            retired.add(90 - twin.n_kept)
            step(search, twin, feature)
    assert {0, 90} < retired  # none, all, and some in the middle of a path
    assert any(0 < n < 90 for n in retired)


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize(
    ("fraction", "capacity"),
    [
        (0.0, 80),
        pytest.param(0.0, 25, marks=pytest.mark.slow),
        pytest.param(0.3, 80, marks=pytest.mark.slow),
        (0.8, 25),
    ],
)
def test_rows_that_do_not_fit_stream_through(fraction, capacity, score, make_device, seed):
    table = draw(seed, rows=80, columns=6, style="mixed", target="classes")
    search = Backward(table.problem(), score=score)
    whole = on_cuda(search, 3, make_device())
    row = on_cuda(search, 3, make_device(), capacity=capacity).bytes_of_kept_row
    tight = int(cuda.least_memory(80, 6, 6, 0) + fraction * 80 * row)
    device = make_device()
    parts = on_cuda(search, 3, device, memory_limit=tight, capacity=capacity)
    assert whole.n_kept == 80
    assert parts.n_kept < 80 * (fraction + 0.1)
    if not ON_GPU and capacity == 80:
        assert device.launches.count("find_radius") > 2  # batches of a few rows
    assert_same_path(search, parts, range(6))
    forward = Forward(table.problem(), score=score)
    assert_same_path(forward, on_cuda(forward, 3, make_device(), memory_limit=tight), range(3))


@pytest.mark.skipif(ON_GPU, reason="bytes are counted on the CPU")
@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.parametrize("fraction", [0.0, pytest.param(0.1, marks=pytest.mark.slow), 0.5, 1.5])
def test_no_more_bytes_are_held_than_allowed(fraction, target, make_device, seed):
    table = draw(seed, rows=50, columns=150, style="continuous", target=target)
    for kind in (Backward, Forward):
        search = kind(table.problem())
        whole = on_cuda(search, 3, make_device(), memory_limit=2**28)
        least = cuda.least_memory(50, 150, 150, 0 if target == "classes" else 2)
        limit = int(least + fraction * (whole.n_bytes - least))
        device = make_device()
        twin = on_cuda(search, 3, device, memory_limit=limit)
        for feature in range(5):
            step(search, twin, feature)
        assert_same_integers(search, twin)
        assert device.most_held <= twin.n_bytes <= limit
        assert twin.limit == limit


@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", ["classes", "number"])
def test_candidates_with_balls_of_very_different_sizes(target, score, make_device, seed):
    # Some balls end within the first reach, some need a wider one, some every row.
    drawn = draw(seed, rows=260, columns=6, style="continuous", target=target)
    table = replace(drawn, values=np.sinh(2 * drawn.values))  # long tails
    search = Forward(table.problem(), score=score, active=[4])
    assert_same_path(search, on_cuda(search, 3, make_device()), [0, 1, 2])


def test_a_table_that_cannot_fit_says_so_with_the_bytes(make_device):
    search = Backward(draw(0, rows=50, columns=9, style="mixed", target="classes").problem())
    with pytest.raises(
        MemoryBudgetError,
        match=r"at least \d+ bytes on the GPU, but 999 are allowed\. Raise max_memory if you set",
    ):
        on_cuda(search, 3, make_device(), memory_limit=999)


@pytest.mark.parametrize("threads", [1, 2, 16, 64])  # 64: two warps
@pytest.mark.parametrize("backwards", [False, True])
def test_any_order_of_threads_gives_the_same_bits(threads, backwards, make_device, seed):
    device = make_device(row_threads=threads, backwards=backwards)
    table = draw(seed, rows=70, columns=6, style="tied", target="number")
    search = Backward(table.problem())
    assert_same_path(search, on_cuda(search, 3, device), range(6))


@pytest.mark.parametrize("in_shared", [2048, 0])
def test_more_features_than_watches_can_name(in_shared, make_device, seed, monkeypatch):
    # Watches are features modulo 255: some pairs are looked at again for nothing, none is missed.
    monkeypatch.setattr("pinsker.engine.backends.cuda._searches._COLUMNS_IN_SHARED", in_shared)
    table = draw(seed, rows=40, columns=300, style="continuous", target="classes")
    search = Backward(table.problem())
    twin = on_cuda(search, 3, make_device())
    for feature in (0, 255, 256, 1, 299, 45, 44):
        step(search, twin, feature)
        assert_same_integers(search, twin)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1e7), (1e35, 0.0), (1e-3, 7.0)])
def test_values_that_single_precision_cannot_tell_apart(scale, shift, make_device, seed):
    # Single precision may only decide what it shows for certain.
    drawn = draw(seed, rows=60, columns=10, style="continuous", target="classes")
    table = replace(drawn, values=drawn.values * scale + shift)
    search = Backward(table.problem())
    assert_same_path(search, on_cuda(search, 3, make_device()), range(10))


def test_a_sample_of_rows_and_a_smaller_set(make_device, seed):
    table = draw(seed, rows=130, columns=10, style="mixed", target="rare classes")
    search = Backward(table.problem(), active=[1, 4, 5, 9], max_samples=40)
    assert_same_path(search, on_cuda(search, 3, make_device()), [5, 9, 1])
    search = Forward(table.problem(), active=[1, 4, 5, 9], max_samples=40)
    assert_same_path(search, on_cuda(search, 3, make_device()), [0, 2])


@pytest.fixture
def gpu(make_device, monkeypatch):
    """Make engine="cuda" find a device."""
    monkeypatch.setattr("pinsker.engine.backends.missing_gpu", lambda: None)
    monkeypatch.setattr("pinsker.engine.backends.cuda._device.CupyDevice", make_device)


def test_max_memory_counts_on_the_gpu(gpu):
    table = draw(5, rows=80, columns=6, style="mixed", target="classes").problem()
    least = cuda.least_memory(80, 6, 6, 0)
    row = Backward(table, engine="cuda")._search.bytes_of_kept_row
    limit = least + 40 * row  # a fifth of it is for batches
    whole, part = (Backward(table, engine="cuda", max_memory=most) for most in (None, limit))
    assert (whole.plan.n_watched, whole.plan.notes) == (80, ())
    assert 0 < part.plan.n_watched < 40
    assert part.plan.n_bytes <= part.plan.limit == limit < whole.plan.limit
    assert str(part.plan.notes[0]).startswith(
        "slower because memory is limited: 80 of 80 rows are measured"
    )
    for feature in range(4):
        np.testing.assert_array_equal(part.scores(), whole.scores())
        whole.remove(feature), part.remove(feature)
    forward = Forward(table, engine="cuda", max_memory=limit)
    np.testing.assert_array_equal(forward.scores(), Forward(table).scores())
    assert forward.plan.n_bytes <= forward.plan.limit == limit
    assert forward.plan.notes == ()


def test_max_memory_of_a_selector_reaches_the_gpu(gpu):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(70, 6))
    y = X[:, 1] + X[:, 4] > 0
    limit = cuda.least_memory(70, 6, 6, 0)
    tight = BackwardElimination(engine=EngineSettings("cuda", max_memory=limit)).fit(X, y)
    plan = tight.path_.plan
    assert (plan.n_watched, plan.limit) == (0, limit)
    assert any("0 keep their pairs in memory between steps" in note for note in tight.notes_)
    assert tight.path_ == BackwardElimination(engine="local").fit(X, y).path_
    with pytest.raises(
        MemoryBudgetError, match=rf"at least {limit} bytes on the GPU, but {limit - 1}"
    ):
        BackwardElimination(engine=EngineSettings("cuda", max_memory=limit - 1)).fit(X, y)


@pytest.mark.skipif(not ON_GPU, reason="needs a GPU: make test-gpu")
@pytest.mark.parametrize("kind", [Backward, Forward])
@pytest.mark.parametrize("limit", [40 * 2**20, 150 * 2**20])
def test_no_more_than_max_memory_is_allocated_on_the_gpu(kind, limit):
    cupy = pytest.importorskip("cupy")

    class Counted(cupy.cuda.MemoryHook):
        held = most_held = 0

        def malloc_postprocess(self, **block):
            self.held += block["mem_size"]
            self.most_held = max(self.most_held, self.held)

        def free_postprocess(self, **block):
            self.held -= block["mem_size"]

    table = draw(0, rows=6000, columns=100, style="continuous", target="classes").problem()
    here = kind(table, n_threads=16)
    with Counted() as counted:
        there = kind(table, engine="cuda", max_memory=limit)
        (there.remove if kind is Backward else there.add)(0)
    (here.remove if kind is Backward else here.add)(0)
    np.testing.assert_array_equal(there.scores(), here.scores())
    assert limit / 2 < counted.most_held <= limit


@pytest.mark.parametrize("kind", [Backward, Forward])
def test_the_engine_argument_reaches_the_kernels(kind, gpu):
    table = draw(3, rows=40, columns=5, style="mixed", target="number").problem()
    here, there = kind(table, engine="local"), kind(table, engine="cuda")
    assert there.plan.engine == "cuda"
    for feature in range(3):
        np.testing.assert_array_equal(there.scores(), here.scores())
        assert there.information == here.information
        for search in (here, there):
            (search.remove if kind is Backward else search.add)(feature)


@pytest.mark.parametrize("kind", [BackwardElimination, ForwardSelection])
@pytest.mark.parametrize("numeric", [False, True])
def test_selectors_keep_the_same_features(kind, numeric, gpu):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(70, 6))
    y = X[:, 1] + X[:, 4] + 0.1 * rng.normal(size=70)
    y = y if numeric else y > 0
    here, there = (kind(engine=engine).fit(X, y) for engine in ("local", "cuda"))
    np.testing.assert_array_equal(there.get_support(), here.get_support())
    np.testing.assert_array_equal(there.path_.scores, here.path_.scores)
    assert there.path_.moves == here.path_.moves


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_the_reason_names_what_is_missing(monkeypatch):
    monkeypatch.setattr("pinsker.engine.backends.cuda._device.find_spec", lambda name: None)
    assert cuda.missing().startswith("CuPy is not installed; pip install ")
    assert '[gpu]" for CUDA 13' in cuda.missing()

    class Broken:
        class cuda:  # noqa: N801
            class runtime:  # noqa: N801
                @staticmethod
                def getDeviceCount():
                    raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")

    monkeypatch.setattr("pinsker.engine.backends.cuda._device.find_spec", lambda name: name)
    monkeypatch.setattr("pinsker.engine.backends.cuda._device.import_module", lambda name: Broken)
    assert "CuPy finds no CUDA device (cudaErrorNoDevice: no CUDA" in cuda.missing()
    monkeypatch.setattr(Broken.cuda.runtime, "getDeviceCount", staticmethod(lambda: 0))
    assert "CuPy finds no CUDA device (no device); check nvidia-smi" in cuda.missing()


@pytest.mark.skipif(not ON_GPU, reason="needs a GPU: make test-gpu")
@pytest.mark.parametrize("score", ["difference", "direct"])
@pytest.mark.parametrize("target", ["classes", "number"])
@pytest.mark.parametrize("style", ["continuous", "mixed"])
def test_large_tables_on_the_gpu(style, target, score, seed):
    table = draw(seed, rows=4000, columns=40, style=style, target=target).problem()
    for kind in (Backward, Forward):
        here = kind(table, score=score, n_threads=16)
        there = kind(table, score=score, engine="cuda")
        for feature in range(39 if kind is Backward else 4):
            np.testing.assert_array_equal(there.scores(), here.scores())
            for search in (here, there):
                (search.remove if kind is Backward else search.add)(feature)
