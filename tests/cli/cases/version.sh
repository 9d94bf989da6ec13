# --version names the compiler, the kind of build and each library's version.
run 0 --version
out_has "jitwarm "
out_has "built with "
for library in cJSON libarchive libcurl libsodium libuv lz4 zstd; do
	grep -qE "^$library +[0-9]+\.[0-9]+" "$out" || fail "no version of $library"
done
err_empty
run 0 --version --json
json 'd["schema"] == "jitwarm.version/1"'
json 'set(d["libraries"]) == {"cJSON", "libarchive", "libcurl", "libsodium", "libuv", "lz4", "zstd"}'
json 'd["compiler"] and d["build_type"] and d["platform"]'
# libcurl and libarchive, where they are not part of the program, are loaded by what needs them, and by nothing else.
[[ $JITWARM != *.exe ]] && grep -q 'libcurl\.so' "$JITWARM" || exit 0
mkdir lib
touch lib/libcurl.so.4 lib/libarchive.so.13 module.ptx
tar -cf package.tar module.ptx
export LD_LIBRARY_PATH=$work/lib
run 0 --version
grep -qE "^libcurl +missing" "$out" || fail "libcurl is there"
run 3 lint module.ptx
err_lacks ".so"
run 3 lint package.tar
err_has "package.tar: $work/lib/libarchive.so.13: "
run 3 prime --share https://host.invalid/x module.ptx
err_has "libcurl.so.4: "
# Nor does one that lacks what is called pass for a sound one
other=$(ldd "$JITWARM" | awk '$1 ~ /^libsodium/ { print $3 }')
for library in lib/*; do cp "$other" "$library"; done
run 3 lint package.tar
err_has "libarchive.so.13: undefined symbol: archive_read_new"
run 3 prime --share https://host.invalid/x module.ptx
err_has "libcurl.so.4: undefined symbol: curl_url"
