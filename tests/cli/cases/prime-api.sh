# A program that uses the public headers gets the same as “jitwarm prime”: compiled modules come from the store or another driver's entries,
# the rest is compiled, and the results are kept.
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=1
program=${JITWARM##* } suffix=
is_wine && suffix=.exe
JITWARM="${JITWARM% *} $build/tests/cli/prime-api$suffix"
differs_for WINDOWS # whose program has another name
# primes RESULT OPTION…: the program's result
primes() {
	local wanted=$1
	shift
	run 0 "$program" "$sample" "$@"
	out_has "$wanted"
}

driver_535_216
snapshot primes "refilled 0, carried 0, compiled 0, kept 0" dry-run
primes "refilled 0, carried 0, compiled 8, kept 8"
primes "refilled 0, carried 0, compiled 0, kept 0"

# The cache was wiped.
rm -rf "$work/cache"
primes "refilled 8, carried 0, compiled 0, kept 0" dry-run
[[ ! -e $work/cache/index ]] || fail "a dry run has filled the cache"
snapshot primes "refilled 8, carried 0, compiled 0, kept 0"
# One entry was lost.
rm -f "$(find "$work/cache" -type f ! -name index | sort | head -1)"
snapshot primes "refilled 1, carried 0, compiled 0, kept 0"

# A complete run is remembered; a run that compiles nothing is not.
primes "compiled 0" if-changed dry-run
primes "compiled 0" if-changed
snapshot primes "nothing has changed" if-changed
rm -f "$(find "$work/cache" -type f ! -name index | sort | head -1)"
primes "refilled 1" if-changed
primes "nothing has changed" if-changed

# Another build of the compiler, and another compiler, share nothing.
driver_535_309
primes "refilled 0, carried 8, compiled 0, kept 0"
driver_550
primes "refilled 0, carried 0, compiled 0, kept 0" dry-run
primes "refilled 0, carried 0, compiled 8, kept 8"

# Without cache and store, all is compiled.
rm -rf "$work/cache" "$work/state/store"
primes "refilled 0, carried 0, compiled 8, kept 0" no-store

# If the request to end comes after the last module, only the store is not filled.
rm -rf "$work/cache" "$work/state/store"
primes "refilled 0, carried 0, compiled 8, kept 0" cancel=8
out_lacks "interrupted"
primes "compiled 0"
out_lacks "interrupted"
