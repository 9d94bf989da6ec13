# An access list gives an account rights that the permissions of owner, group and others do not show. Root works in no folder to which one
# lets the account write; and a default list, which new files and folders get, lets it write to none of root's.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
export HOME=$work/home
mkdir -p "$HOME" "$open/place"
# listed NAME FOLDER: gives the folder the list “access” or “default”, by which the account may do everything
listed() {
	/usr/bin/python3 - "system.posix_acl_$1" "$2" $mallory 2>/dev/null <<'P'
import os, struct, sys
entry = lambda tag, bits, number=0xffffffff: struct.pack("<HHI", tag, bits, number)
os.setxattr(sys.argv[2], sys.argv[1], struct.pack("<I", 2) + entry(1, 7) + entry(2, 7, int(sys.argv[3])) + entry(4, 5) + entry(16, 7) + entry(32, 5))
P
}
listed access "$open/place" || skip "the file system has no access lists"
as_mallory touch "$open/place/file" && rm "$open/place/file" || fail "the list has no effect"
run 2 prime --cache "$open/place/cache" "$sample"
err_has "other accounts may write to $open/place"
rm -rf "$open/place"

mkdir "$open/place" && listed default "$open/place"
: >"$open/place/new" && as_mallory test -w "$open/place/new" || fail "the default list has no effect"
rm "$open/place/new"
umask 022
run 0 prime --cache "$open/place/cache" "$sample"
run 0 export --cache "$open/place/cache" -o "$open/place/a.jwpack"
run 0 status --driver-profile "$open/place/profile"
run 0 run --record "$open/place/recording" -- true
run 0 prime --cache "$open/place/cache" "$sample" --json-log "$open/place/log"
run '0|1' bake -o "$open/place/baked" "$sample"
mkdir -p "$open/place/share" && chmod 755 "$open/place/share" && listed default "$open/place/share"
CUDA_CACHE_PATH=$work/other JITWARM_STATE=$work/other-state run 0 prime --store "$open/place/share" --allow-unsigned "$sample"
(export JITWARM_STATE=$open/place/state && run 0 key generate && run 0 prime --if-changed "$sample") || exit 1
# If another account may read a cache, NVIDIA's driver needs its index to be writable.
as_mallory find "$open/place" -writable ! -path "$open/place/cache/index" >"$open/writable" 2>/dev/null || :
[[ ! -s $open/writable ]] || fail "the account may write to $(<"$open/writable")"
