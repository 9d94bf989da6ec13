# Another account could change root's state folder once, and has left its own files in place of jitwarm's. Since then all folders are root's. Root
# reads none of the files: they count as missing, each command names them, and they are replaced.
. "$cases/../lib.sh"
with_simdriver sm_86
own=$open/own state=$open/own/state
export CUDA_CACHE_PATH=$own/cache JITWARM_STATE=$state
mkdir "$open/ptx"
for n in 1 2 3; do printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k%s() {\nret;\n}\n' $n >"$open/ptx/$n.ptx"; done
mkdir -m 755 "$own" "$state"
run 0 prime --quiet --if-changed "$open/ptx"
run 0 key generate
run '0|1|2' check "$BASH" # remembers a file without PTX
cp -a "$own" "$open/saved"
entries() { (cd "$own/cache" && find . -path './?/?/*' | sort); }
there=$(entries)
mapfile -t files < <(cd "$state" && find . -type f ! -path './keys/*' ! -path './trusted/*' ! -name '*lock*' ! -name runs.jsonl -printf '%P\n' | sort)
((${#files[@]} > 2)) || fail "few files: ${files[*]}"

# The stamp of another driver would make entries that no driver uses, and call them warm.
for how in owned writable symlink; do
	rm -rf "$own" "$open/elsewhere" && cp -a "$open/saved" "$own"
	driver=$(find "$state/drivers" -name '*.json' ! -name '*-*.json')
	sed -i 's/"stamp": *"[^"]*"/"stamp":"Jan  1 203100:00:00"/' "$driver"
	grep -q 203100 "$driver" || fail "nothing is planted in $driver"
	case $how in
	owned) chown $mallory "$driver" && fact="$driver belongs to account $mallory, and root does not read it: “rm -r -- $driver”" ;;
	writable) chmod 666 "$driver" && fact="other accounts may write to $driver, and root does not read it: “rm -r -- $driver”" ;;
	symlink) mv "$driver" "$open/elsewhere" && ln -s "$open/elsewhere" "$driver" && chown -h $mallory "$driver" && fact="$driver belongs to account $mallory" ;;
	esac
	run 0 check "$open/ptx"
	out_has "warm, all 3 modules in the cache"
	err_has "$fact"
	[[ $(grep -c "belongs to\|may write" "$err") == 1 ]] || fail "$how: named more than once: $(<"$err")"
	run '0|1' doctor --json --no-probe "$open/ptx"
	json '"not-yours" in [f["id"] for f in d["findings"]]'
	[[ $how == symlink ]] || json "[f['fix'] for f in d['findings'] if f['id'] == 'not-yours'] == ['delete what another account can have put there: “rm -r -- $driver”']"
	run 0 prime "$open/ptx"
	[[ $(entries) == "$there" ]] || fail "$how: root made entries for another driver: $(diff <(echo "$there") <(entries))"
	[[ $how == symlink ]] && continue
	JITWARM_TRUST_ACCOUNTS='*' run '0|1' check "$open/ptx"
	err_lacks "root does not read it"
	eval "rm -r -- $driver"
	run 0 check "$open/ptx"
	err_lacks "root does not read it"
done
# Each file counts as missing, and is named.
for file in "${files[@]}"; do
	rm -rf "$own" && cp -a "$open/saved" "$own"
	chown $mallory "$state/$file"
	run '0|1' check "$open/ptx"
	err_has "$state/$file belongs to account $mallory, and root does not read it"
	run 0 prime --if-changed "$open/ptx"
done
# Nor is the memory of `--if-changed` believed.
rm -rf "$own" && cp -a "$open/saved" "$own"
run 0 prime --if-changed --quiet "$open/ptx" # the copies have other times
run 0 prime --if-changed --json "$open/ptx"
json 'd.get("skipped")'
chown $mallory "$state/state.json"
run 0 prime --if-changed --json "$open/ptx"
json 'not d.get("skipped")'
[[ $(stat -c %u "$state/state.json") == 0 ]] || fail "state.json is still the account's"
run 0 prime --if-changed --json "$open/ptx"
json 'd.get("skipped")'
