"""Which tests reach which lines, by gcc's counters, and the processor time that they take: mutants.py tries a mistake with these tests alone,
the shortest first. What a test writes in a process that is killed, or that clears its environment, is not counted.
"""
import concurrent.futures, copy, difflib, json, os, pathlib, re, resource, shutil, subprocess, time

# Tests of real drivers and of the machine's own cases would take days: nightly.sh runs them.
LEFT_OUT = r"(driver|real|conformance|framework|prime-5|story|fleet|torture|install|library|documents|elsewhere|gpu-check|n.*-real|python)(-.*)?|cli-tmux"
LONGEST_S = 60
# This limit stops a run that no longer ends; a test's own limit may be a quarter of an hour.
MAX_CPU_S = 100
# A condition of several lines begins before the line that gcc counts; this is how far to look for its beginning.
MAX_LINES_BACK = 12


class Test:
    def __init__(self, described):
        found = {one["name"]: one["value"] for one in described["properties"]}
        self.name, self.command = described["name"], described["command"]
        self.variables = dict(one.split("=", 1) for one in found.get("ENVIRONMENT", []))
        # Processor time does not depend on other work.
        self.cpu_s = 0
        self.folder, self.skipped = found["WORKING_DIRECTORY"], found.get("SKIP_RETURN_CODE")
        self.labels = set(found.get("LABELS", []))

    def passes(self, environment, limit_s):
        """Whether it ends as it should within that time; what it left running ends with it."""
        process = subprocess.Popen(self.command, cwd=self.folder, env=dict(environment, **self.variables), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
        ends = time.monotonic() + limit_s
        try:
            while time.monotonic() < ends:
                pid, status, used = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    process.returncode = os.waitstatus_to_exitcode(status)
                    self.cpu_s = used.ru_utime + used.ru_stime
                    return process.returncode in (0, self.skipped)
                time.sleep(0.01)
            return False
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()



# These programs make each allocation and each call fail. With them is the form of a line of their tables: one scenario is one test here.
STRUCK = {"unit-struck": ("struck*", r'^\t\{"([^"]+)", [a-z]\w*, '),
          "unit-struck_commands": ("struck_place", r'^\t\{"([^"]+)",\s+\d')}


def by_scenario(tests, tree):
    for name, (source, form) in STRUCK.items():
        test = tests.pop(name, None)
        text = "".join(path.read_text("utf-8") for path in sorted(pathlib.Path(tree, "tests/torture").glob(source + ".c")))
        scenarios = re.findall(form, text, re.MULTILINE) if test else []
        for scenario in scenarios:
            one = tests["%s %s" % (name, scenario.replace("/", "|"))] = copy.copy(test)
            one.name, one.variables = "%s %s" % (name, scenario.replace("/", "|")), dict(test.variables, STRUCK=scenario, STRUCK_EVERY="1")
    return tests


def tests_of(tree, build):
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True).stdout
    described = [one for one in json.loads(said)["tests"] if "command" in one]
    return by_scenario({one["name"]: Test(one) for one in described}, tree)


def lines_run(folder, files):
    """{path: lines} that the counters below this folder tell of these files, and {path: lines} that could run."""
    ran, known = {}, {}
    for below, _, names in os.walk(folder):
        for name in names:
            counters = os.path.join(below, name)
            path = "src/" + counters.partition(".dir/")[2][:-5]
            if not name.endswith(".gcda") or path not in files:
                continue
            notes = counters[:-4] + "gcno"
            os.symlink(notes[len(folder):], notes)
            said = subprocess.run(["gcov", "-i", "-t", counters], capture_output=True, cwd=folder, check=False).stdout
            for document in said.splitlines():
                for file in json.loads(document)["files"] if document.startswith(b"{") else ():
                    if file["file"].endswith("/" + path):
                        known.setdefault(path, set()).update(line["line_number"] for line in file["lines"])
                        ran.setdefault(path, set()).update(line["line_number"] for line in file["lines"] if line["count"])
    return ran, known


def moved_lines(old, new):
    """{line of old: line of new}, where they are the same."""
    blocks = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), False).get_matching_blocks()
    return {block.a + i + 1: block.b + i + 1 for block in blocks for i in range(block.size)}


def bring_up(kept, tree, files):
    """What was traced before, in the lines of today's files."""
    for path in files:
        with open(tree + "/" + path, encoding="utf-8") as file:
            text = file.read()
        if kept["text"].get(path, text) != text:
            now = moved_lines(kept["text"][path], text)
            for lines in [test["lines"] for test in kept["tests"].values()] + [kept["known"]]:
                lines[path] = [now[line] for line in lines.get(path, []) if line in now]
        kept["text"][path] = text


def trace(tree, files, environment, pattern):
    """Runs the tests of this pattern with counters and remembers beside the tree what they reached."""
    build, kept = tree + "/build/traced", os.path.dirname(tree) + "/reach.json"
    flags = ["-DCMAKE_C_FLAGS=--coverage -O0 -fprofile-update=atomic", "-DCMAKE_EXE_LINKER_FLAGS=%s/ends.o -Wl,--wrap=_exit,--wrap=uv_process_kill" % build]
    environment = dict(environment, CCACHE_DISABLE="1", CMAKE_C_COMPILER_LAUNCHER="")
    os.makedirs(build, exist_ok=True)
    for words in (["gcc", "-O1", "-c", tree + "/tests/coverage/ends.c", "-o", build + "/ends.o"],
                  ["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_COMPILER_LAUNCHER="] + flags,
                  ["ninja", "-C", build]):
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
    known = {"tests": {}, "known": {}, "text": {}}
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            known = json.load(file)
    bring_up(known, tree, files)

    def one(test):
        folder = "%s/reach/%s" % (os.path.dirname(tree), test.name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        os.chmod(folder, 0o777)
        passed = test.passes(dict(environment, GCOV_PREFIX=folder, GCOV_ERROR_FILE=folder + "/lost"), 900)
        ran, could = lines_run(folder, set(files))
        shutil.rmtree(folder)
        return test.name, passed, test.cpu_s, ran, could

    chosen = [test for test in tests_of(tree, build).values() if re.search(pattern, test.name) and not re.fullmatch(LEFT_OUT, test.name)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() * 2) as pool:
        for name, passed, took, ran, could in pool.map(one, chosen):
            print("%s: %s, %.1f s, %d lines" % (name, "passed" if passed else "FAILED", took, sum(map(len, ran.values()))), flush=True)
            known["tests"].pop(name, None)
            if passed:
                known["tests"][name] = {"seconds": took, "lines": {path: sorted(lines) for path, lines in ran.items()}}
            for path, lines in could.items():
                known["known"][path] = sorted(lines)
            with open(kept, "w", encoding="utf-8") as file:
                json.dump(known, file)


class Reach:
    """Which tests reach a line, as they were traced; where a file has changed since, the line that it was."""

    def __init__(self, tree):
        with open(os.path.dirname(tree) + "/reach.json", encoding="utf-8") as file:
            self.kept = json.load(file)
        self.lines = {name: {path: set(lines) for path, lines in test["lines"].items()} for name, test in self.kept["tests"].items()}
        self.known = {path: set(lines) for path, lines in self.kept["known"].items()}
        self.seconds = {name: test["seconds"] for name, test in self.kept["tests"].items()}
        self.moved = {}

    def former(self, path, number, text):
        if self.kept["text"].get(path) == text:
            return number
        if path not in self.moved:
            self.moved[path] = moved_lines(text, self.kept["text"].get(path, ""))
        while number and number not in self.moved[path]:
            number -= 1
        return self.moved[path].get(number, 0)

    def tests(self, path, number, text):
        """Their names, the shortest first."""
        number = self.former(path, number, text)
        for back in range(MAX_LINES_BACK):
            if number - back in self.known.get(path, ()):
                found = [name for name, lines in self.lines.items() if number - back in lines.get(path, ()) and self.seconds[name] <= LONGEST_S]
                return sorted(found, key=lambda name: self.seconds[name])
        return []
