"""snapshot.py PIPES FACTS TEXT [KIND…]: the snapshot of one case, for run of lib.sh. It listens at PIPES/asked until the case ends, and answers
each request at PIPES/answer. A request is a row of words, a zero behind each, after their number:

    before WORK                     jitwarm will run
    run WORK BUILD OUT ERR WANTED UNCOMPARED ARGUMENT…   jitwarm ran; nothing of it is compared if UNCOMPARED is not empty
    varies CLASS PATTERN            of what follows, this varies: a line of the outputs (text), a path below WORK (tree), the names
                                    and number of files in a folder (names), a key of a JSON document (json), or a request's whole outputs (run; PATTERN is found in the arguments)
    fixed CLASS PATTERN             this varies no longer
    end PASSED                      the answer is the number of lines of the difference, which is then in PIPES/difference

FACTS gets for each run that is marked the arguments, the status, the JSON document without its sentences, and what is new, changed or gone below WORK.
TEXT gets both outputs. Both come without what differs from run to run: see `plain` and `measured`.

A KIND (differs_for in lib.sh) may leave out runs of the case: what is stored for such a run counts as its outcome."""
import hashlib, json, os, re, sys
from difflib import unified_diff

pipes, facts_file, text_file, *kinds = sys.argv[1:]
ROOT = os.path.realpath(__file__).rsplit("/", 3)[0]
LINES_MAX = 80  # of one output; the others are in a checksum
ELEMENTS_MAX = 6  # of one array
FILES_MAX = 4  # in one folder

NUMBER = r"(?<![\w.])\d+(?:[.,]\d+)*"
plain = [(re.compile(pattern), word) for pattern, word in (
    (r"\b\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?(\.\d+)?( ?UTC|Z)?)?", "DATE"),
    (NUMBER + r" (ms|s|min|h|d|seconds?|minutes?|hours?|days?)\b( " + NUMBER + r" (ms|s|min|h)\b)*", "TIME"),
    (r"TIME(( to | ?– ?|-| … )TIME)+|" + NUMBER + " to TIME|up to TIME", "TIME"),
    (r"\d+(\.\d+)?(밀리초|초|분|시간)( \d+(밀리초|초|분))*", "TIME"),
    (r"(up to|less than|under) TIME|(최대 )?(?:" + NUMBER + "~)?TIME( 미만)?", "TIME"),
    (r"(?<=/runs/)\d+-\w+", "N"),
    (r"(?<=\.so \()[\d.]+ [KM]iB\b", "SIZE"),  # of a library as the compiler makes it
    (r"(?<=\.so at )0x[0-9a-f]+\b", "OFFSET"),
    (NUMBER + r" (bytes|B|KiB|MiB|GiB|TiB|KB|MB|GB)( of memory)", r"SIZE\2"),
    (r"\b[0-9A-F]{16}\b|\bRW[\w+/]{50,}=*", "KEY"),
    (r"\$ROOT/build/[\w-]+/src/jitwarm\b", "jitwarm"),  # as an argument of a test's own program
    (r"(?<=\.jitwarm-\.)\w{6}\b", "RANDOM"),
    (r"(?:\$TMP|/var/tmp)(?=/jitwarm-\w+\.\w{6}\b)", "$TMP"),
    (r"(?<=jitwarm-)(\w+)\.\w{6}\b", r"\1.RANDOM"),
    (r"(! )?jitwarm: warning: \$BUILD/src/jitwarm: files in this folder are often deleted[^\n]*\n?", ""),
    (r"(?<=PathModified=)/(root|usr)/\S*-packages\b", "$PACKAGES"),
    (r"(?<=\.jwpack\.jitwarm-)[0-9a-f]{8}\b", "RANDOM"),
    (r"(?<=jitwarm-all-)\w{6}\b", "RANDOM"),
    (r"[\w/$]*/jitwarm-tests-\w{6}\b", "$SAFE"),
    (r"(?<=\.jwpack\.)[0-9a-f]{16}\b", "RANDOM"),
    (r"(?<=jitwarm-none-)\d+|(?<=jitwarm-run-)\d+", "PID"),
    (r"\b(pid|PID|[Pp]rocess|nsenter -t|watch( --for \w+| --json)*) \d+\b", r"\1 PID"),
    (r"\(\d+\) (was watched|has ended)", r"(PID) \1"),
    (r"(?<=jitwarm-)\d{3,}-(\d+|HEX)\b", "PID"),
    (r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d{5}\b", "PORT"),
    (r"(?<=ComputeCache/)[0-9a-f]/[0-9a-f](?=:)", "X/Y"),
    (r"(Times assume a typical machine|시간은 일반적인 컴퓨터를 가정합니다)\.\n?", ""),
    (r"the Python of \S*[^\s:,.](: \d+ packages?, \d+ files?)?", "the Python of $PYTHON"),
    (r"/\S*(?=의 Python)", "$PYTHON"),
    (r"\b\d+ (workers?|cores?|processors?|threads?)\b", r"N \1"),
    (r" if nothing else runs(?=, took )", ""),
    (r"(! )?jitwarm: (memory is running low: continuing with fewer workers for a while|메모리가 모자라 갑니다: 한동안 워커를 줄여 계속합니다)\n?", ""),
)]
# These appear only in text: one name of several, and how far something came.
named = re.compile(r"\b[0-9a-f]{2}/[0-9a-f]{14}\.jwpack\b")
progress = re.compile(r"jitwarm: compiling +\d\d? %.* left$")
# No two runs have these keys' numbers (or texts with numbers) in common.
measured = re.compile(r"(^|_)(seconds|ms|ns|time|date|since|measured|peak|memory|speed|workers|cores|jobs|pid|process|free|mtime)(_|$)")


def digest(text):
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:8]


class Case:
    def __init__(self):
        self.runs, self.tree = [], {}
        self.previous = None
        self.varying = {"text": [], "tree": [], "names": [], "json": [], "run": []}

    def varies(self, kind, what):
        return any(pattern.search(what) for pattern in self.varying[kind])

    def words(self, text):
        if "WINDOWS" in kinds:  # Wine's drive Z: holds Linux's files
            text = re.sub(r"\bZ:(\\[^\s\"”’:;,]*|(?=/))", lambda found: found[1].replace("\\", "/"), text)
        for path, name in self.places:
            text = re.sub(r"(?<![\w/])" + re.escape(path), lambda _: name, text)
        for pattern, word in plain:
            text = pattern.sub(word, text)
        return text

    def lines(self, path):
        """The lines of an output that do not vary, and whether it is a JSON document."""
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            raw = file.read()
        if raw.lstrip().startswith("{"):
            try:
                return [], json.loads(raw)
            except ValueError:
                pass
        all_lines = [line for line in named.sub("ENTRY.jwpack", self.words(raw)).split("\n")
                     if not line.startswith('{"phase":') and not progress.match(line) and not self.varies("text", line)]
        while all_lines and not all_lines[-1]:
            all_lines.pop()
        # Entries and failures come in the order in which the workers finished.
        at = [i for i, line in enumerate(all_lines) if re.match(r"[0-9a-f]{16}\b", line)]
        if at or any(re.search(r" at (0x|OFFSET)", line) for line in all_lines):
            all_lines.sort()
        if len(all_lines) > LINES_MAX:
            rest = all_lines[LINES_MAX:]
            all_lines[LINES_MAX:] = [f"({len(rest)} more lines: {digest(chr(10).join(rest))})"]
        return all_lines, None

    def value(self, key, value, sentences):
        """The facts in a value of a document; its sentences are added to the text."""
        if isinstance(value, dict):
            if value.get("name") == "/usr" and "files" in value:  # this machine's own Python has other packages
                value = dict(value, files="~")
            return {name: self.value(name, inner, sentences) for name, inner in value.items() if not self.varies("json", name)}
        if isinstance(value, list):
            if key in ("entries", "failures"):  # come in the order of the workers
                value = sorted(value, key=json.dumps)
            found = [self.value(key, inner, sentences) for inner in value]
            if len(found) > ELEMENTS_MAX:
                rest = found[ELEMENTS_MAX:]
                found[ELEMENTS_MAX:] = [f"({len(rest)} more: {digest(json.dumps(rest))})"]
            return found
        if key == "measured" or isinstance(value, float) or (measured.search(key) and not isinstance(value, bool)):
            return "~" if value or key == "measured" else 0
        if not isinstance(value, str):
            return value
        text = named.sub("ENTRY.jwpack", self.words(value))
        if " " in text and not text.startswith(("$", "/")):
            if not self.varies("text", f"{key}: {text}"):
                sentences.append(f"{key}: {text}")
            return "…"
        return text

    def document(self, value, indent=0):
        """Lines of a document: what fits in one is one."""
        whole = json.dumps(value, ensure_ascii=False)
        if len(whole) < 140 - indent or not isinstance(value, (dict, list)) or not value:
            return [whole]
        pairs = value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
        found = ["{" if isinstance(value, dict) else "["]
        for name, inner in pairs:
            inside = self.document(inner, indent + 1)
            if name is not None:
                inside[0] = f"{json.dumps(name)}: {inside[0]}"
            found += [" " + line for line in inside]
        found.append("}" if isinstance(value, dict) else "]")
        return found

    def look(self, work):
        tree = {}
        for folder, folders, files in os.walk(work):
            if folder == work:
                # run.sh makes no-nvrtc.
                folders[:] = [name for name in folders if name != "no-nvrtc" and not name.startswith(".")]
                files = [name for name in files if name not in ("stdout", "stderr", "raw.out", "raw.err") and not name.startswith(".")]
            for name in files + folders:
                path = os.path.join(folder, name)
                try:
                    stat = os.lstat(path)
                except OSError:
                    continue
                if path == work + "/state":  # any command may be the first that needs it
                    continue
                kind = stat.st_mode >> 12
                if kind == 4:
                    tree[path[len(work) + 1:] + "/"] = (oct(stat.st_mode & 0o7777)[2:], None, None)
                else:
                    mode = "link" if kind == 10 else oct(stat.st_mode & 0o7777)[2:] if kind == 8 else "special"
                    tree[path[len(work) + 1:]] = (mode, stat.st_mtime_ns, stat.st_size)
        return tree

    def changes(self, tree):
        before, found = self.tree, {}
        for path in sorted(before.keys() | tree.keys(), key=lambda path: path.encode(errors="surrogateescape")):
            if before.get(path) == tree.get(path) or self.varies("tree", path):
                continue
            sign = "+" if path not in before else "-" if path not in tree else "*"
            # An entry of the driver's cache lies two folders below the cache.
            entry = re.match(r"(.*?)[0-9a-f]/[0-9a-f]/[0-9a-f]{6,}", path)
            folder = entry.group(1) if entry else os.path.dirname(path.rstrip("/")) + "/"
            if entry is None and path.endswith("/") and (re.search(r"(^|/)[0-9a-f]/([0-9a-f]/)?$", path) or sign == "*"):
                continue
            # These are written only if a file has been unchanged for some seconds, or a run took long enough to be measured.
            if re.search(r"(^|/)(inventory|verified)-", path) or (sign == "*" and re.search(r"/state(\.json|-lock)$", path)):
                continue
            name = self.words(path if entry else re.sub(r"(?<=[-/])[0-9a-f]{8,}\b", "HEX", path))
            mode = tree.get(path, before.get(path))[0]
            found.setdefault((sign, folder), []).append(name + ("" if sign == "-" or path.endswith("/") or mode == "644" else f" {mode}"))
        lines = []
        for (sign, folder), names in found.items():
            names.sort()
            if self.varies("names", folder):
                lines.append(f"{sign} {self.words(folder)}: some files")
            elif len(names) > FILES_MAX:
                lines.append(f"{sign} {self.words(folder)}: {len(names)} files ({digest(chr(10).join(names))})")
            else:
                lines += [f"{sign} {name}" for name in names]
        self.tree = tree
        return sorted(lines)

    def run(self, work, build, out, err, wanted, uncompared, *arguments):
        # The longest comes first, since the build folder is below the source folder.
        self.places = sorted(((path, name) for path, name in ((work, "$WORK"), (build, "$BUILD"), (ROOT, "$ROOT"), (os.path.dirname(work), "$TMP"))
                              if len(path) > 1), key=lambda place: -len(place[0]))
        said, document = self.lines(out)
        warned, _ = self.lines(err)
        facts, sentences = [], []
        called = self.words(" ".join(re.sub(r"\s", "␣", word) or "''" for word in arguments))
        if self.varies("run", called):
            said, warned, document = [], [], None
        if document is not None:
            facts += self.document(self.value("", document, sentences))
        facts += self.changes(self.look(work))
        text = "\n".join(sentences + said + ["! " + line for line in warned]).split("\n")
        this = (called, [f"$ jitwarm {called}", f"status {wanted}"] + facts + [""], [f"$ jitwarm {called}"] + text + [""] if text != [""] else [], uncompared)
        if this != self.previous:
            self.runs.append(this)
        self.previous = this


def blocks(lines):
    """The stored lines of each run."""
    starts = [i for i, line in enumerate(lines) if line.startswith("$ jitwarm ") and (i == 0 or not lines[i - 1])]
    return [lines[start:end] for start, end in zip(starts, starts[1:] + [len(lines)])]


def filled(runs, facts, text):
    """The runs with what is stored for runs that this kind does not make, or does not compare."""
    stored, text = [], blocks(text)
    for block in blocks(facts):
        stored.append((block, text.pop(0) if text and text[0][0] == block[0] else []))
    at = 0
    for called, *new, uncompared in runs:
        same = [i for i in range(at, len(stored)) if stored[i][0][0] == f"$ jitwarm {called}"]
        if same:
            at = same[0] + 1
            if not uncompared:
                stored[same[0]] = new
        elif not uncompared:
            stored.insert(at, new)
            at += 1
    return [[line for block in part for line in block] for part in zip(*stored)] or [[], []]


def read(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


# These are written in another way on Windows. For a comparison, both sides lose the difference.
elsewhere = [(re.compile(pattern), word) for pattern, word in (
    (r"\\+", "/"),
    (r"['\"]", ""),
    (r"^([-+*] .*) [0-7]{3}$", r"\1"),  # the mode of a file
    (r"\b(?:lib)?(sample_\w+)\.(?:dll|so)\b", r"\1"),
    (r"\b(framework-app[\w-]*)\.exe\b", r"\1"),
    (r"/Lib/site-packages\b", "/lib/python3.11/site-packages"),
    (r"\b550\.200\.01\b|\b551\.61\b", "DRIVER"),  # the simulated one of each
    (r"\bN workers?\b", "N workers"),
    (r"\b(compile_cpu_seconds): 0\b", r"\1: ~"),  # Windows measures in steps of 16 ms
    (r"(?<=sample_framework \()[\d.]+ [KM]iB\b", "SIZE"),
    (r"(?<=sample_framework at )0x[0-9a-f]+\b", "OFFSET"),
)]


def alike(lines):
    for pattern, word in elsewhere:
        lines = [pattern.sub(word, line) for line in lines]
    return lines


def compare(case):
    difference = []
    old = [read(path) for path in (facts_file, text_file)]
    now = [[line for run in case.runs for line in run[part]] for part in (1, 2)]
    if "WINDOWS" in kinds:
        old = [alike(lines) for lines in old]
        case.runs = [(alike([called])[0], alike(facts), alike(text), uncompared) for called, facts, text, uncompared in case.runs]
    if kinds:
        now = filled(case.runs, *old)
    for path, before, lines in zip((facts_file, text_file), old, now):
        if os.environ.get("SNAPSHOT") == "accept":
            if not lines and before:
                os.remove(path)
            elif before != lines:
                with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                    file.write("\n".join(lines) + "\n")
        else:
            difference += unified_diff(before, lines, path, "now", lineterm="")
    with open(pipes + "/difference", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("".join(line + "\n" for line in difference))
    return len(difference)


def requests(pipe):
    given = b""
    while part := os.read(pipe, 1 << 16):
        given += part
        while b"\0" in given:
            number, rest = given.split(b"\0", 1)
            words = rest.split(b"\0")
            if len(words) <= int(number):
                break
            yield [word.decode("utf-8", "surrogateescape") for word in words[:int(number)]]
            given = b"\0".join(words[int(number):])


case = Case()
# The pipes are held open, so that neither side waits for the other to open one, or reads its end.
asked, answers = os.open(pipes + "/asked", os.O_RDWR), os.open(pipes + "/answer", os.O_RDWR)
for verb, *words in requests(asked):
    answer = 0
    try:
        if verb == "before":
            case.tree = case.look(words[0])
        elif verb == "run":
            case.run(*words)
        elif verb == "varies":
            case.varying[words[0]].append(re.compile(words[1]))
        elif verb == "fixed":
            case.varying[words[0]].remove(re.compile(words[1]))
        elif words[0] == "0":
            answer = compare(case)
    except Exception as error:
        answer = repr(error).replace("\n", " ")
    os.write(answers, f"{answer}\n".encode(errors="replace"))
    if verb == "end":
        break
