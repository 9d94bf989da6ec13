#!/usr/bin/env python3
"""commands.py BUILD   runs the commands of README.md's and docs/'s blocks, page by page, each page in a new home beside the simulated
driver, and the examples of --help, each command's in a new home; those of README.LANGUAGE.md and docs/LANGUAGE/*.md in that language. The
packages that pages name are made here, with the sample framework's library. A command ends with 0 or, where it finds something cold, with
1. What another test runs, or what needs a network or NVIDIA's compilers, is named below with the reason: a line of that list that fits no
command fails, as a command does that is not run for no reason. Commands of other programs (pip, scripts of the repository, srun) are
named with the script that runs them, and with words that it then contains. The lines below a command are its output: each stands in what the
command prints here, in order, but for numbers, sizes, times and folders; a line “…” stands for lines left out. Blocks in Python are run, those
in YAML are read, and other languages are named with the script that runs them. Pages for users have no indented blocks."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.dom.minidom
import xml.parsers.expat


def read_xml(text):
    try:
        xml.dom.minidom.parseString(text)
    except xml.parsers.expat.ExpatError as error:
        raise ValueError(str(error)) from error


ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# Page, pattern of the command, reason
ELSEWHERE = [
    ("many-machines.md", "--store /mnt", "fleet-pages runs this with a folder"),
    ("many-machines.md", ">/etc/slurm", "writes where Slurm's settings are; fleet-slurm runs it"),
    ("containers.md", "run --record", "needs the reader's program; driver-recording-image-* run the recipe"),
    ("containers.md", "compiler fetch", "needs the package index; elsewhere-* run it"),
    ("containers.md", "make --target", "needs NVIDIA's ptxas; fleet-pages runs this very command"),
    ("elsewhere.md", "", "needs NVIDIA's ptxas; elsewhere-* run these"),
    ("recording.md", "--nvrtc", "needs NVIDIA's NVRTC; nvrtc-* run these"),
    ("windows.md", "startup enable --service", "writes units of the machine; cli-startup-units runs it"),
    ("--help", "make --target rtx3070", "needs NVIDIA's ptxas; elsewhere-* run it"),
    ("many-machines.md", "make --target native --driver", "needs the library of another driver; driver-next runs it"),
    ("many-machines.md", "import --as-is", "needs that pack; driver-next runs it"),
    ("which.md", "--ask", "needs the package index; elsewhere-ask runs its like"),
    ("--help", "which torch --ask", "needs the package index; elsewhere-ask runs its like"),
    ("--help", "--store /srv/jitwarm", "needs a folder that machines share; cli-folder runs its like"),
    ("--help", "startup enable --service", "writes units of the machine; cli-startup-units runs it"),
    ("--help", "compiler fetch", "needs the package index; elsewhere-* run it"),
    ("--help", "uninstall", "removes what the account of the test itself has; cli-startup runs it"),
]
# Commands of pages that end with another status than 0
ENDS = {
    ("troubleshooting.md", "jitwarm doctor"): (1,),
}
# Files and settings that the examples of a command's --help need, besides the packages and files that they name
BEFORE = {
    "export": ["jitwarm prime tensorflow", "jitwarm key generate"],
    "import": ["jitwarm prime torch", "jitwarm key generate", "jitwarm export -o lab.jwpack --sign"],
    "key distrust": ["jitwarm key trust lab.pub lab"],
}
# Commands of other programs: page, pattern, and either the script that runs it or something like it, with words of that script, or the
# reason why nothing runs it
OTHERS = [
    ("README.md", "uvx jitwarm", "scripts/release.sh", "from the first release on"),
    ("README.md", "pip install jitwarm", "scripts/release.sh", "from the first release on"),
    ("install.md", "uvx jitwarm", "scripts/release.sh", "from the first release on"),
    ("install.md", "pip install jitwarm", "scripts/release.sh", "from the first release on"),
    ("README.md", "./scripts/quickstart.sh", "scripts/fresh.sh", "run ./scripts/quickstart.sh"),
    ("README.md", "./scripts/test.sh", "scripts/fresh.sh", "./scripts/test.sh && ./scripts/test.sh --all"),
    ("elsewhere.md", "pip download", "tests/elsewhere/fetch.sh", "PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels"),
    ("many-machines.md", "srun ", "tests/fleet/slurm.sh", "srun --chdir"),
    ("containers.md", "job.yaml", "tests/fleet/pages.sh", "typed job"),
    ("many-machines.md", "job.yaml", "tests/fleet/pages.sh", "typed job"),
    ("containers.md", "deployment.yaml", "tests/fleet/pages.sh", "typed deployment"),
    ("many-machines.md", "deployment.yaml", "tests/fleet/pages.sh", "typed deployment"),
    ("containers.md", "daemonset.yaml", "tests/fleet/image.sh", "daemonset.yaml"),
    ("containers.md", "skopeo copy", "tests/fleet/image.sh", "skopeo"),
    ("many-machines.md", "aws s3 cp", "tests/fleet/pages.sh", "A bucket"),
    ("many-machines.md", "oras ", "tests/fleet/pages.sh", "A registry"),
    ("many-machines.md", "chmod 755", "tests/fleet/slurm.sh", "chmod 755"),
    ("gpu-check.md", "with-driver.sh", "tests/conformance/run.sh", "with-driver.sh"),
    ("gpu-check.md", "--library", "tests/gpu-check/check.sh", "--start"),
    ("gpu-check.md", "gpu-check.py", "tests/gpu-check/check.sh", "scripts/gpu-check.py"),
    ("windows.md", "--json-log", "tests/windows/test_startup.sh", "jitwarmw.exe\" prime --quiet --json-log"),
    ("windows.md", "startup enable --all-users", "tests/windows/test_accounts.sh", "startup enable --all-users"),
    ("install.md", "./scripts/package.sh", "scripts/try.sh", "package.sh"),
    ("install.md", "--find-links", "scripts/try.sh", "--find-links /opt/all jitwarm"),
    ("install.md", "pip install", "scripts/try.sh", "$pip /opt/packages/jitwarm-*.whl"),
    ("install.md", "sudo apt install", "scripts/try.sh", "apt-get -qq install"),
    ("install.md", "sudo rpm -U", "scripts/try.sh", "in_rpm -U"),
    ("install.md", "tar -xf", "scripts/try.sh", "tar --zstd -xf"),
    ("install.md", "curl ", "scripts/try.sh", "install.sh && sh install.sh"),
    ("install.md", "minisign -V", "tests/install/test_install.sh", r"s/^\$ \(minisign -V.*\)/\1/p"),
    ("packages.md", "curl ", "scripts/try.sh", "install.sh && sh install.sh"),
    ("README.md", "pip install -c gpu.txt", "tests/constraints/resolve.py", '["-c", file]'),
    ("which.md", "pip install -c gpu.txt", "tests/constraints/resolve.py", '["-c", file]'),
    ("testing.md", "torture.py", "scripts/nightly.sh", "torture.py build/release"),
    ("testing.md", "ctest -L torture", "tests/torture/CMakeLists.txt", "torture-"),
    ("testing.md", "scripts/mutants.py", "scripts/nightly.sh", "mutants.py --sample"),
    ("testing.md", "scripts/compare-wheels.py", "scripts/nightly.sh", "compare-wheels.py --jitwarm"),
]
# Blocks in other languages: page, language, words in it, and the script that reads or runs it, or the reason why nothing does
LANGUAGES = [
    ("containers.md", "dockerfile", "COPY --from=registry.example/jitwarm:latest /jitwarm", "tests/documents/pages.py"),
    ("containers.md", "dockerfile", "RUN jitwarm make --target sm_90", "packaging/docker/Dockerfile"),
    ("containers.md", "dockerfile", "ENV PIP_CONSTRAINT=", "tests/cli/cases/which-constraints.sh"),
    ("which.md", "nothing", "torch<2.8.0  #", "tests/cli/cases/which-constraints.sh"),
    ("containers.md", "dockerfile", "--recording app.recording.json", "tests/driver/recording.sh"),
    ("programs.md", "c", "An installer's last step", "tests/cli/cases/progress.sh"),
    ("programs.md", "powershell", "Write-Progress", "no PowerShell is installed by scripts/setup.sh; the page says that it is untested"),
    ("windows.md", "nsis", "nsExec", "part of a reader's installer; the page says that nobody has tried it"),
    ("security.md", "indented", "so root does not use it", "tests/attack/cases/places.sh"),
    ("windows.md", "ini", "trusted-keys =", "settings of a file, which tests/cli/cases/config.sh reads"),
    ("windows.md", "ini", "runasoriginaluser", "Inno Setup runs on Windows only; the page says that nobody has tried it"),
    ("many-machines.md", "ini", "TaskProlog=", "tests/fleet/slurm.sh"),
]
# Commands whose output is that of the next one: page, command, and the preparation
FIRST = {
    ("troubleshooting.md", "jitwarm doctor - <train.log"): "echo 'CUDA error 222' >train.log",
    ("many-machines.md", "jitwarm import lab.jwpack"): "rm -rf ~/.nv",
    ("recording.md", "jitwarm prime --recording train.json"): "rm -rf ~/.nv ~/.local",
}
# Settings under which a page's commands are typed
SETTINGS = {
    "commands.md": {"CUDA_MODULE_LOADING": "EAGER"},
    "get-started.md": {"CUDA_MODULE_LOADING": "EAGER"},
    "troubleshooting.md": {"CUDA_CACHE_MAXSIZE": "200000", "CUDA_MODULE_LOADING": "EAGER"},
}
# A page shows the table of this wheel; without the wheel, the table is not compared.
WHEEL = pathlib.Path.home() / ".cache/jitwarm/frameworks/xgboost-1.3.3-linux/xgboost-1.3.3-py3-none-manylinux2010_x86_64.whl"
READERS = {"json": json.loads, "toml": tomllib.loads, "xml": read_xml}
# The pages call this program train.py: the driver compiles three kernels that are in no file.
TRAINING = r"""
import ctypes
cuda, context, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
for name in b"scale", b"add", b"sum":
    ptx = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s() { ret; }\n" % name
    if cuda.cuModuleLoadData(ctypes.byref(module), ptx):
        raise SystemExit(1)
"""
# These folders have translated pages, whose code blocks are those of the English pages.
LETTERED = ["ko"]
PROGRAM = (r"(?:sudo )?(?:uvx|pip|pipx|uv|curl|wget|apt|apt-get|rpm|dnf|conda|mamba|msiexec|docker|podman|kubectl|helm|sbatch|srun|git|cmake|ctest|python3?"
           r"|cc|gcc|tar|skopeo|oras|aws|rclone|chmod|winget|scoop|minisign|openssl|jitwarmw\.exe|\./scripts/\S+|scripts/\S+)")


def language_of(page):
    name = page.relative_to(ROOT / "docs").parts[0] if "docs" in page.parts else page.name.removeprefix("README.")
    return name[:2] if re.fullmatch(r"[a-z]{2}(\.md)?", name) and name != "md" else "en"


def english_name(page):
    return re.sub(r"\.[a-z]{2}\.md$", ".md", page.name)


def blocks(page):
    """The blocks of a page: (language, lines); an indented block has the language “indented”."""
    found, fence, listed = [], "", False
    for line in page.read_text().splitlines():
        if fence:
            if line.strip() == "```":
                fence = ""
            else:
                found[-1][1].append(line[margin:])
        elif mark := re.match(r"( *)```(\w*)", line):
            fence, margin = mark[0], len(mark[1])
            found.append((mark[2] or "nothing", []))
        elif line.startswith("    ") and not listed:
            if not found or found[-1][0] != "indented" or not after:
                found.append(("indented", []))
            found[-1][1].append(line[4:])
        listed = bool(re.match(r"(\d+\.|- |\* )", line)) or listed and (not line or line.startswith(" "))
        after = line.startswith("    ")
    return found


def lines_of(page):
    """The lines of a page's blocks that are typed, without remarks, each with the lines of its output."""
    for language, lines in blocks(page):
        typed = None
        for line in lines:
            if command := re.match(r"[$>] (.*)" if language == "console" else r"(?:\$ )?((?:jitwarm|" + PROGRAM + r")\b.*)" if language == "indented" else r"\b\B", line):
                typed = (re.split(r"\s+#\s", command[1])[0].strip(), [])
                yield typed
            elif language == "console" and typed and not line.startswith("# "):
                typed[1].append(line)


def others(page):
    """The commands of other programs in a page's blocks."""
    return [line for line, _ in lines_of(page) if re.match(rf"(?:{PROGRAM}\b.*|(?:\./)?scripts/[\w.-]+)$", line)]


def check_others(failures):
    used, count = set(), 0
    for page in PAGES:
        for line in others(page):
            count += 1
            known = next((other for other in OTHERS if other[0] == english_name(page) and other[1] in line), None)
            used.add(known)
            if known is None:
                failures.append(f"{page.name}: no script is known to run: {line}")
    for other in OTHERS:
        if other not in used:
            failures.append(f"no command fits {other[0]}: {other[1]}")
        if other[2] and other[3] not in (ROOT / other[2]).read_text():
            failures.append(f"{other[2]} does not say “{other[3]}” any more, which runs {other[1]} of {other[0]}")
    return count


def commands(page):
    """The lines of a page's blocks that begin with jitwarm, in order, with their outputs."""
    typed = [(re.sub(r"^\.\\jitwarm\b", "jitwarm", line), output) for line, output in lines_of(page)]
    return [(line, output) for line, output in typed if re.match(r"jitwarm( |$)", line)]


def plain(text):
    """A line without what differs between two machines: paths, numbers with their units, and the plural after them."""
    text = re.sub(r"(?<![\w.])(/[\w.@+-]+){2,}", "PATH", text)
    text = text.replace(", some when first used", "") # TensorFlow loads its modules in both ways
    text = re.sub(r"(under )?(?<![\w-])[\d.,]*\d( (s|ms|min|h|B|KiB|MiB|GiB|GB))?\b", "N", text)
    text = re.sub(r"N( N)*( to N)+|N( N)+", "N", text)
    return " ".join(re.sub(r"\bN (\w+?)s\b", r"N \1", re.sub(r"\d+", "N", text)).split())


def check_output(shown, printed):
    """The first line of the page that the command does not print, if any."""
    left = [plain(line) for line in printed.splitlines()]
    for line in shown:
        if line.strip() == "…" or not line.strip():
            continue
        if plain(line) not in left:
            return line
        left = left[left.index(plain(line)) + 1:]
    return None


def check_languages(failures):
    """Each block of the pages for users is in a language that is run or read here, or by a script."""
    used = set()
    for page in PAGES:
        if page.parent.name in ("internals", "contributing"):
            continue
        for language, lines in blocks(page):
            known = next((other for other in LANGUAGES if other[0] == english_name(page) and other[1] == language and other[2] in "\n".join(lines)), None)
            used.add(known)
            if language == "yaml":
                try:
                    import yaml
                    yaml.safe_load("\n".join(lines))
                except ImportError:
                    pass
                except yaml.YAMLError as error:
                    failures.append(f"{page.name}: {error}")
            elif language in READERS:
                try:
                    READERS[language]("\n".join(lines))
                except ValueError as error:
                    failures.append(f"{page.name}: the block in {language}: {error}")
            elif language not in ("console", "python") and not known and page.parent.name not in LETTERED:
                failures.append(f"{page.name}: no script is known to read this block in {language}: {lines[:1]}")
            if known and known[1] == "dockerfile" and known[3].endswith("Dockerfile"):
                there = (ROOT / known[3]).read_text().splitlines()
                failures += [f"{page.name}: {known[3]} has no line {line}" for line in lines if line not in there]
    for other in LANGUAGES:
        if other not in used:
            failures.append(f"no block in {other[1]} of {other[0]} has “{other[2]}”")
        if not other[3] or " " not in other[3] and not (ROOT / other[3]).exists():
            failures.append(f"{other[3]} is not there, which reads the block in {other[1]} of {other[0]}")


def examples():
    """The commands of the examples of each command's --help."""

    def shown(*words):
        return subprocess.run([BUILD / "src/jitwarm", *words], capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"}).stdout

    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?:  |$)", shown("help", "--all").split("Commands:")[1].split("\n\n")[0], re.M)
    for name in names:
        yield name, re.findall(r"^  (jitwarm.*)$", shown(*name.split(), "--help").split("Examples:")[1], re.M)


def machine_of(page, top):
    """The machine for a page: an H100 with TensorFlow, where the page shows what jitwarm prints there."""
    shows = any(output for _, output in commands(page))
    more = {"gpu": ("sm_90", "2330"), "packages": ("tensorflow",)} if shows and page.name not in ("many-machines.md",) else {}
    machine = Machine(top / language_of(page) / page.name, language_of(page), **more)
    if page.name == "wheel-authors.md" and WHEEL.exists():
        (machine.here / "dist/model-1.0.whl").unlink()
        (machine.here / "dist" / WHEEL.name).symlink_to(WHEEL)
    machine.environment |= SETTINGS.get(page.name, {})
    return machine


class Machine:
    """A new account: a home, a virtual environment with the packages that pages name, and a folder to work in."""

    def __init__(self, folder, language, gpu=("sm_86", "2484"), packages=("tensorflow", "torch")):
        self.home = folder / "home"
        self.here = folder / "work"
        self.processes = []
        self.signs = False
        site = folder / "venv/lib/python3.11/site-packages"
        for path in (self.home, self.here / "dist", folder / "bin", site, folder / "venv/bin"):
            path.mkdir(parents=True)
        (folder / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        self.sample = BUILD / "tests/framework/libsample_framework.so"
        for name in packages:
            self.package(site, name)
        (folder / "bin/systemctl").write_text("#!/bin/sh\n")
        (folder / "bin/systemctl").chmod(0o755)
        (folder / "bin/jitwarm").symlink_to(BUILD / "src/jitwarm")
        with_driver = {"LD_LIBRARY_PATH": f"{BUILD}/tests/simdriver/lib", "SIMDRIVER_GPUS": gpu[0], "SIMDRIVER_STATE": f"{folder}/marks",
                       "JITWARM_PCI_DEVICES": f"10de:{gpu[1]}@0000:01:00.0", "CUDA_HOME": "/nonexistent"}
        self.environment = {"HOME": str(self.home), "PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "COLUMNS": "10000", "LANGUAGE": language, "SHELL": "/bin/bash",
                            "CUDA_MODULE_LOADING": "EAGER",  # as the old packages that the pages show load; the stand-in's runtime is newer
                            "VIRTUAL_ENV": str(folder / "venv"), "XDG_RUNTIME_DIR": str(folder), **with_driver}
        self.places = {place: str(folder / place.strip("/")) for place in ("/nfs/jitwarm", "/opt/product", "/var/cache/jitwarm")}
        for place in self.places.values():
            pathlib.Path(place).mkdir(parents=True)
        shutil.copy(self.sample, folder / "opt/product")
        self.name_all()

    def name_all(self):
        """What pages and examples name: a library, a wheel, another environment, a program, a public key."""
        shutil.copy(self.sample, self.here / "libmodel.so")
        (self.here / "dist" / self.wheel()).rename(self.here / "dist/model-1.0.whl")
        shutil.copytree(self.environment["VIRTUAL_ENV"], self.home / "venv")
        (self.home / "projects").mkdir()
        (self.here / "train.py").write_text(TRAINING)
        (self.here.parent / "bin/python").symlink_to(sys.executable)
        shutil.copy(ROOT / "tests/data/pack-1.pub", self.here / "lab.pub")

    def package(self, site, name):
        info = site / f"{name}-2.0.dist-info"
        info.mkdir()
        (site / name).mkdir()
        shutil.copy(self.sample, site / name / "library.so")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
        (info / "RECORD").write_text(f"{name}/library.so,,\n{name}-2.0.dist-info/METADATA,,\n")

    def wheel(self):
        name = "sample-1.0-py3-none-linux_x86_64.whl"
        shutil.make_archive(str(self.here / "dist/sample"), "zip", self.sample.parent, self.sample.name)
        (self.here / "dist/sample.zip").rename(self.here / "dist" / name)
        return name

    def run(self, line):
        if line == "jitwarm key generate" and self.signs:  # a page shows it in several sections
            line = "true"
        self.signs = self.signs or line == "jitwarm key generate"
        for written, real in self.places.items():
            line = line.replace(written, real)
        if "RWQ…" in line:
            listed = subprocess.run(["jitwarm", "key", "list"], cwd=self.here, env=self.environment, capture_output=True, text=True, check=True)
            line = line.replace("RWQ…", re.search(r"RW[A-Za-z0-9+/=]{54}", listed.stdout)[0])
        if line.startswith("jitwarm which "):  # the pages' answers are for no particular Python
            line = f"unset VIRTUAL_ENV; {line}"
        if re.search(r"\b4242\b", line):
            process = subprocess.Popen(["sleep", "3"])
            line = line.replace("4242", str(process.pid))
            self.processes.append(process)
        return subprocess.run(["sh", "-c", line], cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def run_python(self, text):
        """Runs a program of a page beside the Python package; /opt/product/lib holds the sample framework's library."""
        product = self.home.parent / "opt/product"
        if not (self.home.parent / "python").exists():
            shutil.copytree(ROOT / "packaging/python/jitwarm", self.home.parent / "python/jitwarm")
            (self.home.parent / "python/jitwarm-1.0.dist-info").mkdir()
            (self.home.parent / "python/jitwarm-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: jitwarm\nVersion: 1.0\n")
        environment = self.environment | {"PYTHONPATH": str(self.home.parent / "python")}
        return subprocess.run([sys.executable, "-c", text.replace("/opt/product", str(product))], cwd=self.here, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def main():
    failures, used, ran = [], set(), 0
    check_languages(failures)
    named = check_others(failures)
    # doctor would report temporary folders.
    with tempfile.TemporaryDirectory(prefix="jitwarm-documents-", dir="/var/tmp") as top:
        for page in PAGES:
            machine = None
            for line, shown in commands(page):
                reason = next((place for place in ELSEWHERE if place[0] == english_name(page) and place[1] in line), None)
                used.add(reason)
                if reason:
                    continue
                machine = machine or machine_of(page, pathlib.Path(top))
                if (page.name, line) in FIRST:
                    machine.run(FIRST[page.name, line])
                done = machine.run(line)
                ran += 1
                if done.returncode not in ENDS.get((page.name, line), (0, 1)):
                    failures.append(f"{page.name}: {line}: {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")
                elif (page.name != "wheel-authors.md" or WHEEL.exists()) and (missing := check_output(shown, done.stdout + done.stderr)) and language_of(page) == "en":
                    failures.append(f"{page.name}: {line} does not print “{missing}”:\n{done.stdout}{done.stderr}")
            for language, lines in blocks(page):
                if language == "python" and language_of(page) == "en":
                    machine = machine or machine_of(page, pathlib.Path(top))
                    done = machine.run_python("\n".join(lines))
                    ran += 1
                    if done.returncode:
                        failures.append(f"{page.name}: {lines[0]} …: {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")
        for command, lines in examples():
            machine = Machine(pathlib.Path(top) / "examples" / command.replace(" ", "-"), "en")
            for line in BEFORE.get(command, []) + lines:
                reason = next((place for place in ELSEWHERE if place[0] == "--help" and place[1] in line), None)
                used.add(reason)
                if reason:
                    continue
                done = machine.run(line)
                ran += 1
                if done.returncode not in (0, 1):
                    failures.append(f"{command} --help: {line}: {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")
            for process in machine.processes:
                process.wait()
    failures += [f"no command fits {place[0]}: {place[1]}" for place in ELSEWHERE if place not in used]
    print("\n".join(failures) or f"{ran} commands, {named} of other programs")
    return bool(failures) or ran < 20 or named < 20


if __name__ == "__main__":
    sys.exit(main())
