# An account that may read root's cache can write to the cache's index, since a driver opens it for writing. Whatever this account writes there,
# each command works or names the file and the cure, and `prime` leaves a sound index.
. "$cases/../lib.sh"
with_simdriver sm_86
export CUDA_CACHE_PATH=$open/cache
mkdir -m 755 "$open/cache"
run 0 prime --quiet "$sample"
run 0 export --quiet -o "$open/a.jwpack"
cp -a "$open/cache" "$open/saved"
index=$open/cache/index
write() { as_mallory /usr/bin/python3 -c "$1" "$index" || fail "the account cannot write the index: $(stat -c %A "$index")"; }
while IFS=$'\t' read -r how line; do
	for command in "check $sample" status "cache list" "cache verify" "cache verify --repair" \
		"import --allow-unsigned $open/a.jwpack" "export --quiet -o $open/b.jwpack" "doctor --no-probe $sample" tune "cache clear --yes" "prime $sample"; do
		rm -rf "$open/cache" "$open/b.jwpack" && cp -a "$open/saved" "$open/cache"
		write "import os, struct, sys; f = open(sys.argv[1], 'r+b'); $line"
		# shellcheck disable=SC2086
		if [[ $how == version ]]; then
			run '0|1|2|3' $command
			[[ $ended == [01] ]] || err_has "$index: the index has version 0x42, which jitwarm does not know: nothing was changed; delete this file if no newer driver uses this cache"
		else
			run '0|1' $command
		fi
	done
	[[ $how != version ]] || { rm "$index" && run 0 prime "$sample"; }
	run 0 cache verify
	out_has "8 sound"
done <<'C'
long	f.truncate(4 << 40)
rows	f.write(struct.pack("<IIQ", 0x41, (4 << 20) + 1, 5)); f.truncate(4 << 40)
empty	f.truncate(0)
short	f.truncate(20)
garbage	f.write(os.urandom(8).replace(b"\0", b"\1") * 400)
total	f.seek(8); f.write(b"\xff" * 8)
large	f.seek(24); f.write(b"\xff" * 8)
version	f.write(b"\x42\0\0\0")
C
