# shellcheck shell=bash
# Package indexes on this machine, for fetch.sh and index.sh: a scratch folder to be in, servers (index-server.py) that end with the
# test, and nothing of this account's own configuration.

command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
scratch=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 3
failed=0
fail() { echo "FAILED: $*"; failed=1; }
ok() { echo "ok: $*"; }
await() {
	local end=$((SECONDS + 60))
	until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.05; done
}
serve() { # FOLDER [CERTIFICATE]
	mkdir -p "$1"
	python3 "${BASH_SOURCE[0]%/*}/index-server.py" "$@" >"$1/said" 2>&1 &
	servers+=($!)
	await test -s "$1/port" || { cat "$1/said"; echo "skipped: no server"; exit 77; }
}

while read -r name; do unset "$name"; done < <(env | grep -oiE '^(PIP_[A-Z_]*|[a-z]*_proxy|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|SSL_CERT_FILE|NETRC|VIRTUAL_ENV|CONDA_PREFIX)=' | tr -d =)
mkdir home
export HOME=$scratch/home JITWARM_STATE=$scratch/state NO_COLOR=1 LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null PIP_RETRIES=0 no_proxy='*'
