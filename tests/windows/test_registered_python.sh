# If no python is on PATH, jitwarm takes the newest one of the registry (PEP 514), the user's own before the machine's.
. "$(dirname "$0")/lib.sh"

has_command scan || exit 77
# make_python FOLDER MODULE: makes a Python with this module
make_python() {
	mkdir -p "$work/$1/Lib/site-packages"
	printf MZ > "$work/$1/python.exe"
	printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' > "$work/$1/Lib/site-packages/$2.ptx"
}
# register ROOT TAG FOLDER: registers it
register() {
	under "$gpus" "$home/../../windows/system32/reg.exe" add "$1\\Software\\Python\\PythonCore\\$2\\InstallPath" /ve /f /d "$(windows_path "$work")\\$3\\"
	exits 0 reg
}
unregister() { under "$gpus" "$home/../../windows/system32/reg.exe" delete "$1\\Software\\Python" /f; }
trap 'unregister HKCU; unregister HKLM' EXIT

make_python 파이썬39 old
make_python Python311 new
make_python Python312 machine
register HKLM 3.12 Python312
jitwarm scan --json --target sm_86 --driver 12.4
exits 0 scan
json_is '[f["path"].replace("/", "\\").split("\\")[-1] for f in d["files"]]' "['machine.ptx']"

register HKCU 3.9 파이썬39
jitwarm scan --json --target sm_86 --driver 12.4
json_is '[f["path"].replace("/", "\\").split("\\")[-1] for f in d["files"]]' "['old.ptx']"

register HKCU 3.11 Python311
register HKCU 3.13 gone
jitwarm scan --json --target sm_86 --driver 12.4
json_is '[f["path"].replace("/", "\\").split("\\")[-1] for f in d["files"]]' "['new.ptx']"

# With Microsoft's Store, pip installs below the package's own folder, since the Python's folder is read-only.
python=PythonSoftwareFoundation.Python.3.11 store=$home/AppData/Local/Packages
make_python "WindowsApps/${python}_3.11.2544.0_x64__qbz5n2kfra8p0" inside
printf MZ > "$work/WindowsApps/${python}_3.11.2544.0_x64__qbz5n2kfra8p0/python311.dll"
local=$store/${python}_qbz5n2kfra8p0/LocalCache/local-packages/Python311/site-packages
mkdir -p "$local"
cp "$work/Python311/Lib/site-packages/new.ptx" "$local/local.ptx"
register HKCU 3.14 "WindowsApps\\${python}_3.11.2544.0_x64__qbz5n2kfra8p0"
jitwarm scan --json --target sm_86 --driver 12.4
json_is '[f["path"].replace("/", "\\").split("\\")[-1] for f in d["files"]]' "['local.ptx', 'inside.ptx']"
rm -rf "$store"

# A Python on PATH comes first; the Store's stub is an empty file.
mkdir -p "$work/stub"
: > "$work/stub/python.exe"
WINEPATH="$(windows_path "$work")\\stub;$(windows_path "$work")\\Python312" jitwarm scan --json --target sm_86 --driver 12.4
json_is '[f["path"].replace("/", "\\").split("\\")[-1] for f in d["files"]]' "['machine.ptx']"
