#!/bin/bash
# package-windows.sh [--installers] [--sign COMMAND] [--homepage URL] [--publisher NAME] [-B BUILD] [-o FOLDER]
#
# From a Windows build (scripts/build-windows.sh), into build/package (or FOLDER):
#
#   jitwarm-VERSION-windows-x64.zip         the programs, README and licences; the same bytes from the same programs
#   jitwarm-VERSION-windows-x64-setup.exe   --installers: for one account or all (packaging/windows/jitwarm.nsi; needs nsis)
#   jitwarm-VERSION-windows-x64.msi         --installers: for all accounts (jitwarm.wxs; needs wixl, msitools); unsigned, both are the same bytes again
#
# --sign COMMAND   is called with each program, and with the installers when they are made, to sign it in place, as this does:
#
# package-windows.sh sign FILE...   signs Windows programs, installers and MSI packages in place (needs osslsigncode)
#
#   JITWARM_PFX            a PKCS #12 file with the key and its certificates
#   JITWARM_PFX_PASSWORD   a file that holds its password; none: it has none
#   JITWARM_TIMESTAMP_URL  a timestamp server (RFC 3161); with none, the signature ends with the certificate
#
# For a key that no file holds (a token, a service), give --sign a command of your own.
# Exit status: 0; 1 a file was not signed, and is as it was; 3 something is missing; 64 wrong use.
set -euo pipefail

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 64; }
die() { printf 'package-windows: %s\n' "$*" >&2; exit 3; }
sign_files() { # FILE...
	local password file
	command -v osslsigncode >/dev/null || die "osslsigncode is missing: apt-get install osslsigncode"
	[ -r "${JITWARM_PFX:-}" ] || die "JITWARM_PFX names no file with a key"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	# The password is never on a command line, which every account can read.
	password=$work/none
	: >"$password"
	[ -z "${JITWARM_PFX_PASSWORD:-}" ] || password=$JITWARM_PFX_PASSWORD
	for file; do
		osslsigncode sign -pkcs12 "$JITWARM_PFX" -readpass "$password" -h sha256 -n jitwarm ${JITWARM_TIMESTAMP_URL:+-ts "$JITWARM_TIMESTAMP_URL"} \
			-in "$file" -out "$work/signed" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; printf 'package-windows: %s could not be signed\n' "$file" >&2; exit 1; }
		chmod --reference="$file" "$work/signed"
		mv -f "$work/signed" "$file"
	done
}
if [ "${1-}" = sign ]; then
	[ $# -gt 1 ] || usage
	sign_files "${@:2}"
	exit
fi
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

build=build/windows out=build/package homepage='' publisher=jitwarm installers='' sign=''
while [ $# -gt 0 ]; do
	if [ "$1" = --installers ]; then installers=1; shift; continue; fi
	[ $# -gt 1 ] || usage
	case $1 in
	--homepage) homepage=$2 ;;
	--publisher) publisher=$2 ;;
	--sign) sign=$2 ;;
	-B) build=$2 ;;
	-o) out=$2 ;;
	*) usage ;;
	esac
	shift 2
done
for program in jitwarm.exe jitwarmw.exe; do
	[ -s "$build/$program" ] || die "$build/$program is missing: scripts/build-windows.sh makes it"
done
if [ -n "$installers" ]; then
	command -v makensis >/dev/null || die "makensis is missing: apt-get install nsis"
	command -v wixl >/dev/null && command -v msibuild >/dev/null || die "wixl or msibuild is missing: apt-get install wixl msitools"
fi
version=$(release_version)
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
files=$work/files
cp "$build/jitwarm.exe" "$build/jitwarmw.exe" "$files/"
cp README.md "$files/"
cat LICENSE packaging/licences/*.txt packaging/windows/licences.txt >"$files/LICENSE.txt"

signed() { # FILE...
	local file
	[ -n "$sign" ] || return 0
	for file; do $sign "$file" >"$work/sign.log" 2>&1 || { tail -n 5 "$work/sign.log" >&2; die "$sign could not sign $(basename "$file")"; }; done
}
# filled TEMPLATE FILE
filled() {
	VERSION=$version HOMEPAGE=$homepage PUBLISHER=$publisher \
		SIZE_KB=$(($(cat "$files"/* | wc -c) / 1024)) python3 -I - "packaging/windows/$1" "$2" <<'PYTHON'
import html, os, re, sys, uuid
text = open(sys.argv[1], encoding="utf-8").read()
os.environ["PRODUCT"] = str(uuid.uuid5(uuid.UUID("5d1f6b0e-7b0c-5c55-9c4e-0b6b5e6a3d10"), os.environ["VERSION"])).upper()
def value(match):
    given = os.environ[match[1]]
    if sys.argv[2].endswith(".wxs"):
        return html.escape(given).replace("$", "$$")
    return given.replace("$", "$$").replace('"', '$\\"')
with open(sys.argv[2], "w", encoding="utf-8", newline="\n") as file:
    file.write(re.sub(r"@([A-Z0-9_]+)@", value, text))
PYTHON
}
zip=$out/jitwarm-$version-windows-x64.zip setup=$out/jitwarm-$version-windows-x64-setup.exe msi=$out/jitwarm-$version-windows-x64.msi

signed "$files/jitwarm.exe" "$files/jitwarmw.exe"
# Order, time and modes are fixed, so the same programs give the same hash.
python3 -I - "$zip" "$files"/{jitwarm.exe,jitwarmw.exe,LICENSE.txt,README.md} <<'PYTHON'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for path in sys.argv[2:]:
        member = zipfile.ZipInfo(os.path.basename(path), (1980, 1, 1, 0, 0, 0))
        member.compress_type = zipfile.ZIP_DEFLATED
        member.create_system = 0
        with open(path, "rb") as file:
            archive.writestr(member, file.read(), compresslevel=9)
PYTHON
made="$zip ($(stat -c %s "$zip") bytes)"

pack_setup() {
	filled release.nsh.in "$files/release.nsh"
	makensis -V2 -NOCD "-DOUT=$setup" "-DFILES=$files" ${JITWARM_PACKAGE_FAST:+-DFAST} ${sign:+"-DSIGN=$sign"} packaging/windows/jitwarm.nsi >"$work/log" 2>&1 ||
		{ tail -n 20 "$work/log" >&2; die "the installer could not be made"; }
	signed "$setup"
}
# settle_msi: replaces the package code and the two times in an MSI file's summary, a random number and the clock's time, by a hash of the
# other bytes and by SOURCE_DATE_EPOCH. They lie in one piece of a property set (MS-OLEPS).
settle_msi() {
	python3 -I - "$msi" <<'PYTHON'
import hashlib, os, struct, sys, uuid
data = bytearray(open(sys.argv[1], "rb").read())
form = uuid.UUID("f29f85e0-4ff9-1068-ab91-08002b27b3d9").bytes_le
at = data.find(form)
if at < 0 or data.find(form, at + 1) >= 0:
    sys.exit("not one summary")
start = at - 28 + struct.unpack_from("<I", data, at + 16)[0]
count = struct.unpack_from("<I", data, start + 4)[0]
places = {name: start + offset for name, offset in (struct.unpack_from("<II", data, start + 8 + 8 * i) for i in range(min(count, 99)))}
time = struct.pack("<Q", (int(os.environ["SOURCE_DATE_EPOCH"]) + 11644473600) * 10000000)
for name, kind in ((9, 30), (12, 64), (13, 64)):
    if struct.unpack_from("<I", data, places[name])[0] != kind:
        sys.exit(f"property {name} is of another kind")
for name in (12, 13):
    data[places[name] + 4:places[name] + 12] = time
code = slice(places[9] + 8, places[9] + 8 + 38)
if struct.unpack_from("<I", data, places[9] + 4)[0] != 39 or data[code][:1] + data[code][-1:] != b"{}":
    sys.exit("no package code")
data[code] = bytes(38)
data[code] = b"{%s}" % str(uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(data).hexdigest())).upper().encode()
with open(sys.argv[1], "wb") as file:
    file.write(data)
PYTHON
}
pack_msi() {
	filled jitwarm.wxs "$files/jitwarm.wxs"
	sed -i '/ Value=""/d' "$files/jitwarm.wxs" # a property without a value is an error
	find "$files" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
	(cd "$files" && wixl -a x64 -o "$msi" jitwarm.wxs) >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "the MSI package could not be made"; }
	# “=-*” sets the variable for the machine with the package, and removes it with it; “[~]” is Path's former value.
	printf 'Environment\tName\tValue\tComponent_\r\ns72\tl255\tL255\ts72\r\nEnvironment\tEnvironment\r\nPath\t=-*Path\t[~];[INSTALLDIR]\tProgram\r\n' >"$files/Environment.idt"
	(cd "$files" && msibuild "$msi" -i Environment.idt -q "INSERT INTO InstallExecuteSequence (Action, Sequence) VALUES ('RemoveEnvironmentStrings', 3300)" \
		-q "INSERT INTO InstallExecuteSequence (Action, Sequence) VALUES ('WriteEnvironmentStrings', 5200)" \
		-q "UPDATE \`Property\` SET \`Value\` = 'KEEPSTATE;WIX_DOWNGRADE_DETECTED;WIX_UPGRADE_DETECTED' WHERE \`Property\` = 'SecureCustomProperties'") >"$work/log" 2>&1 ||
		{ tail -n 20 "$work/log" >&2; die "the MSI package could not be made"; }
	settle_msi >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; die "the MSI package's summary could not be settled"; }
	signed "$msi"
}
if [ -n "$installers" ]; then
	cp packaging/windows/jitwarm.ico "$files/"
	pack_setup
	pack_msi
	made+=", $(basename "$setup") ($(stat -c %s "$setup")), $(basename "$msi") ($(stat -c %s "$msi"))"
fi
echo "package-windows: $made"
