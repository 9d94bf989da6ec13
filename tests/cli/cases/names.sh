# File names that are not UTF-8, control a terminal, reverse the writing direction or are invisible: every command handles them and the file
# beside them, and prints none of these characters as it is, in text and in JSON.
! is_wine || skip "Windows takes no such names"
with_simdriver sm_86
place=$work/place
mkdir "$place"
raw=(bad$'\xff'name c1$'\xc2\x9b'name turned$'\xe2\x80\xae'name zero$'\xe2\x80\x8b'name line$'\xe2\x80\xa8'name tag$'\xf3\xa0\x81\x81'name esc$'\x1b'"[31m"name feed$'\n'name return$'\r'name)
libraries=("$place/good.so")
for name in good "${raw[@]}"; do cp "$sample" "$place/$name.so"; done
for name in "${raw[@]}"; do libraries+=("$place/$name.so"); done
head -c 30000 "$sample" >"$place/cut.so"

# harmless: the output has no such character, and in JSON the names as they are
harmless() {
	python3 - "$out" "$err" <<'PYTHON' || fail "not harmless"
import json, re, sys
hidden = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\U000e0000-\U000e0fff]")
for path in sys.argv[1:]:
    text = open(path, "rb").read().decode()
    found = hidden.search(text.replace("\t", "") if text.startswith("{") else text)
    assert not found, (path, text[max(0, found.start() - 60):found.end() + 20])
PYTHON
}
# each STATUS ARGUMENT…: runs it with all libraries, as text and as JSON
each() {
	local status=$1
	shift
	run "$status" "$@" "${libraries[@]}"
	harmless
	run "$status" "$@" --json "${libraries[@]}"
	harmless
	json '"good.so" in json.dumps(d)'
	[[ $1 == check || $1 == find ]] || # they name one of several copies
		json 'all(part in json.dumps(d, ensure_ascii=False) for part in ("turned\u202ename", "c1\u009bname", "tag\U000e0041name", "bad\ufffdname", "esc\\u001b[31mname"))'
}
each 0 scan --target sm_86
snapshot each 1 check
snapshot each 0 lint --gpus sm_86
snapshot each 1 find
run 0 prime --json "${libraries[@]}"
harmless
json 'd["failed"] == 0 and d["compiled"] == 8'
each 0 check

# The folders of the cache, the state and a pack have such names, too.
export CUDA_CACHE_PATH=$place/cache-${raw[0]}-${raw[2]}
for folder in "$work/state-${raw[0]}-${raw[5]}"; do
	export JITWARM_STATE=$folder
	for command in prime check "cache list" "cache verify" "store list" "key list" status doctor tune; do
		names=()
		[[ $command != prime && $command != check ]] || names=("$place/good.so" "$place/${raw[0]}.so")
		# shellcheck disable=SC2086
		snapshot run "0|1" $command "${names[@]}"
		harmless
		# shellcheck disable=SC2086
		run "0|1" $command --json "${names[@]}"
		harmless
	done
	[[ -n $(find "$CUDA_CACHE_PATH" -type f) ]] || fail "nothing was primed"
	snapshot run 0 export -o "$place/pack-${raw[1]}.jwpack"
	harmless
	snapshot run 0 import --dry-run --allow-unsigned "$place/pack-${raw[1]}.jwpack"
	harmless
done

# Texts for programs hold names as they are, so such names are refused. Lines to type name the file to every shell.
for name in "${raw[@]}"; do
	unset CUDA_CACHE_PATH
	snapshot run 64 tune --print sh --path "$place/cache-$name"
	harmless
	run '0|64' startup enable --print -- "$place/$name.so"
	harmless
	# A unit has control characters, and bytes that are not UTF-8, as \xNN.
	[[ $ended == 64 || $name =~ ^(feed|return|bad|esc) ]] || fail "not refused"
	JITWARM_STATE=$work/new CUDA_CACHE_PATH=$work/new-cache snapshot run 1 check "$place/$name.so"
	harmless
	next=$(sed -n 's/^Next: *jitwarm //p' "$out")
	(eval "set -- $next" && [[ $1 == prime && -e $2 ]]) || fail "the line names no file: $next"
done
(cd "$place" && cp good.so ./-rf.so && snapshot run 64 doctor -rf.so; run '0|1' doctor --no-probe -- -rf.so && err_lacks " -rf.so”" && out_lacks "jitwarm prime -rf.so") || exit 1
