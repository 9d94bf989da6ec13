#!/usr/bin/env python3
"""cupy_first_start.py BUILD-FOLDER DRIVER GPU cupy-14.2.0|cupy-12.3.0 [VARIABLE=VALUE...]

CuPy's first start under NVIDIA's DRIVER on a GPU of the phantom:

  cold    start_cupy.py with an empty cache: the entries that this makes
  primed  with a cache that `jitwarm prime cupy` has filled: may add nothing but what NVRTC made while it ran, and that
          is told
  recorded  with a cache that `jitwarm prime --recording` has filled from `jitwarm run --record` of such a start: may add nothing

CuPy's own cache of kernels is empty each time. The wheels are those of scripts/get.sh frameworks cupy-VERSION-linux. CuPy 12.3.0 is
the one for CUDA 11.0, which has no machine code for sm_90: there its libraries are compiled, some minutes. NVRTC 11.7 stands in
for 11.0 (nvrtc_11_0.c), and cuBLAS and its like, which the program does not call, for empty libraries of their names.

Exit status: 0; 1 where the promise is broken; 77 where driver, wheels, compiler or Python 3.11 are missing.
"""
import filecmp
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../documents"))
from keep import keep_document

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "jitwarm")
DRIVERS = os.environ.get("JITWARM_DRIVERS") or os.path.join(CACHE, "drivers")
FRAMEWORKS = os.environ.get("JITWARM_FRAMEWORKS") or os.path.join(CACHE, "frameworks")
UNCALLED = ("libcublas.so.11", "libcufft.so.10", "libcurand.so.10", "libcusparse.so.11", "libcusolver.so.10")


def skip(why):
    print("skipped: " + why)
    raise SystemExit(77)


def broken(why):
    print("BROKEN: " + why)
    raise SystemExit(1)


def unpack(name):
    """The wheels' content in one folder, which gets its name when it is whole."""
    folder = os.path.join(FRAMEWORKS, "extracted", name)
    wheels = glob.glob(os.path.join(FRAMEWORKS, name + "-linux", "*.whl"))
    if os.path.isdir(folder):
        return folder
    if not wheels:
        skip("no wheels of %s in %s (scripts/get.sh frameworks %s-linux)" % (name, FRAMEWORKS, name))
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    new = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(folder))
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(new)
    os.chmod(new, 0o755)
    try:
        os.rename(new, folder)
    except OSError:
        shutil.rmtree(new)  # another run was faster
    return folder


def stand_in(folder):
    """Libraries that CuPy 12 is linked with and that are no wheels, or large ones."""
    os.mkdir(folder)
    compiler = shutil.which("cc") or skip("no C compiler")
    for name in UNCALLED:
        subprocess.run([compiler, "-shared", "-x", "c", "/dev/null", "-o", os.path.join(folder, name), "-Wl,-soname," + name], check=True)
    versions = os.path.join(folder, "map")
    with open(versions, "w") as file:
        file.write("libnvrtc.so.11.0 { global: nvrtc*; local: *; };\n")
    subprocess.run([compiler, "-shared", "-fPIC", os.path.join(HERE, "nvrtc_11_0.c"), "-o", os.path.join(folder, "libnvrtc.so.11.0"),
                    "-Wl,-soname,libnvrtc.so.11.0", "-Wl,--version-script=" + versions, "-ldl"], check=True)


def environment_of(site, folder):
    """A virtual environment whose packages are these: CuPy 14 looks for NVRTC in those of the environment, then in the system."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = glob.glob(os.path.join(folder, "lib/python3*/site-packages"))[0]
    os.rmdir(packages)
    os.symlink(site, packages)
    return os.path.join(folder, "bin/python")


class Run:
    def __init__(self, build, driver, gpu, site, scratch, variables):
        self.under = [os.path.join(ROOT, "scripts/with-driver.sh"), "-B", build, "-d", driver, gpu, "--"]
        self.build, self.site, self.scratch = build, site, scratch
        libraries = [*glob.glob(os.path.join(site, "nvidia/*/lib")), os.path.join(scratch, "lib")]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "CUPY_"))}
        self.python = environment_of(site, os.path.join(scratch, "environment"))
        self.environment.update(LD_LIBRARY_PATH=":".join(libraries), CUDA_CACHE_MAXSIZE="4294967296",
                                CUDA_PATH=os.path.join(site, "nvidia/cuda_runtime"), JITWARM_STATE=os.path.join(scratch, "state"))
        self.variables = variables

    def entries(self, cache):
        found = glob.glob(os.path.join(self.scratch, cache, "?/?/" + "?" * 14))
        return {"".join(path.split(os.sep)[-3:]): path for path in found}

    def prime(self, cache):
        self.environment["CUDA_CACHE_PATH"] = os.path.join(self.scratch, cache)
        began = time.monotonic()
        packages = [path for path in glob.glob(os.path.join(self.site, "cup*")) if not path.endswith(".dist-info")]
        done = subprocess.run([*self.under, os.path.join(self.build, "src/jitwarm"), "prime", "--json", *packages],
                              env=self.environment, stdout=subprocess.PIPE)
        if done.returncode != 0 or re.search(rb'"opaque":\s*true', done.stdout):
            broken("prime ended with status %d: %s" % (done.returncode, done.stdout.decode()[-2000:]))
        keep_document(done.stdout)
        print("primed: %d entries in %.0f s" % (len(self.entries(cache)), time.monotonic() - began), flush=True)

    def start(self, cache, *before):
        self.environment["CUDA_CACHE_PATH"] = os.path.join(self.scratch, cache)
        with tempfile.TemporaryDirectory(prefix="cupy-", dir=self.scratch) as kernels:
            done = subprocess.run([*self.under, *before, self.python, os.path.join(HERE, "start_cupy.py")],
                                  env={**self.environment, **self.variables, "CUPY_CACHE_DIR": kernels})
        if done.returncode != 0:
            broken("the program ended with status %d" % done.returncode)

    def prime_recorded(self, cache):
        """Primes the cache from a recording that is made with an empty one."""
        jitwarm, recording = os.path.join(self.build, "src/jitwarm"), os.path.join(self.scratch, "recording.json")
        self.start("used", jitwarm, "run", "--record", recording, "--")
        self.environment.update(CUDA_CACHE_PATH=os.path.join(self.scratch, cache), JITWARM_STATE=os.path.join(self.scratch, "other-state"))
        with open(recording) as file:
            recorded = json.load(file)
        modules = recorded["modules"] + recorded["not_in_files"]
        for command, wanted in (("check", 1), ("prime", 0), ("check", 0)) if modules else ():
            done = subprocess.run([*self.under, jitwarm, command, "--recording", recording], env=self.environment)
            if done.returncode != wanted:
                broken("%s of the recording ended with status %d, not %d" % (command, done.returncode, wanted))
        print("recorded: %d modules in %d bytes; the PTX of %d of them, %d bytes, takes %d" % (
            len(modules), os.path.getsize(recording), sum("text" in module for module in modules),
            sum(text["size_bytes"] for text in recorded["texts"]), sum(len(text["zstd"]) for text in recorded["texts"])), flush=True)


def compiler_of(path):
    """The NVRTC or nvcc that made the PTX of an entry, by the comment at its head."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data, 4)
    said = re.search(rb"// Cuda compilation tools, release [\d.]+, V([\d.]+)", data[28:28 + size])
    return said[1].decode() if said else None


def main():
    if len(sys.argv) < 5:
        print(__doc__.split("\n", 1)[0], file=sys.stderr)
        return 64
    build, driver, gpu, name = os.path.abspath(sys.argv[1]), *sys.argv[2:5]
    if not os.path.isdir(os.path.join(DRIVERS, driver)):
        skip("driver %s is not in %s (scripts/get.sh drivers %s)" % (driver, DRIVERS, driver))
    if sys.version_info[:2] != (3, 11):
        skip("the wheels are for Python 3.11")
    site = unpack(name)
    nvrtc = glob.glob(os.path.join(site, "nvidia_cuda_nvrtc*.dist-info"))
    nvrtc = re.search(r"-([\d.]+)\.dist-info", nvrtc[0])[1] if nvrtc else skip("no NVRTC with " + name)
    with tempfile.TemporaryDirectory(prefix="cupy-start-") as scratch:
        run = Run(build, driver, gpu, site, scratch, dict(word.split("=", 1) for word in sys.argv[5:]))
        if name.startswith("cupy-12."):
            stand_in(os.path.join(scratch, "lib"))
        print("cold:", flush=True)
        run.start("cold")
        run.prime("primed")
        before = run.entries("primed")
        times = {path: os.stat(path).st_mtime_ns for path in before.values()}
        run.start("primed")
        cold, after = run.entries("cold"), run.entries("primed")
        added = {entry: compiler_of(after[entry]) for entry in after.keys() - before.keys()}
        print("cold: %d entries; a start after priming adds %d, of these %d that NVRTC %s made while it ran" % (
            len(cold), len(added), sum(by == nvrtc for by in added.values()), nvrtc))
        if any(by != nvrtc for by in added.values()):
            broken("added, and not NVRTC's: " + ", ".join(entry for entry, by in added.items() if by != nvrtc))
        if cold.keys() - after.keys():
            broken("a cold start makes what is missing here: " + ", ".join(cold.keys() - after.keys()))
        if any(os.stat(path).st_mtime_ns != time_ns for path, time_ns in times.items()):
            broken("an entry that was primed has been written again")
        run.prime_recorded("recorded")
        before = run.entries("recorded")
        run.start("recorded")
        after = run.entries("recorded")
        print("a start after priming the recording adds %d to %d" % (len(after.keys() - before.keys()), len(before)))
        if after != before or cold.keys() != after.keys():
            broken("added, or not made: " + ", ".join(after.keys() - before.keys() | cold.keys() ^ after.keys()))
        if any(not filecmp.cmp(path, cold[entry], shallow=False) for entry, path in after.items()):
            broken("an entry of the recording has other bytes than the driver's own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
