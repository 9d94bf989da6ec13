# export makes a pack of a cache that tar and zstd can read, and import makes the same cache of the pack.
has_command export || skip "no such command yet"

. "$cases/../pack-entries.sh"

cache=$work/cache
pack_entry "$cache" 1 "Apr  8 202512:10:18" 86
pack_entry "$cache" 1 "Oct 17 201820:07:28" 86
pack_entry "$cache" 2 "Apr  8 202512:10:18" 75
dir=$(native "$cache") pack=$(native "$work/a.jwpack") copy=$(native "$work/copy")

snapshot run 0 export --all --cache "$dir" -o "$pack"
differs_for WINDOWS snapshot run 0 export --all --cache "$dir" -o "$pack" --json
json 'd["schema"] == "jitwarm.export/1" and [d[k] for k in ("entries", "modules", "cubins")] == [3, 2, 2]'
[[ $(b2sum <"$work/a.jwpack") == "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["blake2b_512"])' "$out")  -" ]] || fail "blake2b_512 is not that of the file"

# Common tools can read the format.
if command -v zstd >/dev/null; then
	mkdir "$work/unpacked"
	tar --zstd -xf "$work/a.jwpack" -C "$work/unpacked" || fail "tar --zstd cannot unpack it"
	(cd "$work/unpacked" && for f in ptx/* cubin/*; do [[ $(b2sum -l 256 <"$f") == "${f#*/}  -" ]] || exit 1; done) ||
		fail "a member's name is not its hash"
	[[ $(zstd -dqc "$work/a.jwpack" | tar -tf -) == manifest.json$'\n'* ]] || fail "the manifest does not come first"
fi

# A table of zeros takes hardly any space in a pack.
pack_entry "$work/zeros" 40000 "Apr  8 202512:10:18" 86
differs_for WINDOWS snapshot run 0 export --all --cache "$work/zeros" -o "$work/zeros.jwpack"
(($(stat -c %s "$work/zeros.jwpack") < 3000)) || fail "zeros take much room: nothing is tested here"
differs_for ACCOUNT snapshot run 0 import --allow-unsigned --as-is --cache "$work/zeros-back" "$work/zeros.jwpack"

# The import fills a new directory; a second one adds nothing.
snapshot run 0 import --allow-unsigned --as-is --cache "$copy" --dry-run "$pack"
[[ ! -e $work/copy ]] || fail "--dry-run has written"
run 0 import --allow-unsigned --cache "$copy" "$pack" --as-is
out_has "3 entries added"
run 0 cache verify --cache "$copy"
out_has "3 sound, 0 damaged"
differs_for ACCOUNT snapshot run 0 import --allow-unsigned --cache "$copy" "$pack" --as-is --json
for f in $(cd "$cache" && find . -type f -not -name index); do cmp "$cache/$f" "$work/copy/$f" || fail "$f differs"; done

# --arch selects architectures.
differs_for WINDOWS snapshot run 0 export --all --cache "$dir" --arch sm_75 -o "$pack"
out_has "1 entry"
out_has "left out: 2 entries for other GPUs"
# An export replaces its own output, but no other file.
run 0 export --all --cache "$dir" -o "$pack"
printf 'a letter' >"$work/letter" && : >"$work/empty"
snapshot run 64 export --all --cache "$dir" -o "$(native "$work/letter")"
[[ $(cat "$work/letter") == "a letter" ]] || fail "the file is replaced"
snapshot run 0 export --all --cache "$dir" -o "$(native "$work/empty")"
snapshot run 64 export -o -
snapshot run 64 import -

# Without a driver and a named directory, there is nothing to fill; with a driver, its verdict counts.
differs_for WINDOWS snapshot run "0|1|2" import --allow-unsigned "$pack"
grep -q 'no NVIDIA driver' "$err" && err_has "--cache DIR"

# These files are not packs.
printf 'no pack at all, but longer than the trailer of one is' >"$work/bad.jwpack"
snapshot run 3 import --cache "$(native "$work/new")" "$(native "$work/bad.jwpack")"
[[ ! -e $work/new ]] || fail "something was written"
run 3 import --allow-unsigned --cache "$copy" "$(native "$work/missing.jwpack")"
# This pack requires a feature that this jitwarm does not have.
thin=$(native "$cases/../../data/features/pack-1-thin.jwpack")
snapshot run 3 import --allow-unsigned --cache "$(native "$work/new")" "$thin"
[[ ! -e $work/new ]] || fail "something was written"
snapshot run 3 export --all --cache "$(native "$work/missing")" -o "$pack"
mkdir "$work/none"
run 3 export --all --cache "$(native "$work/none")" -o "$pack"
snapshot run 64 import
snapshot run 64 import --as-is "$pack"
snapshot run 64 import --allow-unsigned --cache "$copy" "$pack" "$pack"
snapshot run 64 export --arch foo
differs_for WINDOWS snapshot run 3 export extra
