"""The paper's real data sets: where they are looked for, what is refused, how they arrive."""

import hashlib
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import pooch
import pytest
from scipy.io import savemat

from experiments.paper_data import (
    load_allaml,
    load_glass,
    load_orl,
    load_warp_ar10p,
    load_wine,
)
from experiments.paper_files import (
    DataSource,
    DownloadError,
    cache_folder,
    data_folders,
    data_sources,
    load_table,
)
from pinsker.exceptions import DataError, MissingDependencyError

LOADERS = {
    "ORL": load_orl,
    "warpAR10P": load_warp_ar10p,
    "ALLAML": load_allaml,
    "glass": load_glass,
}
#: Sums of the squares of X and of y, read off the files with scipy and numpy alone.
SUMS = {
    "ORL": (7944512948.0, 8200),
    "warpAR10P": (9569417769.0, 715),
    "ALLAML": (506159.0004505931, 97),
    "glass": (1189050.6299441773, 595),
}


def mat(X, y):
    content = BytesIO()
    savemat(content, {"X": X, "Y": np.reshape(y, (-1, 1))})
    return content.getvalue()


X, Y = np.arange(12, dtype=np.uint8).reshape(4, 3), np.array([1, 2, 1, 2], dtype=np.uint8)
CONTENT = mat(X, Y)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Give every test an empty folder of data and a cache that does not exist yet."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("PINSKER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PINSKER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")  # the server is on this machine
    return tmp_path


def source_of(content, url="http://localhost:1/small.mat"):
    digest = hashlib.sha256(content).hexdigest()
    return DataSource("small", ("small.mat",), url, digest, 4, 3, 2)


@pytest.fixture
def home():
    """Serve `CONTENT` at /small.mat, half of it at /half.mat, anything else not at all."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            known = {"/small.mat": CONTENT, "/half.mat": CONTENT[: len(CONTENT) // 2]}
            requested.append(self.path)
            if self.path not in known:
                self.send_error(404, "Not here")
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(known[self.path])

        def log_message(self, *_):
            pass

    requested = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requested, server.url = requested, f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_file_is_fetched_once_and_then_read_from_the_cache(folders, home):
    source = source_of(CONTENT, f"{home.url}/small.mat")
    for _ in range(2):
        found, labels = load_table(source, download=True)
        np.testing.assert_array_equal(found, X)
        assert found.dtype == np.float64
        assert labels.dtype == np.int64
        assert labels.tolist() == [1, 2, 1, 2]
    assert home.requested == ["/small.mat"]
    assert [path.name for path in (folders / "cache").iterdir()] == ["small.mat"]


def test_what_is_not_the_file_is_refused_and_not_kept(folders, home):
    source = replace(source_of(CONTENT, f"{home.url}/small.mat"), sha256="0" * 64)
    with pytest.raises(DataError, match=r"small\.mat is not the file of small .* known hash"):
        load_table(source, download=True)
    assert list((folders / "cache").iterdir()) == []


def test_a_text_table_that_is_not_the_set_is_not_kept(folders, home):
    """The checksum of a text table is that of its numbers, which pooch cannot look at."""
    source = replace(source_of(CONTENT, f"{home.url}/small.mat"), form="csv")
    with pytest.raises(DataError, match=r"small\.mat is not the table small"):
        load_table(source, download=True)
    assert list((folders / "cache").iterdir()) == []


@pytest.mark.parametrize("folder", ["data", "cache"])
def test_a_wrong_file_in_a_folder_is_refused(folders, folder):
    (folders / folder).mkdir(exist_ok=True)
    (folders / folder / "small.mat").write_bytes(CONTENT + b" ")
    with pytest.raises(DataError, match=rf"{folder}.small\.mat is not the file .* delete it, or"):
        load_table(source_of(CONTENT), download=False)


def test_a_table_of_another_shape_is_refused(folders):
    (folders / "data" / "small.mat").write_bytes(CONTENT)
    with pytest.raises(DataError, match=r"holds \(4, 3, 2\) rows, columns and classes where small"):
        load_table(replace(source_of(CONTENT), n_rows=5), download=False)


# requests leaves the socket of a broken download to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize(
    ("path", "reason"), [("/none.mat", "Not here"), ("/half.mat", r"IncompleteRead")]
)
def test_a_download_that_fails_says_what_to_do(folders, home, path, reason):
    source = source_of(CONTENT, home.url + path)
    with pytest.raises(DownloadError, match=reason) as failed:
        load_table(source, download=True)
    message = str(failed.value)
    assert source.url in message
    assert "small.mat by other means and name its folder in PINSKER_DATA" in message
    assert "\n" not in message
    assert list((folders / "cache").iterdir()) == []


def test_offline(folders):
    # Nothing listens at port 1 of this machine; the refusal needs no network.
    with pytest.raises(DownloadError, match=r"could not download http://localhost:1/small\.mat \("):
        load_table(source_of(CONTENT), download=True)


def test_without_leave_nothing_is_fetched(folders, home):
    source = source_of(CONTENT, f"{home.url}/small.mat")
    with pytest.raises(DownloadError, match=r"small\.mat is not in .*, and download=False: get it"):
        load_table(source, download=False)
    assert home.requested == []


def test_a_cache_that_cannot_be_written_is_named(folders, home):
    (folders / "cache").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=r"could not download .*cache.*'\): get small\.mat by"):
        load_table(source_of(CONTENT, f"{home.url}/small.mat"), download=True)


@pytest.fixture
def without_pooch(folders, monkeypatch):
    """Hide pooch, as where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("PINSKER_CACHE")
    return folders


def test_without_pooch_folders_are_read(without_pooch):
    (without_pooch / "data" / "small.mat").write_bytes(CONTENT)
    found, _ = load_table(source_of(CONTENT), download=True)
    np.testing.assert_array_equal(found, X)


def test_without_pooch_the_message_names_the_extra(without_pooch):
    with pytest.raises(MissingDependencyError, match=r"Try: pip install pooch"):
        load_table(source_of(CONTENT), download=True)
    with pytest.raises(DownloadError, match=r"small\.mat is not in .*, and download=False"):
        load_table(source_of(CONTENT), download=False)


def test_the_named_folder_comes_first(folders):
    assert data_folders()[0] == folders / "data"
    assert data_folders()[-1] == cache_folder() == folders / "cache"


def test_a_folder_that_is_not_there_is_named(folders, monkeypatch):
    monkeypatch.setenv("PINSKER_DATA", str(folders / "dtaa"))
    with pytest.raises(DataError, match=r"PINSKER_DATA names .*dtaa', which is not a folder"):
        data_folders()


def test_the_cache_is_poochs(monkeypatch):
    monkeypatch.delenv("PINSKER_CACHE", raising=False)
    assert cache_folder() == Path(pooch.os_cache("pinsker"))


GLASS = ["1.52101,13.64,4.49,1.1,71.78,0.06,8.75,0.0,0.0,1", "1.51,13.0,4,1,72,0.5,8,0,0.2,2"]


def test_copies_of_a_text_table_are_one_data_set(folders):
    """A header, an Id, other digits and other line ends do not change the numbers."""
    plain = "\n".join(GLASS)
    named = "RI,Na,Mg,Al,Si,K,Ca,Ba,Fe,type\r\n" + plain.replace("\n", "\r\n")
    numbered = "\n".join(f"{i},{line}" for i, line in enumerate(GLASS, 1)) + "\n\n"
    noisy = plain.replace("1.52101", "1.5210100000000002")
    units = np.array([
        [152101, 1364000, 449000, 110000, 7178000, 6000, 875000, 0, 0, 1],
        [151000, 1300000, 400000, 100000, 7200000, 50000, 800000, 0, 20000, 2],
    ])  # fmt: skip
    digest = hashlib.sha256(units.astype("<i8").tobytes()).hexdigest()
    source = DataSource("glass", ("g.csv",), "http://localhost:1/g", digest, 2, 9, 2, form="csv")
    for text in (plain, named, numbered, noisy):
        table, labels = source.read(text.encode(), "here")
        np.testing.assert_array_equal(table, units[:, :-1] / 1e5)
        assert labels.tolist() == [1, 2]
    with pytest.raises(DataError, match="here is not the file of glass"):
        source.read(plain.replace("13.64", "13.65").encode(), "here")
    for text in ("<html>no</html>", "1,2\n3,4", "é"):
        with pytest.raises(DataError, match=r"here is not the table glass: .*; get it from http"):
            source.read(text.encode(), "here")


@pytest.mark.parametrize("name", LOADERS)
def test_the_real_files(name, data_folder, monkeypatch):
    monkeypatch.setenv("PINSKER_DATA", str(data_folder))
    source = data_sources()[name]
    table, labels = LOADERS[name](download=False)
    assert table.shape == (source.n_rows, source.n_columns)
    assert (table.dtype, labels.dtype) == (np.float64, np.int64)
    sum_of_squares, sum_of_labels = SUMS[name]
    np.testing.assert_allclose(np.square(table).sum(), sum_of_squares, rtol=1e-12)  # rounding
    assert labels.sum() == sum_of_labels


def test_wine():
    table, labels = load_wine()
    assert table.dtype == np.float64
    assert np.bincount(labels).tolist() == [59, 71, 48]
