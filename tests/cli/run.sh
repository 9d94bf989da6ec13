#!/bin/bash
# run.sh CASE: runs one case of cases/ (JITWARM_CASES: of another folder) in a new temporary folder, with an environment that knows nothing of this machine's
# Python, cache or drivers. JITWARM is the command to test. Exit status 77: skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cases=${JITWARM_CASES:-$here/cases}
case=$(basename "$1" .sh)
: "${JITWARM:?the jitwarm to test}"

work=$(mktemp -d "${TMPDIR:-/tmp}/jitwarm-cli.XXXXXX")
cleanup() {
	chmod -R u+rwX "$work" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
mkdir "$work/home" "$work/state" "$work/cache" "$work/bin"

unset VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONUSERBASE PYENV_VERSION NO_COLOR COLUMNS
unset CUDA_CACHE_DISABLE CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT
unset XDG_STATE_HOME XDG_CACHE_HOME LD_PRELOAD SUDO_USER
export TERM=dumb
if [[ $JITWARM == *.exe ]]; then
	command -v wine >/dev/null || { echo "skipped: wine is not installed"; exit 77; }
	export WINEDEBUG=-all DISPLAY= # Wine keeps its own home
	mkdir -p "${WINEPREFIX:=$HOME/.wine}"
else
	export HOME=$work/home
fi
export JITWARM_STATE=$work/state
cd "$work"
set +e
(
	# shellcheck source=/dev/null
	. "$here/lib.sh"
	# What ends a case without a word of its own
	trap '[[ ${BASH_SOURCE[0]} == "$0" ]] || printf "%s: %s" "$LINENO" "$BASH_COMMAND" >"$work/.failed"' ERR
	# shellcheck source=/dev/null
	. "$cases/$case.sh"
)
status=$?
[[ $status == 0 || $status == 77 || -e $work/.told ]] ||
	echo "FAILED: $case.sh ends with status $status; the last command to fail: $(cat "$work/.failed" 2>/dev/null)"
exit $status
