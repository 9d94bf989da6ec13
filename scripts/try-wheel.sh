#!/usr/bin/env bash
# try-wheel.sh FOLDER TESTS [RELEASE...]   tries the wheels of FOLDER in minimal roots (needs root)
#
# scripts/package.sh makes the wheels; TESTS is build/linux-x86_64 of the same commit. In a root of each RELEASE (default: six,
# with the Pythons 3.8 to 3.13) pip installs the wheel into a virtual environment. The command primes, under
# driver 550 on the phantom GPU too where they are here, the Python API is tried (tests/python/api.py), pip upgrades and removes the wheel, and all that was the
# user's is as it was. For musl, or an archive of Alpine's (try-install.sh), this machine's pip chooses the wheel and unpacks it there. With -arm64 behind
# the RELEASE all of it runs under qemu-user.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

# shellcheck source=scripts/trial.sh
. "$(dirname "$0")/trial.sh"
trial_of "focal bullseye jammy bookworm noble trixie" "$@"

# next WHEEL: the same with a higher version
next() {
	python3 - "$1" "$work" <<'PYTHON'
import base64, hashlib, os, re, sys, zipfile
name = os.path.basename(sys.argv[1])
version = name.split("-")[1]
files = {}
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for member in wheel.infolist():
        info = zipfile.ZipInfo(member.filename.replace(f"jitwarm-{version}", f"jitwarm-{version}.1"))
        info.external_attr, info.compress_type = member.external_attr, member.compress_type
        files[info] = re.sub(rb"(?m)^Version: .*", f"Version: {version}.1".encode(), wheel.read(member)) if member.filename.endswith("METADATA") else wheel.read(member)
with zipfile.ZipFile(f"{sys.argv[2]}/{name.replace(version, version + '.1')}", "w") as wheel:
    for info, data in files.items():
        if info.filename.endswith("RECORD"):
            lines = [f"{other.filename},sha256={base64.urlsafe_b64encode(hashlib.sha256(bytes_).digest()).rstrip(b'=').decode()},{len(bytes_)}\n"
                     for other, bytes_ in files.items() if other is not info]
            data = ("".join(lines) + f"{info.filename},,\n").encode()
        wheel.writestr(info, data)
PYTHON
}
# A musl root has no Python: this machine's pip chooses the wheel for it and unpacks it.
try_musl() {
	local pip=(python3 -m pip install -q --disable-pip-version-check --no-index --only-binary=:all: --platform "musllinux_1_2_$(machine_of "$1")" --target "$root/opt/jitwarm")
	"${pip[@]}" --find-links "$packages" jitwarm >"$work/out" 2>&1 || fail "pip"
	story_installed "$1"
	mkdir -p "$work/next"
	next "$packages"/jitwarm-*-musllinux_*_"$(machine_of "$1")".whl && mv "$work"/jitwarm-*.whl "$work/next/" || fail "the next version"
	"${pip[@]}" --upgrade --find-links "$work/next" jitwarm >"$work/out" 2>&1 || fail "pip --upgrade"
	[ -d "$root"/opt/jitwarm/jitwarm-*.1.dist-info ] || fail "it is not the next version"
	story_upgraded
	must "jitwarm startup disable --quiet --all-users"
	rm -r "$root/opt/jitwarm"
	story_removed "$1"
}
try_release() {
	local wheel pip="/opt/jitwarm/bin/pip install -q --no-index --disable-pip-version-check"
	root_of "$1" || skip "no root of $1"
	tests_into_root "$tests"
	if [[ $1 = musl* || $1 = alpine-* ]]; then try_musl "$1"; return; fi
	wheel=("$packages"/jitwarm-*-manylinux_*_"$(machine_of "$1")".*.whl)
	apt_into_root "$1"
	must "apt-get -qq install -y --no-install-recommends python3-venv"
	[ -f "${wheel[0]}" ] && [ ${#wheel[@]} = 1 ] || skip "$packages has not one wheel for $1"
	mkdir -p "$root/opt/packages/next" "$root/opt/all"
	cp "$packages"/jitwarm-*.whl "$root/opt/all/"
	cp "${wheel[0]}" "$root/opt/packages/" && next "${wheel[0]}" && mv "$work"/jitwarm-*.whl "$root/opt/packages/next/" || fail "the next version"
	cp "$here/../tests/python/api.py" "$root/opt/tests/"
	must "python3 -m venv /opt/jitwarm" # where PATH leads
	must "$pip /opt/packages/jitwarm-*.whl"
	story_installed "$1"
	must "$pip --target /opt/api --find-links /opt/all jitwarm" # of several it chooses this machine's
	must "JITWARM_STORE=0 HOME=/tmp/api CUDA_CACHE_PATH=/tmp/api/cache PYTHONPATH=/opt/api PATH=/usr/bin:/bin python3 -B /opt/tests/api.py $library /opt/api && rm -r /tmp/api"
	must "$pip --upgrade /opt/packages/next/jitwarm-*.whl"
	must "/opt/jitwarm/bin/pip list --disable-pip-version-check 2>/dev/null | grep -q '^jitwarm .*\\.1\$'"
	story_upgraded
	must "jitwarm startup disable --quiet --all-users" # pip runs nothing of a package that it removes (docs/packages.md)
	must "/opt/jitwarm/bin/pip uninstall -q -y jitwarm"
	story_removed "$1"
	must "! find /opt/jitwarm/lib /opt/jitwarm/bin -iname '*jitwarm*' | grep ."
	say "$1: $(inside "python3 --version"; cat "$work/out"): the API"
}
trial_each
