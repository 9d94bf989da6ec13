#!/usr/bin/env python3
"""torture.py BUILD [--case NAME]... [--sample COUNT] [--seed NUMBER] [--mode fail|kill] [--at N[-M]] [--jobs N]

Runs commands of jitwarm under the simulated driver, and kills the process before the n-th call of the C library, or lets that call
fail (torture.c): every n, or a sample of COUNT for each command and mode. Calls fail only in a worker, or if --mode says so: all others
fail in the process of test_struck and test_struck_commands. Then must hold:

  - no crash, no hang, no sanitizer's report
  - status 0 only where the work is done; else a message
  - every entry that the cache had is still there, and the index is none that a driver answers by a wipe
  - no lock, temporary file or folder is left
  - the same command without a fault then does the work

Each distinct defect is reported once, with how to run it again. 0: none; 1: some; 77: no simulated driver.
"""
import argparse, collections, concurrent.futures, hashlib, os, random, re, shutil, struct, subprocess, sys, tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--case", action="append")
parser.add_argument("--sample", type=int)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--mode", choices=["fail", "kill"])
parser.add_argument("--at", metavar="N[-M]", help="the N-th call, or those up to the M-th")
parser.add_argument("--only", metavar="CALL", help="count this call alone, such as write")
parser.add_argument("--path", help="count calls alone whose path has this text in it")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--workers", action="store_true", help="let calls fail in the first worker that makes so many, not in jitwarm itself")
parser.add_argument("--each", action="store_true", help="report each trial that shows a defect")
parser.add_argument("--keep", action="store_true", help="leave the folder of each defect")
args = parser.parse_args()

build = os.path.abspath(args.build)
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
jitwarm, preload = build + "/src/jitwarm", build + "/tests/torture/torture.so"
sample = build + "/tests/framework/libsample_framework.so"
runner = [source + "/scripts/with-simdriver.sh", "-B", build, "sm_86", "--"]
if not os.path.exists(build + "/tests/simdriver/lib"):
    print("skipped: no simulated driver in", build)
    sys.exit(77)
CALLS = "open,create,read,write,rename,fsync,mmap,mkdir,lock,unlink,close,stat,fork,readdir,resize,mode,pipe"
LIMIT_S = 120


class Place:
    """A folder of one worker: what a case sets up, and a copy of it for each trial under the same path."""

    def __init__(self, root):
        self.kept, self.dir = root + "/kept", root + "/w"

    def environment(self):
        keep = {k: v for k, v in os.environ.items() if not re.match(r"CUDA_|SIMDRIVER_|JITWARM_|XDG_|CONDA_|VIRTUAL_ENV|TORTURE|LD_PRELOAD|PYTHON", k)}
        return dict(keep, HOME=self.dir + "/home", JITWARM_STATE=self.dir + "/state", CUDA_CACHE_PATH=self.dir + "/cache",
                    JITWARM_SYSTEM_ROOT=self.dir + "/root", TMPDIR=self.dir + "/tmp", LC_ALL="C.UTF-8", TERM="dumb", SHELL="/bin/bash",
                    JITWARM_FRAMEWORKS="/nonexistent", JITWARM_STORE="1", **SETTINGS)

    def run(self, arguments, torture=None):
        environment = self.environment()
        if torture:
            environment.update(torture, LD_PRELOAD=preload)
        words = [word.replace("@", self.dir) for word in arguments]
        try:
            ended = subprocess.run(runner + [jitwarm] + words, env=environment, cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True,
                                   timeout=LIMIT_S)
            return ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return "hangs", "", ""

    def fresh(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        shutil.copytree(self.kept, self.dir, symlinks=True)

    def begin(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        for name in ("home", "tmp", "root/etc", "root/proc"):
            os.makedirs(self.dir + "/" + name)
        # Without this list, jitwarm asks for all accounts of the machine.
        with open(self.dir + "/root/etc/passwd", "w", encoding="utf-8") as file:
            file.write("root:x:0:0:root:/root:/bin/sh\n")

    def keep(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.dir, self.kept, symlinks=True)


SETTINGS = {}


def entries(place, cache="cache"):
    found = {}
    for folder, _, names in os.walk(place.dir + "/" + cache):
        for name in names:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, place.dir + "/" + cache)
            if re.fullmatch(r"[0-9a-f]/[0-9a-f]/[0-9a-f]{14}", short):
                with open(path, "rb") as file:
                    found[short] = hashlib.sha256(file.read()).hexdigest()
    return found


def index_of(place, cache="cache"):
    """What a driver would make of it: None where it would wipe, else the rows."""
    try:
        with open(place.dir + "/" + cache + "/index", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    if not data:
        return {}
    if len(data) < 16:
        return None
    version, count, _ = struct.unpack_from("<IIQ", data)
    if version != 0x41 or len(data) < 16 + 16 * count:
        return None
    return {struct.unpack_from("<QQ", data, 16 + 16 * i)[0] for i in range(count)}


def tree(place, folder):
    found = {}
    for above, _, names in os.walk(place.dir + "/" + folder):
        for name in names:
            path = os.path.join(above, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, place.dir)] = file.read()
    return found


def litter(place):
    """Names that are left by something that did not clean up."""
    found = []
    for above, folders, names in os.walk(place.dir):
        for name in folders + names:
            path = os.path.relpath(os.path.join(above, name), place.dir)
            if re.search(r"\.jitwarm-[^/]*$|^state/run-[^/]*$|[^/]\.(?!jwpack)[a-z0-9]{6}(\.part)?$|^tmp/.", path) and path != "cache/.jitwarm-witness":
                if os.path.exists(place.kept + "/" + path):
                    continue
                found.append(path)
    return found


class Case:
    """What is set up, the command, and what it has to have done."""

    def __init__(self, command, done, setup=(), status=(0,), changes=(), whole=None, says=None, removes=False, fails=False):
        self.command, self.done, self.setup, self.status = command, done, setup, status
        # `whole` is a condition at any moment; `says` is a failure's line on standard output.
        self.changes, self.whole, self.says = changes, whole or always, says
        # The command is meant to remove sound entries; its calls also fail, since they do so nowhere else.
        self.removes, self.fails = removes, fails


def cached(count, cache="cache"):
    def done(place):
        there, rows = entries(place, cache), index_of(place, cache)
        return len(there) == count and rows is not None and {int(name.replace("/", ""), 16) for name in there} <= rows
    return done


def always(place):
    return True


def packed(place):
    status, _, _ = place.run(["import", "--as-is", "--allow-unsigned", "--dry-run", "--cache", "@/none", "@/a.jwpack"])
    return status == 0


def exists(*names):
    return lambda place: all(os.path.exists(place.dir + "/" + name) for name in names)


def tuned(place):
    return "CUDA_CACHE_MAXSIZE" in "".join(text.decode() for text in tree(place, "home").values())


def gone(place):
    return not os.path.exists(place.dir + "/state") and not tuned(place)


def drop_rows(place, names):
    keys = {int(name.replace("/", ""), 16) for name in names}
    with open(place.dir + "/cache/index", "rb") as file:
        data = file.read()
    rows = [data[16 + 16 * i:32 + 16 * i] for i in range(struct.unpack_from("<I", data, 4)[0])]
    rows = [row for row in rows if struct.unpack_from("<Q", row)[0] not in keys]
    total = sum(struct.unpack_from("<Q", row, 8)[0] for row in rows)
    with open(place.dir + "/cache/index", "wb") as file:
        file.write(struct.pack("<IIQ", 0x41, len(rows), total) + b"".join(rows))


def damage(place):
    """One torn entry, one row without a file, one file without a row."""
    names = sorted(entries(place))
    with open(place.dir + "/cache/" + names[0], "r+b") as file:
        file.truncate(50)
    os.unlink(place.dir + "/cache/" + names[1])
    drop_rows(place, names[2:3])


def halve(place):
    names = sorted(entries(place))[::2]
    for name in names:
        os.unlink(place.dir + "/cache/" + name)
    drop_rows(place, names)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read())


def install(place):
    """A package with the library."""
    os.makedirs(place.dir + "/site/sample")
    shutil.copy(sample, place.dir + "/site/sample/lib.so")


prime = ["prime", sample, "--no-store"]
CASES = {
    "prime": Case(["prime", sample, "--jobs", "2"], cached(8)),
    "refill": Case(["prime", sample], cached(8), [["prime", sample], shutil.rmtree]),
    "export": Case(["export", "-o", "@/a.jwpack"], packed, [prime]),
    "import": Case(["import", "--as-is", "--allow-unsigned", "--cache", "@/cache", "@/a.jwpack"], cached(8), [prime, ["export", "-o", "@/a.jwpack"], halve]),
    "repair": Case(["cache", "verify", "--repair"], cached(6), [prime, damage], status=(0,), changes=True),
    "clear": Case(["cache", "clear", "--yes"], cached(0), [prime, damage], status=(0, 1), changes=True, removes=True),
    "key": Case(["key", "generate"], exists("state/keys/default.key", "state/keys/default.pub", "state/trusted/default.pub"), fails=True),
    "uninstall": Case(["uninstall"], gone, [prime, ["tune", "--apply", "--scope", "shell", "--max-size", "2GiB"]]),
}


def prepare(place, case):
    place.begin()
    for step in case.setup:
        if step is shutil.rmtree:
            shutil.rmtree(place.dir + "/cache")
        elif callable(step):
            step(place)
        else:
            status, out, err = place.run(step)
            assert status == 0, (step, status, out, err)
    place.keep()


def numbers(place, case):
    """The kinds of the calls of a run without faults"""
    place.fresh()
    log = place.dir + ".log"
    if os.path.exists(log):
        os.unlink(log)
    status, out, err = place.run(case.command, torture("count", log))
    assert status in case.status, (case.command, status, out, err)
    assert case.done(place), (case.command, "not done", out, err)
    # Each worker counts its own calls.
    kinds = {}
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            n, kind, _ = line.split(" ", 2)
            kinds.setdefault(int(n), kind)
    return [kinds[n] for n in sorted(kinds)]


def torture(how, log):
    wanted = {"TORTURE": how, "TORTURE_LOG": log, "TORTURE_CALLS": args.only or CALLS}
    if args.workers:
        wanted["TORTURE_WORKERS"] = "1"
    if args.path:
        wanted["TORTURE_PATH"] = args.path
    return wanted


def trial(place, name, case, mode, n):
    """None, or (what is wrong, the call, its path)."""
    place.fresh()
    before = entries(place)
    damaged = {path for path in before if os.path.getsize(place.dir + "/cache/" + path) == 50} if case.changes else set()
    log = place.dir + ".log"
    for old in (log, log + ".struck"):
        if os.path.exists(old):
            os.unlink(old)
    status, out, err = place.run(case.command, torture("%s:%d" % (mode, n), log))
    killed = mode == "kill" and not args.workers
    struck = ["", "", ""]
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            struck = (file.readline().rstrip("\n") + "  ").split(" ", 2)
    if not struck[0]:
        return None
    call, path = struck[1], struck[2].strip().replace(place.dir, "@")

    def wrong(what):
        return what, call, re.sub(r"[0-9a-f]{8,}|\.[a-z0-9]{6}$|run[-/][^/]*|[0-9]{3,}", "*", path), err[-300:]

    # libuv ends the process if its own pipes cannot be read, which no kernel makes happen.
    if re.match(r"pipe:|anon_inode:", path) and mode != "kill" and not args.workers:
        return None
    if status == "hangs":
        return wrong("hangs")
    if killed:
        if status not in (-9, 137):
            return wrong("was not killed: %s" % status)
    elif not isinstance(status, int) or status < 0 or status > 100:
        return wrong("ended with %s" % status)
    elif status == 0 and not case.done(place):
        return wrong("status 0, and the work is not done")
    elif status == 64:
        return wrong("status 64: the user is to blame")
    elif status and "jitwarm: " not in err and not (status == 1 and out) and not (case.says and case.says in out):
        return wrong("status %d without a message" % status)
    elif status and re.search(r"\(null\)|Success|Unknown error", err):
        return wrong("a message that says nothing")
    if not case.whole(place):
        return wrong("neither what it was nor what it becomes")
    after = entries(place)
    lost = [path for path in before if path not in damaged and after.get(path, case.removes and before[path]) != before[path]]
    if lost:
        return wrong("entries are lost: %d" % len(lost))
    if index_of(place) is None:
        return wrong("an index that a driver wipes")
    if not killed and call not in ("unlink", "readdir", "open", "stat", "close"):
        left = litter(place)
        if left:
            return wrong("left: %s" % re.sub(r"[0-9a-f]{8,}|\.[a-z0-9]{6}$|[0-9]{2,}", "*", left[0]))
    # A killed process's file is taken for another process's until it is an hour old.
    for path in litter(place):
        os.utime(place.dir + "/" + path, (1, 1), follow_symlinks=False)
        os.utime(place.dir + "/" + os.path.dirname(path), (1, 1), follow_symlinks=False)
    status, out, err = place.run(case.command)
    if status not in case.status and not (name in ("key",) and case.done(place)):
        return wrong("the second run ends with %s" % status)
    if not case.done(place):
        return wrong("the second run does not do the work")
    # A lock file without a holder has no effect, no program reads names with six letters, and the next insert removes them.
    left = [one for one in litter(place) if not killed or not re.search(r"\.[a-z0-9]{6}(\.part)?$|^tmp/|^cache/\.jitwarm-", one)]
    if left and call != "unlink":
        return wrong("left after the second run: %s" % re.sub(r"[0-9a-f]{8,}|\.[a-z0-9]{6}$|[0-9]{2,}", "*", left[0]))
    return None


def choose(kinds, rng):
    """Of each kind of call as many as its part of all, and one at least."""
    if args.at:
        first, _, last = args.at.partition("-")
        return list(range(int(first), int(last or first) + 1))
    if not args.sample or args.sample >= len(kinds):
        return list(range(1, len(kinds) + 1))
    by_kind = collections.defaultdict(list)
    for n, kind in enumerate(kinds, 1):
        by_kind[kind].append(n)
    taken = []
    for all_of in by_kind.values():
        taken += rng.sample(all_of, max(1, min(len(all_of), args.sample * len(all_of) // len(kinds))))
    rng.shuffle(taken)
    return sorted(taken[:max(args.sample, 1)])


def main():
    root = tempfile.mkdtemp(prefix="jitwarm-torture.")
    places = [Place("%s/%d" % (root, i)) for i in range(args.jobs)]
    defects, trials = {}, 0
    for name in args.case or CASES:
        case = CASES[name]
        for place in places:
            os.makedirs(os.path.dirname(place.dir), exist_ok=True)
            prepare(place, case)
        kinds = numbers(places[0], case)
        for mode in [args.mode] if args.mode else ["kill", "fail"][:1 + (case.fails or args.workers)]:
            wanted = choose(kinds, random.Random("%d %s %s" % (args.seed, name, mode)))
            trials += len(wanted)

            def some(i):
                return [(n, trial(places[i], name, case, mode, n)) for n in wanted[i::args.jobs]]

            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                for n, wrong in sorted(sum(pool.map(some, range(args.jobs)), []), key=lambda one: one[0]):
                    if wrong and (args.each or (name, mode) + wrong[:2] not in defects):
                        defects[(name, mode) + wrong[:2]] = n
                        print("%s: %s, where %s fails (%s)\n    again: %s %s --case %s --mode %s --at %d%s%s" %
                              (name, wrong[0], wrong[1], wrong[2], os.path.relpath(__file__), args.build, name, mode, n, " --workers" * args.workers,
                               "".join("\n    | " + line for line in wrong[3].strip().splitlines()[-3:])), flush=True)
    print("%d trials, %d defects, seed %d%s" % (trials, len(defects), args.seed, "".join(": %s: %s, where %s fails (%s)" % (*one[:2], one[2], one[3])
                                                                                      for one in [(k[0], k[2], k[3], k[1]) for k in defects][:1])))
    if not args.keep:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
