#!/usr/bin/env python3
"""commands.py BUILD   runs the commands of README.md's and docs/'s blocks, page by page, each page in a new home beside the simulated
driver, and the examples of --help, each command's in a new home; those of README.LANGUAGE.md and docs/LANGUAGE/*.md in that language. The
packages that pages name are made here, with the sample framework's library. A command ends with 0 or, where it finds something cold, with
1. What another test runs, or what needs a network or NVIDIA's compilers, is named below with the reason: a line of that list that fits no
command fails, as a command does that is not run for no reason. Commands of other programs (pip, scripts of the repository, srun) are
named with the script that runs them, and with words that it then contains."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# Page, pattern of the command, reason
ELSEWHERE = [
    ("many-machines.md", "oci://", "share-fleets runs these with a registry"),
    ("many-machines.md", "--share /mnt", "share-fleets runs this with a folder"),
    ("many-machines.md", ">/etc/slurm", "writes where Slurm's settings are; share-slurm runs it"),
    ("share.md", "oci://", "share-fleets and share-registry run these with a registry"),
    ("many-machines.md", "run --record", "needs the reader's program; driver-recording-image-* run the recipe"),
    ("many-machines.md", "compiler fetch", "needs the package index; elsewhere-* run it"),
    ("many-machines.md", "make --target", "needs NVIDIA's ptxas; share-fleets runs this very command"),
    ("elsewhere.md", "", "needs NVIDIA's ptxas; elsewhere-* run these"),
    ("recording.md", "", "needs NVIDIA's NVRTC; nvrtc-* run these"),
    ("bake.md", "bake -o DIR xgboost", "needs XGBoost; the tests of bake run it"),
    ("deploying-windows.md", "startup enable --service", "writes units of the machine; cli-startup-units runs it"),
    ("--help", "make --target rtx3070", "needs NVIDIA's ptxas; elsewhere-* run it"),
    ("--help", "ahead", "needs a driver's kernel module; driver-ahead runs it"),
    ("--help", "bake --index", "needs the package index; elsewhere-index runs it"),
    ("--help", "oci://", "needs a registry; share-registry runs its like"),
    ("--help", "startup enable --service", "writes units of the machine; cli-startup-units runs it"),
    ("--help", "compiler fetch", "needs the package index; elsewhere-* run it"),
    ("--help", "uninstall", "removes what the account of the test itself has; cli-startup runs it"),
]
# What the examples of a command's --help need, beside the packages and files that they name
BEFORE = {
    "export": ["jitwarm prime tensorflow", "jitwarm key generate"],
    "import": ["jitwarm prime torch", "jitwarm key generate", "jitwarm export -o lab.jwpack --sign"],
    "key distrust": ["jitwarm key trust lab.pub lab"],
}
# Commands of other programs: page, pattern, the script that runs it or its like, words in that script; without a script the reason
OTHERS = [
    ("README.md", "./scripts/quickstart.sh", "scripts/fresh.sh", "run ./scripts/quickstart.sh"),
    ("README.md", "./scripts/test.sh", "scripts/fresh.sh", "command=./scripts/test.sh"),
    ("bake.md", "pip install", "tests/cli/cases/bake_wheel.sh", "install --quiet --no-index"),
    ("many-machines.md", "srun ", "tests/share/slurm.sh", "srun --chdir"),
    ("many-machines.md", "deployment.yaml", "tests/share/fleets.sh", "deployment.yaml"),
    ("many-machines.md", "daemonset.yaml", "tests/share/image.sh", "daemonset.yaml"),
    ("gpu-check.md", "with-driver.sh", "tests/conformance/run.sh", "with-driver.sh"),
    ("gpu-check.md", "--library", "tests/gpu-check/check.sh", "--start"),
    ("gpu-check.md", "gpu-check.py", "tests/gpu-check/check.sh", "scripts/gpu-check.py"),
    ("deploying-windows.md", "--json-log", "tests/windows/test_startup.sh", "jitwarmw.exe\" prime --quiet --json-log"),
    ("deploying-windows.md", "import --all-users", "tests/windows/test_accounts.sh", "import --all-users"),
    ("deploying-windows.md", "startup enable --all-users", "tests/windows/test_accounts.sh", "startup enable --all-users"),
    ("install.md", "--find-links", "scripts/try.sh", "--find-links /opt/all jitwarm"),
    ("install.md", "pip install", "scripts/try.sh", "$pip /opt/packages/jitwarm-*.whl"),
    ("install.md", "sudo apt install", "scripts/try.sh", "apt-get -qq install"),
    ("install.md", "sudo rpm -U", "scripts/try.sh", "in_rpm -U"),
    ("install.md", "tar -xf", "scripts/try.sh", "tar --zstd -xf"),
    ("install.md", "curl ", "scripts/try.sh", "install.sh && sh install.sh"),
    ("install.md", "minisign -V", "tests/install/test_install.sh", r"s/^\$ \(minisign -V.*\)/\1/p"),
    ("packages.md", "curl ", "scripts/try.sh", "install.sh && sh install.sh"),
    ("testing.md", "torture.py", "scripts/nightly.sh", "torture.py build/release"),
    ("testing.md", "ctest -L torture", "tests/torture/CMakeLists.txt", "torture-"),
    ("testing.md", "scripts/mutants.py", "scripts/nightly.sh", "mutants.py --sample"),
    ("testing.md", "scripts/compare-wheels.py", "scripts/nightly.sh", "compare-wheels.py --jitwarm"),
]
PROGRAM = (r"(?:sudo )?(?:pip|pipx|uv|curl|wget|apt|apt-get|rpm|dnf|conda|mamba|msiexec|docker|podman|kubectl|helm|sbatch|srun|git|cmake|ctest|python3?"
           r"|cc|gcc|tar|winget|scoop|minisign|openssl|jitwarmw\.exe|\./scripts/\S+|scripts/\S+)")


def language_of(page):
    name = page.relative_to(ROOT / "docs").parts[0] if "docs" in page.parts else page.name.removeprefix("README.")
    return name[:2] if re.fullmatch(r"[a-z]{2}(\.md)?", name) and name != "md" else "en"


def english_name(page):
    return re.sub(r"\.[a-z]{2}\.md$", ".md", page.name)


def others(page):
    """The commands of other programs in a page's blocks, fenced or indented, without what is code or a list."""
    lines, fenced = [], False
    for line in page.read_text().splitlines():
        if re.match(r"\s*```", line):
            fenced = not fenced
            continue
        match = re.match(rf"( *)(\$ )?({PROGRAM} .*|(?:\./)?scripts/[\w.-]+)$", line)
        if match and (fenced or match[2] or 4 <= len(match[1]) <= 8):
            lines.append(re.split(r"\s+#\s", match[3])[0].strip())
    return lines


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
    """The lines of a page's blocks that begin with jitwarm, in order."""
    lines = re.findall(r"^(?: {4,8}|\$ | +\$ )(jitwarm(?: .*)?)$", page.read_text(), re.M)
    return [re.split(r"\s+#\s", line)[0].strip() for line in lines]


def examples():
    """The commands of the examples of each command's --help."""

    def shown(*words):
        return subprocess.run([BUILD / "src/jitwarm", *words], capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"}).stdout

    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?:  |$)", shown("help", "--all").split("Commands:")[1].split("\n\n")[0], re.M)
    for name in names:
        yield name, re.findall(r"^  (jitwarm.*)$", shown(*name.split(), "--help").split("Examples:")[1], re.M)


class Machine:
    """A new account: a home, a virtual environment with the packages that pages name, and a folder to work in."""

    def __init__(self, folder, language):
        self.home = folder / "home"
        self.here = folder / "work"
        self.processes = []
        self.signs = False
        site = folder / "venv/lib/python3.11/site-packages"
        for path in (self.home, self.here / "dist", folder / "bin", site, folder / "venv/bin"):
            path.mkdir(parents=True)
        (folder / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        self.sample = BUILD / "tests/framework/libsample_framework.so"
        for name in ("tensorflow", "torch"):
            self.package(site, name)
        (folder / "bin/systemctl").write_text("#!/bin/sh\n")
        (folder / "bin/systemctl").chmod(0o755)
        (folder / "bin/jitwarm").symlink_to(BUILD / "src/jitwarm")
        with_driver = {"LD_LIBRARY_PATH": f"{BUILD}/tests/simdriver/lib", "SIMDRIVER_GPUS": "sm_86", "SIMDRIVER_STATE": f"{folder}/marks",
                       "JITWARM_PCI_DEVICES": "10de:2484@0000:01:00.0"}
        self.environment = {"HOME": str(self.home), "PATH": f"{folder}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "LANGUAGE": language, "SHELL": "/bin/bash",
                            "VIRTUAL_ENV": str(folder / "venv"), "XDG_RUNTIME_DIR": str(folder), **with_driver}
        self.places = {"/nfs/jitwarm": str(folder / "nfs"), "dist/*.whl": f"dist/{self.wheel()}"}
        (folder / "nfs").mkdir()

    def name_all(self):
        """What examples name: a library, a wheel, another environment, a program, a public key."""
        shutil.copy(self.sample, self.here / "libmodel.so")
        (self.here / "dist" / self.wheel()).rename(self.here / "dist/model-1.0.whl")
        shutil.copytree(self.environment["VIRTUAL_ENV"], self.home / "venv")
        (self.home / "projects").mkdir()
        (self.here / "train.py").write_text("print('trained')\n")
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
        if re.search(r"\b4242\b", line):
            process = subprocess.Popen(["sleep", "3"])
            line = line.replace("4242", str(process.pid))
            self.processes.append(process)
        return subprocess.run(["sh", "-c", line], cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def main():
    failures, used, ran = [], set(), 0
    named = check_others(failures)
    # Temporary folders would be a finding of doctor's.
    with tempfile.TemporaryDirectory(prefix="jitwarm-documents-", dir="/var/tmp") as top:
        for page in PAGES:
            machine = None
            for line in commands(page):
                reason = next((place for place in ELSEWHERE if place[0] == english_name(page) and place[1] in line), None)
                used.add(reason)
                if reason:
                    continue
                machine = machine or Machine(pathlib.Path(top) / language_of(page) / page.name, language_of(page))
                done = machine.run(line)
                ran += 1
                if done.returncode not in (0, 1):
                    failures.append(f"{page.name}: {line}: {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")
        for command, lines in examples():
            machine = Machine(pathlib.Path(top) / "examples" / command.replace(" ", "-"), "en")
            machine.name_all()
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
