"""Warms the NVIDIA driver's JIT cache: what would compile at a first start, and compiling it beforehand.

    import jitwarm
    if not jitwarm.check("tensorflow").warm:
        jitwarm.prime("tensorflow", progress=lambda p: print(f"{p.done} of {p.total}"))

A name is a path (a file, a folder, a wheel) or a package of the active environment; without names it is the whole
environment. The library prints nothing. Its failures are exceptions (JitwarmError); what could not be done for one file or
module is in the result. The calls release the interpreter's lock.
"""
import collections.abc
import ctypes
import functools
import math
import os
import signal
import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, TypeVar, Union, get_args, get_origin, get_type_hints

from . import _library
from ._library import library as _lib, struct as _struct

__all__ = [
    "check", "prime", "bake", "program", "version", "__version__", "CheckResult", "CheckedGpu", "CheckedFile", "Seconds", "PrimeProgress",
    "PrimeResult", "PrimeFailure", "BakeResult", "BakedFile", "JitwarmError", "UsageError", "NotFoundError", "SystemFailure",
    "FormatError", "LimitError", "OutOfMemoryError", "UnsupportedError", "DriverError", "BusyError", "InterruptedCallError",
]

Name = Union[str, bytes, os.PathLike]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class JitwarmError(Exception):
    """A call failed; its text names the file and the next step."""


class UsageError(JitwarmError, ValueError):
    """An invalid argument."""


class NotFoundError(JitwarmError, LookupError):
    """A missing file, package, driver or GPU."""


class SystemFailure(JitwarmError, OSError):
    """The operating system refused: permissions, a full disk."""


class FormatError(JitwarmError):
    """Damaged or foreign data."""


class LimitError(JitwarmError):
    """Larger than the limit."""


class OutOfMemoryError(JitwarmError, MemoryError):
    """Out of memory."""


class UnsupportedError(JitwarmError):
    """Sound, but not supported."""


class DriverError(JitwarmError):
    """NVIDIA's driver reported a failure."""


class BusyError(JitwarmError):
    """Another process holds a lock."""


class InterruptedCallError(JitwarmError):
    """The call was cancelled."""


_ERRORS = {
    "JW_ERR_USAGE": UsageError, "JW_ERR_NOT_FOUND": NotFoundError, "JW_ERR_IO": SystemFailure, "JW_ERR_FORMAT": FormatError,
    "JW_ERR_LIMIT": LimitError, "JW_ERR_MEMORY": OutOfMemoryError, "JW_ERR_UNSUPPORTED": UnsupportedError,
    "JW_ERR_DRIVER": DriverError, "JW_ERR_BUSY": BusyError, "JW_ERR_INTERRUPTED": InterruptedCallError,
}


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
    phase: str  # "compiling", "carrying" (results of other drivers) or "keeping"
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


@dataclass(frozen=True)
class BakedFile:
    path: str
    member: Optional[str]
    output: Optional[str]  # the copy
    modules: int
    baked: int
    failed: str  # why there is no copy, "" if there is or nothing was to be baked


@dataclass(frozen=True)
class BakeResult:
    files: Tuple[BakedFile, ...]
    targets: Tuple[str, ...]
    driver: str
    uncompiled: int
    interrupted: bool
    notes: Tuple[str, ...]  # names that led to no file, and the like


# ---- between the languages


def _text(pointer: Optional[int]) -> Optional[str]:
    return None if not pointer else ctypes.string_at(pointer).decode("utf-8", "surrogateescape")


def _path(pointer: Optional[int]) -> Optional[str]:
    """As open() takes it, whatever the locale's encoding is."""
    return None if not pointer else os.fsdecode(ctypes.string_at(pointer))


def _chars(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _fail(err: Any) -> None:
    code = _library.CODES[err.code] if 0 <= err.code < len(_library.CODES) else ""
    raise _ERRORS.get(code, JitwarmError)(_chars(err.message))


def _call(function: Any, *arguments: Any) -> None:
    err = _struct("jw_error")()
    if function(ctypes.byref(err), *arguments):
        _fail(err)


def _items(pointer: Optional[int], count: int, name: str) -> List[Any]:
    """The structs of an array; they live as long as the result that holds them."""
    return list((_struct(name) * count).from_address(pointer)) if pointer and count else []


def _lines(pointer: Optional[int], count: int) -> Tuple[str, ...]:
    array = (ctypes.c_void_p * count).from_address(pointer) if pointer and count else ()
    return tuple(_text(line) or "" for line in array)


def _sm(target: Any) -> str:
    text = ctypes.create_string_buffer(20)
    _lib.jw_target_sm(text, target)
    return text.value.decode()


def _driver(driver: Any) -> str:
    text = ctypes.create_string_buffer(64)
    _lib.jw_driver_text(text, ctypes.byref(driver))
    return text.value.decode()


def _seconds(value: Any) -> Seconds:
    return Seconds(value.low, value.likely, value.high)


def _encoded(text: Union[Name, None]) -> Optional[bytes]:
    if text is None:
        return None
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as why:
        raise UsageError(str(why)) from None
    if b"\0" in encoded:
        raise UsageError("a NUL character in a name")
    return encoded


def _address(thing: Any) -> Optional[int]:
    return None if thing is None else ctypes.addressof(thing)


def _pointers(texts: Sequence[Name]) -> Tuple[Any, List[Any]]:
    kept = [ctypes.create_string_buffer(_encoded(text) or b"") for text in texts]
    return (ctypes.c_void_p * (len(kept) + 1))(*[ctypes.addressof(text) for text in kept], None), kept


class _Options:
    """A struct of options, which begins with its size, and what its pointers need to live on."""

    def __init__(self, name: str, **values: Any) -> None:
        self.struct = _struct(name)()
        self.struct.size = ctypes.sizeof(self.struct)
        self.kept: List[Any] = []
        for member, value in values.items():
            if isinstance(value, (str, bytes, os.PathLike)):
                value = ctypes.create_string_buffer(_encoded(value) or b"")
            if isinstance(value, (ctypes.Array, ctypes.Structure)):
                self.kept.append(value)
                value = ctypes.addressof(value)
            if value is not None:
                setattr(self.struct, member, value)
                if isinstance(value, int) and getattr(self.struct, member) != value:  # ctypes cuts it off
                    raise UsageError(f"{member}: {value} is out of range")

    def __enter__(self) -> int:
        return ctypes.addressof(self.struct)

    def __exit__(self, *ignored: Any) -> None:
        self.kept.clear()


class _Made:
    """Something that the library makes and frees."""

    def __init__(self, name: str, make: Any, free: Any, *arguments: Any) -> None:
        self.free, pointer = free, ctypes.c_void_p()
        _call(make, *arguments, ctypes.byref(pointer))
        self.address = pointer.value
        self.struct = _struct(name).from_address(self.address)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.free(self.address)


def _worker() -> Tuple[Any, List[Any]]:
    return _pointers([program(), "worker"])


def _system(**values: Any) -> _Made:
    worker, kept = _worker()
    with _Options("jw_system_options", worker=worker, **values) as options:
        system = _Made("jw_system", _lib.jw_system_open, _lib.jw_system_free, options)
    system.kept = (worker, kept)  # type: ignore[attr-defined] # the system points to it
    return system


def _find(names: Sequence[Name], sources: bool = False) -> _Made:
    array, kept = _pointers(names)
    with _Options("jw_find_options", names=array, name_count=len(kept), sources=sources) as options:
        return _Made("jw_found", _lib.jw_find, _lib.jw_found_free, options)


def _paths(found: _Made) -> Tuple[Any, int]:
    files = _items(found.struct.files, found.struct.file_count, "jw_found_file")
    return (ctypes.c_void_p * (len(files) + 1))(*[file.path for file in files], None), len(files)


def _found_notes(found: _Made) -> Tuple[str, ...]:
    return tuple(_text(note.text) or "" for note in _items(found.struct.notes, found.struct.note_count, "jw_found_note"))


def _targets(names: Union[str, Iterable[str], None]) -> Tuple[Any, int]:
    if names is None:
        return None, 0
    most = 64
    array, count = (_struct("jw_target") * most)(), ctypes.c_size_t()
    for name in [names] if isinstance(names, str) else names:
        if not isinstance(name, str):
            raise TypeError(f"targets: {name!r} is no str")
        _call(_lib.jw_targets_read, _encoded(name), None, array, most, ctypes.byref(count))
    return array, count.value


class _Calls:
    """The callbacks of a long call. What Python raises in them, Ctrl-C too, ends the call and is raised again behind it."""

    def __init__(self, progress: Optional[Callable[[PrimeProgress], Any]], cancelled: Optional[Callable[[], bool]]) -> None:
        self.raised: Optional[BaseException] = None
        self.over = False  # stays so, as jw_cancel demands
        self.progress, self.cancelled = progress, cancelled
        self.on_progress = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._report)
        self.on_cancel = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(self._ask)

    def _report(self, _context: Any, address: int) -> None:
        try:
            if self.progress and not self.raised:
                now = _struct("jw_prime_progress").from_address(address)
                self.progress(PrimeProgress(
                    ("compiling", "carrying", "keeping")[now.phase], now.done, now.total, now.failed,
                    now.done_weight / now.total_weight if now.total_weight else 0.0, now.seconds_left or None, _path(now.current) or ""))
        except BaseException as why:
            self.raised = why

    def _ask(self, _context: Any) -> bool:
        try:
            if not self.over and self.cancelled and self.cancelled():
                self.over = True
        except BaseException as why:
            self.raised = why
        return self.over or self.raised is not None

    def into(self, options: _Options) -> _Options:
        if hasattr(options.struct, "progress"):
            options.struct.progress = ctypes.cast(self.on_progress, ctypes.c_void_p).value
        options.struct.cancel.is_cancelled = ctypes.cast(self.on_cancel, ctypes.c_void_p).value
        return options

    def _catch_interrupt(self) -> Any:
        """Python may run a signal's handler before a callback enters its `try`; ctypes drops what is raised there."""
        former = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(former):
            return None

        def handle(number: int, frame: Any) -> None:
            try:
                former(number, frame)
            except BaseException as why:
                self.raised = why

        signal.signal(signal.SIGINT, handle)
        return former

    def run(self, *arguments: Any) -> _Made:
        former = self._catch_interrupt()
        try:
            made = _Made(*arguments)
        except JitwarmError:
            if self.raised:
                raise self.raised
            raise
        finally:
            if former:
                signal.signal(signal.SIGINT, former)
        if self.raised:
            made.__exit__()
            raise self.raised
        return made


# ---- the calls


def _is(value: Any, kind: Any) -> bool:
    """Whether an argument has the type that a signature names. True is no number; an Iterable's items are seen when they are read."""
    origin = get_origin(kind) or kind
    if origin is Union:
        return any(_is(value, one) for one in get_args(kind))
    if origin in (int, float):
        return isinstance(value, (int, origin)) and not isinstance(value, bool)
    return callable(value) if origin is collections.abc.Callable else isinstance(value, origin)


def _typed(function: _Function) -> _Function:
    """Refuses what is not of the types in the signature: ctypes takes a number for an address."""
    kinds = get_type_hints(function)

    @functools.wraps(function)
    def call(*names: Any, **options: Any) -> Any:
        for key, value in [("names", name) for name in names] + list(options.items()):
            if key in kinds and not _is(value, kinds[key]):
                raise TypeError(f"{function.__name__}: {key}: {value!r} is of the type {type(value).__name__}")
        return function(*names, **options)

    return call  # type: ignore[return-value]


def version() -> str:
    """Of the library."""
    return str(_lib.jw_version().decode())


__version__ = version()


def program() -> str:
    """The command jitwarm that was installed with this package; else the one on PATH."""
    found = _library.program()
    if not found:
        raise NotFoundError("the command jitwarm is neither in this package nor on PATH")
    return found


@_typed
def check(*names: Name, targets: Union[str, Iterable[str], None] = None, driver: Optional[str] = None,
          cache: Optional[Name] = None, everything: bool = False, cancelled: Optional[Callable[[], bool]] = None) -> CheckResult:
    """Whether a first start would compile anything: from the files alone, in milliseconds, without waking the GPU.

    targets ("rtx4090", "sm_90", "all") and driver ("550.163.01", "12.4") ask about another machine. `cancelled` is called on
    threads of the library.
    """
    wanted, count = _targets(targets)
    calls = _Calls(None, cancelled)
    ask = {} if count else {"ask": 2}  # JW_ASK_UNCERTAIN
    with _find(names) as found, _system(asleep=True, cache_dir=cache, **ask) as system:
        if not count and not system.struct.gpu_count:
            raise NotFoundError(_chars(system.struct.why_none))
        options = calls.into(_Options("jw_check_options", found=found.address, system=system.struct, targets=wanted,
                                      target_count=count, driver=driver, everything=everything))
        with options as given, calls.run("jw_check_result", _lib.jw_check, _lib.jw_check_result_free, given) as made:
            result = made.struct
            why_useless = "" if driver else _chars(system.struct.cache.why_useless)
            verdict, status = _verdict(result.verdict)
            return CheckResult(
                gpus=tuple(CheckedGpu(_sm(gpu.target), gpu.modules, gpu.warm, gpu.cold, gpu.damaged, gpu.cold_bytes,
                                      _seconds(gpu.forecast.start), _seconds(gpu.forecast.prime))
                           for gpu in _items(result.gpus, result.gpu_count, "jw_check_gpu")),
                files=tuple(CheckedFile(_path(file.path) or "", _text(file.member), file.warm, file.cold, file.seconds)
                            for file in _items(result.files, result.file_count, "jw_check_file")),
                failing=tuple(f"{_text(file.file)}: {_text(file.why)}"
                              for file in _items(result.failing, result.failing_count, "jw_check_failing")),
                driver=_driver(result.driver), names_known=result.names_known,
                why_useless=why_useless,
                notes=_found_notes(found) + _lines(result.notes, result.note_count) + tuple(filter(None, [_chars(result.cache.text)])),
                warm=not status, verdict=verdict, status=status)


def _verdict(verdict: int) -> Tuple[str, int]:
    return _chars(_lib.jw_verdict_name(verdict)), int(_lib.jw_verdict_status(verdict))


@_typed
def prime(*names: Name, progress: Optional[Callable[[PrimeProgress], Any]] = None, jobs: int = 0, budget_seconds: float = 0,
          budget_bytes: int = 0, cache: Optional[Name] = None, everything: bool = False, low_priority: bool = False,
          dry_run: bool = False, cancelled: Optional[Callable[[], bool]] = None) -> PrimeResult:
    """Has the driver compile the cold modules in worker processes, and puts the results where it looks for them.

    progress comes on the calling thread. If it raises, the run ends soon, and the exception comes out of this call; what was
    compiled by then stays.
    """
    if not math.isfinite(budget_seconds):
        raise UsageError(f"budget_seconds: {budget_seconds} is out of range")
    calls = _Calls(progress, cancelled)
    with _find(names, sources=True) as found, _system(probe=True, cache_dir=cache) as system:
        paths, count = _paths(found)
        options = calls.into(_Options("jw_prime_options", paths=paths, path_count=count, everything=everything, jobs=jobs,
                                      budget_bytes=budget_bytes, budget_ms=int(budget_seconds * 1000), low_priority=low_priority,
                                      dry_run=dry_run))
        with options as given, calls.run("jw_prime_result", _lib.jw_prime, _lib.jw_prime_result_free, system.address, given) as made:
            result = made.struct
            failures = _items(result.failures, result.failure_count, "jw_prime_failure")
            plan, left = result.plan, result.undone + result.plan.over_budget
            troubles = result.troubles + found.struct.trouble_count
            return PrimeResult(
                modules=plan.modules, warm=plan.warm, cold=plan.cold + plan.over_budget, compiled=result.compiled,
                failed=result.failed, unchanged=result.unchanged, undone=left, added_bytes=result.added_bytes,
                seconds=result.seconds, interrupted=result.interrupted,
                stopped=_chars(result.stopped.message) if result.stopped.code else "",
                failures=tuple(PrimeFailure(_path(one.path) or "", _text(one.member), _sm(one.target), _text(one.reason) or "")
                               for one in failures),
                notes=_found_notes(found) + _lines(result.notes, result.note_count),
                verdict=_verdict(result.verdict)[0],
                complete=not (left or result.failed or result.unchanged or result.misjudged or result.interrupted or
                              result.stopped.code or plan.hopeless or troubles))


@_typed
def bake(*names: Name, output: Optional[Name] = None,
         progress: Optional[Callable[[PrimeProgress], Any]] = None, jobs: int = 0, cache: Optional[Name] = None,
         any_owner: bool = False, dry_run: bool = False,
         cancelled: Optional[Callable[[], bool]] = None) -> BakeResult:
    """Puts the compiled code into copies of the libraries below `output`."""
    if not (output or dry_run):
        raise UsageError("output names the folder for the copies")
    calls = _Calls(progress, cancelled)
    with _find(names) as found, _system(probe=True, cache_dir=cache) as system:
        how = calls.into(_Options("jw_prime_options", jobs=jobs))
        options = calls.into(_Options("jw_bake_options", system=system.struct, found=found.struct, output=output, prime=how.struct,
                                      dry_run=dry_run, any_owner=any_owner))
        with how, options as given, calls.run("jw_bake_result", _lib.jw_bake, _lib.jw_bake_result_free, given) as made:
            result = made.struct
            return BakeResult(
                files=tuple(BakedFile(_path(file.path) or "", _text(file.member), _path(file.output), file.modules, file.baked,
                                      _chars(file.failed.message) if file.failed.code else "")
                            for file in _items(result.files, result.file_count, "jw_bake_file")),
                targets=tuple(_sm(target) for target in _items(result.targets, result.target_count, "jw_target")),
                driver=_driver(result.driver), uncompiled=result.uncompiled, interrupted=result.interrupted,
                notes=_found_notes(found))
