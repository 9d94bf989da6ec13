#!/usr/bin/env python3
"""Whether `jitwarm check` says what the next start does, in random states of the cache.

    states.py BUILD-FOLDER simulated|DRIVER-VERSION [--states N] [--seed TEXT] [--only STATE] [--jobs N]

Each state begins with the cache that the sample framework's first start leaves. Then entries, the index, the limit, the
environment, the path and the library itself change, as the seed says. `jitwarm check` is asked in that state; then the
application starts in it. No state may be found in which `check` ends with 0 and the application compiles or fails, or in which it
ends with 1 or 2 and the application loads everything from the cache. Where only the next insert would compile (a broken index, a
limit below the total), `check` ends with 1 and names that: such a state counts where it does. `check` must leave the cache as it
was. It was asked once before the changes, so that it has something to remember wrongly.

Then `jitwarm prime` mends the same state, and the application starts once more: where `prime` ended with 0, it loads everything.

Exit status: 0; 1 where a state contradicts; 77 where the driver is not at hand.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = struct.Struct("<IQQQ")
FNV_START, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


HANGS = -1


def fnv(data):
    state = FNV_START
    for byte in data:
        state = (state ^ byte) * FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return state


class World:
    """One state: its folder, cache, environment and a note of what was done to it."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        self.cache, self.app = folder / "cache", folder / "app"
        self.path = str(self.cache)
        self.env, self.done = {}, []

    def entries(self):
        return sorted(p for p in self.cache.glob("?/?/*") if p.is_file() and not p.is_symlink())

    def entry(self):
        entries = self.entries()
        return self.rng.choice(entries) if entries else None

    def index(self):
        return self.cache / "index"


def rewrite(path, data):
    """Other bytes under the same inode, as damage leaves them."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate(len(data))


def flip(world, path, low, high):
    data = bytearray(path.read_bytes())
    if low < min(high, len(data)):
        data[world.rng.randrange(low, min(high, len(data)))] ^= 1 << world.rng.randrange(8)
        rewrite(path, bytes(data))


def with_value(path, change):
    """Another value under the same key, with its right checksum."""
    data = path.read_bytes()
    version, key_bytes, _, _ = HEADER.unpack_from(data)
    key = data[HEADER.size : HEADER.size + key_bytes]
    value = change(bytearray(data[HEADER.size + key_bytes :]))
    rewrite(path, HEADER.pack(version, key_bytes, len(value), fnv(value)) + key + bytes(value))


def key_end(path):
    return HEADER.size + HEADER.unpack_from(path.read_bytes())[1]


# ---- changes of entries; each takes the world and one entry


def value_flipped(world, path):
    flip(world, path, key_end(path), 1 << 40)


def value_flipped_times_kept(world, path):
    about = path.stat()
    value_flipped(world, path)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def key_flipped(world, path):
    flip(world, path, HEADER.size, key_end(path))


def checksum_flipped(world, path):
    flip(world, path, 20, 28)


def header_flipped(world, path):
    flip(world, path, 0, 20)


def zeros(_, path):
    rewrite(path, bytes(path.stat().st_size))


def zeros_at_end(world, path):
    data = path.read_bytes()
    keep = world.rng.randrange(HEADER.size, len(data))
    rewrite(path, data[:keep] + bytes(len(data) - keep))


def emptied(_, path):
    rewrite(path, b"")


def cut(world, path):
    rewrite(path, path.read_bytes()[: world.rng.randrange(1, path.stat().st_size)])


def longer(world, path):
    rewrite(path, path.read_bytes() + bytes(world.rng.randrange(1, 5000)))


def deleted(_, path):
    path.unlink()


def folder_instead(_, path):
    path.unlink()
    path.mkdir()


def linked(world, path):
    moved = world.folder / ("moved-" + path.name)
    path.rename(moved)
    path.symlink_to(moved)


def dangling(world, path):
    path.unlink()
    path.symlink_to(world.folder / "nowhere")


def touched(_, path):
    os.utime(path, (1, 1))


def rewritten_same(_, path):
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def swapped(world, path):
    other = world.entry()
    if other and other != path:
        ours, theirs = path.read_bytes(), other.read_bytes()
        rewrite(path, theirs)
        rewrite(other, ours)


def other_architecture(_, path):
    def change(value):
        value[48] = {86: 75, 90: 80}.get(value[48], 75)
        return value

    with_value(path, change)


def other_abi(_, path):
    def change(value):
        value[7:9] = b"\x41\x08"
        struct.pack_into("<I", value, 48, 0x06000004 | 86 << 8)
        return value

    with_value(path, change)


def no_cubin(world, path):
    with_value(path, lambda value: bytearray(world.rng.randbytes(len(value))))


def half_cubin(world, path):
    with_value(path, lambda value: value[: world.rng.randrange(len(value))])


def to_device(world, path):
    path.unlink()
    path.symlink_to(world.rng.choice(["/dev/null", "/dev/zero"]))


def hard_linked(world, path):
    os.link(path, world.folder / ("linked-" + path.name))


def large(_, path):
    os.truncate(path, path.stat().st_size + (8 << 20))


def moved_name(world, path):
    """A file under a name that is another key's."""
    path.rename(path.with_name("%014x" % world.rng.randrange(1 << 56)))


def stray(world, path):
    """One more file, of a key that no program looks for."""
    path.with_name("%014x" % world.rng.randrange(1 << 56)).write_bytes(path.read_bytes())


def folder_emptied(_, path):
    shutil.rmtree(path.parent.parent)


def folder_is_file(_, path):
    shutil.rmtree(path.parent.parent)
    path.parent.parent.write_bytes(b"")


ENTRY_CHANGES = [
    half_cubin, to_device, hard_linked, large, moved_name, stray, folder_emptied, folder_is_file,
    value_flipped, value_flipped_times_kept, key_flipped, checksum_flipped, header_flipped, zeros, zeros_at_end, emptied, cut, longer, deleted,
    deleted, folder_instead, linked, dangling, touched, rewritten_same, swapped, other_architecture, other_abi, no_cubin,
]

# ---- changes of the index


def index_missing(world):
    world.index().unlink()


def index_empty(world):
    rewrite(world.index(), b"")


def index_garbage(world):
    rewrite(world.index(), world.rng.randbytes(world.rng.randrange(1, 600)))


def index_cut(world):
    data = world.index().read_bytes()
    rewrite(world.index(), data[: world.rng.randrange(1, len(data))])


def index_folder(world):
    world.index().unlink()
    world.index().mkdir()


def index_longer(world):
    rewrite(world.index(), world.index().read_bytes() + bytes(world.rng.randrange(1, 100)))


def index_header(world, offset, code, change):
    data = bytearray(world.index().read_bytes())
    value = struct.unpack_from(code, data, offset)[0]
    struct.pack_into(code, data, offset, change(value))
    rewrite(world.index(), bytes(data))


def index_one_more(world):
    index_header(world, 4, "<I", lambda count: count + 1)


def index_one_fewer(world):
    index_header(world, 4, "<I", lambda count: count - 1)


def index_total_huge(world):
    index_header(world, 8, "<Q", lambda total: total + (1 << world.rng.randrange(20, 50)))


def index_total_small(world):
    index_header(world, 8, "<Q", lambda total: world.rng.randrange(total))


def index_flipped(world):
    flip(world, world.index(), 0, 1 << 30)


def index_row(world, change):
    """The rows, as (key, size), changed; the header counts them, and its total is that of before."""
    data = world.index().read_bytes()
    count = struct.unpack_from("<I", data, 4)[0]
    rows = [struct.unpack_from("<QQ", data, 16 + 16 * n) for n in range(count)]
    rows = change(rows)
    rewrite(world.index(), data[:4] + struct.pack("<I", len(rows)) + data[8:16] + b"".join(struct.pack("<QQ", *row) for row in rows))


def index_row_gone(world):
    index_row(world, lambda rows: [row for row in rows if row != rows[world.rng.randrange(len(rows))]])


def index_rows_gone(world):
    index_row(world, lambda rows: [])


def index_row_twice(world):
    index_row(world, lambda rows: rows + [world.rng.choice(rows)])


def index_row_strange(world):
    index_row(world, lambda rows: rows + [(world.rng.getrandbits(64), world.rng.randrange(1 << 20))])


def index_row_of_other_size(world):
    index_row(world, lambda rows: [(rows[0][0], world.rng.getrandbits(world.rng.choice([10, 20, 40])))] + rows[1:])


def index_turned(world):
    index_row(world, lambda rows: rows[::-1])


def index_many_rows(world):
    strangers = [(world.rng.getrandbits(64), 10) for _ in range(5000)]
    index_row(world, lambda rows: strangers + rows)


def index_version(world):
    index_header(world, 0, "<I", lambda _: world.rng.choice([0, 0x40, 0x42, 0x4100]))


def index_count_huge(world):
    index_header(world, 4, "<I", lambda _: world.rng.choice([0xFFFFFFFF, 0x80000000, 1 << 24]))


def index_dangling(world):
    world.index().unlink()
    world.index().symlink_to(world.folder / "nowhere")


def index_linked(world):
    moved = world.folder / "moved-index"
    world.index().rename(moved)
    world.index().symlink_to(moved)


def index_device(world):
    world.index().unlink()
    world.index().symlink_to(world.rng.choice(["/dev/null", "/dev/zero"]))


def index_pipe(world):
    world.index().unlink()
    os.mkfifo(world.index())


def index_folder_filled(world):
    index_folder(world)
    (world.index() / "mine").write_text("mine\n")


INDEX_CHANGES = [
    index_row_gone, index_rows_gone, index_row_twice, index_row_strange, index_row_of_other_size, index_turned, index_many_rows,
    index_version, index_count_huge, index_dangling, index_linked, index_device, index_pipe, index_folder_filled,
    index_missing, index_empty, index_garbage, index_cut, index_folder, index_longer, index_one_more, index_one_fewer,
    index_total_huge, index_total_small, index_flipped,
]

# ---- changes of the cache as a whole


def cache_missing(world):
    shutil.rmtree(world.cache)


def cache_empty(world):
    shutil.rmtree(world.cache)
    world.cache.mkdir()


def cache_file(world):
    shutil.rmtree(world.cache)
    world.cache.write_bytes(b"no folder\n")


def cache_parent_missing(world):
    world.path = str(world.folder / "not" / "there")


def cache_link(world):
    (world.folder / "link").symlink_to("cache")
    world.path = str(world.folder / "link")


def cache_slash(world):
    world.path += "/"


def cache_dots(world):
    world.path = str(world.folder / "app" / ".." / "cache")


def cache_moved(world):
    world.cache.rename(world.folder / "캐시 1")
    world.cache = world.folder / "캐시 1"
    world.path = str(world.cache)


def cache_strangers(world):
    (world.cache / "0").mkdir(exist_ok=True)
    (world.cache / "README").write_text("mine\n")
    (world.cache / "0" / "x").write_text("mine\n")


def cache_dangling(world):
    world.path = str(world.folder / "link")
    (world.folder / "link").symlink_to("nothing")


def cache_under_file(world):
    (world.folder / "plain").write_text("")
    world.path = str(world.folder / "plain" / "cache")


def cache_long(world):
    for part in ("l" * 200, "m" * 200, "n" * 200):
        world.path = str(pathlib.Path(world.path if "l" * 200 in world.path else world.folder) / part)
    pathlib.Path(world.path).mkdir(parents=True)
    shutil.copytree(world.cache, world.path, dirs_exist_ok=True, symlinks=True)


def cache_of_home(world):
    """No CUDA_CACHE_PATH: the driver's own place."""
    home = world.folder / "home"
    (home / ".nv").mkdir(parents=True)
    world.cache.rename(home / ".nv" / "ComputeCache")
    world.cache = home / ".nv" / "ComputeCache"
    world.path = None
    world.env["HOME"] = str(home)


def cache_of_no_home(world):
    world.path = None
    world.env["HOME"] = str(world.folder / "no" / "home")


def cache_unnamed(world):
    world.path = ""
    world.env["HOME"] = str(world.folder / "home")


def cache_copied(world):
    """As a backup brings it back: other inodes and times."""
    shutil.copytree(world.cache, world.folder / "copy", symlinks=True)
    shutil.rmtree(world.cache)
    (world.folder / "copy").rename(world.cache)


CACHE_CHANGES = [
    cache_dangling, cache_under_file, cache_long, cache_of_home, cache_of_no_home, cache_unnamed, cache_copied,
    cache_missing, cache_empty, cache_file, cache_parent_missing, cache_link, cache_slash, cache_dots, cache_moved, cache_strangers,
]

# ---- the environment: variables that control the driver

LIMITS = ["1", "1000", "100000", "268435456", "4294967296", "0", "-1", "99999999999999999999", "512M", "none", "", " 1073741824"]
OTHERS = {
    "CUDA_VISIBLE_DEVICES": ["0", "", "-1", "7", "0,0", "GPU-0"], "CUDA_MODULE_LOADING": ["EAGER", "LAZY"],
    "CUDA_DEVICE_ORDER": ["FASTEST_FIRST"], "LC_ALL": ["C", "tr_TR.UTF-8"], "TMPDIR": ["/nowhere"], "XDG_CACHE_HOME": ["/nowhere"],
}
SWITCHES = ["CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT", "CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"]

# ---- changes of the library


def library_stripped(world):
    subprocess.run(["strip", "-s", world.app / "libsample_framework.so"], check=True)


def library_longer(world):
    with open(world.app / "libsample_framework.so", "ab") as file:
        file.write(world.rng.randbytes(world.rng.randrange(1, 10000)))


def library_linked(world):
    (world.app / "libsample_framework.so").rename(world.app / "libreal.so.1")
    (world.app / "libsample_framework.so").symlink_to("libreal.so.1")


def library_touched(world):
    os.utime(world.app / "libsample_framework.so", (1, 1))


def containers(data):
    """(first byte behind the header, size) of each"""
    found, at = [], data.find(CONTAINER)
    while at >= 0:
        size = struct.unpack_from("<Q", data, at + 8)[0]
        if size < 1 << 20:
            found.append((at + 16, size))
        at = data.find(CONTAINER, at + 1)
    return found


def architectures(data, at, end):
    """Where the entries of a container say which GPU they are for."""
    while at < end:
        yield at + 28
        header, payload = struct.unpack_from("<IQ", data, at + 4)
        at += max(header + payload, 1)


def bend_code(world, place):
    """A bit of the library's device code. A container for another GPU is none that must fail, since programs load what fits, and this
    one loads all: so no bit makes a number of the GPUs that there are, or are to come."""
    path = world.app / "libsample_framework.so"
    bent = bytearray(path.read_bytes())
    at, size = world.rng.choice(containers(bent))
    at, of = place(bent, at, at + size)
    bent[at] ^= 1 << world.rng.randrange(8)
    number = struct.unpack_from("<I", bent, of)[0] if of else 0
    if of and (number in GPUS or 100 <= number < 200):
        raise ValueError
    path.write_bytes(bent)


def code_changed(world):
    """Wherever it lies there: of PTX, machine code, and the headers of both."""

    def place(data, at, end):
        here = world.rng.randrange(at, end)
        return here, next((of for of in architectures(data, at, end) if of <= here < of + 4), None)

    bend_code(world, place)


def code_for_no_gpu(world):
    """Of the architecture that an entry of a container says, but for those in zstd, which the application skips under old drivers."""

    def place(data, at, end):
        of = world.rng.choice(list(architectures(data, at, end)))
        if struct.unpack_from("<Q", data, of + 12)[0] & 0x8000:
            raise ValueError
        return of + world.rng.randrange(4), of

    bend_code(world, place)


GPUS = [10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 69, 70, 72, 75, 80, 86, 87, 88, 89, 90]
CONTAINER = struct.pack("<IHH", 0xBA55ED50, 1, 16)
LIBRARY_CHANGES = [library_stripped, library_longer, library_linked, library_touched, code_changed, code_changed, code_for_no_gpu]


def make(world):
    rng = world.rng

    def apply(change, *arguments):
        try:
            change(world, *arguments)
        except FileNotFoundError:
            return  # an earlier change has removed it
        except (NotADirectoryError, IsADirectoryError, FileExistsError, IndexError, ValueError, struct.error, shutil.Error):
            return  # or replaced it with something else
        world.done.append(change.__name__ + (" " + arguments[0].name if arguments else ""))

    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 5])):
        entry = world.entry()
        if entry:
            apply(rng.choice(ENTRY_CHANGES), entry)
    if rng.random() < 0.25:
        apply(rng.choice(INDEX_CHANGES))
    if rng.random() < 0.2:
        apply(rng.choice(CACHE_CHANGES))
    if rng.random() < 0.2:
        apply(rng.choice(LIBRARY_CHANGES))
    if rng.random() < 0.25:
        world.env["CUDA_CACHE_MAXSIZE"] = rng.choice([*LIMITS, str(rng.randrange(1 << rng.choice([10, 18, 20, 33])))])
    if rng.random() < 0.12:
        world.env[rng.choice(SWITCHES)] = rng.choice(["1", "1", "1", "0", "", "yes"])
    if rng.random() < 0.12:
        name = rng.choice(sorted(OTHERS))
        world.env[name] = rng.choice(OTHERS[name])
    world.done += [name + "=" + value for name, value in world.env.items()]


def picture(folder):
    """All that `check` must leave as it is."""
    seen = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder] if folder.exists() else []:
        about = path.lstat()
        seen[str(path)] = (about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns)
    return seen


class Tester:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.build = pathlib.Path(options.build).resolve()
        self.run_sh = str(ROOT / "tests" / "conformance" / "run.sh")

    def under(self, folder, path, env, *command, limit_s=240):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA_", "JITWARM_"))}
        keep = os.environ.get("JITWARM_DRIVERS")
        clean |= {"JITWARM_DRIVERS": keep} if keep else {}
        clean |= {"JITWARM_STATE": str(folder / "state"), "JITWARM_STORE": "0", "NO_COLOR": "1"}
        # run.sh clears the driver's variables, so they are set after it.
        settings = ["CUDA_CACHE_PATH=" + path] if path is not None else ["-u", "CUDA_CACHE_PATH"]
        settings += [name + "=" + value for name, value in env.items()]
        line = [self.run_sh, str(self.build), self.options.driver, "sm_86", "--", "env", *settings, *map(str, command)]
        try:
            done = subprocess.run(line, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            return HANGS, "", "ended after %d s\n" % limit_s
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def prepare(self):
        """The cache, and what jitwarm knows, that every state begins with."""
        app, cache = self.scratch / "app", str(self.scratch / "cache")
        app.mkdir()
        for name in ("framework-app", "libsample_framework.so"):
            shutil.copy2(self.build / "tests" / "framework" / name, app / name)
        status, out, err = self.under(self.scratch, cache, {}, app / "framework-app")
        if status == 77:
            print(out, end="")
            sys.exit(77)
        if status or not self.start(self.scratch, cache, {})["warm"]:
            sys.exit("the first start does not fill the cache:\n" + out + err)
        status, out, err = self.jitwarm("check", self.scratch, cache, {})
        if status:
            sys.exit("check after the first start: status %d\n%s%s" % (status, out, err))

    def start(self, folder, path, env, limit_s=240):
        status, out, err = self.under(folder, path, env, folder / "app" / "framework-app", limit_s=limit_s)
        words = out.split()[-4:]
        counted = len(words) == 4 and words[0] == "compiled"
        failed = status != 0 or not counted
        compiled = counted and words[1] != "0"
        return {"warm": not failed and not compiled, "failed": failed, "how": "hangs" if status == HANGS else "fails" if failed else "compiles" if compiled else "loads",
                "said": "".join("  | %s\n" % line for line in (out + err).splitlines() if not line.endswith(" found"))}

    def jitwarm(self, command, folder, path, env):
        program = self.build / "src" / "jitwarm"
        return self.under(folder, path, env, program, command, "--json", folder / "app" / "libsample_framework.so")

    def made(self, number, name):
        """The state in a folder: made twice, since a start changes it."""
        folder = self.scratch / ("%s-%d" % (name, number)) / "of"
        folder.mkdir(parents=True)
        for part in ("cache", "app", "state"):
            shutil.copytree(self.scratch / part, folder / part, symlinks=True)
        world = World(folder, random.Random("%s/%d" % (self.options.seed, number)))
        self.jitwarm("check", folder, world.path, {})
        make(world)
        return world

    def state(self, number):
        """(what was done, how check and prime ended and the starts went, the contradictions)"""
        world = self.made(number, "check")
        before = picture(world.cache)
        status, out, err = self.jitwarm("check", world.folder, world.path, world.env)
        changed = picture(world.cache) != before
        # With a pipe as index, the driver hangs, and there is no need to wait long.
        start = self.start(world.folder, world.path, world.env, 10 if "index_pipe" in world.done else 240)
        wrong = ["check has changed the cache"] if changed else []
        wrong += self.contradiction(status, out, start)
        if wrong:
            wrong += ["check: %s%s" % ("" if self.options.only is None else out, err), "start:\n" + start["said"]]
        result = "check %d, the application %s" % (status, start["how"])

        mended = self.made(number, "prime")
        status, out, err = self.jitwarm("prime", mended.folder, mended.path, mended.env)
        again = self.start(mended.folder, mended.path, mended.env)
        if status == 0 and not again["warm"]:
            wrong += ["prime ends with 0, and the application %s" % again["how"],
                      "prime: %s%s" % ("" if self.options.only is None else out, err), "start:\n" + again["said"]]
        if status not in (0, 1, 2, 3):
            wrong += ["prime ends with %d: %s%s" % (status, out, err)]
        for folder in (world.folder, mended.folder):
            shutil.rmtree(folder.parent)
        return ", ".join(world.done) or "untouched", result + "; prime %d, it %s" % (status, again["how"]), wrong

    @staticmethod
    def contradiction(status, out, start):
        if status not in (0, 1, 2):
            return ["check ends with %d" % status]
        if (status == 0) == start["warm"] or (status == 1 and json.loads(out)["cache"]["harmful"]):
            return []
        return ["check ends with %d, and the application %s" % (status, start["how"])]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("build")
    parser.add_argument("driver")
    parser.add_argument("--states", type=int, default=500)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as scratch:
        tester = Tester(options, pathlib.Path(scratch))
        tester.prepare()
        numbers = [options.only] if options.only is not None else range(options.states)
        counts, contradict, changes, first = collections.Counter(), 0, 0, ""
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for number, (done, result, wrong) in zip(numbers, pool.map(tester.state, numbers)):
                counts[result] += 1
                changes += 0 if done == "untouched" else done.count(", ") + 1
                contradict += 1 if wrong else 0
                for line in wrong:
                    print("state %d (%s): %s" % (number, done, line.rstrip()))
                    first = first or ": state %d: %s" % (number, line.rstrip())
        for result, count in sorted(counts.items()):
            print("%s: %d" % (result, count))
        print("%d of %d states contradict (seed %s, driver %s, %d changes)%s" %
              (contradict, len(numbers), options.seed, options.driver, changes, first))
        return 1 if contradict else 0


if __name__ == "__main__":
    sys.exit(main())
