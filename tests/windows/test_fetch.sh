#!/bin/bash
# jitwarm compiler fetch installs a compiler by the active environment's pip, here a program that answers as index.py (fake_python.c).
. "$(dirname "$0")/lib.sh"
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }

mkdir -p "$work/환경/Scripts" "$work/환경/Lib/site-packages" "$work/wheels"
cp "$build/tests/windows/fake_python.exe" "$work/환경/Scripts/python.exe"
echo 'version = 3.11.2' > "$work/환경/pyvenv.cfg"
python3 - "$build/tests/windows/fake_ptxas.exe" "$work/wheels" <<'P'
import sys, zipfile
program = open(sys.argv[1], "rb").read().replace(b"@" * 40, b"release 12.3, V12.3.107 ".ljust(40))
with zipfile.ZipFile(f"{sys.argv[2]}/nvidia_cuda_nvcc_cu12-12.3.107-py3-none-win_amd64.whl", "w") as archive:
    archive.writestr("nvidia/cuda_nvcc/bin/ptxas.exe", program)
P
JITWARM_PTXAS=$(windows_path "$work/저장소") VIRTUAL_ENV=$(windows_path "$work/환경") FAKE_WHEELS=$(windows_path "$work/wheels")
export JITWARM_PTXAS VIRTUAL_ENV FAKE_WHEELS

jitwarm compiler fetch 12.3
exits 0 "fetch"
[ "$(cat "$out")" = "$JITWARM_PTXAS\\12.3\\ptxas.exe" ] || fail "another path than it should print"
grep -q 'release 12.3, V12.3.107 ' "$work/저장소/12.3/ptxas.exe" || fail "not the one of the wheel"
[ "$(find "$work/저장소" -type f -printf '%P\n' | sort | paste -sd ' ')" = "12.3/ptxas.exe" ] || fail "something else is left: $(find "$work/저장소")"

rm -rf "$work/저장소"
cp "$work/wheels/nvidia_cuda_nvcc_cu12-12.3.107-py3-none-win_amd64.whl" "$work/wheels/nvidia_cuda_nvcc_cu12-12.3.99-py3-none-win_amd64.whl"
jitwarm compiler fetch 12.3
exits 3 "two wheels"
complains "pip fetched no wheel"
unset FAKE_WHEELS
jitwarm compiler fetch 12.3
exits 3 "a pip that fails"
complains "pip: no wheels of http://host/ here"
[ -z "$(find "$work/저장소" -mindepth 1 2> /dev/null)" ] || fail "something is left"
