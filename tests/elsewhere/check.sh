#!/bin/bash
# check.sh BUILD-FOLDER fake|real   prime for another machine: jitwarm make --target
#
# fake: scripts that only look like ptxas: which one is taken, and what goes wrong. real: NVIDIA's ptxas, beside what the real drivers
# make of the same on the phantom GPU: every byte of both cache directories is the same.
# Exit status 1 if a case fails, 77 if something is not at hand.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# = 2 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) kind=$2
jitwarm=$build/src/jitwarm library=$build/tests/framework/libsample_framework.so
drivers=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
scratch=$(mktemp -d)
# shellcheck source=/dev/null
. "$root/tests/documents/keep.sh"
trap 'rm -rf "$scratch"' EXIT
export JITWARM_STATE=$scratch/state NO_COLOR=1 LC_ALL=C.UTF-8
unset CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT CUDA_DISABLE_PTX_JIT CUDA_CACHE_DISABLE CUDA_CACHE_MAXSIZE CUDA_CACHE_PATH CUDA_VISIBLE_DEVICES \
	CUDA_HOME CUDA_PATH
cd "$scratch" || exit 3
failed=0
fail() { echo "FAILED: $*"; failed=1 first=${first:-$*}; }
ok() { echo "ok: $*"; }
# await waits for steps whose time depends on the machine, for three minutes at most.
await() {
	local end=$((SECONDS + 180))
	until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.05; done
}
entries() { find "$1" -path "$1/?/?/*" -type f 2>/dev/null | wc -l; }
# expect STATUS ENTRIES TEXT ARGUMENT...: making into the directory `cache` ends with STATUS, leaves so many ENTRIES, and prints TEXT
expect() {
	local status=$1 count=$2 text=$3 got=0
	shift 3
	timeout 300 "$jitwarm" make -o cache/ "$@" >out 2>&1 || got=$?
	if [ "$got" = "$status" ] && [ "$(entries cache)" = "$count" ] && grep -qF -- "$text" out; then
		ok "make $* ($text)"
	else
		fail "make $*: status $got, not $status, or $(entries cache) entries, not $count, or not “$text”:"
		sed 's/^/    /' out
	fi
	[ -z "$(ls -A "$JITWARM_STATE/runs" 2>/dev/null)" ] || fail "left in the state directory"
}

if [ "$kind" = fake ]; then
	# fake VERSION COMMAND: writes a ptxas of that version, which runs COMMAND instead of compiling
	fake() {
		mkdir -p "$1"
		printf '#!/bin/sh\n[ "$1" != --version ] || { echo "ptxas: NVIDIA (R) Ptx optimizing assembler"; echo "Cuda compilation tools, release %s, V%s.1"; exit; }\n%s\n' \
			"$1" "$1" "$2" >"$1/ptxas"
		chmod +x "$1/ptxas"
	}
	export JITWARM_PTXAS=$scratch/store PATH=$scratch/nothing:/usr/bin:/bin
	fake 12.4 'echo "ptxas $*" >&2; exit 3'
	fake 12.2 'exit 1'
	fake 12.5 'exit 1'
	sm="--target sm_86"
	timeout 300 "$jitwarm" make $sm --driver 550.163.01 "$library" >out 2>&1
	[ $? = 64 ] && grep -q -- "with -o, or add -n" out && ok "--target without -o" || fail "--target without -o: $(cat out)"
	timeout 300 "$jitwarm" make --driver 550.163.01 "$library" >out 2>&1
	[ $? = 64 ] && grep -q -- "with --target" out && ok "--driver without --target" || fail "--driver without --target: $(cat out)"
	# refuse STATUS TEXT ARGUMENT...: no pack is made, nor any part of it
	refuse() {
		local status=$1 text=$2 got=0
		shift 2
		timeout 300 "$jitwarm" make "$@" >out 2>&1 || got=$?
		[ "$got" = "$status" ] && grep -qF -- "$text" out && [ -z "$(find . -name '*.jwpack*')$(ls -A "$JITWARM_STATE/runs" 2>/dev/null)" ] &&
			ok "make $* ($text)" || { fail "make $*: status $got, not $status, or not “$text”, or something is left:"; sed 's/^/    /' out; }
	}
	refuse 64 "name the other machine's GPU with --target" -o x.jwpack "$library"
	refuse 64 "--sign needs a pack: -o FILE" -o cache/ $sm --driver 550.163.01 --sign "$library"
	refuse 64 "name a file" -o - $sm --driver 550.163.01 "$library"
	refuse 64 "no key “default”" -o x.jwpack --sign $sm --driver 550.163.01 --ptxas 12.4/ptxas "$library"
	refuse 1 "x.jwpack is not written: no entry is left to put into it" -o x.jwpack $sm --driver 550.163.01 --ptxas 12.4/ptxas "$library"
	# If the printed command, which shows the failure again, is run, the pack stays as it is.
	refuse 1 "to see it again: jitwarm make --target sm_86 --driver 550.163.01 --ptxas 12.4/ptxas --all -o FILE.jwpack $library" \
		-o x.jwpack --all $sm --driver 550.163.01 --ptxas 12.4/ptxas "$library"
	expect 1 0 "jitwarm make --target sm_86 --driver 550.163.01 --ptxas 12.4/ptxas --fetch -o cache/ $library" --fetch $sm \
		--driver 550.163.01 --ptxas 12.4/ptxas "$library"
	refuse 2 "x.jwpack is not written: no entry is left to put into it" -o x.jwpack $sm --driver 550.163.01 --ptxas 12.4/ptxas "$build/tests/framework/framework-app"
	refuse 1 "8 of 8 modules to compile (273 KiB of PTX); otherwise each is compiled when first used" -n -o x.jwpack $sm --driver 550.163.01 "$library"
	fake slow 'echo $$ >>'"$scratch"'/slow.pids; exec sleep 600'
	sed -i 's/release slow, Vslow/release 12.4, V12.4/' slow/ptxas
	"$jitwarm" make -o x.jwpack $sm --driver 550.163.01 --ptxas slow/ptxas "$library" >out 2>&1 &
	supervisor=$!
	await test -s slow.pids
	kill -TERM $supervisor; got=0; wait $supervisor 2>/dev/null || got=$?
	[ $got = 143 ] && grep -q "x.jwpack is not written, and what was compiled is gone" out && [ -z "$(find . -name '*.jwpack*')$(ls -A "$JITWARM_STATE/runs")" ] &&
		ok "interrupted" || fail "interrupted: status $got: $(cat out; find . -name '*.jwpack*'; ls -A "$JITWARM_STATE/runs")"
	expect 2 0 "driver 550.999 (CUDA 12.4): jitwarm does not know the names of its cache entries; it knows those of 550.163.01, 555.58.02, 580.126.09 and others (“--driver list” names all)" $sm --driver 550.999 "$library"
	expect 2 0 "driver 550.163.01 (CUDA 12.4) needs ptxas 12.4: “jitwarm compiler fetch 12.4” gets it (wheel nvidia-cuda-nvcc-cu12==12.4.*)" \
		$sm --driver 550.163.01 "$library"
	expect 2 0 "driver 470.256.02 (CUDA 11.4) needs ptxas 11.4, for which there is no wheel: name the ptxas of a CUDA 11.4 toolkit with --ptxas FILE" \
		$sm --driver 470.256.02 "$library"
	mkdir store && cp -r 12.2 12.5 store/
	expect 2 0 "12.2/ptxas (CUDA 12.2) would make working code, but not the driver's own" $sm --driver 550.163.01 "$library"
	fake 12.4 'echo "ptxas $*" >&2; exit 3'
	rm -rf store/12.4 store/12.2 && fake 12.2 'exit 1' && cp -r 12.2 store/
	{ printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(){\n.reg .u32 r;\n'; yes 'mov.u32 r, 1;' | head -50000; echo '}'; } >long.ptx
	# This ptxas writes only a cubin's header.
	python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 2, 190, 1, 0, 0, 0, 86, 64, 0, 0, 0, 0, 0))' >cubin
	arguments='all=$*; while [ $# -gt 0 ]; do [ "$1" != -o ] || { out=$2; shift; }; [ ! -f "$1" ] || input=$1; shift; done'
	fake 13.0 "$arguments; exec cat $scratch/cubin >\"\$out\""
	making=(make $sm --driver 580.159.04 --ptxas 13.0/ptxas -j 2 long.ptx)
	timeout 300 "$jitwarm" "${making[@]}" -o made/ >out 2>&1 && timeout 300 "$jitwarm" export --all --cache made -o made.jwpack >out 2>&1 &&
		timeout 300 "$jitwarm" "${making[@]}" -o scratch.jwpack >out 2>&1 || fail "a pack of one module: $(cat out)"
	cmp made.jwpack scratch.jwpack && ok "the same pack from a run's own directory" || fail "another pack from a run's own directory"
	# api: a program on the public headers gets the same result, without compilers that this machine has fetched
	api() { XDG_CACHE_HOME=$scratch/nothing timeout 300 "$build/tests/cli/prime-api" "$jitwarm" long.ptx jobs=2 "$@" >out 2>&1; }
	api driver=580.159.04 ptxas=13.0/ptxas pack=api.jwpack && grep -qx "packed 1" out && cmp -s api.jwpack scratch.jwpack &&
		ok "jw_prime: the same pack" || fail "jw_prime: another pack: $(cat out)"
	api driver=550.163.01 pack=api.jwpack && fail "jw_prime: without a compiler: $(cat out)" || grep -q "needs ptxas 12.4" out &&
		ok "jw_prime: the compiler that is missing" || fail "jw_prime: without a compiler: $(cat out)"
	api driver=535.309.01 dry-run pack=none.jwpack && [ ! -e none.jwpack ] && ok "jw_prime: a dry run needs none" || fail "jw_prime: a dry run: $(cat out)"
	[ -z "$(ls -A "$JITWARM_STATE/runs" 2>/dev/null)" ] || fail "left in the state directory"
	rm -rf made ./*.jwpack
	expect 2 0 "is newer than driver 550.163.01 (CUDA 12.4): the driver would refuse its code" $sm --driver 550.163.01 --ptxas 12.5/ptxas "$library"
	expect 1 0 "its code works, but is not the driver's own" $sm --driver 550.163.01 --ptxas 12.2/ptxas "$library"
	echo '{"schema":"jitwarm.driver/1","stamp":"no stamp"}' >bad
	expect 3 0 "bad: neither a driver's library nor a profile" $sm --driver ./bad "$library"
	expect 64 0 "--driver: a profile already names the driver: leave out the version" $sm --driver ./bad --driver 550.163.01 "$library"
	expect 2 0 "does not say which ptxas it is" $sm --driver 550.163.01 --ptxas /bin/true "$library"
	expect 3 0 "No such file" $sm --driver 550.163.01 --ptxas nowhere "$library"
	expect 0 0 "no device code found" $sm --driver 550.163.01 --ptxas 12.4/ptxas "$build/tests/framework/framework-app"
	expect 1 0 "8 of 8 modules to compile (273 KiB of PTX); otherwise each is compiled when first used" $sm --driver 550.163.01 -n "$library" # needs no compiler
	cp -r 12.4 store/
	expect 1 0 "ptxas ended with status 3" $sm --driver 550.163.01 "$library"
	grep -q "ptxas -arch=sm_86 --generate-line-info /" out || fail "the options, as they are: $(cat out)"
	grep -q "ptxas -arch=sm_86 -c --compile-only /" out || fail "-c for inputs of run-time linking: $(cat out)"
	expect 1 0 "ptxas -arch=sm_90a /" --target sm_90 --driver 550.163.01 "$library"
	fake 12.4 'kill -SEGV $$'; cp -r 12.4 store/
	expect 1 0 "ptxas was ended by signal 11" $sm --driver 550.163.01 "$library"
	fake 12.4 'for last; do :; done; echo nonsense >"$last"'; cp -r 12.4 store/
	expect 1 0 "not sound" $sm --driver 550.163.01 "$library"
	fake 12.4 'exit 0'; cp -r 12.4 store/
	expect 1 0 "module.cubin: No such file" $sm --driver 550.163.01 "$library"
	# A killed supervisor takes the compilers with it.
	fake 12.4 'echo $$ >>'"$scratch"'/pids; exec sleep 300'; cp -r 12.4 store/
	"$jitwarm" make -o cache/ $sm --driver 550.163.01 "$library" >out 2>&1 &
	supervisor=$!
	await test -s pids
	kill -KILL $supervisor; wait $supervisor 2>/dev/null
	none_alive() {
		local pid
		for pid in $(cat pids); do [ ! -d "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status" || return 1; done
	}
	[ -s pids ] && await none_alive && ok "no compiler outlives a killed supervisor" || fail "compilers are left: $(cat pids)"
	exit $failed
fi

get_ptxas() { timeout 300 "$jitwarm" compiler fetch "$1" 2>/dev/null; } # from the real index, if it is not there yet
get_ptxas 12.4 >/dev/null || { echo "skipped: no ptxas 12.4 (jitwarm compiler fetch 12.4)"; exit 77; }
[ -d "$drivers/550.163.01" ] || { echo "skipped: no driver 550.163.01"; exit 77; }
# zstd_alone STATUS: true if the only failure is code packed with zstd, which drivers before 550 cannot read
zstd_alone() { [ "$1" = 2 ] && grep -q "will fail: code packed with zstd" out; }
# compare DRIVER GPU,…: makes the entries both ways from nothing, and compares them
compare() {
	local driver=$1 gpus=$2 targets=() gpu
	[ -d "$drivers/$driver" ] && get_ptxas "$3" >/dev/null || { echo "(left out: driver $driver or ptxas $3 is not at hand)"; return; }
	for gpu in ${gpus//,/ }; do targets+=(--target "$gpu"); done
	rm -rf cache there
	timeout 300 "$jitwarm" make -o cache/ "${targets[@]}" --driver "$driver" "$library" >out 2>&1 || zstd_alone $? || fail "$driver $gpus: $(cat out)"
	CUDA_CACHE_PATH=$scratch/there timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d "$driver" "$gpus" -- "$jitwarm" prime "$library" >out 2>&1 ||
		zstd_alone $? || fail "under $driver, $gpus: $(cat out)"
	rm -f cache/index there/index # rows come in the order in which compiles ended
	diff -r cache there >differences && [ "$(entries cache)" -gt 0 ] && ok "driver $driver, $gpus: $(entries cache) of $(entries there) entries are the driver's own, to the byte" ||
		fail "driver $driver, $gpus: $(cat differences)"
}
compare 550.163.01 sm_86,sm_89,sm_90 12.4
compare 535.309.01 sm_75,sm_86 12.2
compare 555.58.02 sm_80,sm_90 12.5
# The result goes into a pack: imported, it equals the directory; a signed pack is accepted without further options.
rm -rf cache there
make=("$jitwarm" make --target sm_86 --target sm_89 --driver 550.163.01)
timeout 300 "${make[@]}" -o cache/ "$library" >out 2>&1 && grep -q "^Next: on the other machine, set CUDA_CACHE_PATH to this folder" out || fail "--cache: $(cat out)"
rm -rf "$JITWARM_STATE"
timeout 300 "${make[@]}" -o plain.jwpack "$library" >out 2>&1 || fail "-o: $(cat out)"
timeout 300 "$jitwarm" import --allow-unsigned --cache there plain.jwpack >out 2>&1 || fail "import: $(cat out)"
mv cache/index rows; mv there/index others
diff -r cache there >differences && [ "$(entries cache)" = 16 ] && [ "$(wc -c <rows)" = "$(wc -c <others)" ] && ok "a pack holds what a directory would" ||
	fail "the pack: $(cat differences)"
[ -z "$(ls -A "$JITWARM_STATE/runs" 2>/dev/null)" ] && ! grep -rqs . "$JITWARM_STATE"/ledger* "$JITWARM_STATE"/runs-* && ok "nothing of it stays in the state directory" || fail "left: $(ls -lR "$JITWARM_STATE")"
"$jitwarm" key generate >out 2>&1 || fail "key generate: $(cat out)"
mkfifo pipe
for to in pipe /dev/null; do
	timeout 300 "${make[@]}" -o $to "$library" >out 2>&1
	[ $? = 64 ] && grep -qF "$to: is not a regular file" out && ok "-o $to" || fail "-o $to: $(cat out)"
done
timeout 300 "${make[@]}" -o signed.jwpack --sign --json "$library" >document 2>out || fail "-o --sign: $(cat out)"
keep_document document
cmp plain.jwpack signed.jwpack && ok "the same pack to the byte"
python3 - document "$root/docs/reference" <<-'P' && ok "the document" || fail "the document"
	import json, re, sys
	pack = json.load(open(sys.argv[1], encoding="utf-8"))["pack"]
	assert pack["entries"] == 16 and pack["file"] == "signed.jwpack" and pack["signed_by"] and pack["targets"] == "sm_86 sm_89", pack
	page = lambda name: open(f"{sys.argv[2]}/{name}.md", encoding="utf-8").read()
	assert "`pack`" in page("prime")
	assert set(pack) <= set(re.findall(r"`([a-z0-9_]+)`", page("export")))
P
rm -rf there
CUDA_CACHE_PATH=$scratch/there timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d 550.163.01 sm_86,sm_89 -- "$jitwarm" import signed.jwpack >out 2>&1
[ "$(entries there)" = 16 ] && ok "a signed pack is imported under the driver itself" || fail "import under the driver: $(cat out)"
touch began
CUDA_CACHE_PATH=$scratch/there timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d 550.163.01 sm_86 -- "$build/tests/framework/framework-app" >out 2>&1 ||
	fail "first start: $(cat out)"
[ "$(entries there)" = 16 ] && [ -z "$(find there -type f ! -name index -newer began)" ] && ok "the sample's first start adds nothing, and writes nothing anew" ||
	fail "first start: $(entries there) entries: $(cat out)"
# The driver is named by its library; the result goes into the account's own cache, which no variable names.
rm -rf cache
CUDA_CACHE_PATH=$scratch/cache timeout 300 "$jitwarm" make -o cache/ --target sm_86 --driver \
	"$(find "$drivers/550.163.01" -name 'libcuda.so.*.*' -type f | head -1)" "$library" >out 2>&1 &&
	grep -q "now has the entries that driver .* looks for\.$" out || fail "--driver FILE: $(cat out)"
before=$(entries cache)
# Whatever the umask is, another account can read entries that root has put into a new directory, and open its index for writing, as a
# driver does.
. "$root/tests/accounts.sh"
if open=$(folder_for_all); then
	trap 'rm -rf "$scratch" "$open"' EXIT
	new=$open/new
	(umask 077 && timeout 300 "${make[@]}" -o "$new/image/cache/" "$library" >out 2>&1) || fail "umask 077: $(cat out)"
	(umask 077 && timeout 300 "$jitwarm" import --allow-unsigned --as-is --cache "$new/imported/cache" plain.jwpack >out 2>&1) || fail "umask 077: $(cat out)"
	for made in "$new"/{image,imported}/cache; do
		(cd "$open" && "${as_other[@]}" sh -c \
			'find "$1" -type f -exec cat {} + >/dev/null && : >>"$1/index" && ! touch "$1/other" 2>/dev/null' sh "$made") >out 2>&1 &&
			[ "$(entries "$made")" = 16 ] && ok "what root fills others can use ($made)" || fail "$made: $(cat out; ls -lR "$new")"
	done
fi
# The driver is named by a file that the other machine wrote.
CUDA_CACHE_PATH=$scratch/unused timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d 550.163.01 sm_86 -- "$jitwarm" status --driver-profile profile --quiet ||
	fail "status --driver-profile"
mv cache by-library
timeout 300 "$jitwarm" make -o cache/ --target sm_86 --driver profile "$library" >out 2>&1 || fail "--driver FILE: $(cat out)"
rm by-library/index
cp cache/index . && rm cache/index && diff -r cache by-library >/dev/null && ok "library and profile name the same driver" || fail "library and profile differ"
mv index cache/
# A first start on the other machine compiles nothing.
CUDA_CACHE_PATH=$scratch/cache timeout 300 "$root/scripts/with-driver.sh" -B "$build" -d 550.163.01 sm_86 -- "$jitwarm" prime "$library" >out 2>&1
[ "$(entries cache)" = "$before" ] && grep -q "^Warm: all" out && ok "the driver finds all of it" || fail "the driver does not find it: $(cat out)"
[ $failed = 0 ] || echo "FAILED: ${first-see above}"
exit $failed
