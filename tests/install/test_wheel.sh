#!/usr/bin/env bash
# test_wheel.sh JITWARM|FOLDER   uvx and pip take jitwarm's wheel from an index on this machine: from nothing to the answer
#
# The wheel is that of FOLDER (scripts/package.sh) for this machine, or is made of the program. It judges a wheel of XGBoost, which
# scripts/get.sh frameworks has fetched. uvx's Python has no pip but the wheel that it brings. Prints how long each way
# took, and how long the download of the judged wheel alone.
# Exit status 1 if a case fails, 77 if something is not at hand.
set -uo pipefail
given=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "$(uname -m)" = x86_64 ] || { echo "skipped: the judged wheel is for x86_64"; exit 77; }
# shellcheck source=tests/elsewhere/indexes.sh
. "$here/../elsewhere/indexes.sh"
uvx=$cache/jitwarm/uv/bin/uvx # installed by setup.sh
[ -x "$uvx" ] || uvx=$(command -v uvx) || { echo "skipped: uv is missing"; exit 77; }
judged=$(compgen -G "$cache/jitwarm/frameworks/xgboost-1.5.2-linux/*.whl" || compgen -G "$cache/jitwarm/frameworks/xgboost-1.3.3-linux/*.whl") ||
	{ echo "skipped: no XGBoost: scripts/get.sh frameworks xgboost-1.3.3-linux"; exit 77; }
version=$(basename "$judged" | cut -d- -f2)

mkdir -p http/packages/jitwarm http/packages/xgboost
ln -s "$judged" http/packages/xgboost/
if [ -d "$given" ]; then
	cp "$given"/jitwarm-*.whl http/packages/jitwarm/
else
	strip -o jitwarm "$given" && "$here/../../scripts/make-wheel.py" jitwarm linux_x86_64 http/packages/jitwarm >/dev/null || fail "make-wheel.py"
fi
serve http
export UV_DEFAULT_INDEX PIP_INDEX_URL PIP_DISABLE_PIP_VERSION_CHECK=1
PIP_INDEX_URL=http://127.0.0.1:$(cat http/port)/good/simple UV_DEFAULT_INDEX=$PIP_INDEX_URL

# timed COMMAND...: returns its status, with its output in out and err, and its time in `took`; other work may run meanwhile
timed() {
	local TIMEFORMAT='%1R s (%1U + %1S s of a processor)'
	{ time timeout 300 "$@" >out 2>err; } 2>took
}
timed curl -fsS -o judged "http://127.0.0.1:$(cat http/port)/good/files/xgboost/${judged##*/}" || fail "the download of the judged wheel"
alone=$(cat took)
# answers WHAT COMMAND...: the command judges the wheel
answers() {
	timed "${@:2}" && grep -q "^${judged##*/}:" out && grep -qE '^sm_120 \(rtx5090\): 14[59] modules to compile' out || { fail "$1: $(cat out err)"; return; }
	ok "$1: $(cat took), of which the wheel of XGBoost $alone"
}
answers "uvx jitwarm scan --index xgboost==$version --target rtx5090" "$uvx" jitwarm scan --index "xgboost==$version" --target rtx5090
answers "a virtual environment, pip install jitwarm, python -m jitwarm scan …" sh -c '"$1" -m venv venv && venv/bin/pip install -q jitwarm &&
	venv/bin/python -m jitwarm scan --index "xgboost==$2" --target rtx5090' sh "$python" "$version"
venv/bin/python -c 'import jitwarm, sys; print(jitwarm.scan(sys.argv[1], target="rtx5090")["schema"])' "$judged" >out 2>err && grep -q '^jitwarm.scan/' out || fail "the API: $(cat out err)"
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
