# watch and doctor --pid, for a process of root's that has started processes of another account, as a login or a service does: what the
# account's processes have mapped is no part of the answer, nor is what a process in other mounts has, where a path names another file.
. "$cases/../lib.sh"
with_simdriver sm_86
cat >"$open/map.py" <<'P'
import mmap, sys, time
files = [open(path, "rb") for path in sys.argv[2:]]
mapped = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC) for file in files]
open(sys.argv[1], "w").close()
time.sleep(60)
P
code=$open/code
mkdir -m 755 "$code"
cp "$sample" "$code/libtheirs.so" && cp "$sample" "$code/libnvidia-ptxjitcompiler.so.1" && chmod 755 "$code"/*
# with_child COMMAND…: root's shell starts the command, which maps the code; its number is in $victim
with_child() {
	rm -rf "$open/said" && mkdir -m 777 "$open/said"
	sh -c '"$@" & wait' sh "$@" /usr/bin/python3 "$open/map.py" "$open/said/mapped" "$code/libtheirs.so" "$code/libnvidia-ptxjitcompiler.so.1" &
	victim=$!
	await [ -e "$open/said/mapped" ]
	kill -STOP "$victim" # the answers are about it, not about how it waits
}
end_child() {
	pkill -9 -P "$victim"
	kill -9 "$victim"
	wait "$victim" 2>/dev/null || true
}
# answers WATCH DOCTOR: what holds for the documents of both commands
answers() {
	run 0 watch --for 300ms --json "$victim"
	json "$1"
	run '0|1' doctor --no-probe --json --pid "$victim"
	json "$2"
}
theirs='d["process"]["compiler"] is False and d["left"] == 0 and d["processes"] == 1'
no_theirs='d["process"]["compiler"] is False and not d.get("cold")'

with_child
answers 'd["process"]["compiler"] and d["left"] == 8 and d["processes"] == 2' 'd["process"]["compiler"] and d["cold"] == 8'
end_child
with_child setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all
answers "$theirs" "$no_theirs"
end_child
if as_mallory unshare -rm true 2>/dev/null; then
	with_child setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all unshare -rm
	answers "$theirs" "$no_theirs"
	end_child
fi
unshare -m true 2>/dev/null || skip "no mount namespace can be made"
with_child unshare -m
answers "$theirs" "$no_theirs"
end_child
