"""api.py LIBRARY FOLDER   the Python API on the sample framework, under the simulated driver (wheel.sh)"""
import ctypes, inspect, os, pathlib, shutil, signal, subprocess, sys, threading, time
from importlib import metadata

import jitwarm
from jitwarm import _library

library, folder = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what is in the background with Ctrl-C ignored


def raises(error, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except error as why:
        return why
    raise AssertionError(f"no {error.__name__}")


# The package is the one that was installed, and so is the command
assert os.path.dirname(jitwarm.__file__) == os.path.join(folder, "jitwarm"), jitwarm.__file__
assert jitwarm.program() == os.path.join(folder, "bin", "jitwarm"), jitwarm.program()
assert jitwarm.version().startswith("0."), jitwarm.version()
assert jitwarm.__version__ == jitwarm.version() == metadata.version("jitwarm"), jitwarm.__version__
# Every struct of the table can be made, and is as long as the table says
for name, lines in _library._lines.items():
    if not name.startswith("enum") and lines:
        end = [int(line.split()[0]) for line in lines if line.endswith(" end")]
        assert [ctypes.sizeof(_library.struct(name))] == end, name

cold = jitwarm.check(library)
assert [gpu.target for gpu in cold.gpus] == ["sm_86"] and not cold.warm, cold
assert cold.cold == cold.gpus[0].cold == cold.gpus[0].modules == cold.files[0].cold == 8, cold
assert cold.files[0].path == library and cold.files[0].member is None, cold
assert 0 < cold.gpus[0].start.low <= cold.gpus[0].start.likely <= cold.gpus[0].start.high, cold
assert cold.driver.startswith("550.") and cold.names_known and not cold.failing, cold

# Another machine, by a product's name
other = jitwarm.check(library, targets=["RTX 4090", "sm_90"], driver="550.163.01")
assert [gpu.target for gpu in other.gpus] == ["sm_89", "sm_90"], other

# Failures are exceptions, with the library's text
assert "no-such-package" in str(raises(jitwarm.NotFoundError, jitwarm.check, "no-such-package"))
raises(LookupError, jitwarm.prime, "no-such-package")
raises(jitwarm.UsageError, jitwarm.check, library, targets="sm_86", driver="not a version")
raises(ValueError, jitwarm.bake, library)
raises(jitwarm.JitwarmError, jitwarm.check, library, targets="no such GPU")

# Every parameter of every function takes its own types alone: ctypes would take a number for an address. A path is also bytes; no
# text holds a NUL, no number is beyond its range
class Odd(os.PathLike):
    def __fspath__(self):
        return 5


paths = ([5, 1.5, True, [library], Odd(), object()], [library + "\0.so", os.fsencode(library) + b"\0", "\ud800"])
texts = ([5, b"550", [], os.path], ["550.163.01\0"])
switches = ([None, 0, 1, "yes", b""], [])
calls = ([5, "print", True, b""], [])
sizes = ([None, "1", b"1", 1.5, True, [1]], [-1, 1 << 64])
parameters = {  # wrong types; values that are refused
    "names": paths, "cache": paths, "output": paths, "driver": texts, "progress": calls, "cancelled": calls,
    "targets": ([5, True, b"sm_86", [5], [b"sm_86"], [None], object()], ["sm_86\0", ["sm_86", "sm_86\0"], "no such GPU"]),
    "jobs": (sizes[0], [-1, 1 << 32, 1 << 64]), "budget_bytes": sizes,
    "budget_seconds": ([None, "1", b"1", True, [1]], [-1, 1e300, float("inf"), float("nan")]),
    **{name: switches for name in ("everything", "low_priority", "dry_run", "any_owner")},
}
functions = [getattr(jitwarm, name) for name in jitwarm.__all__ if inspect.isfunction(getattr(jitwarm, name))]
tried = set()
for function in functions:
    for name in inspect.signature(function).parameters:
        tried.add(name)
        for error, values in zip((TypeError, jitwarm.JitwarmError), parameters[name]):
            for value in values:
                fitting = {"output": os.path.join(folder, "none"), "dry_run": True} if function is jitwarm.bake else {}
                arguments = ([value], fitting) if name == "names" else ([library], {**fitting, name: value})
                why = raises(error, function, *arguments[0], **arguments[1])
                assert type(why) is not jitwarm.JitwarmError, (function, name, value)
assert tried == set(parameters), tried ^ set(parameters)
assert len(functions) == 5 and not os.path.exists(os.path.join(folder, "none"))
raises(TypeError, jitwarm.check, library, no_such_parameter=1)
raises(ValueError, jitwarm.prime, library, jobs=-1)
as_bytes = jitwarm.check(os.fsencode(library), cache=os.fsencode(folder + "/other"), targets=("sm_86",))
assert as_bytes.cold == 8 and as_bytes.files[0].path == library, as_bytes
assert jitwarm.check(pathlib.Path(library), cache=None, targets=None, driver=None, cancelled=None) == cold
found_program, _library.program = _library.program, lambda: None
raises(jitwarm.JitwarmError, jitwarm.check, library)
_library.program = found_program

# What a dry run and a budget leave is cold: they are not complete
dry = jitwarm.prime(library, dry_run=True)
assert (dry.cold, dry.compiled, dry.undone, dry.complete) == (8, 0, 8, False), dry
part = jitwarm.prime(library, budget_bytes=1)
assert (part.cold, part.compiled, part.undone, part.complete) == (8, 0, 8, False), part
assert jitwarm.check(library).cold == 8


# What the callback raises comes out, and what was compiled by then stays
class Enough(Exception):
    pass


def enough(now):
    if now.done >= 1:
        raise Enough(now.done)


os.environ["SIMDRIVER_COST"] = "2"  # about a tenth of a second for each module
raises(Enough, jitwarm.prime, library, progress=enough, jobs=1)
# Ctrl-C while the library waits, so that Python runs the signal's handler before anything of a callback
def press(now):
    if not pressed:
        pressed.append(threading.Thread(target=lambda: (time.sleep(0.05), os.kill(os.getpid(), signal.SIGINT))))
        pressed[0].start()


pressed = []
raises(KeyboardInterrupt, jitwarm.prime, library, progress=press, jobs=1)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
del os.environ["SIMDRIVER_COST"]
left = jitwarm.check(library).cold
assert 0 < left < 8, left

seen = []
done = jitwarm.prime(library, progress=seen.append, jobs=2)
assert done.complete and (done.modules, done.cold, done.compiled, done.warm) == (8, left, left, 8 - left), done
assert done.added_bytes > 0 and done.seconds > 0 and not done.failures and not done.stopped, done
assert seen and seen[-1].done == seen[-1].total == left and seen[-1].phase == "compiling", seen
assert [one.fraction for one in seen] == sorted(one.fraction for one in seen) and 0.99 < seen[-1].fraction < 1.01, seen
assert all(isinstance(one.current, str) for one in seen), seen
warm = jitwarm.check(library)
assert warm.warm and warm.cold == 0 and warm.gpus[0].warm == 8, warm
assert not warm.files[0].cold if warm.files else True, warm

# Not warm where a name led to nothing, a file cannot be read, or the driver would discard the cache
broken = os.path.join(folder, "cut-1-py3-none-any.whl")
with open(broken, "wb") as file:
    file.write(b"PK\3\4")
for other in (broken, "no-such-package"):
    partly = jitwarm.check(library, other)
    assert not partly.cold and not partly.warm and other in "".join(partly.notes), partly
    partly = jitwarm.prime(library, other)
    assert not partly.cold and not partly.complete and other in "".join(partly.notes), partly
assert "no-such-package" in "".join(jitwarm.bake(library, "no-such-package", dry_run=True).notes)
index = os.path.join(os.environ["CUDA_CACHE_PATH"], "index")
os.rename(index, index + ".away")
assert not jitwarm.check(library).warm and jitwarm.check(library).notes
os.rename(index + ".away", index)

# Cancelled before it began, and then for good; several threads at once
raises(jitwarm.InterruptedCallError, jitwarm.check, library, cancelled=lambda: True)
once = iter([True])
calls = jitwarm._Calls(None, lambda: next(once, False))
assert calls._ask(None) and calls._ask(None)
results = []
threads = [threading.Thread(target=lambda: results.append(jitwarm.check(library).warm)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [True] * 4, results

baked = jitwarm.bake(library, output=os.path.join(folder, "baked"))
assert [(file.path, file.baked, file.modules) for file in baked.files] == [(library, 7, 7)], baked
assert baked.targets == ("sm_86",) and os.path.exists(baked.files[0].output) and not baked.uncompiled, baked
assert jitwarm.check(baked.files[0].output).gpus[0].modules == 0

# A name that the locale's encoding does not have: as open() takes it, and comes back so
place = os.path.join(folder, "\ud55c\uae00.so")
shutil.copy(library, place)
script = "import jitwarm, os; p = os.fsdecode(os.environb[b'PLACE']); f, = jitwarm.check(p, cache=p + '.cache').files; assert f.path == p and open(f.path, 'rb'), f"
subprocess.run([sys.executable, "-B", "-c", script], check=True,
               env={**os.environ, "PLACE": place, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
