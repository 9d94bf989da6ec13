#!/usr/bin/env python3
"""mutants.py [--trace [PATTERN]] [--sample COUNT] [--seed NUMBER] [--file PATTERN] [--at FILE:LINE] [--list] [--verbose] [--quick]
           [--jobs COUNT] [--stale] [--guards [--first]]

Makes mistakes by rule in all of src, one at a time, in copies of the sources in build/mutants, runs the tests that reach the
line (--trace runs all of them once with counters and remembers which do), and reports what no test noticed. A sample has as
many mistakes of each room. Without --quick the sanitizers look at these, too. What is known to change nothing that anybody
could see stands in tests/mutants/equivalent.txt, with its reason. 0: at least 90 % were noticed; 1: fewer, or a test fails without a mistake, too.

--guards makes the mistakes of tests/mutants/guards.txt instead, and runs the tests that stand below each of them, unless only nightly.sh runs
them; with --first, those that scripts/test.sh runs by itself, and its other unit tests of the file's room.
"""
import argparse, fnmatch, itertools, json, multiprocessing, os, random, re, shutil, subprocess, sys, time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/tests/mutants")
import reach

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KNOWN, BY_HAND, GUARDS = (ROOT + "/tests/mutants/" + name for name in ("equivalent.txt", "by-hand.tsv", "guards.txt"))

# These work only on Windows, or only in programs of their own.
ELSEWHERE = ("src/setup/logon_task.c", "src/os/win32/*")

# After so many seconds of tests, measured without the mistake, the mistake counts as unnoticed.
MAX_TESTS_S = 60
# The limit of one test of guards.txt.
MAX_GUARD_TEST_S = 600

# Pairs: a part of a line, and its replacement.
RULES = [
    ("negated condition", r"\bif \((?!\()([^()]*(?:\([^()]*\)[^()]*)*)\)$", lambda m: "if (!(%s))" % m.group(1)),
    ("bound off by one", r" (<|>) ", lambda m: " %s= " % m.group(1)),
    ("bound off by one", r" (<|>)= ", lambda m: " %s " % m.group(1)),
    ("equality turned", r" == ", lambda m: " != "),
    ("equality turned", r" != ", lambda m: " == "),
    ("check dropped", r" && (?=\S)", lambda m: " || "),
    ("check dropped", r" \|\| (?=\S)", lambda m: " && "),
    ("early success", r"\breturn -1;", lambda m: "return 0;"),
    ("early success", r"\bresult = -1;", lambda m: "result = 0;"),
    ("call dropped", r"^(\s*)\(void\)(os_\w+|live_\w+|cache_\w+)\((.*)\);$", lambda m: "%s;" % m.group(1)),
    ("call dropped", r"^(\s*)(os_file_unlock|os_file_close|let_go|live_drop_row|os_sync\w*|fsync)\((.*)\);$", lambda m: "%s;" % m.group(1)),
    ("true for false", r"\breturn false;", lambda m: "return true;"),
    ("true for false", r"\breturn true;", lambda m: "return false;"),
]

# Mistakes that the sanitizers may notice.
SANITIZERS = ("bound off by one", "call dropped", "check dropped")


def code_lines(text):
    """The numbers of lines that are code: no comments, directives, and tables of text."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        bare = line.strip()
        if inside or bare.startswith("/*"):
            inside = "*/" not in bare
            continue
        if bare and not bare.startswith(("#", "*", "//", '"')) and "error_set" not in bare:
            yield number, line


# “a < b ? a : b” and “a > b ? a - b : 0”, with casts: these are the same with “<=” and “>=”.
WORD = r"(?:\(\w+\))?\(?([\w.>\[\]-]+)"
SAME_AT_EQUALS = re.compile(r"([\w.>\[\]-]+) [<>]=? ([\w.>\[\]-]+)\s+\? (?:" + WORD + " : " + WORD + "|" + WORD + " - " + WORD + r"\)? : 0\b)")


def is_same_at_equals(line, at):
    """Whether both ways that the comparison at this place chooses from are the same where its two sides are."""
    for found in SAME_AT_EQUALS.finditer(line):
        chosen = {found[3] or found[5], found[4] or found[6]}
        if found.start() < at < found.end() and {found[1], found[2]} == chosen:
            return True
    return False


def mutants_of(path):
    with open(ROOT + "/" + path, encoding="utf-8") as file:
        text = file.read()
    for number, line in code_lines(text):
        for rule, pattern, change in RULES:
            for match in re.finditer(pattern, line):
                if line[:match.start()].count('"') % 2 or "/*" in line[:match.start()]:
                    continue
                if rule == "bound off by one" and is_same_at_equals(line, match.start()):
                    continue
                yield path, number + 1, rule, line, line[:match.start()] + change(match) + line[match.end():]


def read_known():
    """{(file, line without spaces around it, the changed line)}"""
    known = set()
    if os.path.exists(KNOWN):
        with open(KNOWN, encoding="utf-8") as file:
            blocks = [block.strip("\n").split("\n") for block in file.read().split("\n\n")]
        for block in blocks:
            lines = [line for line in block if not line.startswith("#")]
            if len(lines) >= 3:
                known.add((lines[0], lines[1][2:].strip(), lines[2][2:].strip()))
    return known


class Guard:
    """A mistake of guards.txt: what is wrong, its file, the lines before and after, the tests that notice it."""

    def __init__(self, lines):
        self.what, old, new, tests = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "#-+=")
        self.path = next(line for line in lines if line[0] not in "#-+=")
        # Lines may be broken elsewhere than in the source.
        self.pattern, self.new, self.tests = r"\s+".join(re.escape(word) for word in old.split()), new, tests.split(",")

    def changed(self, text):
        """The text with the mistake, or None if its lines are not there exactly once."""
        places = list(re.finditer(self.pattern, text))
        return text[:places[0].start()] + self.new + text[places[0].end():] if len(places) == 1 else None


def read_guards():
    blocks = [block.strip("\n").split("\n") for block in read(GUARDS).split("\n\n")]
    return [Guard(lines) for lines in blocks if any(line.startswith("= ") for line in lines)]


def environment():
    return dict(os.environ, CCACHE_BASEDIR=ROOT + "/build/mutants", CCACHE_NOHASHDIR="1", CCACHE_SLOPPINESS="pch_defines,time_macros",
                JITWARM_FRAMEWORKS="/nonexistent")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(*words):
    return subprocess.run(words, env=environment(), capture_output=True, text=True, errors="replace", check=False)


class Build:
    """One way to build a copy of the sources, whose tests share one library: a mistake compiles one file and links that."""

    def __init__(self, tree, name, preset, *words):
        self.tree, self.folder, self.sound, self.unsound = tree, tree + "/build/" + name, set(), set()
        for command in (["cmake", "-S", tree, "--preset", preset, "-B", self.folder, "-DJITWARM_SHARED_INTERNAL=ON", *words], ["ninja", "-C", self.folder]):
            done = run(*command)
            if done.returncode:
                sys.exit("mutants.py: the sources do not build:\n" + done.stdout[-2000:] + done.stderr[-2000:])
        with open(self.folder + "/compile_commands.json", encoding="utf-8") as file:
            self.compiling = {os.path.relpath(one["file"], tree): one["command"] for one in json.load(file)
                              if "/libjitwarm.dir/" in one["command"] or "/jitwarm_cli.dir/" in one["command"]}
        self.linking = {name: run("ninja", "-C", self.folder, "-t", "commands", "src/%s.so" % name).stdout.strip().split("\n")[-1]
                        for name in ("libjitwarm_internal", "libjitwarm_cli")}
        self.tests = reach.tests_of(tree, self.folder)

    def run(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode

    def link(self, path):
        return self.run(self.linking["libjitwarm_cli" if path.startswith("src/cli/") else "libjitwarm_internal"])

    def compiled(self, path):
        """Whether it compiles and the library links."""
        if path in self.compiling:
            return not self.run(self.compiling[path]) and not self.link(path)
        return not path.endswith((".c", ".py")) or not self.run("ninja jitwarm")

    def notices(self, path, text, changed, tests):
        """The first of these tests, each with its limit in seconds, that fails with the change and passes without it, or None; False where it is not built."""
        made = self.folder + "/" + re.search(r" -o (\S+)", self.compiling[path])[1] if path in self.compiling else None
        sound = read_bytes(made) if made else b""
        write(self.tree + "/" + path, changed)
        try:
            if not self.compiled(path):
                return False
            for name, limit_s in tests:
                if name in self.unsound or name not in self.tests or self.tests[name].passes(environment(), limit_s):
                    continue
                if name in self.sound:
                    return name
                write(self.tree + "/" + path, text)
                self.compiled(path)
                (self.sound if self.tests[name].passes(environment(), limit_s) else self.unsound).add(name)
                if name in self.sound:
                    return name
                print("%s fails without a mistake, too" % name, flush=True)
                write(self.tree + "/" + path, changed)
                self.compiled(path)
            return None
        finally:
            # The library is linked again, since the next mistake may be in the other one. The source is restored last, so that an
            # interruption before leaves it marked as changed.
            if made:
                with open(made, "wb") as file:
                    file.write(sound)
                self.link(path)
            write(self.tree + "/" + path, text)
            if not made:
                self.compiled(path)

    def optimized(self, path, text):
        """The code that the compiler makes of this text: the same code is no mistake."""
        original = read(self.tree + "/" + path)
        write(self.tree + "/" + path, text)
        try:
            self.run(re.sub(r" -o \S+", " -o optimized.o", self.compiling[path]) + " -O2 -g0")
            with open(self.folder + "/optimized.o", "rb") as file:
                return file.read()
        finally:
            write(self.tree + "/" + path, original)


class Place:
    """A copy of the sources and its builds: one mistake at a time."""

    def __init__(self, name):
        self.tree = ROOT + "/build/mutants/tree-%s" % name
        self.copy()

    def copy(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True).stdout.split("\n")
        wanted = set(listed)
        for folder, _, names in os.walk(self.tree):
            if not folder.startswith(self.tree + "/build"):
                for name in names:
                    # A moved file would be built in both places.
                    if os.path.relpath(os.path.join(folder, name), self.tree) not in wanted:
                        os.remove(os.path.join(folder, name))
        for name in listed:
            here, there = ROOT + "/" + name, self.tree + "/" + name
            if not name or not os.path.isfile(here):
                continue
            with open(here, "rb") as file:
                content = file.read()
            if os.path.exists(there):
                with open(there, "rb") as file:
                    if file.read() == content:
                        continue
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy(here, there)

    def prepare(self, quick):
        self.usual = Build(self.tree, "tried", "debug", "-DCMAKE_C_FLAGS=-w", "-DCMAKE_C_FLAGS_DEBUG=-O0")
        self.sanitized = None if quick else Build(self.tree, "sanitized", "sanitize", "-DCMAKE_C_FLAGS=-w")

    def tests_at(self, path, number, text):
        """[(test, its limit in seconds)], as long as they take less than all that is spent on one mistake"""
        tests, took = [], {False: 0, True: 0}
        for name in self.reach.tests(path, number, text):
            # The test in which each call fails takes longest, and only it sees the handling of failures.
            each = name.startswith("unit-struck")
            took[each] += self.reach.seconds[name]
            if took[each] < MAX_TESTS_S:
                tests.append((name, 60 + 20 * self.reach.seconds[name]))
        return tests

    def try_one(self, mutant):
        """What became of it, and why"""
        path, number, rule, _, changed = mutant
        text = read(self.tree + "/" + path)
        lines = text.split("\n")
        lines[number - 1] = changed
        changed = "\n".join(lines)
        tests = self.tests_at(path, number, text)
        noticed = self.usual.notices(path, text, changed, tests)
        if noticed is None and self.usual.optimized(path, text) == self.usual.optimized(path, changed):
            return "same code", ""
        if noticed is None and self.sanitized and rule in SANITIZERS:
            # mistakes that only the sanitizers see: an access after an array, a file that stays open
            noticed = self.sanitized.notices(path, text, changed, [one for one in tests if one[0].startswith("unit-")])
        if noticed:
            return "noticed", noticed
        return ("not built", "") if noticed is False else ("not noticed", "%d tests" % len(tests))


def try_guards(pattern, first):
    """Prints for each mistake of guards.txt which test notices it, and at the end how many are noticed."""
    place = Place(0)
    place.prepare(True)
    tests = place.usual.tests
    chosen = {name for name, test in tests.items() if test.labels & ({"first"} if first else {"first", "all"})}
    if first and not chosen:
        sys.exit("mutants.py: no test of this build has the label “first”")
    guards = [guard for guard in read_guards() if fnmatch.fnmatch(guard.path, "*" + pattern + "*")]
    noticed = stale = 0
    for guard in guards:
        names = [name for name in guard.tests if name in (chosen or tests)]
        if first:
            names += sorted(name for name in chosen - set(names) if name.startswith("unit-%s_" % guard.path.split("/")[1]))
        text = read(place.tree + "/" + guard.path) if os.path.exists(place.tree + "/" + guard.path) else ""
        changed = guard.changed(text)
        name = place.usual.notices(guard.path, text, changed, [(one, MAX_GUARD_TEST_S) for one in names]) if changed else False
        noticed += bool(name)
        stale += name is False
        print("%s: %s: %s" % ("noticed by " + name if name else "stale" if name is False else "not noticed", guard.path, guard.what), flush=True)
    print("%d of %d noticed%s" % (noticed, len(guards), ", %d stale" % stale if stale else ""))
    return 0 if noticed >= 0.9 * len(guards) else 1


def list_stale():
    """Prints the tests of by-hand.tsv and guards.txt that are gone (without a build, none), and mistakes of guards.txt whose lines are gone."""
    listed = subprocess.run(["ctest", "-N", "--test-dir", ROOT + "/build/release"], capture_output=True, text=True, check=False).stdout
    tests = set(re.findall(r"Test +#\d+: (\S+)", listed))
    with open(BY_HAND, encoding="utf-8") as file:
        rows = [line.split("\t")[0].split(",") for line in file if not line.startswith("#")]
    stale = ["by-hand.tsv: no test " + name for row in rows for name in row if tests and name not in tests and not name.startswith("wine-")]
    for guard in read_guards():
        stale += ["guards.txt: no test " + name for name in guard.tests if tests and name not in tests]
        if not os.path.exists(ROOT + "/" + guard.path) or not guard.changed(read(ROOT + "/" + guard.path)):
            stale.append("guards.txt: its lines are not in %s once: %s" % (guard.path, guard.what))
    print("\n".join(stale))
    return int(bool(stale))


def try_all(place, waiting, outcomes):
    """One process of several: takes mistakes from the queue until it is empty."""
    for one in iter(waiting.get, None):
        began = time.monotonic()
        outcomes.put((one, *place.try_one(one), time.monotonic() - began))
    outcomes.put(None)


def sample_of(mutants, count, chance):
    """So many, in turn from each room while it has any."""
    rooms = {}
    for one in chance.sample(mutants, len(mutants)):
        rooms.setdefault(one[0].split("/")[1], []).append(one)
    turns = [one for turn in itertools.zip_longest(*(rooms[name] for name in sorted(rooms))) for one in turn if one]
    return turns[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="so many, chosen by the seed; default all, which takes days")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", default="*", help="of files with such a name alone")
    parser.add_argument("--at", nargs="+", help="of these lines alone: FILE:LINE")
    parser.add_argument("--list", action="store_true", help="list them, and try none")
    parser.add_argument("--verbose", action="store_true", help="a line for each that is tried")
    parser.add_argument("--quick", action="store_true", help="without the sanitizers, which notice a few more")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many at a time, each in a copy of its own")
    parser.add_argument("--trace", nargs="?", const=".", help="run the tests with such a name once and remember what they reach; default all")
    parser.add_argument("--stale", action="store_true", help="list tests and lines of tests/mutants that are gone, and try none")
    parser.add_argument("--guards", action="store_true", help="the mistakes of guards.txt, each with the tests that stand below it")
    parser.add_argument("--first", action="store_true", help="with --guards: only tests that scripts/test.sh runs")
    args = parser.parse_args()
    if args.stale:
        return list_stale()
    if args.guards:
        return try_guards(args.file, args.first)
    known, mutants = read_known(), []
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "src"], capture_output=True, text=True, check=True).stdout.split()
    files = [path for path in files if path.endswith(".c") and not any(fnmatch.fnmatch(path, pattern) for pattern in ELSEWHERE)]
    if args.trace:
        place = Place("traced")
        reach.trace(place.tree, files, environment(), args.trace)
        return 0
    for path in files:
        if fnmatch.fnmatch(path, "*" + args.file + "*"):
            mutants += mutants_of(path)
    mutants = [one for one in mutants if (one[0], one[3].strip(), one[4].strip()) not in known]
    if args.at:
        mutants = [one for one in mutants if "%s:%d" % one[:2] in args.at]
    if args.sample and args.sample < len(mutants):
        mutants = sample_of(mutants, args.sample, random.Random(args.seed))
    if args.list:
        for path, number, rule, line, changed in mutants:
            print("%s:%d: %s\n  - %s\n  + %s" % (path, number, rule, line.strip(), changed.strip()))
        return 0
    places = [Place(i) for i in range(max(1, args.jobs))]
    for place in places:
        place.prepare(args.quick)
        place.reach = reach.Reach(place.tree)
    return report(places, mutants, args)


def report(places, mutants, args):
    waiting, outcomes = multiprocessing.Queue(), multiprocessing.Queue()
    for one in mutants + [None] * len(places):
        waiting.put(one)
    for place in places:
        multiprocessing.Process(target=try_all, args=(place, waiting, outcomes)).start()
    counts, working = {"noticed": 0, "not noticed": 0, "not built": 0, "same code": 0}, len(places)
    while working:
        found = outcomes.get()
        if not found:
            working -= 1
            continue
        one, outcome, why, took = found
        counts[outcome] += 1
        if args.verbose:
            print("%s:%d: %s: %s %s (%.1f s)" % (*one[:3], outcome, why, took), flush=True)
        if outcome == "not noticed":
            print("%s:%d: %s, %s (%.1f s)\n  - %s\n  + %s" % (one[0], one[1], one[2], why, took, one[3].strip(), one[4].strip()), flush=True)
    tried = counts["noticed"] + counts["not noticed"]
    print("%d of %d noticed, %d not built, %d the same code" % (counts["noticed"], tried, counts["not built"], counts["same code"]))
    return 0 if not tried or counts["noticed"] >= 0.9 * tried else 1


if __name__ == "__main__":
    sys.exit(main())
