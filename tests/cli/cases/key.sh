# Signatures are made and verified as minisign does, only trusted keys count, and a name never changes its key unnoticed.
differs_for WINDOWS
has_command key || skip "no such command yet"
. "$cases/../pack-entries.sh"

cache=$work/cache
pack_entry "$cache" 1 "Apr  8 202512:10:18" 86
dir=$(native "$cache") pack=$(native "$work/lab.jwpack") copy=$(native "$work/copy")
public_of() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["keys"][0]["public_key"])' "$out"; }

snapshot run 0 key list
snapshot run 0 key generate --json
ours=$(public_of)
is_wine || [[ $(stat -c %a "$work/state/keys/default.key") == 600 ]] || fail "the secret key can be read by others"
snapshot run 64 key generate
snapshot run 64 key generate ../evil

# The pack is unsigned, then signed, then changed.
run 0 export --all --cache "$dir" -o "$pack"
out_has "not signed: receivers need --allow-unsigned; --sign signs"
snapshot run 3 import --as-is --cache "$copy" "$pack"
run 3 import --as-is --dry-run --cache "$copy" "$pack"
run 0 import --as-is --dry-run --allow-unsigned --cache "$copy" "$pack"
snapshot run 0 export --all --cache "$dir" -o "$pack" --sign
snapshot run 64 import --as-is --cache "$copy" "$pack.minisig"
snapshot run 64 import https://host.example/lab.jwpack
[[ -s $work/lab.jwpack.minisig ]] || fail "no signature beside the pack"
run 0 import --as-is --dry-run --cache "$copy" "$pack"
out_has "signed by “default”"
# The same pack, exported again without --sign, keeps its signature; another pack does not get it.
run 0 export --all --cache "$dir" -o "$pack"
out_lacks "not signed"
run 0 import --as-is --dry-run --cache "$copy" "$pack"
out_has "signed by “default”"
printf 'another pack' >"$work/other.jwpack"
cp "$work/lab.jwpack.minisig" "$work/other.jwpack.minisig"
snapshot run 0 export --all --cache "$dir" -o "$(native "$work/other.jwpack")"
[[ ! -e $work/other.jwpack.minisig ]] || fail "the signature of another pack is left"
run 0 import --as-is --dry-run --allow-unsigned --cache "$copy" "$(native "$work/other.jwpack")"
cp "$work/lab.jwpack.minisig" "$work/signature"
sed -i 's/sm_86/sm_89/' "$work/lab.jwpack.minisig"
snapshot run 3 import --as-is --allow-unsigned --cache "$copy" "$pack"
cp "$work/signature" "$work/lab.jwpack.minisig"
cp "$work/lab.jwpack" "$work/other.jwpack"
cp "$work/signature" "$work/other.jwpack.minisig"
snapshot run 0 import --as-is --dry-run --cache "$copy" "$(native "$work/other.jwpack")"
[[ ! -e $work/copy ]] || fail "something was written"

# Another key is trusted, and then no longer.
snapshot run 0 key distrust default
snapshot run 3 import --as-is --cache "$copy" "$pack"
snapshot run 0 import --as-is --dry-run --allow-unsigned --cache "$copy" "$pack"
snapshot run 3 key trust "${ours%?}" lab
snapshot run 0 key trust "$ours" lab
run 0 key list
out_has "$ours"
run 0 import --as-is --cache "$copy" "$pack"
snapshot run 3 key trust "$(native "$work/lab.jwpack")"
# A key has one row in the list, under however many names it is trusted; removing it under any name ends the trust.
run 0 key trust "$ours" again
run 0 key distrust again
run 3 import --as-is --cache "$copy" "$pack"
err_has "is not trusted on this machine"
run 3 key trust "${ours%?}" lab
err_has "not a public key in minisign's format"
run 0 key trust "$ours" lab
run 0 key distrust default
run 3 import --as-is --cache "$copy" "$pack"
err_has "is not trusted on this machine"
snapshot run 3 key distrust default
run 3 key distrust lab
# A name that stands for one key is not given to another.
run 3 key trust "${ours%?}" lab
err_has "not a public key in minisign's format"
run 0 key trust "$ours" lab
run 3 key trust "${ours%?}" lab
err_has "not a public key in minisign's format"
snapshot run 0 key trust "$ours" lab
run 64 key generate lab
err_has "jitwarm key distrust lab"
[[ ! -e $work/state/keys/lab.pub ]] || fail "a key was made under a name that is taken"
snapshot run 0 import --as-is --cache "$copy" "$pack"
snapshot run 0 key generate mine
snapshot run 64 key trust "$ours" mine # nor does it replace this account's own key
# A key, and the name of one, are not files of that name in the current folder.
mkdir "$work/current" && cd "$work/current" || fail "no folder"
typed=/
while [[ $typed == */* ]]; do # as a file's name, it would have a folder
	rm -rf "$work/another"
	JITWARM_STATE=$(native "$work/another") $JITWARM key generate >/dev/null || fail "no key"
	typed=$(tail -n 1 "$work/another/keys/default.pub")
done
rm -rf "$work/another"
cp "$work/state/keys/mine.pub" "$typed" && cp "$work/state/keys/mine.key" default
run 0 key trust "$typed" typed
snapshot run 0 key list --json
json '[k["public_key"] for k in d["keys"] if k["name"] == "typed"] == ["'"$typed"'"]'
snapshot run 0 export --all --sign --key default --cache "$dir" -o "$(native "$work/typed.jwpack")"
out_has "$ours"
run 0 key distrust typed
run 0 key trust "$ours" lab
cd "$work" || fail "no folder"
run 0 key distrust mine
rm "$work"/state/keys/mine.*

# A damaged key is listed, with what is wrong; it prevents neither another key of its name nor its removal.
run 0 key trust "$ours" worn
echo worn >"$work/state/trusted/worn.pub"
snapshot run 0 key list
grep -q "worn .*refused" "$out" || fail "not in the line of the key: $(cat "$out")"
snapshot run 0 key list --json
run 0 key trust "$ours" worn
snapshot run 0 key list
err_lacks "not used"
for name in torn worn; do echo $name >"$work/state/trusted/$name.pub"; done
run 0 key distrust worn
[[ ! -e $work/state/trusted/worn.pub ]] || fail "not removed"
[[ -e $work/state/trusted/lab.pub && -e $work/state/trusted/torn.pub ]] || fail "another key was removed"
run 0 key distrust torn

snapshot run 64 export --all --cache "$dir" -o "$pack" --sign --key nobody

# The rest uses the real minisign.
command -v minisign >/dev/null || skip "minisign is not installed: the rest was not tried"
run 0 export --all --cache "$dir" -o "$pack" --sign
minisign -Vm "$work/lab.jwpack" -P "$ours" >"$out" 2>&1 || fail "minisign does not accept our signature"
grep -q 'targets:sm_86' "$out" || fail "minisign does not show our trusted comment"
minisign -G -W -p "$work/m.pub" -s "$work/m.key" >/dev/null 2>&1 || fail "minisign -G"
minisign -Vm "$work/lab.jwpack" -p "$work/m.pub" >/dev/null 2>&1 && fail "minisign accepts it by another key"
minisign -S -s "$work/m.key" -m "$work/lab.jwpack" -t 'by hand' >/dev/null 2>&1 || fail "minisign -S"
run 3 import --as-is --cache "$copy" "$pack"
run 0 key trust "$work/m.pub" hand
run 0 import --as-is --cache "$copy" "$pack"
out_has "signed by “hand”"
minisign -S -l -s "$work/m.key" -m "$work/lab.jwpack" >/dev/null 2>&1 && {
	snapshot run 3 import --as-is --cache "$copy" "$pack"
	err_has "old form"
}
run 0 export --all --cache "$dir" -o "$pack" --sign --key "$work/m.key"
minisign -Vm "$work/lab.jwpack" -p "$work/m.pub" >/dev/null 2>&1 || fail "minisign does not accept its own key's signature by us"
minisign -S -s "$work/state/keys/default.key" -m "$work/lab.jwpack" >/dev/null 2>&1 || fail "minisign cannot use our key"
minisign -Vm "$work/lab.jwpack" -P "$ours" >/dev/null 2>&1 || fail "what minisign signed with our key does not hold"
# A key with a passphrase is refused until minisign has removed the passphrase from a copy.
printf 'pass\npass\n' | minisign -G -p "$work/p.pub" -s "$work/p.key" >/dev/null 2>&1 || fail "minisign -G with a passphrase"
mv "$work/lab.jwpack" "$work/former.jwpack"
snapshot run 3 export --all --cache "$dir" -o "$pack" --sign --key "$work/p.key"
err_one_line
err_has "p.key: has a passphrase; remove it from a copy: minisign -C -W -s COPY"
[[ ! -e $work/lab.jwpack ]] || fail "a pack was written that cannot be signed"
cp "$work/p.key" "$work/copy.key"
printf 'pass\n' | minisign -C -W -s "$work/copy.key" >/dev/null 2>&1 || fail "minisign -C -W"
snapshot run 0 export --all --cache "$dir" -o "$pack" --sign --key "$work/copy.key"
minisign -Vm "$work/lab.jwpack" -p "$work/p.pub" >/dev/null 2>&1 || fail "minisign does not accept what the copy signed"
# This account's own key with a passphrase is listed, and does not sign.
cp "$work/p.key" "$work/state/keys/p.key"
cp "$work/p.pub" "$work/state/keys/p.pub"
snapshot run 0 key list --json
json '[k["can_sign"] for k in d["keys"] if k["name"] == "p"] == [False]'

# The word is neither a key's name nor a file.
run 64 export --all --cache "$dir" -o "$pack" --sign --key nowhere
err_has "nor a file of that name"
