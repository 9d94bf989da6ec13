# Sourced by every case. A case is a bash script that calls jitwarm and says what must hold; the first thing that does not
# hold ends it. JITWARM is the command to test and may have several words ("wine jitwarm.exe").
#
#   run STATUS ARGUMENT…   runs jitwarm; STATUS may be several ("0|1"); its output is in $out and $err (files, without carriage returns), its status in $ended
#                          its printed commands exist (steps.sh)
#   out_has TEXT, out_lacks TEXT, err_has TEXT, err_lacks TEXT, out_empty, err_empty, err_one_line
#   snapshot COMMAND…      each jitwarm that this command runs (run 0 check, a function of the case) is compared with the stored snapshot
#   varies CLASS PATTERN   from here on the snapshot leaves out what this Python pattern matches: text (lines of the outputs), tree (files),
#                          names (how many files a folder has, and their names), json (keys of documents), run (outputs of runs with such arguments); fixed CLASS PATTERN ends it
#   differs_for KIND [COMMAND…]   the runs of this command, or from here on, are not compared for this kind: ACCOUNT (one without root's rights), WINDOWS, SANITIZERS
#   json EXPRESSION        a Python expression about the document `d` on standard output is true; posix(PATH) has slashes
#   program_path           if set: the PATH that jitwarm sees
#   has_command NAME       whether jitwarm has the command
#   begin ARGUMENT…        runs jitwarm in the background, without its output; $begun is the process, and kill_begun kills it
#   await COMMAND…         until it succeeds, for three minutes at most: for what takes as long as the machine is slow
#   native PATH            the path as the program under test wants it. Arguments of run and begin, and texts to be found, that
#                          begin with an absolute path are made native by themselves; so are with-simdriver.sh's variables
#   state FOLDER put|get|remove NAME [JSON]   a member of the state directory's state.json (../state.py)
#   is_wine                whether the program is one for Windows
#   is_emulated            whether it is one for another processor, which an emulator runs
#   skip REASON            the case cannot run here
set -u
export LC_ALL=C.UTF-8
# This machine's NVRTC (/usr/local/cuda, the linker's cache) is hidden from the cases, since check and doctor would name it.
export CUDA_HOME=/nonexistent/toolkit LD_LIBRARY_PATH=$work/no-nvrtc${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
mkdir -p "$work/no-nvrtc" && touch "$work"/no-nvrtc/libnvrtc.so{,.11.2,.12,.13}

# shellcheck source=/dev/null
. "$cases/../../documents/keep.sh"
# shellcheck source=/dev/null
. "$cases/../../cli/steps.sh"

out=$work/stdout err=$work/stderr
state() { python3 "$cases/../../state.py" "$@"; }
is_wine() { [[ $JITWARM == *.exe ]]; }
elf_machine() { od -An -tx1 -j18 -N2 "$1"; }
is_emulated() { ! is_wine && [[ $(elf_machine "${JITWARM##* }") != "$(elf_machine "$BASH")" ]]; }

# The last line says where in the case it failed, and why.
fail() {
	local at=$((${#BASH_SOURCE[@]} - 1))
	printf -- '--- jitwarm %s\n--- stdout\n' "${last[*]-}"
	head -c 4000 "$out" 2>/dev/null
	printf -- '--- stderr\n'
	head -c 4000 "$err" 2>/dev/null
	while ((at > 1)) && [[ ${BASH_SOURCE[at]} == */run.sh ]]; do at=$((at - 1)); done
	printf '\nFAILED: %s:%s: %s (jitwarm %s: %s)\n' "${BASH_SOURCE[at]##*/}" "${BASH_LINENO[at - 1]}" "${*//$'\n'/ }" "${last[*]-}" \
		"$(head -c 300 "$err" 2>/dev/null | tr '\n' ' ')"
	touch "$work/.told"
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

# Drive Z: holds Unix's files. /c and other options of cmd are not paths.
native() {
	local path=$1
	if is_wine && [[ $path == /*/* ]]; then path=Z:${path//\//\\}; fi
	printf '%s\n' "$path"
}
native_each() { # sets `given`
	local each
	given=("$@")
	is_wine || return 0
	given=()
	for each; do
		[[ $each != /*/* ]] || each=Z:${each//\//\\}
		given+=("$each")
	done
}

run() {
	local wanted=$1 path=() raw_out=$out raw_err=$err program
	shift
	last=("$@")
	native_each "$@"
	# with-simdriver.sh needs the PATH of Unix.
	[[ -z ${program_path-} ]] || path=(env "PATH=$program_path")
	! is_wine || { path=(env "WINEPATH=$(native "${program_path:-}")") raw_out=$work/raw.out raw_err=$work/raw.err; }
	[[ -z ${stored-} ]] || tell before "$work"
	# A page of help is stored as it is without COLUMNS (run.sh).
	local try columns=$COLUMNS
	[[ $columns != 10000 || ! " $* " =~ ^\ help\ --all\ |\ (--help|-h)\  ]] || columns=80
	for try in 1 2 3; do
		ended=0
		# shellcheck disable=SC2086
		COLUMNS=$columns timeout "${limit:-200}" "${path[@]}" $JITWARM "${given[@]}" >"$raw_out" 2>"$raw_err" <"${input:-/dev/null}" || ended=$?
		# A loaded Wine sometimes fails to start a program: status 1 without any output, which --quiet may also give
		if ! is_wine || [[ $ended != 1 || -s $raw_out || -s $raw_err || "|$wanted|$*|" == *"|1|"*-q* ]]; then break; fi
		echo "try $try: Wine did not start jitwarm ${given[*]}" >&2
	done
	if is_wine; then
		tr -d '\r' <"$raw_out" >"$out"
		# Wine prints messages about itself on standard error.
		tr -d '\r' <"$raw_err" | grep -vaE '^(wine:|wine client error:|[0-9a-f]{4}:(fixme|err|warn):)' >"$err"
	fi
	keep_document "$out"
	program=${JITWARM##* }
	[[ -z ${stored-} ]] || tell run "$work" "${program%/*/*}" "$out" "$err" "$wanted" "$uncompared" "$@"
	local text
	read_text "$out" "$err"
	[[ $text != *"1 "* || ! $text =~ $plural_behind_1 ]] || fail "a plural behind 1"
	[[ "|$wanted|" == *"|$ended|"* ]] || fail "exit status $ended, not $wanted"
	[[ $text != *jitwarm\ * ]] || check_steps
}
plural_behind_1=$'(^|[\n (:])1 (bytes|containers|copies|cores|entries|files|GPUs|keys|libraries|links|modules|packs|processes|programs|rows|runs|texts|workers)([^[:alnum:]_]|$)'
# read_text FILE...: sets `text`; a zero becomes a space. No process is started, as thousands of checks would take longer than jitwarm.
read_text() {
	local file parts
	text=
	for file; do
		mapfile -d '' parts <"$file" && text+=${parts[*]}$'\n'
	done
}

stored= uncompared=
differs_for() {
	local kind=$1 status=0
	shift
	[[ " $differs " == *" $kind "* ]] || { "$@"; return; }
	uncompared=1
	[[ $# != 0 ]] || return 0
	"$@" || status=$?
	uncompared=
	return $status
}
snapshot() {
	local status=0
	stored=$pipes
	"$@" || status=$?
	stored=
	return $status
}
# tell VERB WORD…: passes them to snapshot.py and reads its answer
tell() {
	local answer
	printf '%s\0' $# "$@" >"$pipes/asked"
	read -r answer <"$pipes/answer"
	[[ $answer == 0 ]] || fail "snapshot: $answer"
}
varies() { [[ -z $pipes ]] || tell varies "$@"; }
fixed() { [[ -z $pipes ]] || tell fixed "$@"; }

begin() {
	last=("$@")
	native_each "$@"
	# shellcheck disable=SC2086
	$JITWARM "${given[@]}" >/dev/null 2>&1 </dev/null &
	begun=$!
}

kill_begun() {
	kill -9 "$begun" 2>/dev/null
	wait "$begun" 2>/dev/null
}
# moment MILLISECONDS: a random number of seconds up to that. rounds COUNT: the numbers from 1 on. Under Wine a program takes a third of a
# second to begin, so a kill has more time to hit, and there are fewer rounds.
moment() {
	local most=$1
	! is_wine || most=$((most + 600))
	most=$((RANDOM % most))
	printf '%d.%03d\n' $((most / 1000)) $((most % 1000))
}
rounds() { if is_wine; then seq $((($1 + 4) / 5)); else seq "$1"; fi; }

# shellcheck disable=SC2086
run_to_full_disk() { timeout 200 $JITWARM "$@" >/dev/full 2>"$err" </dev/null; }

says() {
	local text
	read_text "$1"
	native_each "$2"
	[[ $text == *"${given[0]}"* ]]
}
out_has() { says "$out" "$1" || fail "stdout does not say “$1”"; }
out_lacks() { ! says "$out" "$1" || fail "stdout says “$1”"; }
err_has() { says "$err" "$1" || fail "stderr does not say “$1”"; }
err_lacks() { ! says "$err" "$1" || fail "stderr says “$1”"; }
out_empty() { [[ ! -s $out ]] || fail "stdout is not empty"; }
err_empty() { [[ ! -s $err ]] || fail "stderr is not empty"; }
err_one_line() {
	local lines
	mapfile -t lines <"$err"
	[[ ${#lines[@]} == 1 ]] || fail "stderr is not one line"
}

json() { is_so "$out" "$1" || fail "not so: $1 ($answer)"; }

# shellcheck disable=SC2086
has_command() { timeout 200 $JITWARM "$@" --help >/dev/null 2>&1 </dev/null; }

# with_simdriver GPUS: from here on jitwarm runs under the simulated driver, with a GPU for each name, and with $work/cache as the driver's
# cache. $sample is the sample framework's library, $app the application that loads it, $build their build folder; `simulated PROGRAM
# ARGUMENT…` runs another program under that driver. If JITWARM_REAL_DRIVER has the version of a driver in JITWARM_DRIVERS, that driver is
# used instead, on GPUs that tests/phantom emulates (tests/stories/stalls.sh).
with_simdriver() {
	build=$(dirname "$(dirname "${JITWARM##* }")")
	if [[ -n ${JITWARM_REAL_DRIVER-} ]]; then
		with_real_driver "$1"
		export CUDA_CACHE_PATH=$work/cache
		return
	fi
	[[ -e $build/tests/simdriver ]] || skip "no simulated driver in $build"
	sample=$build/tests/framework/libsample_framework.so app=$build/tests/framework/framework-app
	runner="$cases/../../../scripts/with-simdriver.sh -B $build $1 --"
	if is_wine; then
		sample=$build/tests/framework/sample_framework.dll app=$app.exe
		runner=$(sed -n 's/ [^ ]* -- .*/ /p' <<<"$JITWARM")"$1 --"
	fi
	JITWARM="$runner ${JITWARM##* }"
	export CUDA_CACHE_PATH=$work/cache
}
with_real_driver() {
	[[ -d $JITWARM_DRIVERS/$JITWARM_REAL_DRIVER ]] || skip "no driver $JITWARM_REAL_DRIVER in $JITWARM_DRIVERS"
	"$build/tests/phantom/phantom-probe" pci "$1" >/dev/null 2>&1 || skip "the phantom has no $1"
	sample=$build/tests/framework/libsample_framework.so app=$build/tests/framework/framework-app
	real_gpus=$1
	runner="$cases/../../../scripts/with-driver.sh -B $build -d $JITWARM_REAL_DRIVER $1 --"
	JITWARM="$runner ${JITWARM##* }"
}
is_real() { [[ -n ${JITWARM_REAL_DRIVER-} ]]; }
# shellcheck disable=SC2086
simulated() { timeout "${limit:-200}" $runner "$@" </dev/null; }
# rows CACHE: the bytes of its entries that count against the limit
rows() { find "$1" -path "$1/?/?/*" -type f -printf '%s\n' | awk '{ sum += $1 - 28 } END { print sum }'; }
# app_compiles NUMBER: the application had this many modules compiled
app_compiles() {
	simulated "$app" >"$out" 2>"$err" || fail "the application ended with $?"
	out_has "compiled $1 of"
}

# site_of ENVIRONMENT: the folder of a virtual environment's packages
site_of() { if is_wine; then printf '%s\n' "$1/Lib/site-packages"; else printf '%s\n' "$1/lib/python3.11/site-packages"; fi; }
empty_environment() {
	mkdir -p "$(site_of "$1")"
	printf 'home = /usr\n' >"$1/pyvenv.cfg"
	if is_wine; then
		mkdir -p "$1/Scripts" && printf MZ >"$1/Scripts/python.exe"
	else
		mkdir -p "$1/bin" && ln -s /usr/bin/python3 "$1/bin/python3"
	fi
}
# dist_info SITE NAME VERSION FILE...: records a package with these files, and makes their folders
dist_info() {
	local info=$1/${2,,}-$3.dist-info file
	mkdir -p "$info"
	printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$2" "$3" >"$info/METADATA"
	: >"$info/RECORD"
	for file in "${@:4}"; do
		mkdir -p "$(dirname "$1/$file")"
		printf '%s,,\n' "$file" >>"$info/RECORD"
	done
}
# environment DIR VERSION: a Python environment with the sample framework as package `frame`; the library is $frame_library in it
environment() {
	local site
	site=$(site_of "$1")
	frame_library=frame/lib/${sample##*/}
	empty_environment "$1"
	dist_info "$site" frame "$2" "$frame_library"
	cp "$sample" "$site/frame/lib/"
}
