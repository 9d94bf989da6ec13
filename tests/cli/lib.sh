# Sourced by every case. A case is a bash script that calls jitwarm and says what must hold; the first thing that does not
# hold ends it. JITWARM is the command to test and may have several words ("wine jitwarm.exe").
#
#   run STATUS ARGUMENT…   runs jitwarm; STATUS may be several ("0|1"); its output is in $out and $err (files, without carriage returns), its status in $ended
#   out_has TEXT, out_lacks TEXT, err_has TEXT, err_lacks TEXT, out_empty, err_empty, err_one_line
#   out_exact NAME         standard output is that of cases/CASE.NAME.stdout.exact (JITWARM_UPDATE=1 writes it)
#   json EXPRESSION        a Python expression about the document `d` on standard output is true
#   program_path           if set: the PATH that jitwarm sees
#   has_command NAME       whether jitwarm has the command
#   native PATH            the path as the program under test wants it
#   await COMMAND…         until it succeeds, for three minutes at most: for what takes as long as the machine is slow
#   skip REASON            the case cannot run here
set -u
export LC_ALL=C.UTF-8

out=$work/stdout err=$work/stderr
is_wine() { [[ $JITWARM == *.exe ]]; }

fail() {
	printf 'FAILED: %s\n--- jitwarm %s\n--- stdout\n' "$*" "${last[*]-}"
	head -c 4000 "$out" 2>/dev/null
	printf -- '--- stderr\n'
	head -c 4000 "$err" 2>/dev/null
	exit 1
}
await() {
	local end=$((SECONDS + 180))
	until "$@"; do
		((SECONDS < end)) || fail "in vain: $*"
		sleep 0.05
	done
}
skip() { printf 'skipped: %s\n' "$*"; exit 77; }

run() {
	local wanted=$1
	shift
	last=("$@")
	# shellcheck disable=SC2086
	timeout "${limit:-200}" env "PATH=${program_path:-$PATH}" $JITWARM "$@" >"$work/raw.out" 2>"$work/raw.err" </dev/null
	ended=$?
	tr -d '\r' <"$work/raw.out" >"$out"
	# Wine speaks up on standard error about itself
	tr -d '\r' <"$work/raw.err" | grep -vaE '^(wine:|[0-9a-f]{4}:(fixme|err|warn):)' >"$err"
	[[ "|$wanted|" == *"|$ended|"* ]] || fail "exit status $ended, not $wanted"
}

# shellcheck disable=SC2086
run_to_full_disk() { timeout 200 $JITWARM "$@" >/dev/full 2>"$err" </dev/null; }

out_has() { grep -qaF -e "$1" "$out" || fail "stdout does not say “$1”"; }
out_lacks() { ! grep -qaF -e "$1" "$out" || fail "stdout says “$1”"; }
err_has() { grep -qaF -e "$1" "$err" || fail "stderr does not say “$1”"; }
err_lacks() { ! grep -qaF -e "$1" "$err" || fail "stderr says “$1”"; }
out_empty() { [[ ! -s $out ]] || fail "stdout is not empty"; }
err_empty() { [[ ! -s $err ]] || fail "stderr is not empty"; }
err_one_line() { [[ $(wc -l <"$err") == 1 ]] || fail "stderr is not one line"; }

out_exact() {
	local file=$cases/$case.$1.stdout.exact
	if [[ -n ${JITWARM_UPDATE-} ]]; then cp "$out" "$file"; fi
	diff -u "$file" "$out" || fail "stdout differs from $file"
}

json() {
	python3 - "$out" "$1" <<'PYTHON' || fail "not so: $1"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    d = json.load(file)
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
}

# shellcheck disable=SC2086
has_command() { timeout 200 $JITWARM "$@" --help >/dev/null 2>&1 </dev/null; }

# with_simdriver GPUS: from here on jitwarm runs under the simulated driver, with a GPU for each name, and with $work/cache as
# the driver's cache.
with_simdriver() {
	local build
	is_wine && skip "tests/windows runs this under Wine"
	build=$(dirname "$(dirname "$JITWARM")")
	[[ -e $build/tests/simdriver ]] || skip "no simulated driver in $build"
	JITWARM="$cases/../../../scripts/with-simdriver.sh -B $build $1 -- $JITWARM"
	sample=$build/tests/framework/libsample_framework.so
	export CUDA_CACHE_PATH=$work/cache
}

# environment DIR VERSION: a Python environment with the sample framework as package `frame`
environment() {
	local site=$1/lib/python3.11/site-packages
	mkdir -p "$site/frame/lib" "$site/frame-$2.dist-info" "$1/bin"
	cp "$sample" "$site/frame/lib/"
	printf 'home = /usr\n' >"$1/pyvenv.cfg"
	ln -s /usr/bin/python3 "$1/bin/python3"
	printf 'Metadata-Version: 2.1\nName: frame\nVersion: %s\n' "$2" >"$site/frame-$2.dist-info/METADATA"
	printf 'frame/lib/libsample_framework.so,,\n' >"$site/frame-$2.dist-info/RECORD"
}

native() {
	if is_wine; then winepath -w "$1" 2>/dev/null | tr -d '\r'; else printf '%s\n' "$1"; fi
}
