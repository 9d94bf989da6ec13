#!/usr/bin/env python3
"""twin.py [-B BUILD-FOLDER] [-j N] [--all] [--json FILE] DRIVER GPU LIBRARY...
twin.py [...] --here LIBRARY...
twin.py [...] --cache DIR DRIVER GPU NAME

The compiler's twin: does ptxas of the driver's own CUDA minor version give the bytes that the driver's JIT gives?

Primes each LIBRARY (a file or a wheel; "sample" is the sample framework) under NVIDIA's DRIVER on a GPU of the phantom, or
with --here under the driver and on the GPUs of this machine, into a fresh directory. Each entry of the driver that this leaves holds PTX, options and cubin: ptxas
(jitwarm compiler fetch) compiles the same PTX with the option string verbatim, with -c for inputs of run-time linking,
and the bytes are compared. With --cache the entries are those in DIR, a cache that something else has filled under that driver on
that GPU (a program; forced.c, which loads a library's modules though they have machine code). A line says for each library how many are identical, further ones how the others differ; all
of those are in FILE.

Exit status: 0 all identical, 1 some differ or could not be compared, 77 where driver, library or ptxas are not at hand.
"""
import argparse
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../documents"))
from keep import keep_document

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "jitwarm")
DRIVERS = os.environ.get("JITWARM_DRIVERS") or os.path.join(CACHE, "drivers")
# Drivers with their CUDA minor version
VERSIONS = os.path.join(ROOT, "tests/phantom/drivers.txt")
# The driver compiles for these features, which only this GPU has; the key does not say so (docs/internals/driver-cache.md).
TARGET_OF_GPU = {"sm_90": "sm_90a"}

# From CUDA 13 on, cubins name the compiler, its build and its options.
TOOL_NOTE = ".note.nv.tkinfo"

# These ELF sections have no bytes in the file: SHT_NOBITS, and that of shared memory (.nv_debug.shared).
NO_BYTES = (8, 0x7000000A)


class Entry:
    """A file of the driver's cache, taken apart (docs/internals/driver-cache.md)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        version, key_size, value_size, _ = struct.unpack_from("<IQQQ", data)
        if version != 0x41 or 28 + key_size + value_size > len(data):
            raise ValueError("not an entry of a known form")
        key = data[28:28 + key_size]
        self.cubin = data[28 + key_size:28 + key_size + value_size]
        head = re.match(rb".{19}HOST64(sm_\d+)", key, re.S)
        # The payload may end with NULs of its own; the options have none.
        payload, _, tail = key[head.end():].rpartition(b"\0") if head else (b"", b"", b"")
        if not tail.startswith(b" "):
            raise ValueError("a key of an unknown form")
        self.ptx = payload.rstrip(b"\0")
        self.target = TARGET_OF_GPU.get(head[1].decode(), head[1].decode())
        self.link = tail.startswith(b" -c")
        self.options = tail[3 if self.link else 1:].decode("latin-1")
        self.name = "".join(path.split(os.sep)[-3:])

    def describe(self):
        return "%s %s, %d bytes of PTX, options '%s'" % (self.name, "link-time input" if self.link else "module",
                                                          len(self.ptx), self.options)


def entries_of(cache):
    for folder, _, files in os.walk(cache):
        for name in files:
            path = os.path.join(folder, name)
            if re.fullmatch(r"[0-9a-f]/[0-9a-f]/[0-9a-f]{14}", os.path.relpath(path, cache)):
                yield path


def sections_of(cubin):
    """Name and content of each section of a little-endian ELF-64 file."""
    offset, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    rows = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + i * size) for i in range(count)]
    strings = cubin[rows[names][4]:rows[names][4] + rows[names][5]]
    result = {}
    for name, kind, _, _, start, length, *_ in rows:
        label = strings[name:strings.index(b"\0", name)].decode("latin-1")
        result[label] = b"" if kind in NO_BYTES else cubin[start:start + length]
    return result


def attributes_of(info):
    """What .nv.info holds: format 4 is followed by a length and as many bytes, the others by two bytes."""
    result, at = [], 0
    while at + 4 <= len(info):
        size = 4 + (struct.unpack_from("<H", info, at + 2)[0] if info[at] == 4 else 0)
        result.append(info[at:at + size])
        at += size
    return result


def more_attributes(more, fewer):
    """Kinds of attributes that `more` has beside those of `fewer`, which stand there in the same order; else None."""
    extra, rest = set(), attributes_of(fewer)
    for attribute in attributes_of(more):
        if rest and rest[0] == attribute:
            rest.pop(0)
        else:
            extra.add("0x%02x" % attribute[1])
    return None if rest else extra


def build_of(note):
    found = re.search(rb"V[0-9.]+", note)
    return found[0].decode() if found else "unknown"


def difference(driver, ptxas):
    """In which sections two cubins differ; the kernels' names in them are left out."""
    try:
        ours, theirs = sections_of(ptxas), sections_of(driver)
    except (struct.error, ValueError, IndexError):
        return "one of them is no ELF file"
    differ = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    if differ == {TOOL_NOTE}:
        return "only %s, which names the compiler's build (%s, %s)" % (
            TOOL_NOTE, build_of(theirs[TOOL_NOTE]), build_of(ours[TOOL_NOTE]))
    extra = [more_attributes(theirs.get(name, b""), ours.get(name, b"")) if name.startswith(".nv.info") else None
             for name in differ]
    if differ and None not in extra:
        return "the driver has attributes more in .nv.info (%s); all other sections are equal" % (
            ", ".join(sorted(set().union(*extra))))
    kinds = sorted({re.match(r"(\.nv\.\w+|\.rela?\.\w+|\.\w+|.*)", name).group(1) for name in differ})
    return "%d bytes from the driver, %d from ptxas; %s" % (
        len(driver), len(ptxas), "sections " + ", ".join(kinds) if kinds else "headers only")


def compile_one(ptxas, entry, folder):
    source, output = (os.path.join(folder, entry.name + end) for end in (".ptx", ".cubin"))
    with open(source, "wb") as file:
        file.write(entry.ptx)
    command = [ptxas, "-arch=" + entry.target, *(["-c"] if entry.link else []), *entry.options.split(), source, "-o", output]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=900)
    os.remove(source)
    if done.returncode != 0:
        return "ptxas: " + done.stderr.decode(errors="replace").strip().split("\n")[-1]
    with open(output, "rb") as file:
        cubin = file.read()
    os.remove(output)
    return None if cubin == entry.cubin else difference(entry.cubin, cubin)


def jitwarm(arguments, scratch, *words):
    """A document of jitwarm's, under the driver in question and with a cache of its own."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("CUDA_") or name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")}
    environment.update(CUDA_CACHE_PATH=os.path.join(scratch, "cache"), CUDA_CACHE_MAXSIZE="4294967296",
                       JITWARM_STATE=os.path.join(scratch, "state"))
    under = [] if arguments.here else [os.path.join(ROOT, "scripts/with-driver.sh"), "-B", arguments.build,
                                       "-d", arguments.driver, arguments.gpu, "--"]
    command = [*under, os.path.join(arguments.build, "src/jitwarm"), *words, "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
    if not done.stdout:
        raise SystemExit("twin.py: jitwarm %s: status %d" % (" ".join(words), done.returncode))
    return json.loads(keep_document(done.stdout))


def read_cache(arguments):
    """The entries of a cache that is there; those of other compilers (libnvJitLink) have keys of other forms."""
    entries = []
    for path in sorted(entries_of(arguments.cache)):
        try:
            entries.append(Entry(path))
        except ValueError as reason:
            print("left out: %s: %s" % (path, reason))
    return {"modules": len(entries), "failed": 0, "compile_seconds": 0}, entries


def compare(arguments, ptxas, library):
    """Primes a library, compiles what the driver compiled, returns the outcome."""
    with tempfile.TemporaryDirectory(prefix="twin-") as scratch:
        if arguments.cache:
            report, entries = read_cache(arguments)
        else:
            report = jitwarm(arguments, scratch, "prime", "-j", str(arguments.jobs), *(["--all"] if arguments.all else []), library)
            entries = [Entry(path) for path in sorted(entries_of(os.path.join(scratch, "cache")))]
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            answers = list(pool.map(lambda entry: compile_one(ptxas, entry, scratch), entries))
    different = [(entry, answer) for entry, answer in zip(entries, answers) if answer]
    return {
        "driver": arguments.driver, "gpu": arguments.gpu, "ptxas": os.path.basename(os.path.dirname(ptxas)),
        "targets": ",".join(sorted({entry.target for entry in entries})), "library": os.path.basename(library), "date": time.strftime("%Y-%m-%d"),
        "planned": report["modules"], "failed": report["failed"], "entries": len(entries),
        "link_inputs": sum(entry.link for entry in entries), "with_options": sum(bool(e.options.strip()) for e in entries),
        "identical": len(entries) - len(different),
        "different": [{"entry": entry.describe(), "difference": answer} for entry, answer in different],
        "driver_seconds": round(report["compile_seconds"], 2), "ptxas_wall_seconds": round(time.monotonic() - began, 2),
    }


def cuda_of(driver):
    with open(VERSIONS) as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return next((row[1] for row in rows if row and row[0] == driver), None)


def show(result):
    print("%(driver)s ptxas %(ptxas)s -arch=%(targets)s %(library)s: %(identical)d of %(entries)d identical "
          "(%(link_inputs)d link-time inputs, %(with_options)d with options; %(planned)d planned)" % result)
    alike = {}
    for row in result["different"]:
        alike.setdefault(row["difference"], []).append(row["entry"])
    for reason, entries in alike.items():
        print("    %d: %s" % (len(entries), reason))
        for entry in entries[:3]:
            print("        " + entry)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(usage="\n".join(__doc__.split("\n", 3)[:3]))
    parser.add_argument("-B", dest="build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="modules that prime leaves out, too")
    parser.add_argument("--json", help="a file to which one JSON document a library is added, a line each")
    parser.add_argument("--cache", metavar="DIR", help="the entries in this directory; NAME is what to call them")
    parser.add_argument("--here", action="store_true", help="this machine's driver and GPUs")
    parser.add_argument("words", nargs="+", help="DRIVER GPU LIBRARY..., or LIBRARY...")
    arguments = parser.parse_args()
    libraries = arguments.words if arguments.here else arguments.words[2:]
    if not libraries:
        parser.error("no library")
    arguments.build = os.path.abspath(arguments.build)
    sample = os.path.join(arguments.build, "tests/framework/libsample_framework.so")
    libraries = [sample if name == "sample" else name for name in libraries]
    if arguments.here:
        with tempfile.TemporaryDirectory(prefix="twin-") as scratch:
            status = jitwarm(arguments, scratch, "status")
        arguments.driver, version = status["driver"].get("version"), status["driver"].get("cuda")
        arguments.gpu = ",".join(sorted({gpu["target"] for gpu in status["gpus"]}))
    else:
        arguments.driver, arguments.gpu = arguments.words[:2]
        version = cuda_of(arguments.driver)
    for path in [arguments.cache] if arguments.cache else [
            *([] if arguments.here else [os.path.join(DRIVERS, arguments.driver)]), *libraries]:
        if not os.path.exists(path):
            print("skipped: %s is not there" % path)
            return 77
    if not version:
        parser.error("which CUDA version is driver %s of? (%s)" % (arguments.driver, VERSIONS))
    fetched = subprocess.run([os.path.join(arguments.build, "src/jitwarm"), "compiler", "fetch", version], stdout=subprocess.PIPE)
    if fetched.returncode != 0:
        print("skipped: no ptxas %s" % version)
        return 77
    ptxas = fetched.stdout.decode().strip()
    worst = 0
    for library in libraries:
        result = compare(arguments, ptxas, library)
        show(result)
        if arguments.json:
            with open(arguments.json, "a") as file:
                file.write(json.dumps(result) + "\n")
        if result["identical"] != result["planned"] or result["entries"] != result["planned"]:
            worst = 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
