# Help of every command: on standard output, status 0, with the common options, no wider than 80 columns.
run 0 --help
out_has "Usage: jitwarm COMMAND"
err_empty
commands=$(sed -n '/^Commands:/,/^$/p' "$out" | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//')
[[ $commands == *help* ]] || fail "no list of commands"
while read -r command; do
	# shellcheck disable=SC2086
	run 0 $command --help
	out_has "Usage: jitwarm $command"
	out_has "--json"
	out_has "-q, --quiet"
	err_empty
	cp "$out" "$work/first"
	# shellcheck disable=SC2086
	run 0 help $command
	cmp -s "$work/first" "$out" || fail "“help $command” differs from “$command --help”"
	[[ $(wc -L <"$out") -le 80 ]] || fail "a line is wider than 80 columns"
	# Each example is a command with options that it has.
	sed -n '/^Examples:$/,$s/^  jitwarm *//p' "$out" >"$work/examples"
	[ -s "$work/examples" ] || fail "no example of $command"
	grep -qE "^($command\b|\$)" "$work/examples" || fail "no example of $command is one"
	is_wine && continue # the table is the same, and a program starts slowly there
	while read -r example; do
		# shellcheck disable=SC2086
		run 0 ${example%% -- *} --help
		out_has "Usage: jitwarm"
	done <"$work/examples"
	# … and they come last.
	[[ $(sed -n '/^Examples:$/,$p' "$work/first" | grep -cvE '^(Examples:|  jitwarm.*|    .*)$') == 0 ]] || fail "something follows the examples of $command"
done <<<"$commands"
# prime's options are in groups, and every one of them in one.
run 0 prime --help
grep -E '^[A-Z].*:$' "$out" >"$work/groups"
printf '%s\n' "What to compile:" "How much at most:" "Where results come from:" "Where results go, and for which machine:" "As with every command:" "Examples:" |
	diff - "$work/groups" || fail "prime's options are in other groups"
sed -n '/^Where results come from:/,/^$/p' "$out" | grep -q -e '--share ' || fail "--share is in another group"
sed -n '/^How much at most:/,/^$/p' "$out" | grep -q -e '--budget-time ' || fail "--budget-time is in another group"
run 64 prime --=x
err_has "unknown option"
run 0 -h
out_has "Usage: jitwarm COMMAND"
run 0 help help
out_exact help
