# Damaged and hostile files of every format give one line that names the file and status 3, write nothing, and take little time and memory.
# Foreign files among the named ones are passed over.
differs_for WINDOWS
python3 "$cases/../make-bad-files.py" "$work/files" || fail "make-bad-files.py"
mkdir "$work/files/folder"
is_wine || ln -s loop.so "$work/files/loop.so" # Windows lets only some accounts make symlinks
cd "$work/files" || exit 1
find . | sort >"$work/before"
gpu=(--target sm_86 --driver 550.163.01)

for file in bad/*; do
	snapshot run 3 scan "${gpu[@]}" "$file"
	[[ $file == *.whl ]] || err_one_line
	run 3 scan "${gpu[@]}" --json --quiet "$file"
	json 'd["schema"] in ("jitwarm.scan/1", "jitwarm.error/1")'
done
snapshot run 3 scan "${gpu[@]}" bad/sharing.whl
# One bad file among good ones changes only the status.
run 1 scan "${gpu[@]}" --json bad/cut.so odd/empty-container.fatbin
json 'len(d["files"]) == 1 and d["files"][0]["containers"] == 1'

for file in odd/*; do
	[[ $file == */huge-container.fatbin ]] && continue
	run 0 scan "${gpu[@]}" "$file"
	err_empty
done
# The content of a damaged container is unknown; no driver can compile it.
snapshot run 1 scan "${gpu[@]}" odd/huge-container.fatbin
run 0 check "${gpu[@]}" odd/huge-container.fatbin
run 1 scan "${gpu[@]}" --json odd/huge-container.fatbin
json 'd["files"][0]["damaged"] == 1'

snapshot run 3 scan "${gpu[@]}" missing.so
snapshot run 64 scan "${gpu[@]}" ''
snapshot run 2 scan "${gpu[@]}" folder
if ! is_wine; then # Windows has no such symlinks, devices as files, or limits of memory
	snapshot run 3 scan "${gpu[@]}" loop.so
	for device in /dev/null /dev/zero /dev/stdin; do
		snapshot run 3 scan "${gpu[@]}" $device
	done
	if [[ $(id -u) != 0 ]]; then
		: >"$work/unreadable.so" && chmod 0 "$work/unreadable.so"
		run 3 scan "${gpu[@]}" "$work/unreadable.so"
		err_one_line
	fi
	# A folder whose name is longer than the system's limit is passed over with a message.
	(
		mkdir deep && cd deep || exit 1
		cp ../odd/empty-container.fatbin .
		name=$(printf '%0200d' 0)
		for _ in $(seq 25); do mkdir "$name" && cd "$name" || exit 1; done
	) || fail "no deep folder"
	snapshot run 1 scan "${gpu[@]}" --json deep
	rm -r deep
	# An archive that expands to much more than the process's memory limit must not be kept in memory. (AddressSanitizer reserves all
	# addresses; an emulator needs more than the limit for itself.)
	run 0 --version
	is_emulated || grep -q address "$out" || (ulimit -v 150000 && run 0 scan "${gpu[@]}" odd/bomb.whl) || exit 1
fi

# check and prime handle the files that can be read, and report the rest as not done; their status is that of scan.
run 1 check "${gpu[@]}" bad/cut.so odd/empty-container.fatbin
for file in bad/cut.so bad/empty.whl bad/random.ptx.zst bad/static.a; do
	run 3 check "${gpu[@]}" "$file"
	[[ $file == *.whl ]] || err_one_line
	if is_wine; then err_has "jitwarm: ${file//\//\\}: "; else err_has "jitwarm: $file: "; fi
done
run 0 check "${gpu[@]}" odd/random.so
run 3 check "${gpu[@]}" missing.so
err_one_line
# Without a driver, nothing helps.
snapshot run "0|2" status
if [[ $ended == 2 ]] && ! is_wine; then # which always has an nvcuda.dll
	run 2 prime odd/random.so
	err_one_line
	snapshot run 2 prime --json odd/random.so
fi
find . | sort | cmp -s - "$work/before" || fail "something was written"

with_simdriver sm_86
for file in bad/cut.so bad/empty.whl bad/random.ptx.zst bad/static.a; do
	run 3 prime "$file"
	err_one_line
	if is_wine; then err_has "jitwarm: ${file//\//\\}: "; else err_has "jitwarm: $file: "; fi
done
run 0 prime odd/random.so
snapshot run 1 prime bad/cut.so odd/empty-container.fatbin
run 3 prime missing.so
err_one_line
[[ -z $(find "$work/cache" -type f) ]] || fail "something was written into the cache"
find . | sort | cmp -s - "$work/before" || fail "something was written"
