#!/usr/bin/env python3
"""bench_status.py BUILD-FOLDER [PACKAGES...]

What `jitwarm status` takes in environments of so many made-up packages (default: 97 and 388; 24 folders with 96 modules each, one of
them in eight with a library) and the sample framework, under the simulated driver: the first time, and again with what it then
remembers; beside a rival that reads the same environment in the same run, which is listing its packages with Python's
importlib.metadata. Medians of eleven runs: milliseconds on the clock and of processor time.
"""
import os, resource, shutil, statistics, subprocess, sys, tempfile, time

if len(sys.argv) < 2 or not os.access(sys.argv[1] + "/src/jitwarm", os.X_OK):
    sys.exit(__doc__)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv[1])
LIST = "import importlib.metadata as m, sys; print(sum(1 for one in m.distributions(path=sys.argv[1:]) if one.files is not None))"


def make(site, packages):
    sample = BUILD + "/tests/framework/libsample_framework.so"
    for number in range(packages):
        name = "made%03d" % number
        files = []
        for folder in range(24):
            inside = "%s/part%d/sub%d" % (name, folder // 6, folder % 6)
            os.makedirs(site + "/" + inside)
            for module in range(4):
                files.append("%s/module%d.py" % (inside, module))
                open(site + "/" + files[-1], "w").close()
        if number % 8 == 0:
            files.append(name + "/native.so")
            shutil.copy("/bin/true", site + "/" + files[-1])
        describe(site, name, files)
    os.makedirs(site + "/sample")
    shutil.copy(sample, site + "/sample/libsample.so")
    describe(site, "sample", ["sample/libsample.so"])


def describe(site, name, files):
    info = "%s/%s-1.0.dist-info" % (site, name)
    os.makedirs(info)
    with open(info + "/METADATA", "w") as out:
        out.write("Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n" % name)
    with open(info + "/RECORD", "w") as out:
        out.writelines("%s,,0\n" % one for one in files)


def timed(command, environment):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ended = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode
    if ended > 1:
        sys.exit("bench_status.py: %s ended with %d" % (command[0], ended))
    after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    return took * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def median(command, environment, times=11):
    rows = [timed(command, environment) for _ in range(times)]
    return [statistics.median(column) for column in zip(*rows)]


def under(scratch):
    """The environment that with-simdriver.sh gives a command, so that the script itself is not measured."""
    said = subprocess.run([ROOT + "/scripts/with-simdriver.sh", "-B", BUILD, "sm_86", "--", "env", "-0"], stdout=subprocess.PIPE, check=True)
    environment = dict(one.split("=", 1) for one in said.stdout.decode().split("\0") if one)
    environment.update(JITWARM_STATE=scratch + "/state", CUDA_CACHE_PATH=scratch + "/cache", VIRTUAL_ENV=scratch + "/env",
                       HOME=scratch + "/home")
    environment.pop("JITWARM_FRAMEWORKS", None)
    return environment


print("%8s %8s  %-22s %8s %8s" % ("packages", "folders", "", "ms", "ms used"))
for count in [int(one) for one in sys.argv[2:]] or [97, 388]:
    with tempfile.TemporaryDirectory() as scratch:
        site = scratch + "/env/lib/python3.11/site-packages"
        os.makedirs(site)
        os.makedirs(scratch + "/home")
        with open(scratch + "/env/pyvenv.cfg", "w") as out:
            out.write("home = /usr/bin\nversion = 3.11.0\n")
        make(site, count)
        time.sleep(3)  # a folder that has just changed is not remembered
        environment, status = under(scratch), [BUILD + "/src/jitwarm", "status"]
        folders = sum(len(names) for _, names, _ in os.walk(site))
        rows = [("status, the first time", timed(status, environment)), ("status, again", median(status, environment)),
                ("rival: importlib", median([sys.executable, "-I", "-c", LIST, site], environment))]
        for name, (took, used) in rows:
            print("%8d %8d  %-22s %8.1f %8.1f" % (count, folders, name, took, used))
        print("%8s %8s  %-22s %8.2f %8.2f" % ("", "", "status / rival", rows[1][1][0] / rows[2][1][0], rows[1][1][1] / rows[2][1][1]))
