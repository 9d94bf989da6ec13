# shellcheck shell=bash
# Sourced by test.sh and nightly.sh: stages, one behind the other, and the line that sums them up.

passed=0 failed=0 skipped=0 names=

# stage NAME COMMAND...   status 77: skipped
stage() {
	local name=$1 began=$SECONDS status=0
	shift
	printf '\n==== %s\n' "$name"
	"$@" || status=$?
	if [ $status = 0 ]; then
		passed=$((passed + 1))
		printf '==== %s: passed in %d s\n' "$name" $((SECONDS - began))
	elif [ $status = 77 ]; then
		skipped=$((skipped + 1))
		printf '==== %s: skipped\n' "$name"
	else
		failed=$((failed + 1))
		names+=" [$name]"
		printf '==== %s: FAILED after %d s\n' "$name" $((SECONDS - began))
		return 1
	fi
}

stages_end() {
	printf '\nstages: %d passed, %d failed%s, %d skipped\n' "$passed" "$failed" "${names:+:$names}" "$skipped"
	[ "$failed" = 0 ]
}

# left_out BUILD   a pattern for ctest -E: the tests of that build that tests/long names, but none with JITWARM_LONG_TESTS=1.
# It has the names themselves, since ctest takes no pattern with more than nine brackets, and would leave out nothing.
left_out() {
	local patterns names
	[ "${JITWARM_LONG_TESTS:-}" != 1 ] || return 0
	patterns=$(sed -nE "s/^$1 +//p" tests/long | paste -sd '|')
	names=$(cd "build/$1" && ctest -N | sed -n 's/^ *Test *#[0-9]*: //p' | grep -xE "$patterns" | sed 's/\./\\./g' | paste -sd '|' || true)
	[ -z "$names" ] || printf '^(%s)$' "$names"
}
