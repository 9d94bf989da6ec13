#!/usr/bin/env python3
"""make-manifests.py FOLDER   writes FOLDER/jitwarm-VERSION-manifests.zip: what winget, Scoop, Homebrew and conda-forge want to know of a release
make-manifests.py recipe ARCHIVE VERSION   prints conda's recipe for the portable archive of this machine

FOLDER has the packages (scripts/package.sh); packaging/release.conf says who publishes them, and at which address. The templates are in
packaging/manifests. The same files give the same bytes.
"""
import hashlib, json, os, pathlib, re, sys, zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "packaging/manifests"
FILES = {"ZIP": "windows-x64.zip", "SETUP": "windows-x64-setup.exe", "X86_64": "linux-x86_64.tar.gz", "AARCH64": "linux-aarch64.tar.gz"}
NEEDED = ("homepage", "url", "publisher", "identifier")


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def filled(template, values):
    """The template with its @NAME@s replaced, as strings of its own language."""
    kind = template.name.split(".")[-2]

    def value(match):
        text = values[match[1]]
        if kind == "json":
            return json.dumps(text, ensure_ascii=False)[1:-1]
        if kind == "rb":
            return re.sub(r'(["\\#])', r"\\\1", text)
        # YAML needs quotes around text that is not plain, and doubles a single quote.
        return text if re.fullmatch(r"[A-Za-z][A-Za-z0-9./:_-]*|[0-9]+(\.[0-9]+){2,}", text) else "'" + text.replace("'", "''") + "'"

    return re.sub(r"@([A-Z0-9_]+)@", value, template.read_text(encoding="utf-8"))


def recipe(archive, version):
    address, digest = pathlib.Path(archive).resolve().as_uri(), sha256(archive)
    return filled(TEMPLATES / "conda/recipe.yaml.in", {"VERSION": version, "X86_64": address, "X86_64_SHA256": digest, "AARCH64": address, "AARCH64_SHA256": digest})


def manifests(folder):
    said = dict(line.split("=", 1) for line in (ROOT / "packaging/release.conf").read_text(encoding="utf-8").splitlines() if re.match("[a-z_]+=", line))
    for name in NEEDED:
        if not said.get(name):
            sys.exit(f"make-manifests.py: packaging/release.conf has no {name}")
    header = (ROOT / "include/jitwarm/version.h").read_text(encoding="utf-8")
    version = os.environ.get("JITWARM_PACKAGE_VERSION") or ".".join(re.search(rf"#define JW_VERSION_{part} +(\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    place = said["url"].replace("VERSION", version).rstrip("/")
    values = {"VERSION": version, "HOMEPAGE": said["homepage"], "PUBLISHER": said["publisher"], "IDENTIFIER": said["identifier"],
              "DESCRIPTION": re.search(r'DESCRIPTION "([^"]*)"', (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1],
              # Scoop looks for a newer release here.
              "LATEST": said["url"].rstrip("/").replace("VERSION", "$version") + "/jitwarm-$version-windows-x64.zip"}
    for name, end in FILES.items():
        path = folder / f"jitwarm-{version}-{end}"
        if not path.is_file():
            sys.exit(f"make-manifests.py: {path} is missing: scripts/package.sh makes it")
        values[name], values[name + "_SHA256"] = f"{place}/{path.name}", sha256(path)
    values["SETUP_SHA256"] = values["SETUP_SHA256"].upper()
    names = {"winget/version.yaml": f"winget/{said['identifier']}.yaml"}
    made = folder / f"jitwarm-{version}-manifests.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for template in sorted(TEMPLATES.rglob("*.in")):
            name = str(template.relative_to(TEMPLATES))[:-len(".in")]
            name = names.get(name, name.replace("winget/", f"winget/{said['identifier']}."))
            archive.writestr(zipfile.ZipInfo(name), filled(template, values), zipfile.ZIP_DEFLATED)
    print(f"package: {made} ({made.stat().st_size} bytes)")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "recipe":
        print(recipe(*sys.argv[2:]), end="")
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        manifests(pathlib.Path(sys.argv[1]))
    else:
        sys.exit(__doc__)
