# --version names the compiler, the kind of build and each library's version.
run 0 --version
out_has "jitwarm "
out_has "built with "
for library in cJSON libarchive libsodium libuv lz4 zstd; do
	grep -qE "^$library +[0-9]+\.[0-9]+" "$out" || fail "no version of $library"
done
err_empty
run 0 --version --json
json 'd["schema"] == "jitwarm.version/1"'
json 'set(d["libraries"]) == {"cJSON", "libarchive", "libsodium", "libuv", "lz4", "zstd"}'
json 'd["compiler"] and d["build_type"] and d["platform"]'
# If libarchive is not part of the program, only commands that need it load it.
[[ $JITWARM != *.exe ]] && grep -q 'libarchive\.so' "$JITWARM" || exit 0
mkdir lib
touch lib/libarchive.so.13 module.ptx
tar -cf package.tar module.ptx
export LD_LIBRARY_PATH=$work/lib
differs_for SANITIZERS snapshot run 0 --version
grep -qE "^libarchive +missing" "$out" || fail "libarchive is there"
snapshot run 3 lint module.ptx
snapshot run 3 lint package.tar
# A libarchive without the functions that jitwarm calls is not taken for a sound one.
cp "$(ldd "$JITWARM" | awk '$1 ~ /^libsodium/ { print $3 }')" lib/libarchive.so.13
snapshot run 3 lint package.tar
