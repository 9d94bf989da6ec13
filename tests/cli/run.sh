#!/bin/bash
# run.sh CASE: runs one case of cases/ (JITWARM_CASES: of another folder) in a new temporary folder, with an environment that knows nothing of this machine's
# Python, cache or drivers. JITWARM is the command to test. Exit status 77: skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cases=${JITWARM_CASES:-$here/cases}
case=$(basename "$1" .sh)
: "${JITWARM:?the jitwarm to test}"

# Each run that the case marks is compared with the stored snapshot, which is of the release build on Linux as root (snapshot.py). SNAPSHOT=accept
# stores what it does now; without a comparison: SNAPSHOT=
snapshots= differs=
[[ $EUID == 0 ]] || differs+=" ACCOUNT"
[[ $JITWARM != *.exe ]] || differs+=" WINDOWS"
[[ -z ${JITWARM_SANITIZED-} ]] || differs+=" SANITIZERS"
if [[ -z ${JITWARM_CASES-}${JITWARM_REAL_DRIVER-} && (${SNAPSHOT-compare} == compare || (${SNAPSHOT-} == accept && -z $differs)) ]]; then
	snapshots=$here/snapshots
	[[ ${TMPDIR-} == /var/tmp ]] || unset TMPDIR # CMakeLists.txt sets that for cases that need a folder that stays; other folders are named in outputs
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/jitwarm-cli.XXXXXX")
machine=/var/tmp/jitwarm-follow.${work##*.} # for steps.sh: doctor finds that /tmp is no place for a cache
cleanup() {
	chmod -R u+rwX "$work" 2>/dev/null || true
	rm -rf "$work" "$machine"* ${pipes:+"$pipes"}
}
trap cleanup EXIT
mkdir "$work/home" "$work/state" "$work/cache" "$work/bin"

# These variables remain: where programs are and may write, what a case is told, and how this machine reaches the network.
kept='PATH|HOME|TMPDIR|SNAPSHOT|TEST_DOCUMENTS|JITWARM|JITWARM_.*|CC|CCACHE_.*|LIBRARY_PATH|LD_LIBRARY_PATH|[AUTL]+SAN_OPTIONS|WINE.*|.*_proxy|.*_PROXY|PIP_.*|UV_.*|.*CERT.*|.*_CA_.*|SSL_.*|CURL_.*'
while read -r name; do
	[[ $name =~ ^($kept)$ ]] || unset "$name"
done < <(compgen -e)
# The cases look for whole lines; unit-cli_output folds the stored ones, and cli-columns runs jitwarm without COLUMNS.
export TERM=dumb SHELL=/bin/bash COLUMNS=10000
if [[ $JITWARM == *.exe ]]; then
	command -v wine >/dev/null || { echo "skipped: wine is not installed"; exit 77; }
	export WINEDEBUG=-all DISPLAY= # Wine keeps its own home
	mkdir -p "${WINEPREFIX:=$HOME/.wine}"
else
	export HOME=$work/home
fi
export JITWARM_STATE=$work/state
# A test's own compilers, which workers of root start, write below $work.
export FAKE_WRITES=$work/any
pipes=
if [[ -n $snapshots ]]; then
	pipes=$(mktemp -d /tmp/jitwarm-snapshot.XXXXXX)
	mkfifo "$pipes/asked" "$pipes/answer"
	# shellcheck disable=SC2086
	python3 -I -S "$here/snapshot.py" "$pipes" "$snapshots/$case.facts" "$snapshots/$case.text" $differs &
fi
cd "$work"
set +e
(
	# shellcheck source=/dev/null
	. "$here/lib.sh"
	# This trap names the command that ended a case without a message.
	trap '[[ ${BASH_SOURCE[0]} == "$0" ]] || printf "%s: %s" "$LINENO" "$BASH_COMMAND" >"$work/.failed"' ERR
	# A failing case leaves no program behind, since ctest waits until all programs with its pipe have ended.
	trap 'jobs -p | xargs -r kill -9 2>/dev/null' EXIT
	# shellcheck source=/dev/null
	. "$cases/$case.sh"
)
status=$?
if [[ -n $pipes ]]; then
	exec {answer}<>"$pipes/answer" # snapshot.py ends right after its answer, which is lost if nobody has the pipe open
	printf '2\0end\0%s\0' "$status" >"$pipes/asked"
	read -r different <&$answer
	if [[ $different != 0 ]]; then
		cat "$pipes/difference"
		echo "FAILED: $case.sh: not what tests/cli/snapshots has (SNAPSHOT=accept ctest -R cli-$case accepts it): $different"
		status=1
		touch "$work/.told"
	fi
fi
[[ $status == 0 || $status == 77 || -e $work/.told ]] ||
	echo "FAILED: $case.sh ends with status $status; the last command to fail: $(cat "$work/.failed" 2>/dev/null)"
exit $status
