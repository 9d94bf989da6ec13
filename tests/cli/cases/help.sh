# Every command's help goes to standard output with status 0, has the common options, and is at most 80 columns wide.
run 0 --help
out_has "Usage: jitwarm COMMAND"
err_empty
# The list has five groups, and begins with the README's five commands.
grep -E '^[A-Z].*:$' "$out" | tr '\n' ' ' >"$work/groups"
[[ $(cat "$work/groups") == "The five that most people need: To find out more: For other machines, and in packages: To share results: Upkeep: " ]] || fail "other groups: $(cat "$work/groups")"
[[ $(sed -n '/^The five/,/^$/s/^  \([a-z][a-z]*\)  .*/\1/p' "$out" | tr '\n' ' ') == "status check prime doctor tune " ]] || fail "other commands are first"
# A group of commands has one line.
cp "$out" "$work/list"
for group in cache key startup store; do
	[[ $(grep -cE "^  $group( |\$)" "$work/list") == 1 ]] || fail "not one line for $group"
	snapshot run 0 $group --help
	grep -qE "^  $group [a-z]+" "$out" || fail "$group --help does not list its commands"
done
snapshot run 0 help --all
commands=$(sed -n '/^Commands:/,/^$/p' "$out" | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//')
[[ $commands == *help* ]] || fail "no list of commands"
while read -r command; do
	# shellcheck disable=SC2086
	run 0 $command --help
	[[ $(wc -l <"$out") -le 40 ]] || fail "$command --help takes more than a screen"
	cp "$out" "$work/short"
	# shellcheck disable=SC2086
	snapshot run 0 $command --help --all
	! grep -q "^Exit status: " "$out" || grep -q "^Exit status: " "$work/short" || fail "$command --help does not tell the exit status"
	out_has "-q, --quiet"
	cp "$out" "$work/first"
	# shellcheck disable=SC2086
	run 0 help --all $command
	cmp -s "$work/first" "$out" || fail "“help --all $command” differs from “$command --help --all”"
	[[ $(wc -L <"$out") -le 80 ]] || fail "a line is wider than 80 columns"
	# Each example is a command with existing options.
	sed -n '/^Examples:$/,$s/^  jitwarm *//p' "$out" >"$work/examples"
	[ -s "$work/examples" ] || fail "no example of $command"
	grep -qE "^($command\b|\$)" "$work/examples" || fail "no example of $command is one"
	is_wine && continue # Windows has the same table, and programs start slowly there
	while read -r example; do
		# shellcheck disable=SC2086
		run 0 ${example%% -- *} --help
		out_has "Usage: jitwarm"
	done <"$work/examples"
	# The examples come last.
	[[ $(sed -n '/^Examples:$/,$p' "$work/first" | grep -cvE '^(Examples:|  jitwarm.*|    .*)$') == 0 ]] || fail "something follows the examples of $command"
done <<<"$commands"
# prime's options are in groups; each option is in one.
run 0 prime --help --all
grep -E '^[A-Z].*:$' "$out" >"$work/groups"
printf '%s\n' "What to compile:" "Limits:" "Where results come from:" "Where results go:" "As with every command:" "Examples:" |
	diff - "$work/groups" || fail "prime's options are in other groups"
grep -q -e '--store ' < <(sed -n '/^Where results come from:/,/^$/p' "$out") || fail "--store is in another group"
grep -q -e '--budget-time ' < <(sed -n '/^Limits:/,/^$/p' "$out") || fail "--budget-time is in another group"
snapshot run 64 check --nonsense --all
run 0 prime --help
out_has "jitwarm prime --help --all"
out_lacks "--nvrtc-name"
snapshot run 64 prime --=x
snapshot run 0 -h
COLUMNS=80 snapshot run 0 help help
