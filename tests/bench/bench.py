#!/usr/bin/env python3
"""bench.py [-B BUILD-FOLDER] [-d DRIVER] [-j WORKERS] [-r ROUNDS] [NAME...]

Measures the numbers that README and docs give for speed and memory, each beside a rival in the same run:

    prime  under a real driver: the ideal makespan; one process that loads all modules, and WORKERS that load their share
    scan   the libraries of a CUDA toolkit: memmem and cuobjdump
    wheel  wheels: unzip; a second scan; two libraries on one core
    start  a second check: the first
    rest   packs: tar and zstd; caches of 10,000 and 100,000 entries: find, cat and cp; make: ptxas one after the other

Without NAME: all. Whole processes are timed, in turn, and the least of ROUNDS counts, since other programs only add time; on a busy
machine, the processor time is the one to believe. A part whose files are missing says so: a toolkit's libraries ($CUDA_HOME/lib64), the
wheels of scripts/get.sh frameworks, the driver of scripts/get.sh drivers, cuobjdump.
"""
import argparse, glob, json, os, random, re, shutil, struct, subprocess, sys, tempfile, time, zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "jitwarm")
FRAMEWORKS = os.environ.get("JITWARM_FRAMEWORKS") or CACHE + "/frameworks"
ENTRY_BYTES, FEW = 4096, 5000
# Loads the modules from FIRST on, STEP apart, as a framework does. LIST has the offset and size of each in FILE.
LOADER = """import ctypes, sys
file, first, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
cuda, context, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
def call(name, *words):
    if getattr(cuda, name)(*words):
        sys.exit(name + " failed")
call("cuInit", 0), call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0), call("cuCtxSetCurrent", context)
data = open(file, "rb").read()
for line in open(file + ".list").readlines()[first::step]:
    at, size = map(int, line.split())
    call("cuModuleLoadDataEx", ctypes.byref(module), data[at:at + size], 0, None, None), call("cuModuleUnload", module)
"""


def once(command, ok=(0,)):
    """Wall time, processor time and most memory of a command and its children; a string is a line for bash"""
    began = time.monotonic()
    process = subprocess.Popen(["bash", "-c", command] if isinstance(command, str) else command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ok:
        sys.exit("bench.py: status %d: %s" % (process.returncode, command))
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def race(rounds=None, before=lambda: None, ok=(0,), **commands):
    """The least of each; a value of commands may be a pair, of a function to call before and the command. Prints each beside the first."""
    least = {}
    for _ in range(rounds or args.rounds):
        for name, command in commands.items():
            before()
            if isinstance(command, tuple):
                command[0]()
                command = command[1]
            took = once(command, ok)
            least[name] = tuple(map(min, took, least.get(name, took)))
    rival = next(iter(least.values()))
    for name, took in least.items():
        print("  %-22s %8.3f s, %.3f times   %8.3f s of processor time, %.3f times   %5.0f MB" %
              (name.replace("_", " "), took[0], took[0] / rival[0], took[1], took[1] / rival[1], took[2]), flush=True)
    return least


def title(text):
    print("\n== " + text, flush=True)


def missing(what):
    print("(left out: %s)" % what)


def remove(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)


def answer(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit("bench.py: status %d: %s" % (done.returncode, words))
    return json.loads(done.stdout)


def wheel_of(name):
    return next(iter(sorted(glob.glob("%s/%s/*.whl" % (FRAMEWORKS, name)))), None)


def largest_of(wheel):
    """The largest library of a wheel, as an installation has it"""
    with zipfile.ZipFile(wheel) as file:
        return file.extract(max(file.infolist(), key=lambda member: member.file_size), "extracted")


def make_modules(count, statements, library):
    """A library with modules of half to twice the statements, always the same ones"""
    sys.path.insert(0, ROOT + "/tests/framework")
    import fatbin
    dice, body, places = random.Random(count * statements), b"", []
    for i in range(count):
        ptx = subprocess.run([sys.executable, ROOT + "/ptx/make-sample.py", "module_%d" % i, str(int(statements * 2 ** dice.uniform(-1, 1)))],
                             stdout=subprocess.PIPE, check=True).stdout
        data = fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(ptx), compression="lz4"))
        places.append((len(body), len(data)))
        body += data
    with open("modules", "wb") as file:
        file.write(body)
    with open("modules.s", "w", encoding="utf-8") as file:
        file.write('.section .nv_fatbin,"a"\n.balign 8\n.incbin "modules"\n')
    subprocess.run(["cc", "-shared", "-nostdlib", "-o", library, "modules.s"], check=True)
    with open(library, "rb") as file:
        start = file.read().index(body[:64])
    with open(library + ".list", "w", encoding="utf-8") as file:
        file.writelines("%d %d\n" % (start + at, size) for at, size in places)


def prime():
    if not os.path.isdir(CACHE + "/drivers/" + args.driver):
        title("prime")
        return missing("no driver " + args.driver)
    jobs, modules = args.jobs, os.path.abspath("libmodules.so")

    def under(gpu, *command):
        return [ROOT + "/scripts/with-driver.sh", "-B", build, "-d", args.driver, gpu, "--", *command]

    for gpu, name in (("sm_90", "ctranslate2-4.6.2"), ("sm_86", "xgboost-1.3.3"), ("sm_86", "tensorflow-2.3.1"), ("sm_90", "xgboost-1.7.6")):
        title("prime of %s, %s, driver %s, beside the ideal makespan" % (name, gpu, args.driver))
        wheel = wheel_of(name + "-linux")
        if not wheel:
            missing("no wheel")
            continue
        remove("cache")
        once(under(gpu, jitwarm, "status", "--quiet"), range(4))  # jitwarm asks this once for each driver
        d = answer(*under(gpu, jitwarm, "prime", "--json", "--quiet", "-j", str(jobs), wheel))
        ideal = max(d["compile_seconds"] / d["workers"], d["longest_seconds"])
        print("  %d modules, %d workers: %.1f s, ideal %.1f s, %.3f times; predicted %.1f core-seconds, measured %.1f; "
              "supervisor at most %.0f MB, a worker %.0f MB" %
              (d["compiled"], d["workers"], d["seconds"], ideal, d["seconds"] / ideal, d["predicted_cpu_seconds"], d["compile_seconds"],
               d["peak_supervisor_bytes"] / 1e6, d["peak_worker_bytes"] / 1e6))
    title("prime with %d workers, beside as many bare processes and one that loads all" % jobs)
    make_modules(500, 1500, modules)
    once(["cc", "-shared", "-x", "c", "-o", "libnothing.so", "/dev/null"])
    load = [sys.executable, "-I", "-S", "-c", LOADER, modules]
    bare = "".join("CUDA_CACHE_PATH=bare-%d \"$@\" %d %d & all+=($!); " % (i, i, jobs) for i in range(jobs)) + \
        'for one in "${all[@]}"; do wait "$one" || exit 1; done'
    race(bare=under("sm_86", "bash", "-c", bare, "bash", *load), one=under("sm_86", *load, "0", "1"),
         prime=under("sm_86", jitwarm, "prime", "--quiet", "-j", str(jobs), modules), before=lambda: remove("cache", *glob.glob("bare-*")))
    title("a second prime of these 500 modules, beside one of nothing")
    again = under("sm_86", jitwarm, "prime", "--quiet", modules)

    def forget():
        for path in glob.glob("state/inventory*"):
            os.unlink(path)

    race(nothing=under("sm_86", jitwarm, "prime", "--quiet", os.path.abspath("libnothing.so")), files_read=(forget, again), files_known=again)


def scan():
    toolkit = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    libraries = sorted({os.path.realpath(path) for path in glob.glob(toolkit + "/lib64/lib*.so") if os.path.getsize(path) > 1 << 20})
    title("scan of %d libraries of a CUDA toolkit, beside memmem in the same process" % len(libraries))
    if not libraries:
        return missing("no libraries in %s/lib64" % toolkit)
    once(["cat", *libraries])
    subprocess.run([build + "/tests/bench/bench_scan", *libraries], check=True)
    title("scan of these, beside cuobjdump")
    tool = shutil.which(os.environ.get("CUOBJDUMP", "cuobjdump"))
    if not tool:
        return missing("no cuobjdump")
    race(1, cuobjdump=" ; ".join("%s %s %s" % (tool, what, path) for path in libraries for what in ("-lelf", "-lptx")) + " ; true",
         scan=[jitwarm, "scan", "--json", *libraries], ok=(0, 1))


def wheel():
    none, wheels = ["env", "JITWARM_STATE=/dev/null/none"], sorted(glob.glob(FRAMEWORKS + "/*/*.whl"))
    if not wheels:
        title("wheels")
        return missing("no wheels in " + FRAMEWORKS)
    for path in wheels:
        title("scan of %s, beside unzip; then a second scan" % os.path.basename(path))
        race(unzip="unzip -p '%s'" % path, scan=[*none, jitwarm, "scan", "--quiet", path], ok=(0, 1))
        once([jitwarm, "scan", "--quiet", "--target", "sm_86", path], (0, 1))
        race(first=[*none, jitwarm, "scan", "--quiet", "--target", "sm_86", path], second=[jitwarm, "scan", "--quiet", "--target", "sm_86", path], ok=(0, 1))
    title("two equal libraries in a wheel, beside one core")
    with zipfile.ZipFile("two.whl", "w", zipfile.ZIP_DEFLATED) as two:
        for name in ("first.so", "second.so"):
            two.write(largest_of(wheels[0]), name)
    race(one=["taskset", "-c", "0", *none, jitwarm, "scan", "--quiet", "two.whl"], all=[*none, jitwarm, "scan", "--quiet", "two.whl"], ok=(0, 1))


def start():
    for name in ("tensorflow-2.10.0-windows", "xgboost-1.3.3-linux"):
        title("a second check of the library of %s, beside the first" % name)
        path = wheel_of(name)
        if not path:
            missing("no wheel")
            continue
        check = [jitwarm, "check", "--quiet", "--target", "sm_86", "--driver", args.driver, largest_of(path)]
        time.sleep(5)  # jitwarm remembers no file that has just changed
        once(check, range(3))
        race(first=(lambda: remove("state"), check), second=check, help=[jitwarm, "help"], ok=range(3))


def fnv(data):
    state = 0xCBF29CE484222325
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return state


def make_cache(folder, first, count):
    """Entries as a driver writes them, whose machine code is only a header"""
    for i in range(256):
        os.makedirs("%s/%x/%x" % (folder, i >> 4, i & 15))
    keys = [b"Jun 25 202401:14:48HOST64sm_86// %08d\0 " % i for i in range(first, first + count)]
    head = struct.pack("<9B7xHHI24xIH", *b"\x7fELF\2\1\1\x33\7", 2, 190, 1, 86, 64)
    value, rows = head.ljust(ENTRY_BYTES - 28 - len(keys[0]), b"\0"), []
    sizes = struct.pack("<IQQQ", 0x41, len(keys[0]), len(value), fnv(value))
    for key in keys:
        name = fnv(key)
        with open("%s/%x/%x/%014x" % (folder, name >> 60, name >> 56 & 15, name & (1 << 56) - 1), "wb") as file:
            file.write(sizes + key + value)
        rows.append(struct.pack("<QQ", name, ENTRY_BYTES - 28))
    with open(folder + "/index", "wb") as file:
        file.write(struct.pack("<IIQ", 0x41, count, count * (ENTRY_BYTES - 28)) + b"".join(rows))


def caches():
    on, verify = ["--cache", "cache"], [jitwarm, "cache", "verify", "--cache", "cache"]
    make_cache("few", 1000000, FEW)
    once([jitwarm, "export", "--all", "--cache", "few", "-o", "few.jwpack"])
    for count in (10000, 100000):
        remove("kept")
        make_cache("kept", 0, count)
        again = "rm -rf cache && cp -r kept cache"
        once(again)
        title("a cache of %d entries, %d MB, beside find, cat and cp" % (count, count * ENTRY_BYTES / 1e6))
        race(find="find cache -type f -printf '%s %T@ %p\\n'", list=[jitwarm, "cache", "list", *on])
        race(cat="find cache -type f -print0 | xargs -0 cat", verify=verify)
        title("verify --repair of it, all entries cut")
        cut = again + " && find cache -path '*/?/?/*' -exec truncate -s 100 {} +"
        race(1, copy=(lambda: once("rm -rf cache"), "cp -r kept cache"), repair=(lambda: once(cut), [*verify, "--repair"]))
        once(cut)
        print("  the lock is held for %.1f ms at most" % (1e3 * answer(*verify, "--repair", "--json")["repaired_hold_seconds"]))
        title("an import of %d entries into it" % FEW)
        race(1, copy=(lambda: remove("copied"), "cp -r few copied"),
             imported=(lambda: once(again), [jitwarm, "import", "--allow-unsigned", "--as-is", "--quiet", *on, "few.jwpack"]))
    remove("few", "kept", "cache", "copied")


def packs():
    title("packs of a framework's cache, beside tar and zstd")
    archive = os.environ.get("JITWARM_TESTDATA", ROOT + "/../shared/testdata") + "/driver-caches/framework-2018-sm70.tar.zst"
    if not os.path.exists(archive):
        return missing("no " + archive)
    once("zstd -dqc --long=27 '%s' | tar -xf - && tar --zstd -cf plain.tar.zst framework-2018-sm70" % archive)
    race(tar="tar -cf - framework-2018-sm70 | zstd -3 --long=27 -T0 -qfo long.tar.zst",
         export=[jitwarm, "export", "--all", "--cache", "framework-2018-sm70", "-o", "a.jwpack"])
    race(unpack=(lambda: remove("unpacked"), "mkdir unpacked && zstd -dc --long=27 long.tar.zst | tar -xf - -C unpacked"),
         imported=(lambda: remove("imported"), [jitwarm, "import", "--allow-unsigned", "--as-is", "--quiet", "--cache", "imported", "a.jwpack"]))
    size = os.path.getsize("a.jwpack")
    print("  pack %d bytes; tar --zstd %.2f times as many (wanted: 4), tar | zstd -3 --long=27 %.2f" %
          (size, os.path.getsize("plain.tar.zst") / size, os.path.getsize("long.tar.zst") / size))


def make():
    sys.path.insert(0, ROOT + "/tests/real")
    import twin
    cuda = twin.cuda_of(args.driver)
    for name in ("xgboost-1.0.2-linux", "xgboost-1.3.3-linux", "tensorflow-2.3.1-linux"):
        title("make of %s with %d workers, beside ptxas one after the other" % (name, args.jobs))
        wheel = wheel_of(name)
        if not wheel:
            missing("no wheel")
            continue
        ptxas = subprocess.run([jitwarm, "compiler", "fetch", cuda], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        words = [jitwarm, "make", "--quiet", "-j", str(args.jobs), "--target", "sm_86", "--driver", args.driver, "--ptxas", ptxas, "-o", "made/",
                 largest_of(wheel)]
        once(words, (0, 1))
        os.makedirs("ptx", exist_ok=True)
        lines = ["set -e"]
        for entry in map(twin.Entry, sorted(twin.entries_of("made"))):
            with open("ptx/" + entry.name, "wb") as file:
                file.write(entry.ptx)
            lines.append("'%s' -arch=%s %s %s ptx/%s -o ptx/%s.cubin" % (ptxas, entry.target, "-c" * entry.link, entry.options, entry.name, entry.name))
        race(1, ptxas="\n".join(lines), make=(lambda: remove("made", "state"), words), ok=(0, 1))
        made = [entry for entry in map(twin.Entry, twin.entries_of("made"))]
        same = 0
        for entry in made:
            with open("ptx/%s.cubin" % entry.name, "rb") as file:
                same += file.read() == entry.cubin
        print("  %d modules, %d cubins the same to the byte" % (len(made), same))
        remove("ptx")


def rest():
    packs()
    caches()
    make()


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("-B", dest="build", default=ROOT + "/build/release")
parser.add_argument("-d", dest="driver", default="550.163.01")
parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
parser.add_argument("-r", dest="rounds", type=int, default=5)
parser.add_argument("names", nargs="*", choices=["prime", "scan", "wheel", "start", "rest", []])
args = parser.parse_args()
build = os.path.abspath(args.build)
jitwarm = build + "/src/jitwarm"
if not os.path.exists(jitwarm):
    sys.exit("bench.py: %s is not built: cmake --preset release && cmake --build --preset release" % jitwarm)
with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    for variable in [name for name in os.environ if re.match("JITWARM_(?!DRIVERS|FRAMEWORKS|TESTDATA)|CUDA_CACHE", name)]:
        del os.environ[variable]
    os.environ.update(JITWARM_STATE=scratch + "/state", JITWARM_STORE="0", CUDA_CACHE_PATH=scratch + "/cache", CUDA_CACHE_MAXSIZE="4294967296",
                      CUDA_MODULE_LOADING="EAGER", LC_ALL="C")
    for part in args.names or ["prime", "scan", "wheel", "start", "rest"]:
        globals()[part]()
