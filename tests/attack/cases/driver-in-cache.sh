# NVIDIA's driver follows each symlink that it finds in its cache, writes into folders of other accounts, and wipes through symlinks. Root does
# not let it work in a cache in which another account has left something: neither doctor's probe nor a run that leaves the entries to the driver.
. "$cases/../lib.sh"
with_simdriver sm_86
cat >"$open/without-landlock.py" <<'P'
# Starts a program for which the kernel has no Landlock: its three calls fail with ENOSYS.
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x35, 0, 2, 444), (0x25, 1, 0, 446), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
prctl = ctypes.CDLL(None).prctl
prctl(38, 1, 0, 0, 0)
if prctl(22, 2, ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))):
    sys.exit("seccomp does not work here")
os.execvp(sys.argv[1], sys.argv[1:])
P
confined=$JITWARM unconfined="python3 $open/without-landlock.py $JITWARM"
export SIMDRIVER_LOG=$work/log
logged() { grep -q "$1" "$SIMDRIVER_LOG" 2>/dev/null; }
own=$open/own cache=$open/own/cache
export JITWARM_STATE=$own/state CUDA_CACHE_PATH=$cache
run 0 prime --quiet "$sample"
# The names of the entries depend on the driver and the GPU alone, so the account knows them.
CUDA_CACHE_PATH=$open/known run '0|1' doctor --json "$sample"
json 'd["probe"] == "hit"'
probe=$(cd "$open/known" && find . -path './?/?/*' -printf '%P\n')
rm -rf "$cache"
cp -a "$own" "$open/saved"
# Another driver at the same path makes entries with names that jitwarm does not expect.
other='Jan  1 2031 00:00:00'
SIMDRIVER_STAMP=$other run 0 prime --json --jobs 1 "$sample"
json 'd["opaque"]'
opaque=$(cd "$cache" && find . -path './?/?/*' -printf '%P\n' | head -n 1)
[[ $probe == ?/?/* && $opaque == ?/?/* ]] || fail "no names: $probe, $opaque"

# default_list FOLDER: gives it a default access list, by which the account may write to new files whatever the umask is
default_list() {
	/usr/bin/python3 - "$1" $mallory 2>/dev/null <<'P'
import os, struct, sys
entry = lambda tag, bits, number=0xffffffff: struct.pack("<HHI", tag, bits, number)
os.setxattr(sys.argv[1], "system.posix_acl_default", struct.pack("<I", 2) + entry(1, 7) + entry(2, 7, int(sys.argv[2])) + entry(4, 5) + entry(16, 7) + entry(32, 5))
P
}
# plant WHAT ENTRY: a cache with what the account has left there, and its owner or mode changed by a chown or chmod that did not reach it
plant() {
	local what=$1 entry=$2
	rm -rf "$own" && cp -a "$open/saved" "$own"
	mkdir "$cache"
	[[ $what == index* ]] || run 0 prime --quiet "$cases/../../../ptx/sample_small.ptx"
	rm -rf "$cache/${entry%%/*}"
	case $what in
	entry) mkdir -p "$cache/${entry%/*}" && ln -s "$treasure/file" "$cache/$entry" ;;
	new) mkdir -p "$cache/${entry%/*}" && ln -s "$treasure/missing" "$cache/$entry" ;;
	roots) mkdir -p "$cache/${entry%/*}" && ln -s "$treasure/file" "$cache/$entry" ;;
	second) mkdir -p "$cache/${entry%/*}" && ln "$treasure/file" "$cache/$entry" ;;
	pipe) mkdir -p "$cache/${entry%/*}" && mkfifo "$cache/$entry" ;;
	level) mkdir -p "$cache/${entry%%/*}" && ln -s "$treasure/folder" "$cache/${entry%/*}" ;;
	top) ln -s "$treasure/folder" "$cache/${entry%%/*}" ;;
	unused) ln -s "$treasure/folder" "$cache/$([[ $entry == a/* ]] && echo b || echo a)" ;;
	folder | writable) mkdir -p "$cache/${entry%/*}" ;;
	index-new) ln -s "$treasure/missing" "$cache/index" ;;
	open) mkdir -p "$cache/${entry%/*}" && install -m 666 "$treasure/file" "$cache/$entry" ;;
	list | list-above) mkdir -p "$cache/${entry%/*}" && default_list "$cache/${entry%/*}" ;;
	esac
	case $what in
	list-above) default_list "$cache" ;;
	open | list) ;;
	folder) chown $mallory "$cache/${entry%%/*}" ;;
	writable) chmod 777 "$cache/${entry%/*}" ;;
	roots | second) ;;
	*) find "$cache" \( -type l -o -type p \) -exec chown -h $mallory {} + ;;
	esac
	there=$(listed)
}
# Not jitwarm's own files beside them, which prime makes before it starts the driver.
listed() { (cd "$cache" && find . -mindepth 1 \( -name '.jitwarm-*' -o -name index \) -prune -o -mindepth 1 -printf '%p %i %U %m %y %T@\n' | sort); }
plants="entry new roots second pipe level top unused folder writable open index-new"
mkdir "$open/listed"
if default_list "$open/listed"; then plants+=" list list-above"; fi
# Root's look beforehand is enough, also where the kernel confines nothing.
JITWARM=$unconfined
for what in $plants; do
	before=$(state_of)
	plant $what "$probe"
	limit=60 run '0|1' doctor --json "$sample"
	untouched
	[[ $(listed) == "$there" ]] || fail "$what: doctor's probe has changed the cache: $(diff <(echo "$there") <(listed))"
	# A dangling symlink in place of the index makes the cache one that the next entry would harm.
	json "d['probe'] == ('not asked' if '$what' == 'index-new' else 'unsafe')"
	json '"planted" in [f["id"] for f in d["findings"]] or "not-yours" in [f["id"] for f in d["findings"]]'
	if [[ $what == list-above ]]; then json "any('“setfacl -R -k -- $cache”' in f['fix'] for f in d['findings'])"; fi
	[[ $what != index-new ]] || continue # prime repairs the index first
	plant $what "$opaque"
	SIMDRIVER_STAMP=$other limit=60 run '2|3' prime --jobs 1 "$sample"
	untouched
	[[ $(listed) == "$there" ]] || fail "$what: the driver has changed the cache: $(diff <(echo "$there") <(listed))"
	# Root's own rules may have ended the command before.
	[[ $ended == 3 ]] || err_has "NVIDIA's driver itself would write there with root's rights, since"
done
# No folder of jitwarm's own has such a list, so root's driver makes nothing there that another account can change.
if [[ $plants == *list* ]]; then
	rm -rf "$own" && mkdir -m 755 "$own" && default_list "$own"
	run 0 prime --quiet "$sample"
	run 0 check "$sample"
	err_lacks "can have written"
fi

# While the probe's driver works, the account empties the index, which it may write to: the driver wipes the cache, and its target with it.
before=$(state_of)
plant unused "$probe"
chmod 666 "$cache/index" && chmod 755 "$own" "$cache"
rm -f "$SIMDRIVER_LOG" && touch "$open/gate"
export SIMDRIVER_FAULT=wait:jitwarm_probe SIMDRIVER_GATE=$open/gate
begin doctor "$sample"
until logged 'fault wait' || ! kill -0 "$begun" 2>/dev/null; do sleep 0.05; done
as_mallory /usr/bin/python3 -c 'import os, sys; os.truncate(sys.argv[1], 0)' "$cache/index"
rm "$open/gate"
wait "$begun"
unset SIMDRIVER_FAULT SIMDRIVER_GATE
untouched
JITWARM=$confined

# The second guard: a symlink that appears while the driver works leads nowhere, if the kernel has Landlock.
if python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 2)'; then
	# Workers may write below /dev/shm, where $open may be.
	elsewhere=$(mktemp -d /var/tmp/jitwarm-driver.XXXXXX)
	trap 'jobs -p | xargs -r kill -9 2>/dev/null; rm -rf "$open" "$elsewhere"' EXIT
	printf precious >"$elsewhere/file"
	for shape in named default; do
		rm -rf "$own" && cp -a "$open/saved" "$own" && mkdir -p "$own/home"
		[[ $shape == named ]] || cache=$own/home/.nv/ComputeCache
		# The driver wipes a cache without an index, and the symlink with it.
		CUDA_CACHE_PATH=$cache run 0 prime --quiet "$cases/../../../ptx/sample_small.ptx"
		rm -f "$SIMDRIVER_LOG" && touch "$open/gate"
		(
			trap - EXIT
			[[ $shape == named ]] || unset CUDA_CACHE_PATH
			export SIMDRIVER_FAULT=wait:jitwarm_probe SIMDRIVER_GATE=$open/gate
			HOME=$own/home run '0|1' doctor "$sample"
		) &
		await logged 'fault wait'
		mkdir -p "$cache/${probe%/*}" && ln -s "$elsewhere/file" "$cache/$probe"
		rm "$open/gate"
		wait $! || fail "$shape: doctor"
		[[ $(cat "$elsewhere/file") == precious ]] || fail "$shape: the driver followed a symlink"
	done
	cache=$own/cache
fi

# A library that changes while it is primed does not make root's driver work in root's cache. The account changes the planned PTX, or only the
# header of another entry, so that the driver takes another one than planned.
cat >"$open/two.py" <<'P'
import sys
sys.path.insert(0, sys.argv[2])
import fatbin
def text(comment, kernel, body=b""):
    return fatbin.ptx_payload(b"// %s\n.version 6.3\n.target sm_50\n.address_size 64\n.visible .entry %s()\n{\n%s\tret;\n}\n" % (comment, kernel, body))
first = fatbin.entry(fatbin.PTX, 50, text(b"first", b"first", b"\tbar.sync 0;\n" * 400))
second = fatbin.entry(fatbin.PTX, 50, text(b"older", b"second")), fatbin.entry(fatbin.PTX, 80, text(b"newer", b"second"))
open(sys.argv[1], "wb").write(fatbin.container(first) + fatbin.container(*second))
P
cat >"$open/change.py" <<'P'
import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"// newer")
with open(sys.argv[1], "r+b") as file:
    file.seek(at if sys.argv[2] == "text" else at - 72 + 28) # the header's architecture
    file.write(b"// N" if sys.argv[2] == "text" else b"\x63")
P
chmod 755 "$home"
for what in text header; do
	rm -rf "$own" && cp -a "$open/saved" "$own" && chmod 755 "$open"
	python3 "$open/two.py" "$home/lib.fatbin" "$cases/../../framework" && chown $mallory "$home/lib.fatbin"
	rm -f "$SIMDRIVER_LOG" && touch "$open/gate"
	(
		trap - EXIT
		export SIMDRIVER_FAULT="wait:// first;error:// first" SIMDRIVER_GATE=$open/gate
		run '1|2' prime --json --jobs 1 "$home/lib.fatbin"
		json 'not d["opaque"]'
		if [[ $what == text ]]; then
			json 'd["failed"] == 2 and any("was changed while it was primed" in f["reason"] for f in d["failures"])'
		else
			json 'd["failed"] == 1 and d["compiled"] == 1'
		fi
	) &
	await logged 'fault wait // first'
	as_mallory /usr/bin/python3 "$open/change.py" "$home/lib.fatbin" $what
	rm "$open/gate"
	wait $! || fail "$what: prime"
done
