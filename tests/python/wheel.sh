#!/usr/bin/env bash
# wheel.sh BUILD [WHEEL [PYTHON...]]   installs a wheel, by default one of BUILD's programs, into a folder and tries its API there
#
# For each PYTHON (python3). Skipped (77) if the first has no pip.
set -euo pipefail

build=$(cd "$1" && pwd) wheel=${2:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
pythons=("${@:3}")
[ ${#pythons[@]} -gt 0 ] || pythons=(python3)
"${pythons[0]}" -m pip --version >/dev/null 2>&1 || { echo "skipped: ${pythons[0]} has no pip"; exit 77; }
export PIP_ROOT_USER_ACTION=ignore
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$wheel" ]; then
	# The program is stripped as in a release, since debugging information takes longest to compress.
	strip -o "$work/jitwarm" "$build/src/jitwarm"
	wheel=$("$root/scripts/make-wheel.py" "$work/jitwarm" linux_"$(uname -m)" "$work")
	again=$("$root/scripts/make-wheel.py" "$work/jitwarm" linux_"$(uname -m)" "$work/again")
	cmp "$wheel" "$again"
fi
# An index of packages refuses a field that the named version of metadata lacks (License-File, before 2.4).
python3 - "$wheel" <<'PYTHON'
import email, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    fields = email.message_from_bytes(wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))))
unknown = set(fields) - {"Metadata-Version", "Name", "Version", "Summary", "License", "Keywords", "Classifier", "Requires-Python", "Description-Content-Type"}
sys.exit(f"METADATA 2.1 has no {unknown}" if unknown or fields["Metadata-Version"] != "2.1" else 0)
PYTHON
for python in "${pythons[@]}"; do
	folder=$work/python/$("$python" -c "import platform; print(platform.python_version())")
	"$python" -m pip install -q --no-index --no-deps --disable-pip-version-check --target "$folder" "$wheel"
	export CUDA_CACHE_PATH=$folder/cache JITWARM_STATE=$folder/state
	env PYTHONPATH="$folder" PATH=/usr/bin:/bin \
		"$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- "$python" -B "$root/tests/python/api.py" \
		"$build/tests/framework/libsample_framework.so" "$folder"
	"$folder/bin/jitwarm" --version >/dev/null
	# Each code of jitwarm.error/1 has its class of exception.
	PYTHONPATH=$folder "$python" -B -c 'import json, jitwarm, sys
codes = json.load(open(sys.argv[1]))["properties"]["code"]["enum"]
assert {"ok", *jitwarm._ERRORS} == set(codes), codes' "$root/data/schemas/jitwarm.error-1.json"
	echo "$("$python" --version): passed"
done
