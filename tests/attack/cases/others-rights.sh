# A cache that an account may read and not write, and one that root has written in once: what the driver does with each is said, and
# the command of “run” starts
# shellcheck source=/dev/null
. "$cases/../lib.sh"
with_simdriver sm_86
program=${JITWARM##* }
theirs="$runner setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all $program"
export HOME=$home JITWARM_STATE=$home/state
# The account cannot look into lib.sh's folder of stand-ins for this machine's NVRTC.
cp -R "$work/no-nvrtc" "$open/" && export LD_LIBRARY_PATH=$open/no-nvrtc:$LD_LIBRARY_PATH
printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$open/other.ptx"
found() { json "[f['id'] for f in d['findings']] == '$1'.split()"; }

# root's folder, read-only for the account, with an index that all may write
export CUDA_CACHE_PATH=$open/cache
HOME=$open JITWARM_STATE=$open/state run 0 prime "$sample"
chmod -R a+rX "$open/cache"
chmod 666 "$open/cache/index"
JITWARM=$theirs
run 0 check "$sample"
out_has "warm, all 8 modules in the cache"
run 0 prime "$sample"
run 0 doctor --no-probe --json "$sample"
found ""
run 0 run -- "$app"
err_has "the driver compiled nothing into its cache"
run 2 check "$open/other.ptx"
err_has "$open/cache: this account may only read it: the driver loads its entries, and compiles everything else again at every start"
run 2 prime "$open/other.ptx"
err_has "this account may only read it"
run 2 doctor --no-probe --json "$open/other.ptx"
json "d['findings'][0]['id'] == 'cache-unwritable'"
chmod 644 "$open/cache/index"
run 2 check "$sample"
err_has "not writable for this account"

# the account's own cache with files of root's
export CUDA_CACHE_PATH=$home/cache
warm() { rm -rf "$home/cache" && run 0 prime "$sample"; }
folder() { find "$home/cache" -mindepth "$1" -maxdepth "$1" -type d | sort | head -n 1; }
for case in index top below; do
	warm
	case $case in
	index) what=$home/cache/index && chmod 600 "$what" ;;
	top) what=$(folder 1) && chmod 700 "$what" ;;
	below) what=$(folder 2) && chmod 700 "$what" ;;
	esac
	chown 0:0 "$what"
	run "1|2" doctor --no-probe --json "$sample"
	json "d['findings'][0]['id'] == 'not-yours' and '$what' in d['findings'][0]['evidence'] and 'sudo chown -R --from=root $mallory $home/cache' in d['findings'][0]['fix']"
	run 0 run -- "$app"
	err_has " ran "
	for command in "cache clear --yes" "cache verify --repair"; do
		run 2 $command
		err_one_line
		err_has "$what: belongs to root: “sudo chown -R --from=root $mallory $home/cache”"
	done
	run "1|2" check "$sample"
	err_has "sudo chown -R --from=root $mallory $home/cache"
	chown -R --from=root "$mallory" "$home/cache"
	run "0|1" doctor --no-probe --json "$sample"
	json "'not-yours' not in [f['id'] for f in d['findings']]"
done
# Files of a third account are not adopted, since this account would run their machine code.
warm
what=$(folder 1) && chmod 700 "$what" && chown 65534 "$what"
run 2 cache clear --yes
err_has "$what: belongs to another account (number 65534): “sudo rm -r -- $what”"
run "1|2" doctor --no-probe --json "$sample"
json "d['findings'][0]['fix'] == 'delete what another account can have put there: “sudo rm -r -- $what”'"
rm -r -- "$what"
run 0 cache clear --yes
