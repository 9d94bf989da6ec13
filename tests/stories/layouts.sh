# shellcheck shell=bash
# Sourced by the stories: packages as pip and conda lay them out, with the sample framework's library in the place of theirs.
#
#   wheel SITE NAME VERSION FILE      an installed wheel whose library is FILE below SITE
#   conda_package ENV NAME VERSION FILE   the same of conda, FILE below ENV
#   user_follows [STATUS]             what the last line that begins with “Next” or “Do:” tells to type is typed
#   first_start COMPILED [DEVICE]     the program is started, and the driver compiles so many modules for it

# doctor would report temporary folders.
place=$(mktemp -d /var/tmp/jitwarm-story.XXXXXX) || skip "no /var/tmp"
trap 'rm -rf "$place"' EXIT
wheel() {
	local info=$1/$2-$3.dist-info
	mkdir -p "$info" "$(dirname "$1/$4")"
	cp "$sample" "$1/$4"
	printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$2" "$3" >"$info/METADATA"
	printf '%s,,\n%s-%s.dist-info/METADATA,,\n' "$4" "$2" "$3" >"$info/RECORD"
}
conda_package() {
	mkdir -p "$1/conda-meta" "$(dirname "$1/$4")"
	cp "$sample" "$1/$4"
	printf '{"name": "%s", "version": "%s", "files": ["%s"], "depends": []}' "$2" "$3" "$4" >"$1/conda-meta/$2-$3-gpu_0.json"
}
user_follows() {
	local told
	read_steps
	told=${next[-1]#jitwarm }
	[ -n "$told" ] || fail "nothing to type was told"
	eval "run ${1:-0} $told"
}
first_start() {
	simulated "$app" ${2:+"$2"} >"$out" 2>"$err" || fail "the program ended with $?"
	out_has "compiled $1 of"
}

# hour CASE: somebody's first hour. Each line “$ COMMAND” of CASE.txt is typed, and the output must be the following lines, with [N] after
# the command for another status than 0 (JITWARM_UPDATE=1 writes the file). Parts that depend on the machine or the build are T, KEY, ID,
# SIZE and N in the file; lines that only appear after some time are left out; $place is shown as /.
hour() {
	local file=$cases/$case.txt typed line
	# shellcheck disable=SC2086,SC2317
	jitwarm() { timeout 200 $JITWARM "$@" </dev/null; }
	mapfile -t typed < <(sed -n 's/^\$ //p' "$file")
	for line in "${typed[@]}"; do
		printf '$ %s\n' "$line"
		ended=0
		eval "$line" >"$work/printed" 2>&1 || ended=$?
		plain "$work/printed"
		[ $ended = 0 ] || printf '[%s]\n' "$ended"
	done >"$work/hour"
	[ -z "${JITWARM_UPDATE-}" ] || cp "$work/hour" "$file"
	diff -u "$file" "$work/hour" || fail "an hour differs from $file"
}
plain() {
	local from=${place//\//\\\\} program=${build//\//\\\\}
	tr -d '\r' <"$1" | sed -E -e "s#Z:($from|$program)|$place##g; s/S-1-5-[0-9-]+/SID/g; s# \\($build/[^)]*\\)##g" -e 's/\bRW[A-Za-z0-9+\/]{54}/KEY/g; s/\b[0-9A-F]{16}\b/ID/g' \
		-e 's/([0-9.]+ (ms|s|min|h)? ?to )?\b[0-9][0-9.]* (ms|s|min|h)\b/T/g; s/[0-9]+ workers?\b/N workers/g; s/under T/T/g; s/ if nothing else runs(, took )/\1/; s/ +$//' \
		-e 's/\([0-9.]+ KiB, ([0-9]+ pieces of code[^)]*)\)/(SIZE, \1)/; s/needed [0-9]+ bytes/needed N bytes/' \
		-e '/^Times assume a typical machine|^jitwarm: compiling [0-9]|has the driver loaded/d' \
		-e '/src.jitwarmw.exe: files in this folder are often deleted/d' # if the clone is among temporary files
}
