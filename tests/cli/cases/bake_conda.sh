# jitwarm bake: new conda packages whose libraries have machine code in them.
command -v zstd >/dev/null || skip "no zstd"
with_simdriver sm_86
condas=$cases/../../bake/condas.py
python3 "$condas" make "$sample" "$work/in" || fail "no packages"
old=$work/in/sample-1.0-h1_0.conda new=sample-1.0-h1_0_jitwarm_sm86.conda
before=$(sha256sum <"$old")

run 0 bake -n "$old"
out_has "sample-1.0-h1_0.conda: lib/libsample_framework.so: 9 containers to bake"
run '0|1' bake --json -o "$work/out" "$old"
json 'len(d["files"]) == 2 and all(f["modules"] == 9 and f["baked"] + f["no_room"] == 9 for f in d["files"])'
json 'all(posix(f["output"]).endswith("/out/sample-1.0-h1_0_jitwarm_sm86.conda") for f in d["files"])'
[[ $(sha256sum <"$old") == "$before" ]] || fail "the package was changed"
[[ $(ls -A "$work/out") == "$new" ]] || fail "left behind: $(ls -A "$work/out")"
changed=$(python3 "$condas" check "$old" "$work/out/$new" h1_0_jitwarm_sm86) || fail "another package than the old one"
[[ $changed == "lib/libsample_framework.so lib/long/"*"/other.so lib/again.so" ]] || fail "changed: $changed"
first=$(sha256sum <"$work/out/$new")
run '0|1' bake -o "$work/out" "$old"
out_has "Next: install the new package"
[[ $(sha256sum <"$work/out/$new") == "$first" ]] || fail "not reproducible"
run '0|1' bake -o "$work/pax" "$work/in/pax/${old##*/}"
python3 "$condas" check "$work/in/pax/${old##*/}" "$work/pax/$new" h1_0_jitwarm_sm86 >/dev/null || fail "pax"

run 2 bake -o "$work/nvidia" "$work/in/nvidia/${old##*/}"
out_has "is NVIDIA's, whose licence does not let anyone modify it"
[[ ! -e $work/nvidia ]] || fail "left behind: $(find "$work/nvidia")"
run '0|1' bake --i-may -o "$work/nvidia" "$work/in/nvidia/${old##*/}"
[[ -e $work/nvidia/$new ]] || fail "--i-may does not bake"
run 0 bake -o "$work/nothing" "$work/in/nothing/${old##*/}"
out_has "nothing to bake"
[[ ! -e $work/nothing ]] || fail "a folder for nothing"
run 2 bake --in-place "$old"
out_has "-o DIR writes a new one"

# What is wrong with a package is said in one line, and leaves nothing.
run 3 bake --json -o "$work/bad" "$work/in/bad"
[[ ! -e $work/bad ]] || fail "left behind: $(find "$work/bad")"
json 'not any("output" in f or "member" in f for f in d["files"]) and len(d["files"]) == 18'
bad() { # NAME WORDS
	json "any('/bad/$1/' in posix(f['path']) and '$2' in f['failed'] and '\\n' not in f['failed'] for f in d['files'])"
}
bad name "is called sample-1.0-h1_0, and its index.json says sample-1.0-h2_0"
bad no-build "its index.json says"
bad build-number "its index.json says"
bad hash "its SHA-256 is not the one in paths.json"
bad unlisted "its paths.json does not list lib/libsample_framework.so"
bad listed-twice "lists lib/libsample_framework.so twice"
bad no-paths "has no list of paths"
bad no-size "is not the one in paths.json"
bad deflated "are not stored"
bad other-archives "it has no info-sample-1.0-h1_0.tar.zst"
bad cut "cut off"
bad cut-tar "cut off"
bad checksum "checksum is wrong"
bad not-zstd "damaged zstd data"
bad flipped "pkg-sample-1.0-h1_0.tar.zst: its checksum is wrong"
bad bomb "unpacks to more than 250 times its size"
bad no-json "its index.json"
bad no-info "it has no info/index.json"
if ! is_wine; then
	run 3 bake -o "$work/quote" "$work/in/quote"
	out_has "is not a build string"
	[[ ! -e $work/quote ]] || fail "left behind: $(find "$work/quote")"
	(ulimit -f 40; run 3 bake -o "$work/short" "$old") || exit 1
	out_has "File too large"
	[[ ! -e $work/short ]] || fail "left behind: $(find "$work/short")"
fi
