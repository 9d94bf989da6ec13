#!/bin/bash
# package-windows.sh --url URL --homepage URL --publisher NAME [--identifier NAME.NAME] [-B BUILD] [-o FOLDER]
#
# From a Windows build (scripts/build-windows.sh): jitwarm-VERSION-windows-x64.zip, the same bytes from the same programs,
# and the manifests for winget and Scoop (packaging/windows) with version, address and hash filled in, into build/package.
# VERSION in URL is replaced by the version. Exit status: 0, 3 where something is missing, 64 wrong use.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2s/^# /usage: /p' scripts/package-windows.sh >&2; exit 64; }
die() { printf 'package-windows: %s\n' "$*" >&2; exit 3; }

build=build/windows out=build/package url= homepage= publisher= identifier=
while [ $# -gt 1 ]; do
	case $1 in
	--url) url=$2 ;;
	--homepage) homepage=$2 ;;
	--publisher) publisher=$2 ;;
	--identifier) identifier=$2 ;;
	-B) build=$2 ;;
	-o) out=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[ $# = 0 ] && [ -n "$url" ] && [ -n "$homepage" ] && [ -n "$publisher" ] || usage
latin=$(LC_ALL=C; printf '%s' "${publisher//[^A-Za-z0-9]/}")
# winget's names are of Latin letters, and a part of one is not empty
[ -n "$identifier$latin" ] || die "--publisher $publisher has no Latin letter for winget's name: --identifier NAME.NAME gives one"
identifier=${identifier:-$latin.jitwarm}
for program in jitwarm.exe jitwarmw.exe; do
	[ -s "$build/$program" ] || die "$build/$program is missing: scripts/build-windows.sh makes it"
done
version=$(sed -nE 's/^#define JW_VERSION_(MAJOR|MINOR|PATCH) +([0-9]+)$/\2/p' include/jitwarm/version.h | paste -sd.)
description=$(sed -nE 's/^project\(jitwarm .*DESCRIPTION "([^"]*)".*/\1/p' CMakeLists.txt)
[ -n "$version" ] && [ -n "$description" ] || die 'CMakeLists.txt: no version or description of the project'
url=${url//VERSION/$version}

mkdir -p "$out"
cat LICENSE packaging/licences/*.txt packaging/windows/licences.txt >"$out/LICENSE"
archive=$out/jitwarm-$version-windows-x64.zip
# Fixed order, time and modes: who builds the same programs gets the same hash.
python3 - "$archive" "$build/jitwarm.exe" "$build/jitwarmw.exe" "$out/LICENSE" README.md <<'PYTHON'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for path in sys.argv[2:]:
        name = os.path.basename(path)
        member = zipfile.ZipInfo(name if "." in name else name + ".txt", (1980, 1, 1, 0, 0, 0))
        member.compress_type = zipfile.ZIP_DEFLATED
        member.create_system = 0
        with open(path, "rb") as file:
            archive.writestr(member, file.read(), compresslevel=9)
PYTHON
sha256=$(sha256sum "$archive" | cut -d' ' -f1)

# filled TEMPLATE FILE
filled() {
	VERSION=$version DESCRIPTION=$description HOMEPAGE=$homepage PUBLISHER=$publisher IDENTIFIER=$identifier URL=$url \
		SHA256=$sha256 SHA256_UPPER=${sha256^^} python3 - "packaging/windows/$1" "$2" <<'PYTHON'
import json, os, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
def value(match):
    given = os.environ[match[1]]
    if sys.argv[2].endswith(".json"):
        return json.dumps(given, ensure_ascii=False)[1:-1]
    # YAML: what is not plain is quoted, a single quote doubled
    return given if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9./:_-]*", given) else "'" + given.replace("'", "''") + "'"
with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as file:
    file.write(re.sub(r"@([A-Z0-9_]+)@", value, text))
PYTHON
}
mkdir -p "$out/scoop" "$out/winget"
filled scoop/jitwarm.json.in "$out/scoop/jitwarm.json"
filled winget/version.yaml.in "$out/winget/$identifier.yaml"
filled winget/installer.yaml.in "$out/winget/$identifier.installer.yaml"
filled winget/locale.en-US.yaml.in "$out/winget/$identifier.locale.en-US.yaml"
echo "package-windows: $archive ($(stat -c %s "$archive") bytes, SHA-256 $sha256), manifests in $out/winget and $out/scoop"
