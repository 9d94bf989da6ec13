"""Answers questions about package indexes with pip's own parts, for pip.c: a line of JSON in, lines of JSON out.

    index.py {"wheels": FOLDER, "temporary": FOLDER, "platform": "x86_64-linux" or "", "python": "3.11" or "", "any_python": BOOL}

First it answers whether there is a pip. Each answer ends with {"end": true} or with one object {"error": KIND, …}:

    {"do": "list", "name": NAME}                  one object for each wheel
    {"do": "sizes", "files": "NAME NAME…"}        {"file", "size"} of wheels that were listed, by asking for each
    {"do": "requires", "files": "NAME NAME…"}     {"file", "requires"} of wheels that were listed, of which only the ends are fetched
    {"do": "get", "lines": TEXT, "options": TEXT} puts the wheels of these requirements into the folder; one object for each

No package's code runs and nothing is built: pip's finder and its session are used, and no other part of it. What pip prints is
dropped. Each part that is not in all pips since 20.0.2 has a guard. The program is an argument: Windows allows 32 KB for all.
"""
import contextlib
import hashlib
import io
import json
import os
import platform
import queue
import re
import sys
import threading
import time
import urllib.parse
import zipfile
import zlib

METADATA_BYTES, PART_BYTES, MOST_REQUIREMENTS, MOST_LETTERS, MOST_WAIT_S, MOST_FILES = 16 << 20, 1 << 16, 4096, 100_000, 60, 50000
WHEEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*\.whl")  # no path, one word
SOURCES = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")
sizes, seen, troubles, secrets = {}, {}, [], set()


def say(**facts):
    answers.write(json.dumps(facts) + "\n")
    answers.flush()


class Failure(Exception):
    """The answer to a question that cannot be answered."""

    def __init__(self, kind, **facts):
        super().__init__(kind)
        self.facts = {"error": kind, **facts}


# ---- passwords


def note_secrets(text):
    """Each “@” of an address may be the end of its name and password."""
    for rest in re.findall(r"://(\S+)", text):
        for at in [at for at, letter in enumerate(rest) if letter == "@"]:
            password = rest[:at].partition(":")[2] or rest[:at]
            secrets.update({password, urllib.parse.unquote(password)})


def clean(text):
    """A text for people, in one line, without passwords."""
    text = re.sub(r"(://)\S*@", r"\1", " ".join(str(text).split()))
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > 2:
            text = text.replace(secret, "****")
    return text[:600]


def without_login(address):
    return re.sub(r"^(\w+://)[^/]*@", r"\1", address)


def host_of(address):
    return urllib.parse.urlsplit(address).netloc.rpartition("@")[2] or address


# ---- what fails


def failure_of(why, address):
    """pip skips an index that fails; here it is an answer."""
    import ssl

    chain = [why]
    while len(chain) < 16:
        last = chain[-1]
        inner = [one for one in (getattr(last, "reason", None), *last.args, last.__cause__) if isinstance(one, Exception)]
        if not inner or inner[0] in chain:
            break
        chain.append(inner[0])
    names = " ".join(type(one).__name__ for one in chain)
    proxy = re.search(r"Tunnel connection failed: ([^')]*)", str(why))
    for one in chain:
        if isinstance(one, ssl.SSLCertVerificationError):
            return Failure("certificate", host=host_of(address), reason=clean(getattr(one, "verify_message", "") or one))
    if "TooManyRedirects" in names or "ResponseError" in names:
        status = re.search(r"too many (\d+) error responses", str(why))
        return Failure("failed", host=host_of(address), status=int(status[1]) if status else 0, reason=clean(chain[-1]))
    words = [one.strerror for one in chain if isinstance(getattr(one, "strerror", None), str)] + re.findall(r"\[Errno -?\d+\] ([^'\")]*)", str(why))
    reason = proxy[1] if proxy else "timeout" if "Timeout" in names else words[0] if words else chain[-1]
    return Failure("reach", host=host_of(address), reason=clean(reason))


def refusal_of(answer, address):
    kind, wait = {401: "login", 403: "refused", 404: "unknown"}.get(answer.status_code, "failed"), answer.headers.get("Retry-After", "")
    return Failure(kind, host=host_of(address), status=answer.status_code, reason="", wait=int(wait) if re.fullmatch(r"\d{1,9}", wait) else 0)


def watch_pip():
    """Notes the failures of pip's session, each link of a page, and the sizes that pages tell (PEP 700) and pip drops."""
    from pip._internal.index.package_finder import LinkEvaluator
    from pip._internal.models.link import Link
    from pip._internal.network.session import PipSession
    from pip._vendor.urllib3.util.retry import Retry

    request, secure, evaluate, waits = PipSession.request, PipSession.is_secure_origin, LinkEvaluator.evaluate_link, [0]

    def noted_request(session, method, address, *more, **words):
        try:
            answer = request(session, method, address, *more, **words)
        except Failure as failure:
            failure.facts["host"] = host_of(address)
            raise
        except Exception as why:
            troubles.append(failure_of(why, address))
            raise
        if answer.status_code >= 400:
            troubles.append(refusal_of(answer, address))
        return answer

    def noted_origin(session, location):
        safe = secure(session, location)
        if not safe:
            troubles.append(Failure("insecure", host=host_of(str(getattr(location, "url", location))).partition(":")[0]))
        return safe

    def noted_link(evaluator, link):
        kind, detail = evaluate(evaluator, link)
        files = seen.setdefault(evaluator.project_name, {})
        files.setdefault(link.filename, (link, getattr(kind, "name", kind) in (True, "candidate")))
        if len(files) > MOST_FILES:
            raise Failure("many", name=evaluator.project_name)
        return kind, detail

    def bounded_wait(retry, response=None):
        seconds = retry.get_retry_after(response) or 0
        waits[0] += seconds
        if waits[0] > MOST_WAIT_S:
            raise Failure("failed", status=response.status, reason="", wait=int(seconds))
        time.sleep(seconds)
        return bool(seconds)

    PipSession.request, PipSession.is_secure_origin, LinkEvaluator.evaluate_link = noted_request, noted_origin, noted_link
    Retry.sleep_for_retry = bounded_wait
    plain = getattr(Link, "from_json", None)  # since 22.2
    if plain:

        def from_json(cls, file, page):
            link = plain.__func__(cls, file, page)
            if link and isinstance(file.get("size"), int):
                sizes[link.filename] = file["size"]
            if len(sizes) > 2 * MOST_FILES:  # a page is read whole before its links are looked at
                raise Failure("many", name=link.filename.partition("-")[0])
            return link

        Link.from_json = classmethod(from_json)


# ---- the names of wheels


def system_of(tag):
    """The platform of a tag, by jitwarm's name if it has one."""
    machine = {"x86_64": "linux", "aarch64": "linux-aarch64"}.get(re.sub(r"^.*?linux(\d+|_\d+_\d+)?_", "", tag))
    if tag.startswith(("linux", "manylinux")) and machine:
        return machine
    return "windows" if tag == "win_amd64" else "macos" if tag.startswith("macosx") else tag


def pythons_within(least, requires):
    """The minor versions of Python from LEAST, (3, 8), that Requires-Python allows, if it has an upper bound"""
    bounds = [re.search(sign + r"\s*(\d)\.(\d+)", requires or "") for sign in (">=", "<(?!=)")]
    low, high = [bound and (int(bound[1]), int(bound[2])) for bound in bounds]
    low = max(least, low or least)
    return low, range(low[1], high[1]) if high and high > low else ()


def python_words(tags, requires):
    """The Pythons of a wheel, in the list's form (cp310, cp38+, py3; cp313t, pp310) and in people's."""
    least = least_python(requires)
    listed, shown = [], set()
    for python, abi in sorted({(tag.interpreter, tag.abi) for tag in tags}):
        match = re.fullmatch(r"([a-z]+)(\d)(\d*)", python)
        kind, major, minor = match.groups() if match else (python, "", "")
        if abi == "abi3" and minor:
            low, allowed = pythons_within((int(major), int(minor)), requires)
            listed.extend([f"cp{low[0]}{one}" for one in allowed] or [f"cp{low[0]}{low[1]}+"])
            shown.update([f"{low[0]}.{one}" for one in allowed] or [f"{low[0]}.{low[1]}+"])
            continue
        more = "t" if abi.startswith("cp") and abi.endswith("t") else ""
        shown.add(("PyPy " if kind == "pp" else "") + (f"{major}.{minor}{more}" if minor else major or python))
        if abi == "abi3":
            listed.append(python + "+")
        elif kind == "py":
            listed.append("cp{}{}+".format(*least) if least else "py3")
        else:
            listed.append(abi if more == "t" else python)
    numbers = lambda word: [int(number) for number in re.findall(r"\d+", word)]
    return ",".join(dict.fromkeys(listed)), sorted(shown, key=lambda word: (word.startswith("PyPy"), numbers(word), word))


def least_python(requires):
    match = re.search(r">=\s*(\d+)\.(\d+)", requires or "")
    return match and (int(match[1]), int(match[2]))


def digests(link):
    found = dict(getattr(link, "_hashes", None) or {})
    if link.hash:
        found[link.hash_name] = link.hash
    return found


class Listed:
    """A wheel of an index."""

    def __init__(self, link, fits, package):
        from pip._internal.models.wheel import Wheel
        from pip._vendor.packaging.utils import canonicalize_name
        from pip._vendor.packaging.version import Version

        name = Wheel(link.filename)
        if not WHEEL.fullmatch(link.filename) or len(link.filename) > 300 or canonicalize_name(name.name) != package:
            raise ValueError(link.filename)
        self.link, self.fits, self.file = link, fits, link.filename
        self.version = Version(str(name.version))
        self.tags = name.file_tags
        self.systems = sorted({system_of(tag.platform) for tag in self.tags})
        self.hashes = digests(link)
        self.pythons, self.shown = python_words(self.tags, link.requires_python)

    def facts(self):
        digits = str(self.hashes.get("sha256", "")).lower()
        return {"file": self.file, "version": str(self.version), "pre": self.version.is_prerelease, "systems": self.systems, "pythons": self.pythons,
                "address": without_login(self.link.url_without_fragment), "sha256": digits if re.fullmatch("[0-9a-f]{64}", digits) else "",
                "size": self.size, "yanked": self.link.is_yanked, "requires_python": self.link.requires_python or "",
                "fits": self.fits, "best": self.best}


# ---- requirements


def place(system, python):
    """The variables of markers (PEP 508), as in find/marker.c; nothing of the machine that asks."""
    windows = system == "windows"
    return {"python_version": python, "python_full_version": python + ".0", "implementation_version": python + ".0", "implementation_name": "cpython",
            "platform_python_implementation": "CPython", "platform_release": "", "platform_version": "", "extra": "",
            "platform_system": "Windows" if windows else "Linux", "sys_platform": "win32" if windows else "linux", "os_name": "nt" if windows else "posix",
            "platform_machine": "aarch64" if system == "linux-aarch64" else "AMD64" if windows else "x86_64"}


class Remote(io.RawIOBase):
    """A wheel in an index, of which only the parts that are read are fetched: mostly its end, which has the directory and METADATA."""

    def __init__(self, session, address):
        self.session, self.address, self.at = session, address, 0
        self.size = self.fetch(f"-{PART_BYTES}", None)

    def fetch(self, part, start):
        headers = {"Accept-Encoding": "identity", "Range": "bytes=" + part}
        with contextlib.closing(self.session.get(self.address, headers=headers, stream=True)) as answer:
            match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", answer.headers.get("Content-Range", ""))
            first, last = (int(match[1]), int(match[2])) if match else (0, -1)
            if answer.status_code != 206 or not 0 <= last - first < METADATA_BYTES or (start is not None and first != start):
                raise OSError("the index sends no part of a file")
            self.start, self.held = first, answer.raw.read(last + 1 - first)
            if len(self.held) != last + 1 - first:
                raise OSError("the index sends less than a part of a file")
        return int(match[3])

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.at = offset + (self.size if whence == 2 else self.at if whence == 1 else 0)
        return self.at

    def readinto(self, room):
        size = min(len(room), self.size - self.at)
        if size > 0 and not self.start <= self.at <= self.at + size <= self.start + len(self.held):
            self.fetch(f"{self.at}-{min(self.at + max(size, PART_BYTES), self.size) - 1}", self.at)
        got = self.held[self.at - self.start:][:max(size, 0)]
        room[:len(got)] = got
        self.at += len(got)
        return len(got)


def metadata(file, name):
    """The METADATA of a wheel."""
    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.namelist():
                if re.fullmatch(r"[^/]*\.dist-info/METADATA", member):
                    # Other methods unpack all that was read before read() counts it.
                    if archive.getinfo(member).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                        raise ValueError("METADATA is compressed by another method than deflate")
                    return archive.open(member).read(METADATA_BYTES)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as why:
        raise Failure("zip", file=name, reason=clean(why))
    return b""


def requirements(text):
    """The requirements in METADATA, as they are written: find/requirement.c reads them."""
    found, size = [], 0
    for line in re.split(r"\r?\n\r?\n", text.decode("utf-8", "replace"), 1)[0].split("\n"):
        field, _, value = line.rstrip("\r").partition(":")
        value = " ".join(value.split())
        size += len(value) if field == "Requires-Dist" else 0
        if field == "Requires-Dist" and len(value) < 4096 and len(found) < MOST_REQUIREMENTS and size < MOST_LETTERS:
            found.append(value)
    return found


def source_version(file, name):
    """The version of a file NAME-VERSION.tar.gz; "" if it is no release's source code."""
    from pip._vendor.packaging.utils import canonicalize_name
    from pip._vendor.packaging.version import Version

    stem = next((file[:-len(end)] for end in SOURCES if file.endswith(end) and len(file) <= 300), "")
    for at in [match.start() for match in re.finditer("-", stem)]:
        if canonicalize_name(stem[:at]) == name:
            with contextlib.suppress(ValueError):  # of a version, or of its numbers
                version = Version(stem[at + 1:])
                return "" if version.is_prerelease else str(version)
    return ""


# ---- questions


def platform_tags(machine, system):
    """The tags of a platform (PEP 600), those of newer systems first, since more wheels are built with these."""
    if system == "windows":
        return ["win_amd64" if machine == "x86_64" else "win_arm64"]
    names = {17: ["manylinux2014"], 12: ["manylinux2010"], 5: ["manylinux1"]}
    minors = range(45, 4 if machine == "x86_64" else 16, -1)
    return [f"{name}_{machine}" for minor in minors for name in [f"manylinux_2_{minor}", *names.get(minor, [])]] + [f"linux_{machine}"]


class Index:
    def __init__(self, wheels, platform_name, python, any_python):
        """With a platform, the wheels of another machine are meant; the Python is that of these wheels, or "" for this one."""
        self.folder, self.finders, self.any_python, self.where = wheels, {}, any_python, None
        machine, _, system = (platform_name or f"{platform.machine()}-{platform.system().lower()}").partition("-")
        self.system = "windows" if system == "windows" else "linux-aarch64" if machine == "aarch64" else "linux"
        self.options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input"]
        self.tags = platform_tags(machine, system) if platform_name else []
        for tag in self.tags:
            self.options += ["--platform", tag]
        if python and not any_python:
            # Up to 3.7 the ABI is named after its allocator: cp37m (PEP 425).
            abi = "cp" + python.replace(".", "") + ("m" if tuple(map(int, python.split(".")[:2])) <= (3, 7) else "")
            self.options += ["--python-version", python, "--implementation", "cp", "--abi", abi]
        if platform_name or python:
            self.where = place(self.system, python or "{}.{}".format(*sys.version_info))

    def finder(self, lines):
        """pip's finder for these options of a list, and pip's session."""
        if lines not in self.finders:
            from pip._internal.cli import cmdoptions
            from pip._internal.commands.download import DownloadCommand

            try:
                command = DownloadCommand("download", "")
            except TypeError:
                command = DownloadCommand()
            words = [word for line in lines.splitlines() for word in re.split(r"[ =]+", line.replace("-ihttp", "-i http", 1), 1)]
            printed = io.StringIO()
            try:
                with contextlib.redirect_stderr(printed):
                    parsed, _ = command.parse_args([*self.options, *words])
            except SystemExit:
                raise Failure("words", reason=clean(printed.getvalue().strip().rpartition("\n")[2]))
            for address in [parsed.index_url or "", parsed.proxy or "", *parsed.extra_index_urls, *parsed.find_links]:
                note_secrets(address)
            session = command._build_session(parsed)
            target = cmdoptions.make_target_python(parsed)
            if hasattr(parsed, "platform"):  # before 20.3, of several platforms only the last one counts
                tags = []
                for parsed.platform in self.tags or [None]:
                    tags += cmdoptions.make_target_python(parsed).get_tags()
                target._valid_tags = list(dict.fromkeys(tags))
            finder = command._build_package_finder(options=parsed, session=session, target_python=target, ignore_requires_python=self.any_python)
            self.finders[lines] = finder, session, {}
        return self.finders[lines]

    def wheels(self, name, lines=""):
        """The wheels of a package, the newest first, and the versions of which an index has the source code."""
        finder, _, known = self.finder(lines)
        if name not in known:
            del troubles[:]
            seen.clear()
            sizes.clear()
            try:
                candidates = finder.find_all_candidates(name)
            except Failure:
                raise
            except Exception:
                if troubles:
                    raise troubles[0]
                raise
            wheels, sources = [], set()
            for link, fits in seen.get(name, {}).values():
                if link.filename.endswith(SOURCES) and not link.is_yanked:
                    sources.add(source_version(link.filename, name))
                try:
                    wheels.append(Listed(link, fits, name))
                except Exception:
                    continue
            wheels.sort(key=lambda wheel: wheel.version, reverse=True)
            evaluator, releases = finder.make_candidate_evaluator(name), {}
            for candidate in candidates:
                releases.setdefault(candidate.version, []).append(candidate)
            best = {(evaluator.sort_best_candidate(one) if one[1:] else one[0]).link.filename for one in releases.values()}
            for wheel in wheels:
                wheel.best, wheel.size = wheel.file in best, sizes.get(wheel.file, 0)
            known[name] = wheels, sources, list(troubles)
        return known[name]

    def lack(self, name, asked, specifier, lines):
        """Why no wheel fits."""
        wheels, sources, failures = self.wheels(name, lines)
        kinds = {failure.facts["error"]: failure for failure in failures}
        for failure in failures:
            if failure.facts["error"] not in ("unknown", "refused"):
                return failure
        others = [wheel for wheel in wheels if specifier.contains(str(wheel.version), prereleases=True)]
        if others and not any(wheel.fits for wheel in others):
            others = [wheel for wheel in others if wheel.version == others[0].version]
            pythons = python_words([tag for wheel in others for tag in wheel.tags], None)[1]
            return Failure("wheel", name=name, version=str(others[0].version), pythons=", ".join(pythons[:24]),
                           systems=", ".join(sorted({system for wheel in others for system in wheel.systems})[:24]))
        if wheels:
            versions = [str(version) for version in sorted({wheel.version for wheel in wheels})]
            versions[2:-2] = ["…"] if len(versions) > 8 else versions[2:-2]
            return Failure("version", asked=asked, versions=", ".join(versions))
        if sources:
            return Failure("source", asked=asked)
        for kind in "refused", "unknown":
            if kind in kinds:
                kinds[kind].facts["name"] = name
                return kinds[kind]
        return Failure("version", asked=asked, versions="")

    def list(self, question):
        from pip._vendor.packaging.specifiers import SpecifierSet

        name = question["name"]
        wheels, sources, _ = self.wheels(name)
        if not wheels:
            raise self.lack(name, name, SpecifierSet(), "")
        page = wheels[0].link.comes_from
        page = without_login(str(getattr(page, "url", None) or page or ""))
        if re.match(r"https?://", page):
            say(index=page.partition("://")[2].partition("#")[0].rstrip("/").rpartition("/")[0])
        for wheel in wheels:
            say(**wheel.facts())
        for version in sorted(sources - {str(wheel.version) for wheel in wheels} - {""}):
            say(source=version)

    def listed(self):
        return {wheel.file: wheel for finder in self.finders.values() for wheels in finder[2].values() for wheel in wheels[0]}

    def required(self, wheel):
        """The requirements of a wheel, from the file beside it (PEP 658), or from its end."""
        session, beside = self.finder("")[1], None
        with contextlib.suppress(Exception):  # since 22.1; some pips expect another form of the page
            beside = wheel.link.metadata_link()
        if beside:
            with contextlib.closing(session.get(beside.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)) as answer:
                text = answer.raw.read(METADATA_BYTES) if answer.ok else b""
                length = int(answer.headers.get("Content-Length") or len(text))
            sums = {name: digits for name, digits in digests(beside).items() if name in hashlib.algorithms_available}
            if b"Name:" in text and len(text) == length and all(hashlib.new(name, text).hexdigest() == sums[name].lower() for name in sums):
                return requirements(text)
        text = metadata(io.BufferedReader(Remote(session, wheel.link.url_without_fragment), PART_BYTES), wheel.file)
        if b"Name:" not in text:
            raise ValueError("no METADATA")
        return requirements(text)

    def requires(self, question):
        files = self.listed()
        for name in question["files"].split():
            with contextlib.suppress(Exception):
                say(file=name, requires=self.required(files[name]))

    def sizes(self, question):
        files, session = self.listed(), self.finder("")[1]
        for name in question["files"].split():
            with contextlib.suppress(Exception):
                head = session.head(files[name].link.url_without_fragment, timeout=15, allow_redirects=True)
                files[name].size = int(head.headers.get("Content-Length", 0)) if head.ok else 0
                say(file=name, size=files[name].size)

    def get(self, question):
        from pip._internal.utils.hashes import Hashes
        from pip._vendor.packaging.requirements import Requirement
        from pip._vendor.packaging.specifiers import SpecifierSet
        from pip._vendor.packaging.utils import canonicalize_name

        wanted, options = {}, question.get("options", "")
        for line in question["lines"].splitlines():
            text, *hashes = re.split(r"\s+--hash=", line)
            try:
                requirement = Requirement(text)
                counts = not requirement.marker or requirement.marker.evaluate(self.where)
            except Exception as why:
                raise Failure("words", reason=clean(why))
            if counts:
                name = canonicalize_name(requirement.name)
                asked, specifier, digests = wanted.get(name, (text, SpecifierSet(), {}))
                for word in hashes:
                    algorithm, _, digits = word.strip().partition(":")
                    digests.setdefault(algorithm, []).append(digits.lower())
                wanted[name] = asked.partition(";")[0].strip(), specifier & requirement.specifier, digests
        found = []
        for name, (asked, specifier, digests) in wanted.items():
            wheels = {wheel.file: wheel for wheel in self.wheels(name, options)[0]}
            best = self.finder(options)[0].find_best_candidate(name, specifier, Hashes(digests) if digests else None).best_candidate
            if not best:
                raise self.lack(name, asked, specifier, options)
            found.append((wheels[best.link.filename], digests))
        for wheel, digests in found:
            self.fetch(wheel, digests, options)

    def fetch(self, wheel, digests, options):
        address, path = wheel.link.url_without_fragment, os.path.join(self.folder, wheel.file)
        wanted = {**{name: [digits] for name, digits in wheel.hashes.items()}, **digests}
        sums = {name: hashlib.new(name) for name in {*wanted, "sha256"} if name in hashlib.algorithms_available}
        size = 0
        try:
            answer = self.finder(options)[1].get(address, headers={"Accept-Encoding": "identity"}, stream=True)
            if answer.status_code >= 400:
                raise refusal_of(answer, address)
            length = int(answer.headers.get("Content-Length") or 0)
            if length:
                say(total=length)
            with open(path, "xb") as file:
                for piece in answer.iter_content(1 << 18):
                    size += len(piece)
                    file.write(piece)
                    for one in sums.values():
                        one.update(piece)
        except (Failure, KeyboardInterrupt):
            raise
        except OSError as why:
            if getattr(why, "errno", None) in (28, 112, 122) or getattr(why, "winerror", None) == 112:
                raise Failure("space")
            raise failure_of(why, address)
        if size < length:
            raise Failure("short", file=wheel.file, size=length, got=size)
        for name, allowed in wanted.items():
            if name not in sums or sums[name].hexdigest() not in (digits.lower() for digits in allowed):
                raise Failure("hash", file=wheel.file)
        say(**{**wheel.facts(), "sha256": sums["sha256"].hexdigest(), "size": size, "requires": requirements(metadata(path, wheel.file))})


# ---- starting


def find_pip():
    """pip is an installed one of this Python, the account's own one, or the wheel of it that Python brings for ensurepip. An index's pip would
    be code of the index. Nothing of the current folder is loaded."""
    import glob
    import site
    import sysconfig

    folders = [os.path.join(os.path.dirname(os.__file__), "ensurepip", "_bundled"), sysconfig.get_config_var("WHEEL_PKG_DIR")]
    wheels = [max(found) for found in (folder and glob.glob(os.path.join(glob.escape(folder), "pip-*.whl")) for folder in folders) if found]
    for folder in [None, site.getusersitepackages(), *wheels]:
        if folder:
            sys.path.append(folder)
        try:
            import pip

            return pip.__version__
        except (ImportError, AttributeError):
            sys.modules.pop("pip", None)
    raise Failure("none")


def move(temporary):
    """Moves to an empty folder, since a folder “https:” of the current one would make a path of an address. Paths in variables of the account
    stay those of the folder before."""
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_CONSTRAINT", "PIP_CERT", "PIP_CLIENT_CERT",
                 "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC"):
        if os.environ.get(name):
            words = os.environ[name].split(" ")
            os.environ[name] = " ".join(os.path.abspath(word) if "://" not in word and os.path.exists(word) else word for word in words)
    os.chdir(temporary)


def answer(ask, question):
    try:
        ask(question)
        say(end=True)
    except Failure as failure:
        say(**failure.facts)
    except MemoryError:
        say(error="words", reason="out of memory")
    except Exception as why:
        say(error="words", reason=clean(f"{type(why).__name__}: {why}"))


def main(text):
    global answers
    how, lines = json.loads(text), queue.Queue()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def read():
        rest = b""
        while True:
            piece = os.read(0, 1 << 16)
            if not piece:
                os._exit(0)  # jitwarm has ended
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    for value in os.environ.values():
        note_secrets(value)

    def begin(_):
        import tempfile

        version = find_pip()
        numbers = re.match(r"\d+", version)
        if not numbers or int(numbers[0]) < 20:
            raise Failure("old", version=clean(version))
        tempfile.tempdir = how["temporary"]
        move(how["temporary"])
        watch_pip()

    answer(begin, None)
    index = Index(how["wheels"], how["platform"], how["python"], how["any_python"])
    while True:
        question = json.loads(lines.get())
        answer({"list": index.list, "sizes": index.sizes, "requires": index.requires, "get": index.get}[question["do"]], question)


if __name__ == "__main__":
    main(sys.argv[1])
