# Another account could change root's cache once, and has left a file there in the place of an entry, with other machine code. Since then all folders
# are root's. The file is no entry for root: not warm, not exported, not carried to another driver, replaced by prime and import, and named.
. "$cases/../lib.sh"
with_simdriver sm_86
own=$open/own cache=$open/own/cache
export CUDA_CACHE_PATH=$cache JITWARM_STATE=$own/state
# The driver's stamps decide whether its entries are carried over (535.216.03 and 535.309.01 have the same compiler).
export SIMDRIVER_CUDA=12020 SIMDRIVER_STAMP='Oct 25 202422:46:11'
newer='Mar 25 202615:25:13'
for name in one two evil; do
	printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry %s() {\nret;\n}\n' $name >"$open/$name.ptx"
done
mkdir -m 755 "$own" "$cache"
run 0 prime --quiet "$open/one.ptx"
one=$(cd "$cache" && find . -path './?/?/*' -printf '%P\n')
run 0 prime --quiet "$open/one.ptx" "$open/two.ptx"
run 0 export --quiet -o "$open/a.jwpack"
CUDA_CACHE_PATH=$open/evil run 0 prime --quiet "$open/evil.ptx"
evil=$(find "$open/evil" -path '*/?/?/*')
[[ $one == ?/?/* && -n $evil ]] || fail "no entries: $one, $evil"
# other_code ENTRY EVIL NEW: the entry's key with the machine code of another entry, and the right checksum
other_code() {
	python3 - "$@" <<'P'
import struct, sys
def parts(path):
    data = open(path, "rb").read()
    _, key, value, _ = struct.unpack_from("<IQQQ", data)
    return data[28:28 + key], data[28 + key:28 + key + value]
key, value = parts(sys.argv[1])[0], parts(sys.argv[2])[1]
checksum = 0xcbf29ce484222325
for byte in value:
    checksum = (checksum ^ byte) * 0x100000001b3 & (1 << 64) - 1
open(sys.argv[3], "wb").write(struct.pack("<IQQQ", 0x41, len(key), len(value), checksum) + key + value)
P
}
other_code "$cache/$one" "$evil" "$open/planted"
good=$(sha256sum <"$cache/$one") bad=$(sha256sum <"$open/planted")
[[ $good != "$bad" ]] || fail "the same code"
cp -a "$own" "$open/saved"
# listed FILE: gives the file an access list by which the account may write to it
listed() {
	/usr/bin/python3 - "$1" $mallory <<'P'
import os, struct, sys
entry = lambda tag, bits, number=0xffffffff: struct.pack("<HHI", tag, bits, number)
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + entry(1, 6) + entry(2, 6, int(sys.argv[2])) + entry(4, 4) + entry(16, 6) + entry(32, 4))
P
}
# plant HOW: puts the file into root's cache
plant() {
	rm -rf "$own" "$open/elsewhere" && cp -a "$open/saved" "$own"
	rm "$cache/$one"
	case $1 in
	symlink) install -m 644 "$open/planted" "$open/elsewhere" && ln -s "$open/elsewhere" "$cache/$one" && chown -h $mallory "$cache/$one" ;;
	*) install -m 644 "$open/planted" "$cache/$one" ;;
	esac
	case $1 in
	owned) chown $mallory "$cache/$one" ;;
	writable) chmod 666 "$cache/$one" ;;
	group) chgrp $mallory "$cache/$one" && chmod 664 "$cache/$one" ;;
	listed) listed "$cache/$one" ;;
	esac
}
# mended: the entry is root's own again, and has its module's code
mended() {
	[[ ! -L $cache/$one && $(stat -c '%u %a' "$cache/$one") == "0 644" && $(sha256sum <"$cache/$one") == "$good" ]] || fail "$how: $1: $(ls -l "$cache/$one")"
}
hows="owned writable group symlink"
if listed "$open/planted" 2>/dev/null; then hows+=" listed"; fi
for how in $hows; do
	plant "$how"
	run 1 check --json "$open/one.ptx" "$open/two.ptx"
	json '(d["cold"], d["warm"], d["gpus"][0]["damaged"]) == (1, 1, 1)'
	run 1 cache verify
	out_has "$one: another account can have written it"
	run 1 export --json -o "$open/b.jwpack"
	json '(d["entries"], d["damaged"]) == (1, 1)'
	rm "$open/b.jwpack"
	run '0|1' doctor --json --no-probe "$open/one.ptx"
	json '"planted" in [f["id"] for f in d["findings"]]'
	run 0 prime "$open/one.ptx" "$open/two.ptx"
	out_has "Compiled 1 module"
	mended prime
	run 0 check "$open/one.ptx" "$open/two.ptx"

	plant "$how"
	run 0 import --json --allow-unsigned "$open/a.jwpack"
	json '(d["replaced"], d["there"]) == (1, 1)'
	mended import

	plant "$how"
	run '0|1' cache verify --repair
	[[ ! -e $cache/$one && ! -L $cache/$one ]] || fail "$how: verify --repair leaves the file"

	# The next driver's entry is compiled, not made from the account's file.
	plant "$how"
	find "$own/state/drivers" -name '*.json' ! -name '*-*.json' -delete
	rm -f "$own/state/state.json"
	SIMDRIVER_STAMP=$newer run 0 prime --json "$open/one.ptx" "$open/two.ptx"
	json '(d["carried_over"]["modules"], d["compiled"]) == (1, 1)'
	[[ $(sha256sum <"$cache/$one") == "$bad" ]] || fail "$how: the former driver's entry has changed"

	# An account that acts as root counts as root.
	plant "$how"
	JITWARM_TRUST_ACCOUNTS='*' run 0 check "$open/one.ptx" "$open/two.ptx"
done
JITWARM_TRUST_ACCOUNTS=$mallory
export JITWARM_TRUST_ACCOUNTS
plant owned
run 0 check "$open/one.ptx" "$open/two.ptx"
unset JITWARM_TRUST_ACCOUNTS
# Everybody who may read a cache may write to its index, by NVIDIA's driver; and root's own group counts as root.
rm -rf "$own" && cp -a "$open/saved" "$own"
chmod 666 "$cache/index" && chmod 664 "$cache/$one"
run 0 check "$open/one.ptx" "$open/two.ptx"
run 0 cache verify
# Root's own symlink is followed.
mv "$cache/$one" "$open/elsewhere" && ln -s "$open/elsewhere" "$cache/$one"
run 0 check "$open/one.ptx" "$open/two.ptx"
