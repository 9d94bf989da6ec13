# shellcheck shell=bash
# Package indexes on this machine, for fetch.sh and index.sh: a scratch folder to be in, servers (index-server.py) that end with the
# test, a Python that has pip, and nothing of this account's own configuration.

scratch=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 3
failed=0
fail() { echo "FAILED: $*"; failed=1 first=${first:-$*}; }
ok() { echo "ok: $*"; }
await() {
	local end=$((SECONDS + 60))
	until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.05; done
}
# forget_waiting STATUS: drops the line from `err` that a slow machine adds, and returns STATUS
forget_waiting() {
	/bin/sed -i '/^jitwarm: waiting for the package index$/d' err
	return "$1"
}
# serve FOLDER [CERTIFICATE]: starts the server
serve() {
	mkdir -p "$1"
	python3 "${BASH_SOURCE[0]%/*}/index-server.py" "$@" >"$1/said" 2>&1 &
	servers+=($!)
	await test -s "$1/port" || { cat "$1/said"; echo "skipped: no server"; exit 77; }
}

while read -r name; do unset "$name"; done < <(env | grep -oiE '^(PIP_[A-Z_]*|UV_[A-Z_]*|PYTHON[A-Z]*|[a-z]*_proxy|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|SSL_CERT_FILE|NETRC|VIRTUAL_ENV|CONDA_PREFIX)=' | tr -d =)
# python is the program that PATH means: pyenv's scripts look for Python in the home folder.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && "$python" -m pip --version >/dev/null 2>&1 || { echo "skipped: no python3 with pip"; exit 77; }
mkdir home bin tmp
cache=${XDG_CACHE_HOME:-$HOME/.cache}
ln -s "$python" bin/python3
export HOME=$scratch/home JITWARM_STATE=$scratch/state TMPDIR=$scratch/tmp NO_COLOR=1 LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null PIP_RETRIES=0 no_proxy='*' PATH=$scratch/bin:$PATH
# fake_pip PYTHON-LINE...: writes somebody's module named pip into the environment `faked`
fake_pip() {
	[ -e faked ] || "$python" -m venv --without-pip faked
	local site
	site=$(echo faked/lib/python3*/site-packages)
	rm -rf "$site/pip" && mkdir "$site/pip"
	printf '%s\n' "$@" >"$site/pip/__init__.py"
}
# whole_progress NAME: the last progress object of a download in `err` is complete
whole_progress() {
	python3 -c 'import json, sys
lines = [json.loads(line) for line in open("err") if line.startswith("{")]
assert len(lines) > 1 and all(line["phase"] == "fetching" and line["unit"] == "MiB" and line["current"] == sys.argv[1] for line in lines), lines
assert lines[-1]["done"] == lines[-1]["total"] >= 3 and lines[-1]["fraction"] == 1, lines' "$1"
}
