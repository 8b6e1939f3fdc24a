"""Bad input ends in one line on standard error, exit code 2, and no traceback."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from pinsker.selectors import _feature_selector

SELECT = ("select", "{table}", "-t", "final grade")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["select", "absent.csv", "-t", "y"], "there is no file 'absent.csv'."),
        (["select", "{folder}", "-t", "y"], "is a folder: name a file."),
        (["select"], "Missing option '--target'"),
        (["select", "-t", "y"], 'name a table, or give --query "select ..." and --database FILE.'),
        (["select", "{table}", "-t", "y", "--database", "x.db"], "--database needs --query"),
        ([*SELECT, "--query", "select 1", "--database", "x.db"], "exclude each other"),
        (["select", "{table}"], "Missing option '--target'"),
        (["select", "{table}", "-t", "grade"], "--target: there is no column 'grade'. Did you"),
        (["nonsense"], "there is no command 'nonsense': use one of select"),
        ([*SELECT, "--nonsense"], "No such option"),
        ([*SELECT, "-e", "much"], "--error-budget 'much' is no number: use a number in the metric"),
        ([*SELECT, "-e", "5%"], "is no number: for 5% of an error rate or of the variance write 0"),
        ([*SELECT, "-e", "-1"], "an error budget must be a number of at least 0, found -1.0."),
        ([*SELECT, "-e", "3"], "an error budget of 3 means nothing in"),
        ([*SELECT, "-e", "0.1", "--stop", "features=2"], "--error-budget and --stop exclude"),
        ([*SELECT, "--stop", "soon"], "--stop 'soon' is not understood"),
        (
            [*SELECT, "--metric", "euro"],
            "--metric: metric='euro' is not known: use 'auto', one of 'error'",
        ),
        ([*SELECT, "--direction", "up"], "'up' is not one of 'auto', 'backward'"),
        ([*SELECT, "--missing", "fill"], "'fill' is not one of 'auto', 'error', 'drop'"),
        ([*SELECT, "--task", "regression"], "No such option"),
        ([*SELECT, "--metric", "mse"], "'final grade' holds text, not numbers: use --metric error"),
        ([*SELECT, "-d", "linear", "--seed", "1"], "--seed has no effect with --direction linear"),
        ([*SELECT, "--cv", "-1"], "Invalid value for '--cv'"),
        ([*SELECT, "--cv", "1"], "--cv: must be 0 or at least 2, found 1."),
        (
            [*SELECT, "--models", "oracle"],
            "--models: 'oracle' is not one of 'linear', 'linear ranks'",
        ),
        ([*SELECT, "--searches", "random"], "--searches: 'random' is not one of 'forward-back"),
        ([*SELECT, "-d", "linear", "--fast"], "--fast has no effect with --direction linear."),
        ([*SELECT, "-d", "forward", "--searches", "linear"], "--searches has no effect with"),
        ([*SELECT, "--n-neighbors", "0"], "Invalid value for '--n-neighbors'"),
        ([*SELECT, "--memory", "much"], "--memory 'much' is not understood"),
        ([*SELECT, "--memory", "1K", "-d", "backward"], "pinsker: --memory: "),
        ([*SELECT, "-d", "linear", "--jobs", "2"], "--jobs has no effect with --direction linear"),
        ([*SELECT, "--engine", "gpu"], "'gpu' is not one of 'auto', 'local', 'cuda'"),
        ([*SELECT, "-d", "linear", "--engine", "local"], "--engine has no effect with --direction"),
        ([*SELECT, "--engine", "cuda", "--scheduler", "h:1"], "--engine cuda and --scheduler excl"),
        ([*SELECT, "--fixed", "nobody"], "--fixed: there is no column 'nobody'"),
        ([*SELECT, "--drop", "final grade"], "--drop names the target 'final grade'"),
        ([*SELECT, "--feature-groups", "x"], "--feature-groups 'x' is not understood: use name="),
        ([*SELECT, "--kind", "x"], "--kind 'x' is not understood: use COLUMN=KIND"),
        ([*SELECT, "--output", "x.pdf"], "--output 'x.pdf': its name has no known format"),
        ([*SELECT, "--report", "x.pdf"], "--report 'x.pdf' must end in .html."),
        ([*SELECT, "--json", "no/where.json"], "--json 'no/where.json': there is no folder 'no'."),
        ([*SELECT, "--features", "{folder}"], "is a folder: name a file."),
        ([*SELECT, "--stop", "features=9", "-d", "backward"], "9"),
        (["certify", "absent.json", "{table}"], "there is no file 'absent.json'."),
        (["certify", "{table}", "{table}"], "is not a saved selection"),
        (["audit", "{selection}", "{table}", "--model", "oracle"], "'oracle' is not one of"),
        (["inspect", "{table}", "-t", "grade"], "--target: there is no column 'grade'"),
        (["select", 670 * "x" + ".csv", "-t", "y"], "xxx'... (674 characters) cannot be read: "),
        (["select", 200 * "Ł" + ".csv", "-t", "y"], "ŁŁŁ.csv' cannot be read: "),  # in bytes
        (["select", 3000 * "x/" + "t.csv", "-t", "y"], "x/x/'... (6005 characters) cannot be "),
        (["inspect", "{table}", "-t", 670 * "x"], "no column of the long name 'xxx"),
        (["inspect", "-", "-t", "y"], "standard input is empty: pipe a table in, or name a file."),
    ],
)
def test_one_line(run, table, selection, arguments, message):
    known = {"table": table, "folder": table.parent, "selection": selection}
    done = run(*(argument.format(**known) for argument in arguments), stdin=b"")
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("pinsker: ")
    assert message in done.err
    assert done.err.count("\n") == 1


RULE = "is not understood: use features=5, score=0.01 or jump=0.02."
MEMORY = "is not understood: use for example 500M or 2G."
GROUP = "is not understood: use name=first,second, for example"


@pytest.mark.parametrize(
    ("option", "texts", "message"),
    [
        ("--stop", ["", "5", "features", "features=five", "features=1.5", "size=3"], RULE),
        ("--stop", ["features=0"], "FeatureCount needs an integer of at least 1, found 0."),
        ("--memory", ["", "much", "-1G", "0", "2X", "G"], MEMORY),
        ("--feature-groups", ["colour", "=signal", "colour="], GROUP),
        ("--kind", ["signal=number"], "one of continuous, count, nominal."),
        ("--fixed", ["Colour"], "--fixed: there is no column 'Colour'. Did you mean 'colour'?"),
        ("--drop", ["zzz"], "There are 'noise 1', 'signal', 'colour', 'noise 2', 'final grade'."),
        ("--drop", ["q*"], "--drop: no column matches 'q*'."),
    ],
)
def test_values_that_are_not_understood(run, table, option, texts, message):
    for text in texts:
        done = run("select", table, "-t", "final grade", f"{option}={text}")
        assert (done.code, done.out) == (2, "")
        assert message in done.err


def test_help_and_version(run):
    assert run("--version").out.startswith("pinsker 0.")
    overview = run()
    assert overview.code == 0
    for command in ("select", "inspect", "certify", "audit", "demo"):
        assert command in overview.out
        assert run(command, "--help").code == 0
    assert "--install-completion" in overview.out


def test_an_interrupted_search_ends_in_one_line(run, table, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pinsker.engine.Backward.scores", interrupt)
    done = run("select", table, "-t", "final grade", "-d", "backward")
    assert (done.code, done.out, done.err) == (130, "", "pinsker: interrupted\n")


@pytest.mark.parametrize("stage", ["search_paths", "find_sizes"])
def test_the_first_interrupt_ends_with_the_best_set_so_far(
    run, table, tmp_path, monkeypatch, stage
):
    before = signal.getsignal(signal.SIGINT)
    fitted = {"search_paths": 0, "find_sizes": 0}
    for name in fitted:
        plain = getattr(_feature_selector, name)

        def interrupted(*args, _plain=plain, _name=name, **extra):
            fitted[_name] += 1
            if _name == stage and fitted[_name] == 1:
                signal.raise_signal(signal.SIGINT)
            return _plain(*args, **extra)

        monkeypatch.setattr(_feature_selector, name, interrupted)
    done = run("select", table, "-t", "final grade", "--json", tmp_path / "saved.json")
    assert (done.code, done.err) == (130, "pinsker: interrupted\n")
    lines = done.out.splitlines()
    assert lines[0] == "Interrupted. The best set so far; no file was written:"
    assert lines[1].startswith("Kept ")
    assert "note: the fit was interrupted: left out were " in done.out
    assert not (tmp_path / "saved.json").exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupted_command_ends_in_one_line(run, table, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("pinsker.cli._app.read_input", interrupt)
    done = run("select", table, "-t", "final grade")
    assert (done.code, done.err) == (130, "pinsker: interrupted\n")


def test_other_errors_are_not_hidden(run, table, monkeypatch):
    def fail(*_args, **_kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr("pinsker.cli._app.read_input", fail)
    with pytest.raises(ZeroDivisionError):
        run("select", table, "-t", "final grade")


def test_without_the_extra_one_line_says_what_to_install():
    code = (
        "import sys; sys.modules['typer'] = None\n"
        "from pinsker.cli import main; sys.argv = ['pinsker', '--version']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "pinsker: the command pinsker needs typer, which is not installed. Try: pip install "
    )
    assert done.stderr.endswith('[cli]"\n')
    assert done.stderr.count("\n") == 1


def test_as_a_process_in_a_pipe(table):
    command = [sys.executable, "-m", "pinsker", "select", "-", "-t", "final grade"]
    with table.open("rb") as stdin:
        done = subprocess.run(
            [*command, "-d", "backward"], stdin=stdin, capture_output=True, text=True
        )
    assert done.returncode == 0
    assert "Kept 2 of 4 columns of standard input" in done.stdout
    assert "\x1b" not in done.stdout  # no colours in a pipe
    assert done.stderr == ""  # no progress either


def test_a_reader_that_closes_the_pipe(table):
    command = f"{sys.executable} -m pinsker select '{table}' -t 'final grade' -d backward -o -"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} --quiet | head -n 1"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "signal,colour,final grade\n"
    assert done.stderr == ""


def test_long_names_of_columns_are_cut(run, tmp_path):
    table = tmp_path / "t.csv"
    for name in ("x" * 100_000, "y" * 90):
        table.write_text(f"{name},b\n1,2\n3,4\n")
        done = run("inspect", table, "-t", "y" * 80)
        assert done.code == 2
        assert f"{name[:80]!r}... ({len(name)} characters)" in done.err
        assert len(done.err) < 500


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("t.csv", "a,y\n1,2\n".encode("utf-16-le"), "UTF-16 without its mark: save it as UTF-8"),
        ("t.arff", b"@relation x\n", "cannot be read as ARFF: no @data."),
        ("t.csv", b"a,b,y\n1,2,3\n", "the table has one row: pass two at least"),
    ],
)
def test_files_that_are_no_table_to_learn_from(run, tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    done = run("select", tmp_path / name, "-t", "y")
    assert (done.code, told in done.err) == (2, True), done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_read_as_a_table(run, table, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[table.read_bytes()])
    writer.start()
    done = run("inspect", tmp_path / "pipe", "-t", "final grade")
    writer.join()
    assert (done.code, done.err) == (0, "")


def test_the_option_of_a_page_is_named_as_it_is(run, selection, tmp_path):
    assert "--output 'x.txt' must end in .html." in run("report", selection, "-o", "x.txt").err
