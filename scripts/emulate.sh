# shellcheck shell=bash
# Sourced by test-aarch64.sh and trial.sh: has the kernel start programs of aarch64 by qemu-user (binfmt_misc), in other roots too.
emulated=''

emulate_qemu() { command -v qemu-aarch64-static || command -v qemu-aarch64; } # Debian 13's has no other name, and is static, too
# emulate_begin: status 1 where it cannot be, with the reason in emulate_lacks. emulate_end takes it back where no other script needs it.
emulate_begin() {
	local kernel=/proc/sys/fs/binfmt_misc qemu
	[ "$(uname -m)" != aarch64 ] || return 0
	qemu=$(emulate_qemu) || { emulate_lacks="the package qemu-user-static is missing"; return 1; }
	[ -e $kernel/register ] || mount -t binfmt_misc none $kernel 2>/dev/null || { emulate_lacks="no binfmt_misc"; return 1; }
	# All that emulate hold this lock together, and one alone where it ends as the last
	exec {emulated}<$kernel/status && flock -s "$emulated"
	if ! grep -qs '^interpreter .*qemu-aarch64' $kernel/*; then
		# An ELF header of 64 bits, little-endian, of a program or library (e_type 2 or 3) for machine 0xb7. P: with the name by which it was called (busybox); F: opened now, for every root
		printf '%s' ':jitwarm-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$qemu:PF" 2>/dev/null >$kernel/register ||
			[ -e $kernel/jitwarm-aarch64 ] || { emulate_lacks="the kernel does not take qemu-aarch64"; return 1; } # or another was first
	fi
}
emulate_end() {
	local entry=/proc/sys/fs/binfmt_misc/jitwarm-aarch64
	[ "$emulated" ] || return 0
	if flock -nx "$emulated" && [ -e $entry ]; then echo -1 >$entry; fi
	flock -u "$emulated" # what still runs has it open, too
	emulated=''
}
