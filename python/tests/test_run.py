"""Running the catalog: the rows, sentences and files of the command line."""

import gc
import inspect
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction

import pytest

import conclave as cv
from conclave._core import in_keywords

# (keywords of run, words of the command line)
CASES = [
    (dict(protocol="pll", n=1000, trials=5, seed=7), "pll --n 1000 --trials 5 --seed 7"),
    (dict(protocol="pll", n=300, trials=2, engine="counts"),
     "pll --n 300 --trials 2 --engine counts"),
    (dict(protocol="fratricide", n=2**15, seed=2**63),
     "fratricide --n 2^15 --seed 9223372036854775808"),
    (dict(protocol="fratricide", n=1e3, trials=20, engine="events"),
     "fratricide --n 1000 --trials 20 --engine events"),
    (dict(protocol="fratricide", n=100, trials=4, max_interactions=500),
     "fratricide --n 100 --trials 4 --max-interactions 500"),
    (dict(protocol="fratricide", n=1000, until=2.5, trials=3),
     "fratricide --n 1000 --until 2.5 --trials 3"),
    (dict(protocol="fratricide", n=50, until=("convergence", 20), trials=3),
     "fratricide --n 50 --until convergence,20 --trials 3"),
    (dict(protocol="ppl", n=30, init="no-leader", trials=3, param={"t_max": 90, "t_virus": 40,
                                                                   "t_emit": 30}),
     "ppl --n 30 --init no-leader --trials 3 --param t_max=90 --param t_virus=40 "
     "--param t_emit=30"),
    (dict(protocol="prl", n=40, init="random", trials=3,
          fault=["corrupt:50%@200", "kill-leaders@convergence+5"]),
     "prl --n 40 --init random --trials 3 --fault corrupt:50%@200 "
     "--fault kill-leaders@convergence+5"),
    (dict(protocol="kmpp-async", n=300, trials=4, delay="slow-leader", wakeup="chain"),
     "kmpp-async --n 300 --trials 4 --delay slow-leader --wakeup chain"),
    (dict(protocol="flooding", n=20, trials=2, delay="uniform", count_edges=True),
     "flooding --n 20 --trials 2 --delay uniform --count-edges"),
    (dict(protocol="protocols/approximate_majority.pp", n=1000, trials=5, init="close"),
     "protocols/approximate_majority.pp --n 1000 --trials 5 --init close"),
    (dict(protocol="protocols/epidemic.pp", n=64, graph="undirected-ring", trials=3),
     "protocols/epidemic.pp --n 64 --graph undirected-ring --trials 3"),
    (dict(protocol="protocols/lotka_volterra.crn", n=3000, until=3, trials=2),
     "protocols/lotka_volterra.crn --n 3000 --until 3 --trials 2"),
]


@pytest.mark.parametrize("keywords, words", CASES, ids=[words for _, words in CASES])
def test_rows_are_the_bytes_of_the_command_line(keywords, words, program, texts):
    run = cv.run(**keywords)
    for text, form in ((run.csv(), "csv"), (run.jsonl(), "jsonl"), (run.json(), "json")):
        assert text == program("run", *words.split(), "--format", form, "--quiet").stdout
    assert len(run) == len(run.rows) == keywords.get("trials", 1)


def test_threads_do_not_change_a_row():
    rows = [cv.run("pll", n=500, trials=40, threads=k).csv() for k in (1, 4)]
    assert rows[0] == rows[1]


MISTAKES = [
    (dict(protocol="pil", n=10), "pil --n 10"),
    (dict(protocol="pll"), "pll"),
    (dict(protocol="pll", n=1), "pll --n 1"),
    (dict(protocol="pll", n="many"), "pll --n many"),
    (dict(protocol="pll", n=10, init="cleen"), "pll --n 10 --init cleen"),
    (dict(protocol="pll", n=10, param={"k_max": 3}), "pll --n 10 --param k_max=3"),
    (dict(protocol="pll", n=10, engine="cuonts"), "pll --n 10 --engine cuonts"),
    (dict(protocol="pll", n=10, delay="unit"), "pll --n 10 --delay unit"),
    (dict(protocol="pll", n=10, trials=0), "pll --n 10 --trials 0"),
    (dict(protocol="pll", n=10, until="soon"), "pll --n 10 --until soon"),
    (dict(protocol="pll", n=10, every=0, history=True, until=1),
     "pll --n 10 --every 0 --history /dev/null --until 1"),
    (dict(protocol="pll", n=10, every=1), "pll --n 10 --every 1"),
    (dict(protocol="pll", n=10, history_by="epoch"), "pll --n 10 --history-by epoch"),
    (dict(protocol="pll", n=10, history_format="long"), "pll --n 10 --history-format long"),
    (dict(protocol="pll", n=10, trace_grid="log"), "pll --n 10 --trace-grid log"),
    (dict(protocol="pll", n=10, history_by="epoch", trace=True, history=False),
     "pll --n 10 --history-by epoch --trace /nowhere/t"),
    (dict(protocol="pll", n=10, trace=True, every=1, trace_grid="log"),
     "pll --n 10 --trace /nowhere/t --every 1 --trace-grid log"),
    (dict(protocol="pll", n=10, trace=True, trace_grid="linear:0"),
     "pll --n 10 --trace /nowhere/t --trace-grid linear:0"),
    (dict(protocol="pll", n=10, output="/nowhere/t", trace="/nowhere/./t"),
     "pll --n 10 -o /nowhere/t --trace /nowhere/./t"),
    (dict(protocol="pll", n=10, history="/nowhere/t", final="/nowhere/t"),
     "pll --n 10 --history /nowhere/t --final /nowhere/t"),
    (dict(protocol="pll", n=10, fault="corrupt:11@1"), "pll --n 10 --fault corrupt:11@1"),
    (dict(protocol="pll", n=10, fault="corupt:3@1"), "pll --n 10 --fault corupt:3@1"),
    (dict(protocol="pll", n=10, graph="ring"), "pll --n 10 --graph ring"),
    (dict(protocol="pll", n=10, max_interactions=5, max_parallel_time=5),
     "pll --n 10 --max-interactions 5 --max-parallel-time 5"),
    (dict(protocol="kmpp-async", n=10, delay="slow"), "kmpp-async --n 10 --delay slow"),
    (dict(protocol="nowhere.pp", n=10), "nowhere.pp --n 10"),
    (dict(protocol="pll", n=10, max_file_size="much"), "pll --n 10 --max-file-size much"),
    (dict(protocol="pll", n=10, init_from="nowhere.csv"), "pll --n 10 --init-from nowhere.csv"),
    (dict(protocol="pll", n=10, init="clean", init_from={}),
     "pll --n 10 --init clean --init-from x"),
]


@pytest.mark.parametrize("keywords, words", MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_have_the_sentence_of_the_command_line(keywords, words, program, texts):
    with pytest.raises((cv.Error, OSError)) as raised:
        cv.run(**keywords)
    sentence = program("run", *words.split(), status=(2,)).stderr
    assert f"conclave: {raised.value}" == in_keywords(sentence.rstrip("\n"))


@pytest.mark.parametrize("command", ["run", "verify", "search", "explore"])
def test_every_option_is_a_keyword(command, program):
    told = program(command, "--help").stdout
    names = {name.replace("-", "_") for name in re.findall(r"^ +(?:-\w,)?--([a-z-]+)", told, re.M)}
    # Python returns what these options ask for, or has no use for them.
    elsewhere = {"run": set(), "verify": {"format", "output", "quiet"},
                 "search": {"format", "quiet"}, "explore": {"format", "quiet"}}[command]
    renamed = {"from": "from_", "no_congruence": "congruence"}
    asked = {renamed.get(name, name) for name in names} - elsewhere - {"help"}
    assert asked <= set(inspect.signature(getattr(cv, command)).parameters)


def test_an_unknown_keyword_names_the_nearest():
    with pytest.raises(cv.Error, match="run has no option 'trails'.*'trials'"):
        cv.run("pll", n=10, trails=3)
    with pytest.raises(cv.Error, match="unknown format 'xml'"):
        cv.run("pll", n=10, format="xml")


@pytest.mark.parametrize("command", ["run", "verify", "search", "explore", "sweep", "report"])
def test_an_empty_text_is_no_value_of_any_keyword(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(cv, command)
    first, *names = inspect.signature(function).parameters
    for name in names:
        with pytest.raises(ValueError, match=f"^{name} needs a value, not an empty string$"):
            function("pll", **{name: ""})
    with pytest.raises(ValueError, match=f"^{first} needs a value"):
        function("")
    with pytest.raises(ValueError, match="^init needs a value"):
        cv.Simulation("pll", "", n=10)
    assert not list(tmp_path.iterdir())


def test_values_of_another_kind_are_refused_with_a_sentence():
    for function in (cv.run, cv.verify, cv.search, cv.Simulation):
        with pytest.raises(cv.Error, match="^param takes a dict such as {'m': 20}, not 'm=20'$"):
            function("pll", n=10, param="m=20")
    for keywords in (dict(trials=None), dict(param={"m": None}), dict(seed=[1])):
        with pytest.raises(cv.Error, match="^expected a number such as 10"):
            cv.run("pll", **{"n": 10, **keywords})


def test_a_file_that_is_read_is_not_replaced(texts, tmp_path):
    text = (texts / "epidemic.pp").read_text(encoding="utf-8")
    mine = tmp_path / "mine.pp"
    mine.write_text(text, encoding="utf-8")
    cv.run(mine, n=10, final=tmp_path / "start.csv")
    start = (tmp_path / "start.csv").read_bytes()
    for keywords in (dict(output=mine), dict(trace=mine, init_from=tmp_path / "start.csv"),
                     dict(history=tmp_path / "start.csv", init_from=tmp_path / "start.csv")):
        with pytest.raises(cv.Error, match="is read, and would be replaced"):
            cv.run(mine, n=10, **keywords)
    assert mine.read_text(encoding="utf-8") == text
    assert (tmp_path / "start.csv").read_bytes() == start
    module = tmp_path / "module.pp"
    module.write_text("fields y: bool\nstart all: rest of {y = true}\n", encoding="utf-8")
    outer = tmp_path / "outer.pp"
    outer.write_text('import "module.pp"\nstart all: rest of {y = true}\n', encoding="utf-8")
    with pytest.raises(cv.Error, match="is read, and would be replaced"):
        cv.run(outer, n=10, output=module)
    cv.run(mine, init_from=tmp_path / "start.csv", final=tmp_path / "start.csv")  # goes on


def test_files_are_those_of_the_command_line(program, texts, tmp_path):
    cv.run("protocols/epidemic.pp", n=200, until=5, every=1, trials=2, output=tmp_path / "rows",
           format="csv", history=tmp_path / "h.csv", final=tmp_path / "f.csv",
           trace=tmp_path / "t.csv")
    program("run", "protocols/epidemic.pp", "--n", 200, "--until", 5, "--every", 1, "--trials", 2,
            "--format", "csv", "-o", tmp_path / "rows2", "--history", tmp_path / "h2.csv",
            "--final", tmp_path / "f2.csv", "--trace", tmp_path / "t2.csv", "--quiet")
    for name, other in (("rows", "rows2"), ("h.csv", "h2.csv"), ("f.csv", "f2.csv"),
                        ("t.csv", "t2.csv")):
        assert (tmp_path / name).read_bytes() == (tmp_path / other).read_bytes()


def test_frames_summaries_and_pictures(program, texts):
    run = cv.run("pll", n=300, trials=10)
    frame = run.frame()
    assert ",".join(frame.columns) == run.csv().splitlines()[0]
    assert frame["interactions"].tolist() == [row["interactions"] for row in run.rows]
    words = program("run", "pll", "--n", 300, "--trials", 10, "--quiet").stdout
    assert run.summary(100) == words and repr(run.summary(100)) == words.rstrip("\n")
    assert "white-space: pre" in run.summary()._repr_html_()
    assert run.statistics["trials"] == 10
    assert run.plot().get_xlabel() == "parallel time"
    kept = cv.run("protocols/epidemic.pp", n=100, until=8, every=0.5, history=True, trials=2)
    history = kept.history()
    assert list(history.columns[:2]) == ["trial", "time"]
    assert (history.drop(columns=["trial", "time"]).sum(axis=1) == 100).all()
    assert kept.plot().get_ylabel() == "agents"
    assert cv.run("pll", n=100, trace=True).plot().get_ylabel() == "leaders"
    messages = cv.run("kmpp-async", n=12, trials=2, trace=True)
    axes = messages.space_time()
    assert axes.get_ylabel() == "node"
    colours = {line.get_label(): line.get_color() for line in axes.get_lines()}
    assert (colours["REQUEST"], colours["DECIDE"]) == ("#0072b2", "#cc79a7")  # as `plot` has them
    assert set(messages.trace()["event"]) >= {"deliver", "elect"}
    with pytest.raises(cv.Error, match="run it with history=True"):
        run.history()
    with pytest.raises(cv.Error, match="has no messages"):
        run.space_time()


def test_going_on_from_a_configuration(texts):
    middle = cv.run("protocols/approximate_majority.pp", n=1000, until=3, final=True)
    later = cv.run("protocols/approximate_majority.pp", init=middle.final(), seed=2)
    assert later.n == 1000 and later.rows[0]["init"].startswith("given:")
    assert later.converged


def test_graphs_of_networkx_and_arrays():
    networkx = pytest.importorskip("networkx")
    numpy = pytest.importorskip("numpy")
    ring = networkx.cycle_graph(12)
    epidemic = cv.Protocol({("I", "S"): ("I", "I")}, stop="all(I)")
    by_graph = cv.run(epidemic, init={"I": 1, "S": 11}, graph=ring, trials=5)
    arcs = numpy.array([(i, (i + 1) % 12) for i in range(12)])
    both = numpy.concatenate([arcs, arcs[:, ::-1]])
    by_array = cv.run(epidemic, init={"I": 1, "S": 11}, graph=both, trials=5)
    assert by_graph.csv() == by_array.csv()
    assert by_graph.rows[0]["interactions"] > 24  # a ring takes longer than a complete graph can
    with pytest.raises(cv.Error, match="strongly connected"):
        cv.run(epidemic, init={"I": 1, "S": 11}, graph=arcs[:-1])
    with pytest.raises(cv.Error, match="12 agents, but n = 13"):
        cv.run(epidemic, n=13, init={"I": 1, "S": 12}, graph=ring)
    with pytest.raises(cv.Error, match="edges join two different agents"):
        cv.run(epidemic, init={"I": 1, "S": 1}, graph=[(0, 0), (0, 1)])


def interrupted(work):
    """Processor seconds between a Ctrl-C and its KeyboardInterrupt: whoever else has the machine
    does not count."""
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.4, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.join()
    return time.process_time() - sent[0]


@pytest.mark.parametrize("work", [
    lambda: cv.run("fratricide", n=10**6, trials=10**6, engine="agents", threads=1),
    lambda: cv.run("fratricide", n=10**5, engine="counts", trials=10**7),
    lambda: cv.run("kmpp-async", n=10**3, trials=10**7),
    lambda: cv.Simulation("fratricide", n=10**6, engine="agents").run(until=10**9),
    lambda: cv.Simulation("prl", n=10**8, init="random", engine="agents"),
    lambda: cv.verify("prl", n=3, param={"N": 12}),
    lambda: cv.search("prl", n=2000, budget=10**9),
], ids=["agents", "counts", "network", "simulation", "start", "verify", "search"])
def test_an_interrupt_ends_the_work_within_half_a_processor_second(work):
    assert interrupted(work) < 0.5


def test_an_exception_of_the_progress_bar_surfaces(monkeypatch):
    from conclave import _run

    class Broken(_run.Bar):
        def __enter__(self):
            def look(done, steps):
                raise ZeroDivisionError("in a callback")
            return look

    monkeypatch.setattr(_run, "Bar", Broken)
    with pytest.raises(ZeroDivisionError, match="in a callback"):
        cv.run("fratricide", n=10**5, trials=10**6, engine="agents")


def test_memory_stays_flat_over_many_calls():
    def call(times):
        for _ in range(times):
            cv.run("pll", n=10)
            with pytest.raises(cv.Error):
                cv.run("pll", n=1)
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    before = call(2000)
    assert call(8000) - before < 4 << 20


def test_a_run_that_is_interrupted_keeps_its_complete_trials(tmp_path):
    def send():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    with pytest.raises(cv.Interrupted) as raised:
        cv.run("fratricide", n=1000, trials=10**7, engine="agents", seed=3, format="csv",
               output=tmp_path / "rows.csv")
    run = raised.value.run
    assert 0 < len(run) < 10**7 and "interrupted" in run.summary()
    whole = cv.run("fratricide", n=1000, trials=len(run), engine="agents", seed=3)
    mark = f"# interrupted: {len(run)} of {10**7} trials\n"
    assert run.csv() == whole.csv() + mark == (tmp_path / "rows.csv").read_text()
    assert run.rows[-1]["interrupted"] and run.rows[-1]["asked"] == 10**7
    assert run.rows[:-1] == whole.rows[:-1] and len(run.frame()) == len(run)


TWO_THREADS = """
import os, threading, time
import conclave as cv

def endless():
    cv.Simulation("fratricide", n=10**6, engine="agents").run(until=10**9)

other = threading.Thread(target=endless, daemon=True)
other.start()
clock = time.pthread_getcpuclockid(other.ident)
while time.clock_gettime(clock) < 0.1:  # it is in the middle of its run then
    time.sleep(0.001)
for _ in range(20):
    assert len(cv.run("pll", n=100, trials=50)) == 50 and other.is_alive()
print("both ran", flush=True)
os._exit(0)  # an endless thread cannot be waited for
"""


def test_two_threads_run_at_once():
    """A run comes to its end while another thread is in the middle of one: a simulation holds
    neither the GIL nor a lock of ours."""
    result = subprocess.run([sys.executable, "-c", TWO_THREADS], capture_output=True, text=True,
                            timeout=300)
    assert (result.stdout, result.returncode) == ("both ran\n", 0), result.stderr


# The sentences of a session without optional packages.
MISSING = [
    ("pandas", lambda: cv.run("pll", n=10).frame(), "frame() needs pandas"),
    ("pandas", lambda: cv.run("pll", n=10, until=1, every=1, history=True).history(),
     "history() needs pandas"),
    ("pandas", lambda: cv.Simulation("pll", n=10).history, "history needs pandas"),
    ("matplotlib.pyplot", lambda: cv.run("pll", n=10).plot(), "plot() needs matplotlib"),
    ("numpy", lambda: cv.solve([[1]], [0]), "solve() needs numpy"),
    ("scipy.sparse", lambda: cv.solve([[1]], [0]), "solve() needs scipy"),
]


@pytest.mark.parametrize("package, call, sentence", MISSING, ids=[each[2] for each in MISSING])
def test_a_missing_package_is_named(package, call, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as raised:
        call()
    name = package.split(".")[0]
    assert str(raised.value) == (f"{sentence}: apt-get install python3-{name}, or pip install "
                                 f"{name}")


def test_the_standard_library_is_enough():
    code = ("import sys\n"
            "for name in ('numpy', 'pandas', 'matplotlib', 'scipy', 'networkx', 'IPython'):\n"
            "    sys.modules[name] = None\n"
            "import conclave as cv, conclave.ppsim\n"
            "assert cv.run('pll', n=100).rows[0]['leaders'] == 1\n"
            "assert cv.run('pll', n=3, graph=None, final=True).final()\n"
            "sim = cv.Simulation(cv.Protocol({('I', 'S'): ('I', 'I')}), {'I': 1, 'S': 9})\n"
            "sim.run(until=5, every=1)\n"
            "assert sum(sim.copy().config.values()) == 10\n")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_catalog_and_description():
    assert {"pll", "fratricide", "kmpp-async"} <= set(cv.protocols())
    about = cv.Protocol("pll").describe()
    assert "m" in about["params"] and "clean" in about["starts"] and "agents" in about["engines"]
    assert about["params"]["m"]["meaning"] and isinstance(about["starts"]["clean"], str)
    assert sys.version_info >= (3, 9)


def test_initial_configurations_as_shares_and_functions():
    duel = cv.Protocol({("L", "L"): ("L", "F")}, leader="L", name="duel")
    for init in ({"L": 0.3, "F": 0.7}, lambda n: {"L": 3, "F": n - 3}):
        trial = cv.run(duel, n=10, init=init, until=0, final=True, quiet=True)
        assert trial.final() == {"L": 3, "F": 7}
    for init, sentence in [({"L": 0.3, "F": 0.6}, "the shares of init add up to 0.9, not to 1"),
                           (lambda n: {"L": n, "F": 1}, "init gives 11 agents, but n = 10")]:
        with pytest.raises(cv.Error, match=sentence):
            cv.run(duel, n=10, init=init)
    for init in ({"L": 0.3, "F": 0.7}, lambda n: {"L": 3, "F": n - 3}):
        own = cv.Protocol({("L", "L"): ("L", "F")}, leader="L", init=init)
        assert cv.run(own, n=10, until=0, final=True).final() == {"L": 3, "F": 7}
        assert cv.Simulation(own, n=10).config == {"L": 3, "F": 7}
    for init, sentence in [(lambda n: {"L": n}, "init is a function of n: give n"),
                           ({"L": 0.5, "F": 0.5}, "init gives shares, which need n"),
                           ({"L": 11, "F": -1}, "init gives -1 agents to 'F'")]:
        with pytest.raises(cv.Error, match=sentence):
            cv.run(duel, init=init)
    with pytest.raises(cv.Error, match="a dict of states and counts or shares, not None for n = 5"):
        cv.run(duel, n=5, init=lambda n: None)


def test_probabilities_as_floats_become_fractions():
    thirds = cv.Protocol({("L", "L"): {("L", "F"): 1 / 3, ("F", "L"): 1 / 7}}, leader="L", name="f")
    assert cv.verify(thirds, init={"L": 2}, exact=True).exactly == Fraction(21, 10)
    odd = cv.Protocol({("L", "L"): {("L", "F"): 0.123456789, ("F", "L"): 1 - 0.123456789}},
                      leader="L", name="odd")
    assert cv.run(odd, init={"L": 5}, quiet=True).converged
    rare = cv.Protocol({("L", "L"): {("L", "F"): 1e-6 / 3}}, leader="L")
    assert cv.verify(rare, init={"L": 2}).mean == pytest.approx(3e6, rel=1e-3)
    for value, sentence in ((1.5, "is no probability"), (-0.1, "is no probability"),
                            (1e-6 / 3e5, "is too small"), (float("nan"), "expected a number")):
        with pytest.raises(cv.Error, match=sentence):
            cv.run(cv.Protocol({("L", "L"): {("L", "F"): value}}, name="bad"), init={"L": 5})


def test_a_property_that_fails_is_an_error(tmp_path):
    path = tmp_path / "duel.pp"
    path.write_text("states L, F\nstart s: all of L\nL + L -> F + F\nalways any(L)\n")
    with pytest.raises(cv.Error, match="duel.pp:4:8: always any.L. fails in trial 0 after"):
        cv.run(path, n=10, check=True, quiet=True)
    assert len(cv.run(path, n=10, quiet=True)) == 1
