#!/bin/bash
# The archive of scripts/package-windows.sh is reproducible and complete, the programs' resources are right, and so is the wheel.
. "$(dirname "$0")/lib.sh"
mkdir -p "$work/build"
for program in jitwarm jitwarmw; do x86_64-w64-mingw32-strip -o "$work/build/$program.exe" "$build/src/$program.exe"; done
# The installers are included if their tools are installed (scripts/setup.sh --windows); scripts/try-windows-package.sh runs them.
installers=''
if command -v makensis > /dev/null && command -v wixl > /dev/null && command -v msibuild > /dev/null; then installers=--installers; fi
export JITWARM_PACKAGE_FAST=1
for turn in 1 2; do
	"$root/scripts/package-windows.sh" $installers --homepage https://example.invalid/ --publisher "홍길동: 'b'" -B "$work/build" -o "$work/$turn" > "$out" 2> "$err" || fail package-windows.sh
done
"$root/scripts/package-windows.sh" --homepage > "$out" 2> "$err" && fail 'wrong use is taken'
diff -r "$work/1" "$work/2" > "$out" || fail 'two runs differ'
# The folder of the link does not matter either: imports are sorted by the paths of their libraries.
! grep -n -- "-L$build" "$build/build.ninja" > "$out" || fail 'the programs depend on the folder of their build'
python3 - "$work/1" "$work/build" > "$out" 2> "$err" <<'PYTHON' || fail 'the package is not as it should be'
import glob, re, struct, sys, zipfile
folder, build = sys.argv[1:]
(archive,) = glob.glob(folder + "/*.zip")
version = re.search(r"jitwarm-([0-9.]+)-windows-x64\.zip$", archive)[1]
names = zipfile.ZipFile(archive).namelist()
assert names == ["jitwarm.exe", "jitwarmw.exe", "LICENSE.txt", "README.md"], names
# All linked libraries have their notices: ours, and those of mingw-w64 and gcc.
notices = zipfile.ZipFile(archive).read("LICENSE.txt").decode()
for name in "libarchive cJSON LZ4 libsodium libuv zlib Zstandard mingw-w64 libgcc".split():
    assert re.search(rf"^{re.escape(name)}( \(.*\))?\n=+\n\nCopyright ", notices, re.M), name
for words in "the mingw-w64 project", "LUCENT DISCLAIMS", "GCC Runtime\nLibrary Exception, version 3.1":
    assert words in notices, words


def resource_kinds(data):
    """The types in the root of a PE file's resource directory."""
    pe = struct.unpack_from("<I", data, 0x3C)[0]
    sections, optional = struct.unpack_from("<H", data, pe + 6)[0], struct.unpack_from("<H", data, pe + 20)[0]
    address = struct.unpack_from("<I", data, pe + 24 + 112 + 16)[0]
    for i in range(sections):
        size, start, _, at = struct.unpack_from("<IIII", data, pe + 24 + optional + 40 * i + 8)
        if start <= address < start + size:
            root = at + address - start
            count = sum(struct.unpack_from("<HH", data, root + 12))
            return {struct.unpack_from("<I", data, root + 16 + 8 * n)[0] for n in range(count)}

for program in "jitwarm", "jitwarmw":
    data = open(f"{build}/{program}.exe", "rb").read()
    assert resource_kinds(data) >= {3, 14, 16, 24}, resource_kinds(data)  # icons, the icon group, the version, the manifest
    for text in (f"{program}.exe", version):
        assert text.encode("utf-16-le") in data, text
PYTHON
# The icon is the one that its script draws. (Its PNG depends on zlib, so the bitmaps are compared.)
python3 "$root/packaging/windows/make-icon.py" "$work/icon.ico"
cmp -s <(tail -c +87 "$work/icon.ico" | head -c 16000) <(tail -c +87 "$root/packaging/windows/jitwarm.ico" | head -c 16000) || fail 'jitwarm.ico is not what make-icon.py draws'

# The wheel's logon task starts the program without a console window, too.
wheel=$("$root/scripts/make-wheel.py" "$work/build/jitwarm.exe" win_amd64 "$work")
python3 -m zipfile -e "$wheel" "$work/wheel"
under "$gpus" "$(find "$work/wheel" -name jitwarm.exe)" startup enable --print
exits 0 'startup enable --print of the wheel'
says '\scripts\jitwarmw.exe</Command>'
