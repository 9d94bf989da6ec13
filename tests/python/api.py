"""api.py LIBRARY FOLDER   the Python API on the sample framework, under the simulated driver (wheel.sh)"""
import inspect, os, pathlib, shutil, signal, subprocess, sys, threading, time
from importlib import metadata

import jitwarm

library, folder = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background processes with Ctrl-C ignored


def raises(error, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except error as why:
        return why
    raise AssertionError(f"no {error.__name__}")


# The package and the command are the installed ones.
assert os.path.dirname(jitwarm.__file__) == os.path.join(folder, "jitwarm"), jitwarm.__file__
assert jitwarm.program() == os.path.join(folder, "bin", "jitwarm"), jitwarm.program()
planted = os.path.join(folder, "..", "..", "bin")  # where a folder's RECORD says that it is
if not os.path.exists(planted):
    os.mkdir(planted)
    shutil.copy(os.path.join(folder, "bin", "jitwarm"), planted)
    assert jitwarm.program() == os.path.join(folder, "bin", "jitwarm"), jitwarm.program()
    shutil.rmtree(planted)
assert jitwarm.__version__ == jitwarm.version() == metadata.version("jitwarm"), jitwarm.__version__
assert jitwarm.version().startswith("0."), jitwarm.version()
module = [sys.executable, "-B", "-m", "jitwarm"]
assert subprocess.check_output([*module, "--version"]).decode().startswith("jitwarm " + jitwarm.version())
assert subprocess.call([*module, "check", library], stdout=subprocess.DEVNULL) == 1

cold = jitwarm.check(library)
assert [gpu.target for gpu in cold.gpus] == ["sm_86"] and not cold.warm and cold.status == 1 and cold.verdict == "cold", cold
assert cold.cold == cold.gpus[0].cold == cold.gpus[0].modules == cold.files[0].cold == 8, cold
assert cold.files[0].path == library and cold.files[0].member is None and cold.files[0].seconds > 0, cold
assert 0 <= cold.gpus[0].start.low <= cold.gpus[0].start.likely <= cold.gpus[0].start.high, cold
assert cold.driver.startswith("550.") and cold.names_known and not cold.failing, cold

# The target is another machine, named by a product.
other = jitwarm.check(library, targets=["RTX 4090", "sm_90"], driver="550.163.01")
assert [gpu.target for gpu in other.gpus] == ["sm_89", "sm_90"], other
as_bytes = jitwarm.check(os.fsencode(library), cache=os.fsencode(folder + "/other"), targets=("sm_86",))
assert as_bytes.cold == 8 and as_bytes.files[0].path == library, as_bytes
assert jitwarm.check(pathlib.Path(library), cache=None, targets=None, driver=None, cancelled=None) == cold

# At a server's start, everything that will fail is one exception, whose text has the error, the cause and the cure.
cold.raise_for_status()
assert cold.failures == (), cold
root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tests/framework"))
import fatbin
own = pathlib.Path(folder, "libown.so")
own.write_bytes(fatbin.library(fatbin.container(fatbin.entry(fatbin.CUBIN, 90, fatbin.old_cubin(90, "k", 64)))))
failing = jitwarm.check(own)
assert failing.verdict == "fails" and [one.target for one in failing.failures] == ["sm_86"], failing
assert [(gpu.verdict, gpu.reason, gpu.needs) for gpu in failing.gpus] == [("fails", f"{own}: will fail: no kernel image for sm_86", "")], failing
assert [(gpu.verdict, gpu.reason, gpu.needs) for gpu in cold.gpus] == [("compiles", "", "")], cold
text = str(raises(jitwarm.WillFailError, failing.raise_for_status))
assert text == (f"{own}: no kernel image is available for execution on the device (209) on sm_86: its oldest code is for sm_90; "
                "use a build that has -gencode arch=compute_86,code=sm_86"), text
server = [sys.executable, "-B", str(root / "examples/server_start.py")]
ended = subprocess.run([*server, str(own)], capture_output=True, text=True)
assert ended.returncode == 1 and ended.stderr == f"{own} cannot run here: {text}\n" and not ended.stdout, ended
apart = {**os.environ, "CUDA_CACHE_PATH": folder + "/server", "JITWARM_STATE": folder + "/server-state"}
for said in "compiling 8 modules before the first request\nready\n", "ready\n":
    ended = subprocess.run([*server, library], capture_output=True, text=True, env=apart)
    assert ended.returncode == 0 and ended.stdout == said, ended

# Which releases run is known without a GPU or a network.
assert cold.cures == (), cold
answer = jitwarm.which("torch", target="gtx1080")["answers"][0]
assert answer["newest"] == "2.14.1+cu126" and answer["target"] == "sm_61", answer
raises(jitwarm.NotFoundError, jitwarm.which, "no-such-package", target="gtx1080")

# Failures are exceptions with the program's text; a name is never taken for an option.
assert "no-such-package" in str(raises(jitwarm.NotFoundError, jitwarm.check, "no-such-package"))
assert "--help" in str(raises(jitwarm.NotFoundError, jitwarm.check, "--help"))
raises(LookupError, jitwarm.prime, "no-such-package")
raises(jitwarm.UsageError, jitwarm.check, library, targets="sm_86", driver="not a version")
raises(jitwarm.JitwarmError, jitwarm.check, library, targets="no such GPU")
for value in (-1, 1 << 64, "x", float("nan")):
    for name in ("jobs", "budget_bytes", "budget_seconds"):
        raises(ValueError, jitwarm.prime, library, **{name: value})
for value in (5, None, [library]):
    raises(TypeError, jitwarm.check, value)
for value in (library + "\0.so", "\ud800"):
    raises(ValueError, jitwarm.check, value)
raises(TypeError, jitwarm.check, library, no_such_parameter=1)
raises(jitwarm.UsageError, jitwarm.run, "check", library, no_such_option=1)
place = os.environ["PATH"]
os.environ["PATH"] = folder + "/none"
os.rename(folder + "/bin", folder + "/away")
raises(jitwarm.NotFoundError, jitwarm.check, library)
os.rename(folder + "/away", folder + "/bin")
os.environ["PATH"] = place
# A dry run or a budget leaves modules cold: the result is not complete.
dry = jitwarm.prime(library, dry_run=True)
assert (dry.cold, dry.compiled, dry.undone, dry.complete) == (8, 0, 8, False), dry
part = jitwarm.prime(library, budget_bytes=1)
assert (part.cold, part.compiled, part.undone, part.complete) == (8, 0, 8, False), part
assert jitwarm.check(library).cold == 8


# An exception in the callback reaches the caller, and the modules compiled before stay.
class Enough(Exception):
    pass


def enough(now):
    if now.done >= 1:
        raise Enough(now.done)


os.environ["SIMDRIVER_COST"] = "40"  # so that each module takes about a second
raises(Enough, jitwarm.prime, library, progress=enough, jobs=1)
left = jitwarm.check(library).cold
assert 0 < left < 8, left


# Ctrl-C comes while the program works, and while progress is shown; cancelled() and cancel() are called from another thread.
def press(now):
    if not pressed:
        pressed.append(threading.Thread(target=lambda: (time.sleep(0.05), os.kill(os.getpid(), signal.SIGINT))))
        pressed[0].start()


pressed = []
raises(KeyboardInterrupt, jitwarm.prime, library, progress=press, jobs=1)
raises(KeyboardInterrupt, jitwarm.prime, library, progress=lambda now: os.kill(os.getpid(), signal.SIGINT), jobs=1)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
stop = threading.Event()
stopped = jitwarm.prime(library, progress=lambda now: stop.set(), cancelled=stop.is_set, jobs=1)
assert stopped.interrupted and stopped.undone and not stopped.complete, stopped
begun = threading.Event()
running = jitwarm.Run("prime", library, progress=lambda now: begun.set(), jobs=1)
threading.Thread(target=lambda: (begun.wait(), running.cancel())).start()
answer = running.result()
assert answer.status and answer.document["interrupted"] and answer.document["undone"], answer
running.cancel()  # after its end
# A check may end before it is cancelled, and then its answer counts.
for attempt in range(100):
    try:
        jitwarm.check(library, cancelled=lambda: True)
    except jitwarm.InterruptedCallError:
        break
else:
    raise AssertionError("no check was cancelled")
raises(ZeroDivisionError, jitwarm.check, library, cancelled=lambda: 1 / 0)
del os.environ["SIMDRIVER_COST"]
left = jitwarm.check(library).cold
assert 0 < left < 8, left

seen = []
done = jitwarm.prime(library, progress=seen.append, jobs=2)
assert done.complete and (done.modules, done.cold, done.compiled, done.warm) == (8, left, left, 8 - left), done
assert done.added_bytes > 0 and done.seconds > 0 and not done.failures and not done.stopped, done
assert seen and seen[-1].done == seen[-1].total == left and seen[-1].phase == "compiling", seen
assert [one.fraction for one in seen] == sorted(one.fraction for one in seen) and seen[-1].fraction == 1, seen
assert all(isinstance(one.current, str) for one in seen), seen
warm = jitwarm.check(library)
assert warm.warm and warm.cold == 0 and warm.gpus[0].warm == 8, warm

# The result is not warm if a name leads to nothing, a file cannot be read, or the driver would discard the cache.
broken = os.path.join(folder, "cut-1-py3-none-any.whl")
with open(broken, "wb") as file:
    file.write(b"PK\3\4")
for other in (broken, "no-such-package"):
    partly = jitwarm.check(library, other)
    assert not partly.cold and not partly.warm and "".join(partly.notes).count(other + ":") == 1, partly
    partly = jitwarm.prime(library, other)
    assert not partly.cold and not partly.complete and other in "".join(partly.notes), partly
index = os.path.join(os.environ["CUDA_CACHE_PATH"], "index")
os.rename(index, index + ".away")
assert not jitwarm.check(library).warm and jitwarm.check(library).notes
os.rename(index + ".away", index)

# A child of the program holds the program's pipes after its end.
holder, program = os.path.join(folder, "holder"), jitwarm.program
with open(holder, "w") as file:
    file.write("#!/bin/sh\nsleep 60 &\necho note >&2\necho '{}'\n")
os.chmod(holder, 0o755)
jitwarm.program = lambda: holder
before = time.monotonic()
held = jitwarm.run("status")
assert time.monotonic() - before < 30 and held.document == {} and held.messages == ("note",), held
jitwarm.program = program

# several threads at once
results = []
threads = [threading.Thread(target=lambda: results.append(jitwarm.check(library).warm)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [True] * 4, results

# The other functions return the command's document.
pack = os.path.join(folder, "sample.jwpack")
assert jitwarm.scan(library, target=["sm_86", "sm_90"])["schema"] == "jitwarm.scan/1"
assert jitwarm.export(library, output=pack, arch="sm_86")["entries"] == 8 and os.path.exists(pack)
assert jitwarm.import_(pack, dry_run=True, allow_unsigned=True)["schema"] == "jitwarm.import/1"
assert jitwarm.tune()["schema"] == "jitwarm.tune/1" and jitwarm.doctor(library, no_probe=True)["schema"] == "jitwarm.doctor/1"
assert jitwarm.status()["gpus"][0]["target"] == "sm_86"
assert jitwarm.run("cache list").document["schema"] == "jitwarm.cache-list/1"
# A list is another program's command line, which “jitwarm run” starts.
started = jitwarm.run([sys.executable, "-c", "print('--json')"], library)
assert started.document["schema"].startswith("jitwarm.command/") and started.document["exit_status"] == 0, started
assert jitwarm.run([sys.executable, "-c", "raise SystemExit(7)"]).status == 7
try:
    jitwarm.run([])
    raise AssertionError("an empty command line was run")
except jitwarm.UsageError:
    pass
# A name that the locale's encoding lacks is passed as open() takes it, and comes back the same.
place = os.path.join(folder, "\ud55c\uae00.so")
shutil.copy(library, place)
script = "import jitwarm, os; p = os.fsdecode(os.environb[b'PLACE']); f, = jitwarm.check(p, cache=p + '.cache').files; assert f.path == p and open(f.path, 'rb'), f"
subprocess.run([sys.executable, "-B", "-c", script], check=True,
               env={**os.environ, "PLACE": place, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})

# The package has type annotations.
assert os.path.exists(os.path.join(folder, "jitwarm", "py.typed"))
for function in (jitwarm.check, jitwarm.prime, jitwarm.run, jitwarm.Run.__init__, jitwarm.scan):
    assert set(inspect.signature(function).parameters) - {"self"} <= set(function.__annotations__), function
