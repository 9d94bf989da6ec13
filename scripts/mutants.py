#!/usr/bin/env python3
"""mutants.py [--sample COUNT] [--seed NUMBER] [--file PATTERN] [--at FILE:LINE] [--list] [--verbose] [--quick] [--named]

Makes mistakes by rule in the files that guard caches, packs, verdicts and settings, one at a time, in a copy of the sources in
build/mutants, runs the tests that belong to the file, unit tests with the sanitizers, too, and what fails each allocation and each
call in its turn, and reports what no test noticed. What is known to change nothing that anybody could see
stands in tests/mutants/equivalent.txt, with its reason. 0: at least 90 % were noticed; 1: fewer, or the tests fail without a
mistake, too.
"""
import argparse, fnmatch, os, random, re, resource, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = ROOT + "/build/mutants/tree"
# Below the sources, as everywhere: a compiler's cache knows their objects.
BUILD, SANITIZED = TREE + "/build/release", TREE + "/build/sanitize"
KNOWN, NAMED = ROOT + "/tests/mutants/equivalent.txt", ROOT + "/tests/mutants/named.txt"

# Files, and a pattern of the tests that belong to them.
GUARDED = [
    ("src/cache/*.c", "^(unit-base_sized|unit-cache_.*|unit-starved_.*|unit-struck|unit-worker_collect|torture-killed-index"
     "|cli-(cache|caches|index|bad-caches|prune|evict|absent))$"),
    ("src/pack/*.c", "^(unit-base_sized|unit-pack_.*|unit-store_.*|unit-starved_.*|unit-struck|cli-(pack|key|thin|accounts|opaque|evict|prune|export-left|bad-files))$"),
    ("src/store/*.c", "^(unit-base_sized|unit-store_.*|unit-starved_.*|unit-struck|cli-(store|carry|carry-not))$"),
    ("src/plan/verdict.c", "^(unit-(plan|gpu)_.*|cli-(check|targets|variants))$"),
    ("src/plan/picks.c", "^(unit-plan_.*|cli-(check|variants))$"),
    ("src/gpu/rules.c", "^(unit-(gpu|plan)_.*|cli-(targets|variants))$"),
    ("src/tune/*.c", "^(unit-base_sized|unit-tune_.*|unit-starved_.*|unit-struck|cli-(tune|doctor-settings|limits|outputs))$"),
    ("src/history/ledger*.c", "^(unit-(history|store)_.*|unit-starved_.*|unit-struck|unit-prime_explain|cli-(explain|carry))$"),
    ("src/run/cache_turn_lock.c", "^(unit-run_lock_in_place|cli-(asked|limits))$"),
    ("src/worker/collect.c", "^(unit-worker_.*|cli-damaged)$"),
    ("src/os/replace.c", "^(unit-os_.*|unit-struck|cli-(tune|outputs))$"),
    ("src/startup/*.c", "^(unit-base_sized|unit-startup_.*|unit-starved_.*|unit-struck|cli-(startup.*|accounts)|attack-startup-program)$"),
]
# They work on Windows alone.
ELSEWHERE = ("src/tune/registry.c", "src/startup/logon_task.c")

MOST_CPU_S = 100

# Of the tests that belong to a file, those that come last.
SLOW = "unit-(starved_.*|struck.*|pack_(bombs|damage|trust|writer))"

# What is found in a line, what it becomes.
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

# Mistakes that they may notice.
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


# “a < b ? a : b” and “a > b ? a - b : 0”, with casts: the same for “<=” and “>=”.
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


def environment():
    return dict(os.environ, CCACHE_BASEDIR=TREE, CCACHE_NOHASHDIR="1", CCACHE_SLOPPINESS="pch_defines,time_macros", JITWARM_FRAMEWORKS="/nonexistent")


def run(*words):
    return subprocess.run(words, env=environment(), capture_output=True, text=True, errors="replace", check=False)


def prepare():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = set(listed)
    for folder, _, names in os.walk(TREE):
        if not folder.startswith(TREE + "/build"):
            for name in names:
                # A file that was moved would be built in both places
                if os.path.relpath(os.path.join(folder, name), TREE) not in wanted:
                    os.remove(os.path.join(folder, name))
    for name in listed:
        here, there = ROOT + "/" + name, TREE + "/" + name
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
    configure("release")
    done = run("ninja", "-C", BUILD)
    if done.returncode:
        sys.exit("mutants.py: the sources do not build:\n" + done.stdout[-2000:])


def configure(preset):
    done = run("cmake", "-S", TREE, "--preset", preset, "-DJITWARM_SHARED_INTERNAL=ON")
    if done.returncode:
        sys.exit("mutants.py: the sources are not configured:\n" + done.stderr[-2000:])


def targets(tests, build):
    names = re.findall(r"Test +#\d+: unit-(\S+)", run("ctest", "--test-dir", build, "-N", "-R", tests).stdout)
    return ["test_" + name for name in names]


def builds(build):
    return not run("ninja", "-C", build, "jitwarm").returncode


def passes(build, tests, *chosen):
    return not run("ctest", "--test-dir", build, "-j4", "--stop-on-failure", "--timeout", "120", "-R", tests, *chosen).returncode


def passes_whole():
    """What the nightly script has fail, each allocation and each call: ctest takes a sample of them."""
    names = ["test_struck", "test_struck_pack", "test_starved_library"]
    if run("ninja", "-C", BUILD, *names).returncode:
        return True
    return not any(run("env", "STRUCK_EVERY=1", BUILD + "/tests/unit/" + name).returncode for name in names)


def read_named():
    """[(what it is, file, tests, lines, what they become)]"""
    with open(NAMED, encoding="utf-8") as file:
        blocks = [block.split("\n") for block in file.read().strip("\n").split("\n\n")][1:]
    for head, place, *lines in blocks:
        path, tests = place.split(" ", 1)
        yield (head[2:], path, "^(%s)$" % tests, *("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+"))


def check_sound(patterns):
    """Ends where the tests fail before any mistake is made: all would seem to be noticed."""
    for tests in patterns:
        if not passes(BUILD, tests):
            sys.exit("mutants.py: these tests fail without a mistake: " + tests)


def build_sanitized(tests):
    if not os.path.exists(SANITIZED + "/build.ninja"):
        configure("sanitize")
    return not run("ninja", "-C", SANITIZED, *targets(tests, SANITIZED)).returncode


def try_named():
    check_sound({tests for _, _, tests, _, _ in read_named()})
    counts = {"noticed": 0, "not noticed": 0, "not built": 0}
    for what, path, tests, old, new in read_named():
        with open(TREE + "/" + path, encoding="utf-8") as file:
            text = file.read()
        outcome = try_text(path, text, text.replace(old, new), tests, "named") if text.count(old) == 1 else "not built"
        counts[outcome] += 1
        if outcome != "noticed":
            print("%s: %s: %s" % (path, what, outcome), flush=True)
    print("%d of %d named mistakes noticed" % (counts["noticed"], sum(counts.values())))
    return 0 if counts["noticed"] == sum(counts.values()) else 1


def try_one(mutant, tests, quick):
    path, number, rule, _, changed = mutant
    with open(TREE + "/" + path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    lines[number - 1] = changed
    return try_text(path, text, "\n".join(lines), tests, rule, quick)


def try_text(path, text, changed, tests, rule, quick=False):
    """“noticed”, “not built” or “not noticed”."""
    there = TREE + "/" + path
    try:
        with open(there, "w", encoding="utf-8") as file:
            file.write(changed)
        # A mutant may leave a variable or a function unused.
        if not builds(BUILD):
            return "not built"
        # Most are noticed by the unit tests, which are soon done.
        if not (passes(BUILD, tests, "-L", "unit", "-E", SLOW) and passes(BUILD, tests, "-LE", "unit") and passes(BUILD, tests, "-L", "unit")):
            return "noticed"
        if quick:
            return "not noticed"
        # A place behind an array, a file that stays open: what test.sh has the sanitizers look for.
        if rule in SANITIZERS:
            if builds(SANITIZED) and not passes(SANITIZED, tests, "-L", "unit"):
                return "noticed"
        return "not noticed" if passes_whole() else "noticed"
    finally:
        with open(there, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="so many, chosen by the seed; default all, which takes days")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", default="*", help="of files with such a name alone")
    parser.add_argument("--at", help="of this line alone: FILE:LINE")
    parser.add_argument("--list", action="store_true", help="list them, and try none")
    parser.add_argument("--verbose", action="store_true", help="a line for each that is tried")
    parser.add_argument("--quick", action="store_true", help="without the sanitizers and each failing call, which notice a few more")
    parser.add_argument("--named", action="store_true", help="those of tests/mutants/named.txt instead; 0: all were noticed")
    args = parser.parse_args()
    known, mutants, tests_of = read_known(), [], {}
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "src"], capture_output=True, text=True, check=True).stdout.split()
    for path in files:
        for pattern, tests in GUARDED if path not in ELSEWHERE else ():
            if fnmatch.fnmatch(path, pattern) and fnmatch.fnmatch(path, "*" + args.file + "*"):
                tests_of[path] = tests
                mutants += mutants_of(path)
                break
    mutants = [one for one in mutants if (one[0], one[3].strip(), one[4].strip()) not in known]
    if args.at:
        mutants = [one for one in mutants if "%s:%d" % one[:2] == args.at]
    if args.sample and args.sample < len(mutants):
        mutants = sorted(random.Random(args.seed).sample(mutants, args.sample))
    if args.list:
        for path, number, rule, line, changed in mutants:
            print("%s:%d: %s\n  - %s\n  + %s" % (path, number, rule, line.strip(), changed.strip()))
        return 0
    # What no longer ends is noticed: a test's own limit may be a quarter of an hour.
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
    prepare()
    if args.named:
        return try_named()
    check_sound({tests_of[one[0]] for one in mutants})
    for tests in {tests_of[one[0]] for one in mutants if one[2] in SANITIZERS and not args.quick}:
        if not build_sanitized(tests) or not passes(SANITIZED, tests, "-L", "unit"):
            sys.exit("mutants.py: these tests fail with the sanitizers and without a mistake: " + tests)
    counts = {"noticed": 0, "not noticed": 0, "not built": 0}
    for one in mutants:
        began = time.monotonic()
        outcome = try_one(one, tests_of[one[0]], args.quick)
        counts[outcome] += 1
        if args.verbose:
            print("%s:%d: %s: %s (%.0f s)" % (*one[:3], outcome, time.monotonic() - began), flush=True)
        if outcome == "not noticed":
            print("%s:%d: %s (%.0f s)\n  - %s\n  + %s" % (one[0], one[1], one[2], time.monotonic() - began, one[3].strip(), one[4].strip()), flush=True)
    tried = counts["noticed"] + counts["not noticed"]
    print("%d of %d noticed, %d not built" % (counts["noticed"], tried, counts["not built"]))
    return 0 if not tried or counts["noticed"] >= 0.9 * tried else 1


sys.exit(main())
