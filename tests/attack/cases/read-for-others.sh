# A symlink of another account gives it no file that it cannot read itself: neither a pack, nor a copy, nor a list of its kernels.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
