# export --opaque, import: a whole cache directory for one driver, into an empty place
has_command export || skip "no such command yet"
with_simdriver sm_86

run 0 prime "$sample"
: >cache/empty
run 0 export --opaque -o o.jwpack
out_has "files as they are"
out_has "and no other"
cp o.jwpack first.jwpack
run 0 export --opaque -o o.jwpack --json
json 'd["opaque"] and d["entries"] > 8 and d["modules"] == 0 and d["targets"] == "sm_86"'
cmp o.jwpack first.jwpack || fail "the same directory, other bytes"
if command -v zstd >/dev/null; then
	for f in $(tar --zstd -tf o.jwpack | grep file/); do [[ $(tar --zstd -xOf o.jwpack "$f" | b2sum -l 256) == "${f#*/}  -" ]] || fail "$f is not its hash"; done
fi
run 0 key generate --no-passphrase
run 0 export --opaque -o signed.jwpack --sign --json
key=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["public_key"])' "$out")
run 64 export --opaque --arch sm_86 -o x.jwpack
if ! is_wine; then # Windows makes links only for those who may
	ln -s nowhere cache/link
	run 3 export --opaque -o x.jwpack
	rm cache/link
fi
[[ ! -e x.jwpack ]] || fail "it was written all the same"

# Elsewhere: all of it, or nothing
export CUDA_CACHE_PATH=$work/there
run 0 import --allow-unsigned --dry-run o.jwpack
[[ ! -e $work/there ]] || fail "--dry-run has written"
run 0 key trust "$key" lab
run 0 import signed.jwpack
out_has "files added"
diff -r -x jitwarm -x '.jitwarm*' "$work/cache" "$work/there" >"$out" || fail "not the same directory"
run 0 check "$sample"
run 0 import --allow-unsigned o.jwpack
out_has "already there"
: >there/more
run 2 import --allow-unsigned o.jwpack
out_has "is not empty"
mkdir empty
run 0 import --allow-unsigned --cache empty o.jwpack --json
json 'd["opaque"] and d["added"] == d["entries"] == d["accepted"] and [g["verdict"] for g in d["groups"]] == ["accepted"]'
run 2 import --allow-unsigned --cache new --as-is o.jwpack
out_has "for the driver itself"
# An empty directory's owner and mode are those of what takes its place
if ! is_wine; then # modes have no meaning on Windows
	mkdir -m 755 shared
	run 0 import --allow-unsigned --cache shared o.jwpack
	[[ $(stat -c %a shared shared/index | tr '\n' ' ') == "755 666 " ]] || fail "$(stat -c '%a %n' shared shared/index)"
	if [[ $(id -u) == 0 ]]; then
		mkdir -m 700 others
		chown 65534:65534 others
		run 0 import --allow-unsigned --cache others o.jwpack
		[[ -z $(find others ! -uid 65534 -o ! -gid 65534) ]] || fail "$(find others -ls)"
	fi
fi
rm -rf shared others
printf 'x' | dd of=o.jwpack bs=1 seek=3000 conv=notrunc status=none
run 3 import --allow-unsigned --cache new o.jwpack
err_has "or damaged"
ls -d new* 2>/dev/null && fail "something was written"
true
