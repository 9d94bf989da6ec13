# An account holds the kernel's lock of its own file: it writes to the file from memory that never arrives. Root reads the file all the same.
. "$cases/../lib.sh"
with_simdriver sm_86
cp "$sample" "$home/lib.so" && chown $mallory "$home/lib.so"
cat >"$open/hold" <<'P'
import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.pwrite.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
page = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
try:
    faults = libc.syscall(323, os.O_CLOEXEC)  # userfaultfd, which stands for a FUSE file system of the account
    fcntl.ioctl(faults, 0xC018AA3F, struct.pack("<QQQ", 0xAA, 0, 0))
    fcntl.ioctl(faults, 0xC020AA00, struct.pack("<QQQQ", page, 4096, 1, 0))
except OSError:
    sys.exit(77)
file = os.open(sys.argv[1], os.O_WRONLY)
print("writes", flush=True)
libc.pwrite(file, page, 4096, 0)
P
/usr/bin/python3 "$open/hold" "$home/lib.so" >"$open/said" &
holder=$!
for ((i = 0; i < 100; i++)); do
	grep -q writes "$open/said" && break
	kill -0 $holder 2>/dev/null || skip "no userfaultfd here"
	sleep 0.1
done
sleep 0.5
$JITWARM scan "$home/lib.so" >"$open/out" 2>&1 &
reader=$!
for ((i = 0; i < 200; i++)); do
	kill -0 $reader 2>/dev/null || break
	sleep 0.1
done
# Only the end of the writer ends a process that waits for the lock.
kill -9 $holder
wait $reader
((i < 200)) || fail "scan waited for the account's program"
grep -q lib.so "$open/out" || fail "scan: $(<"$open/out")"
