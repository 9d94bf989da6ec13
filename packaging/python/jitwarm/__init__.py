"""Warms the NVIDIA driver's JIT cache: what would compile at a first start, and compiling it beforehand.

    import jitwarm
    if not jitwarm.check("tensorflow").warm:
        jitwarm.prime("tensorflow", progress=lambda p: print(f"{p.done} of {p.total}"))

A name is a path (a file, a folder, a wheel) or a package of the active environment; without names it is the whole
environment. Each call runs the program jitwarm that this package brings. Its failures are exceptions (JitwarmError); what
could not be done for one file or module is in the result.
"""
import json, os, queue, shutil, subprocess, sys, threading, time
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

Name = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Document = Dict[str, Any]


class JitwarmError(Exception): """A call failed; its text names the file and the next step."""
class UsageError(JitwarmError, ValueError): """An invalid argument."""
class NotFoundError(JitwarmError, LookupError): """A missing file, package, driver or GPU."""
class SystemFailure(JitwarmError, OSError): """The operating system refused: permissions, a full disk."""
class FormatError(JitwarmError): """Damaged or foreign data."""
class LimitError(JitwarmError): """Larger than the limit."""
class UnsupportedError(JitwarmError): """Sound, but not supported."""
class DriverError(JitwarmError): """NVIDIA's driver reported a failure."""
class BusyError(JitwarmError): """Another process holds a lock."""
class InterruptedCallError(JitwarmError): """The call was cancelled."""


_ERRORS = {"usage": UsageError, "not_found": NotFoundError, "io": SystemFailure, "format": FormatError, "limit": LimitError,
           "unsupported": UnsupportedError, "driver": DriverError, "busy": BusyError,
           "interrupted": InterruptedCallError}


@dataclass(frozen=True)
class Seconds:
    """A predicted time: it is between low and high in nine of ten cases."""
    low: float
    likely: float
    high: float

@dataclass(frozen=True)
class CheckedGpu:
    """The modules that the driver would compile for one GPU architecture ("sm_86")."""
    target: str
    modules: int
    warm: int
    cold: int
    damaged: int
    cold_bytes: int  # of PTX
    start: Seconds  # the first start of a program, which compiles the cold ones one after the other
    prime: Seconds  # prime() on all cores

@dataclass(frozen=True)
class CheckedFile:
    path: str
    member: Optional[str]  # of a wheel or package; None: a file
    warm: int
    cold: int
    seconds: float  # to compile the cold ones on one core

@dataclass(frozen=True)
class CheckResult:
    gpus: Tuple[CheckedGpu, ...]
    files: Tuple[CheckedFile, ...]  # those with modules to compile, the most expensive first
    failing: Tuple[str, ...]  # "FILE: will fail: …": programs fail with these, whatever is in the cache
    cures: Tuple[str, ...]  # "torch==2.7.1": what to install in their place, if jitwarm knows a release that runs
    driver: str
    names_known: bool  # False: the names of this driver's entries are unknown, so all modules count as cold
    why_useless: str  # why programs with today's settings do not use the cache, "" if they do
    notes: Tuple[str, ...]
    warm: bool  # a first start compiles nothing: status is 0
    verdict: str  # "runs", "warm", "cold", "partly", "fails", "unsure", "unknown", "no-room", "useless", "nothing" or "unread"
    status: int  # the exit status of “jitwarm check”: 0, 1, 2 or 3

    @property
    def cold(self) -> int:
        return sum(gpu.cold for gpu in self.gpus)

@dataclass(frozen=True)
class PrimeProgress:
    phase: str  # "compiling", "carrying" (results of other drivers of this CUDA version) or "fetching"
    done: int
    total: int
    failed: int
    fraction: float  # of the predicted work, for a bar
    seconds_left: Optional[float]
    current: str  # a file being worked on

@dataclass(frozen=True)
class PrimeFailure:
    path: str
    member: Optional[str]
    target: str
    reason: str

@dataclass(frozen=True)
class PrimeResult:
    modules: int
    warm: int  # before the run
    cold: int
    compiled: int
    failed: int
    unchanged: int  # the driver loaded them and compiled nothing
    undone: int  # not compiled: the run ended early, was a dry one, or a budget left them out
    added_bytes: int
    seconds: float
    interrupted: bool
    stopped: str  # why the run ended early or did not begin, "" if it did not
    failures: Tuple[PrimeFailure, ...]
    notes: Tuple[str, ...]
    verdict: str  # as of check(), before the run
    complete: bool  # a first start compiles nothing now; False, too, where that cannot be shown or something could not be read

class Answer(NamedTuple):
    """What a command has printed: its JSON document, and lines for people."""
    status: int  # 0 done or warm, 1 cold or a part left undone, 2 jitwarm cannot help, 3 failed
    document: Document
    messages: Tuple[str, ...]


Progress = Optional[Callable[[PrimeProgress], Any]]
Cancelled = Optional[Callable[[], bool]]


def program() -> str:
    """The command jitwarm that was installed with this package; else the one on PATH."""
    name = "jitwarm.exe" if os.name == "nt" else "jitwarm"
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", name)  # pip install --target
    listed = [os.path.abspath(str(file.locate())) for file in metadata.files("jitwarm") or [] if file.name == name]
    found = next(filter(None, map(shutil.which, [beside, *listed, name])), None)
    if not found or not os.path.isabs(found):  # Windows looks into the current folder first
        raise NotFoundError("the command jitwarm is neither in this package nor on PATH")
    return found


class Run:
    """A command that runs, "prime" or "cache list"; docs/json.md has its document, “jitwarm COMMAND --help” its options:
    Run("export", "torch", output="torch.jwpack", best=True, arch=["sm_86", "sm_90"])."""

    def __init__(self, command: str, *names: Name, progress: Progress = None, cancelled: Cancelled = None, **options: Any) -> None:
        words = [program(), *command.split(), "--json"] + (["--progress=json"] if progress else [])
        for key, value in options.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None and one is not False:
                    text = os.fsdecode(one) if isinstance(one, (bytes, os.PathLike)) else str(one)
                    words.append("--" + key.replace("_", "-") + ("" if one is True else "=" + text))
        words += ["--", *map(os.fsdecode, names)]
        self._progress, self._cancelled, self._over = progress, cancelled, False
        # Ctrl-Break reaches all of a console's group. Where there is no console, the program would open one
        self._console, flags = True, 0
        if sys.platform == "win32":
            import ctypes
            self._console = bool(ctypes.windll.kernel32.GetConsoleWindow())
            flags = subprocess.CREATE_NEW_PROCESS_GROUP if self._console else subprocess.CREATE_NO_WINDOW
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, creationflags=flags)
        self._out: "queue.Queue[Any]" = queue.Queue()
        self._err: "queue.Queue[Any]" = queue.Queue()
        for stream, lines in ((self._process.stdout, self._out), (self._process.stderr, self._err)):
            threading.Thread(target=self._read, args=(stream, lines), daemon=True).start()

    def _read(self, stream: Any, lines: "queue.Queue[Any]") -> None:
        with stream:
            for line in stream:
                lines.put(line)
        lines.put(None)

    def _next(self, lines: "queue.Queue[Any]") -> Any:
        ended = self._process.poll() is not None  # what the program started may hold its pipes longer
        try:
            return lines.get(timeout=2 if ended else 0.1)  # None: its end
        except queue.Empty:
            return None if ended else b""

    def cancel(self) -> None:
        """Ends the run soon, from any thread: result() says how far it came, or raises InterruptedCallError."""
        if self._over or self._process.poll() is not None:
            return
        self._over = True
        if sys.platform == "win32" and self._console:
            import signal
            self._process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            self._process.terminate()

    def result(self) -> Answer:
        """Waits for the end. progress and cancelled are called on this thread; what they raise, Ctrl-C too, cancels the run."""
        messages: List[str] = []
        try:
            while True:
                if self._cancelled and self._cancelled():
                    self.cancel()
                line = self._next(self._err)
                if line is None:
                    break
                if line and not line.startswith(b"{"):
                    messages.append(line.decode("utf-8", "replace").strip())
                elif line and self._progress and not self._over:
                    now = json.loads(line)
                    self._progress(PrimeProgress(now["phase"], now["done"], now["total"], now["failed"], now["fraction"],
                                                 now.get("seconds_left"), _path(now.get("current", ""))))
        except BaseException:
            self.cancel()
            try:
                while self._process.poll() is None:
                    time.sleep(0.02)  # Ctrl-C ends it at once, on Windows, too
            finally:
                self._process.kill()
            raise
        status = self._process.wait()
        try:
            document = json.loads(b"".join(iter(lambda: self._next(self._out), None)))
        except ValueError:
            text = "cancelled" if self._over else messages[-1] if messages else f"jitwarm ended with status {status}"
            raise (InterruptedCallError if self._over else JitwarmError)(text) from None
        if document.get("schema") == "jitwarm.error/1":
            raise _ERRORS.get(document["code"], JitwarmError)(document["error"])
        return Answer(status, document, tuple(messages))


def run(command: str, *names: Name, progress: Progress = None, cancelled: Cancelled = None, **options: Any) -> Answer:
    """Any command, as with Run, to its end: run("bake", "torch", output="baked")."""
    return Run(command, *names, progress=progress, cancelled=cancelled, **options).result()


def _path(text: str) -> str:
    """As open() takes it, whatever the locale's encoding is."""
    return text if os.name == "nt" else os.fsdecode(text.encode("utf-8"))


def _notes(answer: Answer) -> Tuple[str, ...]:
    notes = tuple(answer.document["notes"])
    return notes + tuple(line for line in answer.messages if not line.endswith(notes))


def version() -> str:
    return str(run("--version").document["version"])


def check(*names: Name, targets: Union[str, Iterable[str], None] = None, driver: Optional[str] = None, cache: Optional[Name] = None,
          everything: bool = False, cancelled: Cancelled = None) -> CheckResult:
    """Whether a first start would compile anything: from the files alone, in milliseconds, without waking the GPU.
    targets ("rtx4090", "sm_90", "all") and driver ("550.163.01", "12.4") ask about another machine.
    """
    target = targets if targets is None or isinstance(targets, str) else list(targets)
    answer = run("check", *names, target=target, driver=driver, cache=cache, all=everything, cancelled=cancelled)
    d = answer.document
    return CheckResult(
        gpus=tuple(CheckedGpu(gpu["target"], gpu["modules"], gpu["warm"], gpu["cold"], gpu["damaged"], gpu["cold_bytes"],
                              Seconds(**gpu["forecast"]["start_seconds"]), Seconds(**gpu["forecast"]["prime_seconds"])) for gpu in d["gpus"]),
        files=tuple(CheckedFile(_path(file["path"]), file.get("member"), file["warm"], file["cold"], file["seconds"]) for file in d["files"]),
        failing=tuple(f"{one['file']}: {one['why']}" for one in d["failing"]),
        cures=tuple(dict.fromkeys(f"{one['package']}=={one['runs']}" for one in d["failing"] if "runs" in one)),
        driver=d["driver"], names_known=d["names_known"], why_useless=d.get("why_useless", ""), notes=_notes(answer),
        warm=not answer.status, verdict=d["verdict"], status=answer.status)


def prime(*names: Name, progress: Progress = None, jobs: int = 0, budget_seconds: float = 0, budget_bytes: int = 0,
          cache: Optional[Name] = None, everything: bool = False, low_priority: bool = False, dry_run: bool = False,
          cancelled: Cancelled = None) -> PrimeResult:
    """Has the driver compile the cold modules in worker processes, and puts the results where it looks for them.
    If progress raises, the run ends soon, and the exception comes out of this call; what was compiled by then stays.
    """
    answer = run("prime", *names, progress=progress, cancelled=cancelled, jobs=jobs or None, budget_size=budget_bytes or None,
                 budget_time=f"{budget_seconds * 1000:.0f}ms" if budget_seconds else None, cache=cache, all=everything,
                 background=low_priority, dry_run=dry_run)
    d = answer.document
    return PrimeResult(
        modules=d["modules"], warm=d["warm"], cold=d["cold"], compiled=d["compiled"], failed=d["failed"],
        unchanged=d["unchanged"], undone=d["undone"] + d["over_budget"], added_bytes=d["added_bytes"], seconds=d["seconds"],
        interrupted=d["interrupted"], stopped=d.get("stopped", ""), notes=_notes(answer), verdict=d["verdict"], complete=not answer.status,
        failures=tuple(PrimeFailure(_path(one["path"]), one.get("member"), one["target"], one["reason"]) for one in d["failures"]))


def _command(command: str) -> Callable[..., Document]:
    def call(*names: Name, progress: Progress = None, cancelled: Cancelled = None, **options: Any) -> Document:
        return run(command, *names, progress=progress, cancelled=cancelled, **options).document

    call.__doc__ = f"""“jitwarm {command}”: its document, jitwarm.{command}/1; the options are those of the command."""
    return call


which = _command("which")  # which("torch", target="gtx1080")["answers"][0]["newest"]
scan = _command("scan")  # scan("torch", target="rtx3070")
export = _command("export")  # export("torch", output="torch.jwpack", sign=True)
import_ = _command("import")  # import_("torch.jwpack", dry_run=True)
tune = _command("tune")  # tune(apply=True)
status = _command("status")
doctor = _command("doctor")
__version__ = metadata.version("jitwarm")
