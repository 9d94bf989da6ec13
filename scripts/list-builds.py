#!/usr/bin/env python3
"""Lists the builds of torch on PyTorch's index, and those of flash-attn on its releases page, for “jitwarm which”.

    list-builds.py [--package torch] CLONE [--list data/wheels.txt]
    list-builds.py --package flash-attn CLONE [--list data/wheels.txt]
    list-builds.py --table FILE [--list data/wheels.txt]

For torch, CLONE is a git repository of PyTorch with its tags. From each release from 2.6 on, the scripts at its tag say which
builds there are, and for which GPUs (git show vX.Y.Z:PATH); nothing in the clone runs. FILE has rows that were found
otherwise, those of releases before 2.6 in pytorch/builder: release, build, platform and architectures, with a tab
between two (2.5.1	cu124	linux	5.0;6.0;9.0).

The builds replace those that the list has of the same releases, and other releases keep theirs. A release is left
out, with a line and status 1, if its scripts cannot be read, or if a build of them differs from the wheel on PyPI that
list-wheels.py has looked at. torchvision and torchaudio follow torch: each release that requires one release of torch has its builds.
The first release that allows a torch and all newer ones was made with that one, and has its builds: torchvision 0.29.1 with torch 2.14.1,
torchaudio 2.11.0 with torch 2.11.0.

For flash-attn, setup.py names the GPUs and the oldest toolkit for each, and publish.yml the toolkits. There is one wheel
for each toolkit and torch, and pip takes that of the installed torch, so a release is left out if its wheels are for different GPUs,
and requires the versions of torch in publish.yml: for others pip compiles it.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

PLATFORMS = ("linux", "windows", "linux-aarch64")
FIRST = (2, 6)  # older releases were built by scripts of another repository
FOLLOWERS = ("torchvision", "torchaudio")
MATRIX = ".github/scripts/generate_binary_build_matrix.py"
WINDOWS = ".ci/pytorch/windows/"


class Unread(Exception):
    """A script that says something in another way than those that this one knows."""


def git(clone, *words):
    """What git prints; None if it fails."""
    answer = subprocess.run(["git", "-C", clone, *words], capture_output=True, text=True)
    return answer.stdout if answer.returncode == 0 else None


def value_of(text, name):
    """The value of a Python variable that is a literal; None if the text does not set it."""
    for node in ast.walk(ast.parse(text)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            try:
                return ast.literal_eval(node.value)
            except ValueError:
                raise Unread(f"{name} is no literal") from None
    return None


def architectures(text):
    """[50, 120] of “5.0;12.0+PTX”. The scripts write +PTX for builds that have none, so it does not count."""
    numbers = re.findall(r"(\d+)\.(\d)(?:\+PTX)?(?:;|$)", text)
    if ";".join(f"{major}.{minor}" for major, minor in numbers) != text.replace("+PTX", "").rstrip(";"):
        raise Unread(f"“{text}” is no list of architectures")
    return sorted(int(major) * 10 + int(minor) for major, minor in numbers)


def shell_list(text, toolkit, arm):
    """TORCH_CUDA_ARCH_LIST of a wheel's build by a script whose “case ${CUDA_VERSION}” or “if [[ … "12.6" … ]]” has a branch for the toolkit."""
    value, here, taken = "", True, True
    for line in text.splitlines():
        line = line.split(" #")[0].strip()
        if match := re.match(r"(\d+\.\d+(?:\s*\|\s*\d+\.\d+)*|\*)\)", line):
            here = toolkit in re.split(r"\s*\|\s*", match[1])
            line = line[match.end():].strip()
        ends = re.search(r"(^|\s);;$", line)
        line = line[:ends.start()].strip() if ends else line
        if match := re.match(r"(?:el)?if \[\[.*_VERSION\" == \*\"(\d+\.\d+)\"\*", line):
            taken = match[1] == toolkit
        elif re.match(r"if \[\[", line):
            taken = arm and "aarch64" in line  # others are for packages that are no wheels
        elif line == "else":
            taken = not taken
        elif line == "fi":
            taken = True
        elif re.match(r"\[\[.*aarch64.*TORCH_CUDA_ARCH_LIST=\$\(filter_aarch64_archs", line):
            value = ";".join(word for word in value.split(";") if word[:3] not in ("5.0", "6.0", "7.0", "7.5", "8.6")) if arm else value
        elif (match := re.match(r"(?:export )?TORCH_CUDA_ARCH_LIST=\"?(.*?)\"?$", line)) and here and taken:
            new = re.sub(r"\$\(\[\[.*?aarch64.*?\]\] && echo \"(.*?)\" \|\| echo \"(.*?)\"\)", lambda choice: choice[1 if arm else 2], match[1])
            value = re.sub(r"\$\{?TORCH_CUDA_ARCH_LIST\}?", value, new)
        if ends or line == "esac":
            here = line == "esac"
    return architectures(value) if value else None


def windows_list(clone, tag, build):
    config = git(clone, "show", f"{tag}:{WINDOWS}internal/cuda_config.bat")
    text = config or git(clone, "show", f"{tag}:{WINDOWS}cuda{build[2:]}.bat") or ""
    if config:
        text = re.split(rf'if "%CUDA_VER%"=="{build[2:]}" \(', text, maxsplit=1)[-1].split(") else")[0]
    match = re.search(r"set \"?(?:TORCH_)?CUDA_ARCH_LIST=([0-9.;+PTX]+)", text)
    return architectures(match[1]) if match else None


def architectures_of(clone, tag, build, platform):
    """The architectures of a build by the scripts of a release; None if they have none for it."""
    toolkit = f"{build[2:-1]}.{build[-1]}"
    arm = platform == "linux-aarch64"
    if platform == "windows":
        return windows_list(clone, tag, build)
    setup = git(clone, "show", f"{tag}:.ci/manywheel/build_env_setup.py")
    table = value_of(setup, "TORCH_CUDA_ARCH_LIST_TABLE") if setup else None
    if table:
        return sorted(table.get(toolkit, {}).get("aarch64" if arm else "x86_64", [])) or None
    paths = [".ci/aarch64_linux/aarch64_ci_build.sh"] if arm else []
    for path in paths + [".ci/manywheel/build_cuda.sh"]:
        script = git(clone, "show", f"{tag}:{path}")
        found = shell_list(script, toolkit, arm) if script else None
        if found:
            return found
    return None


def builds_of(clone, tag):
    """{(build, platform): architectures} of a release."""
    matrix = git(clone, "show", f"{tag}:{MATRIX}")
    if not matrix:
        raise Unread(f"{MATRIX} is not there")
    toolkits = value_of(matrix, "CUDA_ARCHES")
    if not toolkits:
        raise Unread(f"{MATRIX} has no CUDA_ARCHES")
    named = [(toolkit, platform) for toolkit in toolkits for platform in ("linux", "windows")]
    named += [(toolkit.removesuffix("-aarch64"), "linux-aarch64") for toolkit in value_of(matrix, "CUDA_AARCH64_ARCHES") or []]
    builds = {}
    for toolkit, platform in named:
        build = "cu" + toolkit.replace(".", "")
        builds[build, platform] = architectures_of(clone, tag, build, platform)
        if not builds[build, platform]:
            raise Unread(f"no script says for which GPUs {build} for {platform} is")
    return builds


def read_clone(clone):
    """{release: builds}, and a line for each release that cannot be read."""
    releases, unread = {}, []
    for tag in (git(clone, "tag", "--list", "v*") or "").split():
        if not re.fullmatch(r"v\d+\.\d+\.\d+", tag) or tuple(map(int, tag[1:].split(".")[:2])) < FIRST:
            continue
        try:
            releases[tag[1:]] = builds_of(clone, tag)
        except (Unread, SyntaxError) as why:
            unread.append(f"{tag}: {why}")
    if not releases and not unread:
        raise SystemExit(f"list-builds.py: {clone}: no tag such as v{FIRST[0]}.{FIRST[1]}.0; name a clone of PyTorch with its tags")
    return releases, unread


def read_flash(clone):
    """{release: (architectures, requirement)} of flash-attn: wheels for Linux, with the toolkits and the versions of torch in publish.yml."""
    releases, unread = {}, []
    for tag in (git(clone, "tag", "--list", "v*") or "").split():
        setup, publish = (git(clone, "show", f"{tag}:{path}") or "" for path in ("setup.py", ".github/workflows/publish.yml"))
        matrix = re.search(r"^ +cuda-version: \[(.*)\]", publish, re.M)
        toolkits = [tuple(map(int, words)) for words in re.findall(r"'(\d+)\.(\d+)\.\d+'", matrix[1])] if matrix else []
        least, by_toolkit = (0, 0), {toolkit: set() for toolkit in toolkits}
        for line in setup.splitlines():
            if match := re.match(r" *if bare_metal_version >= Version\(\"(\d+)\.(\d+)\"\)", line):
                least = tuple(map(int, match.groups()))
            elif match := re.match(r" *cc_flag\.append\(\"arch=compute_\d+,code=sm_(\d+)\"\)", line):
                for toolkit, numbers in by_toolkit.items():
                    numbers |= {int(match[1])} if toolkit >= least else set()
                least = (0, 0)
        matrix = re.search(r"^ +torch-version: \[(.*)\]", publish, re.M)
        torches = sorted(tuple(map(int, words)) for words in re.findall(r"'(\d+)\.(\d+)\.\d+'", matrix[1])) if matrix else []
        if len(set(map(frozenset, by_toolkit.values()))) == 1 and all(by_toolkit.values()) and torches:
            releases[tag[1:]] = sorted(by_toolkit[toolkits[0]]), f"torch>={torches[0][0]}.{torches[0][1]},<{torches[-1][0]}.{torches[-1][1] + 1}"
        else:
            unread.append(f"{tag}: its scripts do not say for which GPUs, or its wheels are for different ones")
    return releases, unread


def read_table(path):
    releases = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            release, build, platform, text = line.split("\t")
            if platform not in PLATFORMS or not re.fullmatch(r"cu\d{2,3}", build):
                raise ValueError
            releases.setdefault(release, {})[build, platform] = architectures(text)
        except (ValueError, Unread):
            raise SystemExit(f"list-builds.py: {path}: line {number}: not “RELEASE build platform 5.0;6.0”, with a tab between two") from None
    return releases


# ---- the list (its form: src/which/wheel_list.h)


def order(release):
    return tuple(int(number) for number in re.findall(r"\d+", release))


class Package:
    """The lines of a package: those of wheels as they are, and those of builds by release."""

    def __init__(self, lines):
        self.wheels, self.builds = [], {}
        release = None
        for line in lines:
            words = line.split(" ")
            release = words[1].partition("+")[0] if words[0] == "build" else release if words[0] == "requires" else None
            if release:
                self.builds.setdefault(release, []).append(line)
            else:
                self.wheels.append(line)

    def pythons(self, release, platform):
        """Those of the wheel on PyPI, for that platform or another one: PyTorch makes its builds for the same versions."""
        found = {}
        for line in self.wheels + self.builds.get(release, []):
            words = line.split(" ")
            if words[0] in ("wheel", "same", "unseen", "build") and words[1].partition("+")[0] == release:
                found.setdefault(words[2], words[3])
        return found.get(platform) or next(iter(found.values()), None)

    def facts(self, release, platform):
        """The toolkit and the architectures of the largest library of a wheel that was looked at."""
        sizes, here, toolkit, library = {}, False, None, None
        for line in self.wheels:
            words = line.split(" ")
            if words[0] in ("wheel", "same", "unseen"):
                here = words[0] == "wheel" and words[1:3] == [release, platform]
            elif here and words[0] == "library":
                library = words[3]
                toolkit = int(words[2].lstrip("~")) if library.endswith("libtorch_cuda.so") else toolkit
            elif here and words[0] == "piece" and library.endswith("libtorch_cuda.so"):
                key = tuple(sorted({int(number) for number in re.findall(r"\bsm_(\d+)(?=[#zr ]|$)", line)}))
                sizes[key] = sizes.get(key, 0) + int(words[1])
        return toolkit, max(sizes, key=sizes.get) if sizes else ()

    def requirers(self, package):
        """The wheels that require one release of a package, and the first ones that require it or a newer one: (release, platform, sign,
        that one). A wheel that was not looked at requires what its release requires on another platform."""
        own, like, wheels, bounds = {}, {}, [], {}
        for line in self.wheels:
            words = line.split(" ")
            if words[0] in ("wheel", "same", "unseen"):
                wheels.append(tuple(words[1:3]))
                if words[0] == "same":
                    like[wheels[-1]] = (words[4], words[2])
            elif words[0] == "requires":
                own.setdefault(wheels[-1], [])
                if found := re.match(rf"requires {package} ?\(?(==|>=)([0-9.]+)\)?(?: *;.*)?$", line):
                    own[wheels[-1]].append((found[1], found[2]))
                    bounds[found[0], wheels[-1][1]] = wheels[-1][0]
        first = set(bounds.values())
        pins = {wheel: own.get(wheel, own.get(like.get(wheel))) for wheel in wheels}
        for release, platform in wheels:
            others = [pins[release, at] for at in PLATFORMS if pins.get((release, at)) is not None]
            known = pins[release, platform]
            for sign, pin in known if known is not None else others[0] if others else []:
                if sign == "==" or release in first:
                    yield release, platform, sign, pin

    def lines(self):
        return self.wheels + [line for release in sorted(self.builds, key=order, reverse=True) for line in self.builds[release]]


def read_list(path):
    head, *lines = path.read_text().splitlines()
    packages = {}
    for line in lines:
        if line.startswith("package "):
            name = line.split(" ")[1]
            packages[name] = []
        else:
            packages[name].append(line)
    return head, {name: Package(lines) for name, lines in packages.items()}


def rows(package, release, builds, sign="", pin=""):
    """The lines of a release's builds, the newest toolkit first, and the platforms as they are in the list."""
    lines = []
    for platform in PLATFORMS:
        pythons = package.pythons(release, platform)
        here = [(int(build[2:]), numbers) for (build, at), numbers in builds.items() if at == platform]
        for build, numbers in sorted(here, reverse=True) if pythons else []:
            toolkit = build // 10 * 1000 + build % 10 * 10
            lines.append(f"build {release}+cu{build} {platform} {pythons} {toolkit} " + " ".join(f"sm_{number}" for number in numbers))
            if pin:
                lines.append(f"requires torch{sign}{pin}" + (f"+cu{build}" if sign == "==" else ""))
    return lines


def differing(torch, release, builds):
    """The builds that are on PyPI, too, and do not have the architectures of the wheel there."""
    for (build, platform), numbers in builds.items():
        toolkit, looked = torch.facts(release, platform)
        if toolkit == int(build[2:]) // 10 * 1000 + int(build[2:]) % 10 * 10 and looked and tuple(numbers) != looked:
            yield f"{release}+{build} for {platform} has {numbers} by its scripts, and {list(looked)} in PyPI's wheel"


def add(packages, releases):
    """Puts the builds into the list; returns a line for each release that was left out."""
    torch, left_out = packages["torch"], []
    for release, builds in releases.items():
        different = list(differing(torch, release, builds))
        left_out += different
        lines = [] if different else rows(torch, release, builds)
        if lines:
            torch.builds[release] = lines
        elif not different:
            left_out.append(f"{release}: the list of wheels does not have it, so the versions of Python are unknown")
    for name in FOLLOWERS:
        follower, builds = packages[name], {}
        # Who has no build for arm64 on the index cannot be told from the scripts.
        for release, platform, sign, pin in follower.requirers("torch"):
            minor = [at for at in torch.builds if order(at)[:2] == order(pin)[:2]]
            for line in torch.builds.get(pin if sign == "==" else max(minor, key=order), []) if platform != "linux-aarch64" else []:
                words = line.split(" ")
                if words[2] == platform:
                    builds.setdefault((release, sign, pin), {})[words[1].partition("+")[2], platform] = [int(word[3:]) for word in words[5:]]
        follower.builds |= {release: rows(follower, release, of, sign, pin) for (release, sign, pin), of in builds.items()}
    return left_out


def add_flash(package, releases):
    for release, (numbers, requirement) in releases.items():
        if pythons := package.pythons(release, "linux"):
            package.wheels = [line for line in package.wheels if line.split(" ")[1] != release]
            package.builds[release] = [f"build {release} linux {pythons} 0 " + " ".join(f"sm_{number}" for number in numbers), f"requires {requirement}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", nargs="?")
    parser.add_argument("--package", choices=["torch", "flash-attn"], default="torch")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "data/wheels.txt")
    arguments = parser.parse_args()
    if bool(arguments.clone) == bool(arguments.table):
        parser.error("name a clone, or a table")
    head, packages = read_list(arguments.list)
    if arguments.package == "flash-attn":
        releases, left_out = read_flash(arguments.clone)
        add_flash(packages["flash-attn"], releases)
    else:
        releases, left_out = (read_table(arguments.table), []) if arguments.table else read_clone(arguments.clone)
        left_out += add(packages, releases)
    text = [head] + [line for name, package in packages.items() for line in [f"package {name}"] + package.lines()]
    arguments.list.write_text("\n".join(text) + "\n")
    for line in left_out:
        print(f"list-builds.py: {line}", file=sys.stderr)
    return bool(left_out)


if __name__ == "__main__":
    sys.exit(main())
