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
