#!/usr/bin/env python3
"""test_manifests.py [FOLDER]   what scripts/make-manifests.py says of a release's files: its addresses and hashes are those of the files

FOLDER holds a release (scripts/package.sh), else files are made up here, and a publisher whose name is hard to quote. The formula
of Homebrew is installed by a stand-in for Homebrew (formula.rb) if there is Ruby, the packages that it names being those of FOLDER."""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ODD = {"homepage": "https://example.invalid/a?b=c&d", "url": "https://example.invalid/vVERSION/", "publisher": "홍길동: 'b' \"c\" #{1}", "identifier": "A.jitwarm"}


def made_up(folder):
    """A copy of what make-manifests.py reads, with files that look like a release's."""
    for name in ("scripts/make-manifests.py", "include/jitwarm/version.h", "CMakeLists.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "packaging/manifests", folder / "packaging/manifests")
    (folder / "packaging/release.conf").write_text("# a comment\n" + "".join(f"{name}={value}\n" for name, value in ODD.items()), encoding="utf-8")
    dist = folder / "dist"
    dist.mkdir()
    version = "{}.{}.{}".format(*re.findall(r"#define JW_VERSION_\w+ +(\d+)", (ROOT / "include/jitwarm/version.h").read_text()))
    for end in ("windows-x64.zip", "windows-x64-setup.exe", "linux-aarch64.tar.gz"):
        (dist / f"jitwarm-{version}-{end}").write_bytes(end.encode())
    tree = folder / f"jitwarm-{version}-linux-x86_64"
    for name in ("bin/jitwarm", "share/man/man1/jitwarm.1", "share/man/ko/man1/jitwarm.1", "share/bash-completion/completions/jitwarm", "share/zsh/site-functions/_jitwarm",
                 "share/fish/vendor_completions.d/jitwarm.fish", "share/jitwarm/schemas/a.json", "share/doc/jitwarm/LICENSE"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(f"#!/bin/sh\necho jitwarm {version}\n")
        (tree / name).chmod(0o755)
    with tarfile.open(dist / f"{tree.name}.tar.gz", "w:gz") as archive:
        archive.add(tree, tree.name)
    return dist, folder / "scripts/make-manifests.py"


def check(dist, root, work):
    said = dict(line.split("=", 1) for line in (root / "packaging/release.conf").read_text(encoding="utf-8").splitlines() if "=" in line and line[0] != "#")
    (archive,) = dist.glob("jitwarm-*-manifests.zip")
    version = archive.name.split("-")[1]
    place = said["url"].replace("VERSION", version).rstrip("/")
    sums = {f"{place}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.iterdir() if path.is_file()}
    texts = {name: zipfile.ZipFile(archive).read(name).decode() for name in zipfile.ZipFile(archive).namelist()}
    name = said["identifier"]
    assert sorted(texts) == ["conda/recipe.yaml", "homebrew/jitwarm.rb", "scoop/jitwarm.json", f"winget/{name}.installer.yaml", f"winget/{name}.locale.en-US.yaml",
                             f"winget/{name}.yaml"], sorted(texts)
    for path, text in texts.items():
        assert not re.search("@[A-Z]", text), (path, text)
    scoop = json.loads(texts["scoop/jitwarm.json"])
    here = scoop["architecture"]["64bit"]
    assert scoop["version"] == version and sums[here["url"]] == here["hash"] and here["url"].endswith(".zip"), scoop
    # Scoop's steps for the next release find the version on the page, its address, and the hash in the list beside it.
    assert re.search(scoop["checkver"]["regex"], '<a href="jitwarm-9.10.11-windows-x64.zip">')[1] == "9.10.11"
    assert scoop["autoupdate"]["architecture"]["64bit"]["url"].replace("$version", version) == here["url"], scoop
    assert scoop["autoupdate"]["hash"]["url"] == "$baseurl/SHA256SUMS"
    try:
        import yaml
    except ImportError:
        print("skipped: no PyYAML for winget's and conda's")
        sys.exit(77)
    read = {path: yaml.safe_load(text) for path, text in texts.items() if path.endswith(".yaml")}
    for kind in ("version", "installer", "defaultLocale"):
        (one,) = [each for each in read.values() if each.get("ManifestType") == kind]
        assert one["PackageIdentifier"] == name and one["PackageVersion"] == version, one
    assert read[f"winget/{name}.locale.en-US.yaml"]["Publisher"] == said["publisher"]
    assert [sums[one["InstallerUrl"]] == one["InstallerSha256"].lower() for one in read[f"winget/{name}.installer.yaml"]["Installers"]] == [True, True]
    sources = read["conda/recipe.yaml"]["source"]
    assert {one["if"]: sums[one["then"]["url"]] == one["then"]["sha256"] for one in sources} == {"x86_64": True, "aarch64": True}, sources
    if not shutil.which("ruby"):
        print("left out: no Ruby for Homebrew's")
        return
    (work / "jitwarm.rb").write_text(texts["homebrew/jitwarm.rb"], encoding="utf-8")
    done = subprocess.run(["ruby", ROOT / "tests/install/formula.rb", work / "jitwarm.rb", dist], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout, end="")


with tempfile.TemporaryDirectory() as temporary:
    work = pathlib.Path(temporary)
    if len(sys.argv) > 1:
        check(pathlib.Path(sys.argv[1]).resolve(), ROOT, work)
    else:
        dist, script = made_up(work)
        subprocess.run([script, dist], check=True, stdout=subprocess.DEVNULL)
        check(dist, work, work)
        before = next(dist.glob("*-manifests.zip")).read_bytes()
        subprocess.run([script, dist], check=True, stdout=subprocess.DEVNULL)
        assert next(dist.glob("*-manifests.zip")).read_bytes() == before, "not the same bytes again"
        for line in ("publisher=", "url="):
            conf = work / "packaging/release.conf"
            text = conf.read_text(encoding="utf-8")
            conf.write_text(re.sub(f"(?m)^{line}.*$", line, text), encoding="utf-8")
            done = subprocess.run([script, dist], capture_output=True, text=True, check=False)
            assert done.returncode == 1 and done.stderr == f"make-manifests.py: packaging/release.conf has no {line[:-1]}\n", done.stderr
            conf.write_text(text, encoding="utf-8")
        next(dist.glob("*-setup.exe")).unlink()
        done = subprocess.run([script, dist], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "-setup.exe is missing" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    print("manifests: passed")
