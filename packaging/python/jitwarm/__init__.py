"""Warms the NVIDIA driver's JIT cache before a program starts.

    import jitwarm

    if not jitwarm.check("tensorflow").warm:
        jitwarm.prime("tensorflow", progress=lambda p: print(f"{p.done} of {p.total}"))

A name is a path (a file, a folder, a wheel) or a package of the active
environment; a call without names means the whole environment. Each call runs
the program jitwarm that is installed with this package. If the program fails,
the call raises a JitwarmError. What could not be done for a single file or
module is in the result.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Callable, Dict, Iterable, NamedTuple, Optional, Sequence, Union

Name = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Command = Union[str, Sequence[Name]]
Document = Dict[str, Any]


class JitwarmError(Exception):
    """A call failed; the text names the file and the next step."""


class UsageError(JitwarmError, ValueError):
    """An argument is invalid."""


class NotFoundError(JitwarmError, LookupError):
    """A file, a package, a driver or a GPU is missing."""


class SystemFailure(JitwarmError, OSError):
    """The operating system refused: missing permissions, a full disk."""


class FormatError(JitwarmError):
    """A file is damaged or has another format."""


class LimitError(JitwarmError):
    """Something is larger than jitwarm's limit for it."""


class UnsupportedError(JitwarmError):
    """A file is sound, but jitwarm does not support it."""


class DriverError(JitwarmError):
    """NVIDIA's driver reported a failure."""


class BusyError(JitwarmError):
    """Another process holds a lock."""


class WillFailError(JitwarmError):
    """A program will fail on this GPU with this driver (CheckResult.raise_for_status)."""


class InterruptedCallError(JitwarmError):
    """The call was cancelled before it had a result."""


_ERRORS = {
    "usage": UsageError,
    "not_found": NotFoundError,
    "io": SystemFailure,
    "format": FormatError,
    "limit": LimitError,
    "unsupported": UnsupportedError,
    "driver": DriverError,
    "busy": BusyError,
    "interrupted": InterruptedCallError,
}


@dataclass(frozen=True)
class Seconds:
    """A predicted time in seconds.

    Attributes:
        low: In nine of ten cases the time is between low and high.
        likely: The most likely time.
        high: See low.
    """

    low: float
    likely: float
    high: float


@dataclass(frozen=True)
class CheckedGpu:
    """The modules that the driver would compile for one GPU architecture.

    Attributes:
        target: The architecture, such as "sm_86".
        modules: The number of modules, warm or cold.
        warm: The number of modules that are in the driver's cache.
        cold: The number of modules that are not.
        damaged: How many of the cold modules have a damaged entry.
        cold_bytes: The size of the cold modules' PTX in bytes.
        start: The time of a program's first start, which compiles the cold
            modules one after the other.
        prime: The time of prime(), which compiles them on all cores.
        verdict: How the files run on the GPU, whatever is in the cache: "fails",
            "unsure", "compiles", "runs" or "no-code" (on the CPU alone).
        reason: A line on the first file with which a program fails; "" if none does.
        needs: The first driver with which none fails, "550.54.14 (CUDA 12.4)"; ""
            if none fails, or no newer driver helps.
    """

    target: str
    modules: int
    warm: int
    cold: int
    damaged: int
    cold_bytes: int
    start: Seconds
    prime: Seconds
    verdict: str
    reason: str
    needs: str


@dataclass(frozen=True)
class CheckedFile:
    """A file with modules that the driver would compile.

    Attributes:
        path: The path of the library, wheel or package.
        member: The name inside the wheel or package; None for a plain file.
        warm: The number of modules that are in the driver's cache.
        cold: The number of modules that are not.
        seconds: The time to compile the cold modules on one core, in seconds.
    """

    path: str
    member: str | None
    warm: int
    cold: int
    seconds: float


@dataclass(frozen=True)
class CheckFailure:
    """A file with which a program fails on a GPU, whatever is in the cache.

    Attributes:
        file: The path; for a file inside an archive, with the name in it.
        target: The GPU architecture: "sm_86".
        error: What the program prints: "no kernel image is available for execution
            on the device (209)".
        cause: Why: "its only PTX is compute_90a, which no other GPU accepts".
        cure: What to do: "install torch==2.7.1".
    """

    file: str
    target: str
    error: str
    cause: str
    cure: str

    def __str__(self) -> str:
        """The failure in one line."""
        return f"{self.file}: {self.error} on {self.target}: {self.cause}; {self.cure}"


@dataclass(frozen=True)
class CheckResult:
    """What check() found.

    Attributes:
        gpus: The modules for each GPU architecture.
        files: The files that have modules to compile, the most expensive first.
        failing: Files that no GPU code of theirs runs for, whatever is in the
            cache, as "FILE: will fail: …".
        failures: The same files, each with the error, the cause and the cure.
        cures: Releases to install in their place, as "torch==2.7.1", if jitwarm
            knows one that runs.
        driver: The version of the driver that check() computed the names for.
        names_known: False if jitwarm does not know how this driver names its
            entries; then all modules count as cold.
        why_useless: Why programs with today's settings do not use the cache; ""
            if they do.
        notes: What else the program printed, such as files that it skipped.
        warm: True if a first start compiles nothing (status is 0).
        verdict: "runs", "warm", "cold", "partly", "fails", "unsure", "unknown",
            "no-room", "useless", "nothing" or "unread".
        status: The exit status of “jitwarm check”: 0, 1, 2 or 3.
    """

    gpus: tuple[CheckedGpu, ...]
    files: tuple[CheckedFile, ...]
    failing: tuple[str, ...]
    failures: tuple[CheckFailure, ...]
    cures: tuple[str, ...]
    driver: str
    names_known: bool
    why_useless: str
    notes: tuple[str, ...]
    warm: bool
    verdict: str
    status: int

    @property
    def cold(self) -> int:
        """The number of cold modules for all GPU architectures together."""
        return sum(gpu.cold for gpu in self.gpus)

    def raise_for_status(self) -> None:
        """Raises if a program will fail; a cold cache is no failure.

        Raises:
            WillFailError: The text has a line for each failure.
        """
        if self.failures:
            raise WillFailError("\n".join(map(str, self.failures)))


@dataclass(frozen=True)
class PrimeProgress:
    """How far prime() has come.

    Attributes:
        phase: "compiling", or "carrying" (reusing the entries of other drivers of
            this CUDA version).
        done: The number of modules that are finished.
        total: The number of modules of this phase.
        failed: How many of the finished modules failed.
        fraction: The finished share of the predicted work, from 0 to 1.
        seconds_left: The predicted time left in seconds; None if unknown.
        current: A file that is being worked on.
    """

    phase: str
    done: int
    total: int
    failed: int
    fraction: float
    seconds_left: float | None
    current: str


@dataclass(frozen=True)
class PrimeFailure:
    """A module that could not be compiled.

    Attributes:
        path: The path of the library, wheel or package.
        member: The name inside the wheel or package; None for a plain file.
        target: The GPU architecture, such as "sm_86".
        reason: Why the module failed.
    """

    path: str
    member: str | None
    target: str
    reason: str


@dataclass(frozen=True)
class PrimeResult:
    """What prime() did.

    Attributes:
        modules: The number of modules that the driver would compile.
        warm: How many of them were in the cache before the run.
        cold: How many of them were not.
        compiled: The number of modules that were compiled.
        failed: The number of modules that failed.
        unchanged: The number of modules that the driver loaded without
            compiling them.
        undone: The number of modules that are still to compile, because the run
            ended early, was a dry run, or had a budget.
        added_bytes: By how many bytes the cache grew.
        seconds: How long the run took.
        interrupted: True if the run was cancelled.
        stopped: Why the run ended early or did not begin; "" if it did not.
        failures: The modules that failed.
        notes: What else the program printed, such as files that it skipped.
        verdict: The verdict of check() before the run.
        complete: True if a first start now compiles nothing. False also if that
            cannot be shown or if something could not be read.
    """

    modules: int
    warm: int
    cold: int
    compiled: int
    failed: int
    unchanged: int
    undone: int
    added_bytes: int
    seconds: float
    interrupted: bool
    stopped: str
    failures: tuple[PrimeFailure, ...]
    notes: tuple[str, ...]
    verdict: str
    complete: bool


class Answer(NamedTuple):
    """The output of a command.

    Attributes:
        status: The exit status: 0 done or warm, 1 cold or partly left undone,
            2 jitwarm cannot help, 3 failed.
        document: The JSON document; docs/programs.md describes it.
        messages: The lines of standard error.
    """

    status: int
    document: Document
    messages: tuple[str, ...]


Progress = Optional[Callable[[PrimeProgress], Any]]
Cancelled = Optional[Callable[[], bool]]


def program() -> str:
    """Returns the path of the program jitwarm.

    This is the program that was installed with this package, else the one on
    PATH.

    Raises:
        NotFoundError: There is neither.
    """
    name = "jitwarm.exe" if os.name == "nt" else "jitwarm"
    package = os.path.dirname(os.path.abspath(__file__))
    # pip install --target puts programs beside the packages.
    beside = os.path.join(os.path.dirname(package), "bin", name)
    listed = [
        os.path.abspath(str(file.locate()))
        for file in metadata.files("jitwarm") or []
        if file.name == name
    ]
    found = next(filter(None, map(shutil.which, [beside, *listed, name])), None)
    # On Windows, shutil.which looks into the current folder first.
    if not found or not os.path.isabs(found):
        raise NotFoundError(
            "the command jitwarm is neither in this package nor on PATH"
        )
    return found


class Run:
    """A running command of jitwarm, such as "prime" or "cache list".

    “jitwarm COMMAND --help” lists the options; docs/programs.md describes the
    documents:

        run = Run("export", "torch", output="torch.jwpack", arch=["sm_86", "sm_90"])
        print(run.result().document["entries"])

    Args:
        command: The command's name; or, as a list, another program with its
            arguments, which “jitwarm run” starts: Run(["python3", "train.py"]).
        *names: Paths and packages.
        progress: Called with a PrimeProgress several times a second.
        cancelled: Called about ten times a second; True cancels the run.
        **options: The options of the command, with "_" for "-". A list repeats
            the option. True stands for an option without a value; False and
            None leave the option out.

    Raises:
        NotFoundError: The program is missing.
        TypeError: A name is neither a string nor a path.
        ValueError: A name cannot be passed to a program.
        OSError: The program cannot be started.
    """

    def __init__(
        self,
        command: Command,
        *names: Name,
        progress: Progress = None,
        cancelled: Cancelled = None,
        **options: Any,
    ) -> None:
        before: Sequence[Name] = ()
        if not isinstance(command, str):
            # The files that a recording is about stand before the program.
            before, names, command = names, tuple(command), "run"
        words = [program(), *command.split(), "--json"]
        if progress:
            words.append("--progress=json")
        for key, value in options.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += _option(key, one)
        words += map(os.fsdecode, before)
        words += ["--", *map(os.fsdecode, names)]
        self._progress = progress
        self._cancelled = cancelled
        self._over = False
        self._console = True
        flags = 0
        if sys.platform == "win32":
            import ctypes

            # Ctrl-Break reaches all processes of a console's group. Without a console, the program would open one.
            self._console = bool(ctypes.windll.kernel32.GetConsoleWindow())
            if self._console:
                flags = subprocess.CREATE_NEW_PROCESS_GROUP
            else:
                flags = subprocess.CREATE_NO_WINDOW
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=flags,
        )
        self._out = self._start_reading(self._process.stdout)
        self._err = self._start_reading(self._process.stderr)

    @staticmethod
    def _start_reading(stream: Any) -> queue.Queue[bytes | None]:
        """Returns a queue that gets each line of stream, and None at its end."""
        lines: queue.Queue[bytes | None] = queue.Queue()

        def read() -> None:
            with stream:
                for line in stream:
                    lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        return lines

    def _next(self, lines: queue.Queue[bytes | None]) -> bytes | None:
        """Returns the next line, b"" if there is none yet, None at the end."""
        # Processes started by the program may hold its pipes after its end.
        ended = self._process.poll() is not None
        try:
            return lines.get(timeout=2 if ended else 0.1)
        except queue.Empty:
            return None if ended else b""

    def cancel(self) -> None:
        """Ends the run soon; may be called from any thread.

        Then result() returns how far the run came, or raises
        InterruptedCallError.
        """
        if self._over or self._process.poll() is not None:
            return
        self._over = True
        if sys.platform == "win32" and self._console:
            import signal

            self._process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            self._process.terminate()

    def result(self) -> Answer:
        """Waits for the end of the run and returns its output.

        progress and cancelled are called on this thread. An exception in them,
        or Ctrl-C, cancels the run and is raised here.

        Raises:
            InterruptedCallError: The run was cancelled before it had a result.
            JitwarmError: The command failed; the subclass says how.
        """
        messages: list[str] = []
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
                    self._progress(_prime_progress(json.loads(line)))
        except BaseException:
            self.cancel()
            try:
                # wait() cannot be interrupted by Ctrl-C on Windows.
                while self._process.poll() is None:
                    time.sleep(0.02)
            finally:
                self._process.kill()
            raise
        status = self._process.wait()
        output = b"".join(iter(lambda: self._next(self._out), None))
        try:
            document = json.loads(output)
        except ValueError:
            if self._over:
                raise InterruptedCallError("cancelled") from None
            text = f"jitwarm ended with status {status}"
            raise JitwarmError(messages[-1] if messages else text) from None
        if document.get("schema") == "jitwarm.error/1":
            raise _ERRORS.get(document["code"], JitwarmError)(document["error"])
        return Answer(status, document, tuple(messages))


def run(
    command: Command,
    *names: Name,
    progress: Progress = None,
    cancelled: Cancelled = None,
    **options: Any,
) -> Answer:
    """Runs any command to its end: run("scan", "torch", target="rtx5090").

    A list is the command line of a program, which “jitwarm run” starts:
    run(["python3", "train.py"]).

    The arguments and exceptions are those of Run and Run.result().
    """
    return Run(
        command, *names, progress=progress, cancelled=cancelled, **options
    ).result()


def _option(key: str, value: Any) -> list[str]:
    """Returns the words of the command line for one option."""
    if value is None or value is False:
        return []
    name = "--" + key.replace("_", "-")
    if value is True:
        return [name]
    if isinstance(value, (bytes, os.PathLike)):
        value = os.fsdecode(value)
    return [f"{name}={value}"]


def _path(text: str) -> str:
    """Returns a path of a document as open() takes it in any locale."""
    return text if os.name == "nt" else os.fsdecode(text.encode("utf-8"))


def _notes(answer: Answer) -> tuple[str, ...]:
    """Returns the document's notes and the messages that are not among them."""
    notes = tuple(answer.document["notes"])
    return notes + tuple(
        message for message in answer.messages if not message.endswith(notes)
    )


def _prime_progress(line: Document) -> PrimeProgress:
    return PrimeProgress(
        phase=line["phase"],
        done=line["done"],
        total=line["total"],
        failed=line["failed"],
        fraction=line["fraction"],
        seconds_left=line.get("seconds_left"),
        current=_path(line.get("current", "")),
    )


def _checked_gpu(gpu: Document) -> CheckedGpu:
    return CheckedGpu(
        target=gpu["target"],
        modules=gpu["modules"],
        warm=gpu["warm"],
        cold=gpu["cold"],
        damaged=gpu["damaged"],
        cold_bytes=gpu["cold_bytes"],
        start=Seconds(**gpu["forecast"]["start_seconds"]),
        prime=Seconds(**gpu["forecast"]["prime_seconds"]),
        verdict=gpu["verdict"],
        reason=gpu.get("reason", ""),
        needs=gpu.get("needs", ""),
    )


def _checked_file(file: Document) -> CheckedFile:
    return CheckedFile(
        path=_path(file["path"]),
        member=file.get("member"),
        warm=file["warm"],
        cold=file["cold"],
        seconds=file["seconds"],
    )


def _prime_failure(failure: Document) -> PrimeFailure:
    return PrimeFailure(
        path=_path(failure["path"]),
        member=failure.get("member"),
        target=failure["target"],
        reason=failure["reason"],
    )


def version() -> str:
    """Returns the version of the program jitwarm."""
    return str(run("--version").document["version"])


def _check_failure(one: Document) -> CheckFailure:
    return CheckFailure(
        file=_path(one["file"]),
        target=one["target"],
        error=one["error"],
        cause=one["cause"],
        cure=one["cure"],
    )


def check(
    *names: Name,
    targets: str | Iterable[str] | None = None,
    driver: str | None = None,
    cache: Name | None = None,
    everything: bool = False,
    cancelled: Cancelled = None,
) -> CheckResult:
    """Finds out whether a program's first start would compile anything.

    It reads files alone, takes milliseconds and does not wake the GPU.

    Args:
        *names: Paths and packages; none means the active environment.
        targets: GPUs of another machine: "rtx4090", "sm_90", "all", or several.
        driver: The driver of another machine: "550.163.01", or its CUDA version
            "12.4".
        cache: A cache directory instead of the driver's.
        everything: Count also code that a program may never load.
        cancelled: Called about ten times a second; True cancels the call.

    Raises:
        InterruptedCallError: The call was cancelled.
        JitwarmError: The command failed; the subclass says how.
    """
    target = targets if targets is None or isinstance(targets, str) else list(targets)
    answer = run(
        "check",
        *names,
        target=target,
        driver=driver,
        cache=cache,
        all=everything,
        cancelled=cancelled,
    )
    document = answer.document
    failing = document["failing"]
    cures = [f"{one['package']}=={one['runs']}" for one in failing if "runs" in one]
    return CheckResult(
        gpus=tuple(map(_checked_gpu, document["gpus"])),
        files=tuple(map(_checked_file, document["files"])),
        failing=tuple(f"{one['file']}: {one['why']}" for one in failing),
        failures=tuple(map(_check_failure, failing)),
        cures=tuple(dict.fromkeys(cures)),
        driver=document["driver"],
        names_known=document["names_known"],
        why_useless=document.get("why_useless", ""),
        notes=_notes(answer),
        warm=not answer.status,
        verdict=document["verdict"],
        status=answer.status,
    )


def prime(
    *names: Name,
    progress: Progress = None,
    jobs: int = 0,
    budget_seconds: float = 0,
    budget_bytes: int = 0,
    cache: Name | None = None,
    everything: bool = False,
    low_priority: bool = False,
    dry_run: bool = False,
    cancelled: Cancelled = None,
) -> PrimeResult:
    """Has the driver compile the cold modules, and puts them into its cache.

    If progress raises an exception, the run ends soon and this call raises the
    exception; the modules compiled until then stay in the cache.

    Args:
        *names: Paths and packages; none means the active environment.
        progress: Called with a PrimeProgress several times a second.
        jobs: The number of workers; 0 means one for each core.
        budget_seconds: Start no module after this time; 0 means no budget.
        budget_bytes: Add at most this many bytes to the cache; 0 means no
            budget.
        cache: A cache directory instead of the driver's.
        everything: Compile also code that a program may never load.
        low_priority: Leave the machine to other programs.
        dry_run: Compile nothing.
        cancelled: Called about ten times a second; True cancels the call.

    Raises:
        InterruptedCallError: The call was cancelled before it had a result.
        JitwarmError: The command failed; the subclass says how.
    """
    answer = run(
        "prime",
        *names,
        progress=progress,
        cancelled=cancelled,
        jobs=jobs or None,
        budget_size=budget_bytes or None,
        budget_time=f"{budget_seconds * 1000:.0f}ms" if budget_seconds else None,
        cache=cache,
        all=everything,
        background=low_priority,
        dry_run=dry_run,
    )
    document = answer.document
    return PrimeResult(
        modules=document["modules"],
        warm=document["warm"],
        cold=document["cold"],
        compiled=document["compiled"],
        failed=document["failed"],
        unchanged=document["unchanged"],
        undone=document["undone"] + document["over_budget"],
        added_bytes=document["added_bytes"],
        seconds=document["seconds"],
        interrupted=document["interrupted"],
        stopped=document.get("stopped", ""),
        failures=tuple(map(_prime_failure, document["failures"])),
        notes=_notes(answer),
        verdict=document["verdict"],
        complete=not answer.status,
    )


# The following return a command's JSON document; their arguments and exceptions
# are those of Run.


def which(*names: Name, **options: Any) -> Document:
    """Finds the releases that run: which("torch", target="gtx1080")."""
    return run("which", *names, **options).document


def scan(*names: Name, **options: Any) -> Document:
    """Lists what the driver would compile: scan("torch", target="rtx3070")."""
    return run("scan", *names, **options).document


def export(*names: Name, **options: Any) -> Document:
    """Writes a pack: export("torch", output="torch.jwpack", sign=True)."""
    return run("export", *names, **options).document


def import_(*names: Name, **options: Any) -> Document:
    """Adds a pack to the driver's cache: import_("torch.jwpack", dry_run=True)."""
    return run("import", *names, **options).document


def tune(*names: Name, **options: Any) -> Document:
    """Shows or changes the driver's settings: tune(apply=True)."""
    return run("tune", *names, **options).document


def status(*names: Name, **options: Any) -> Document:
    """Shows the GPUs, the driver, its cache and the active environment."""
    return run("status", *names, **options).document


def doctor(*names: Name, **options: Any) -> Document:
    """Looks for what keeps the driver from using its cache."""
    return run("doctor", *names, **options).document


__version__ = metadata.version("jitwarm")
