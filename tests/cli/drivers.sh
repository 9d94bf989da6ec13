# Sourced after with_simdriver by cases in which the driver changes.
#
#   driver_535_216, driver_535_309, driver_550, driver_555   the driver is this one from here on, by its stamp and CUDA version;
#                   its release stays the simulated driver's
#   driver_is NAME CUDA STAMP   the same of another one
#   anew            neither cache nor state

# The simulated library's file stays the same one, so remembered facts about it are removed, except those about former drivers.
driver_is() {
	if is_real; then
		JITWARM_REAL_DRIVER=$1
		with_real_driver "$real_gpus"
		return
	fi
	export SIMDRIVER_CUDA=$2 SIMDRIVER_STAMP=$3
	find "$work/state/drivers" -name '*.json' ! -name '*-*.json' -delete 2>/dev/null
	state "$work/state" remove devices
	now=$1
}
driver_535_216() { driver_is 535.216.03 12020 'Oct 25 202422:46:11'; }
driver_535_309() { driver_is 535.309.01 12020 'Mar 25 202615:25:13'; }
driver_550() { driver_is 550.163.01 12040 'Apr  8 202512:10:18'; }
driver_555() { driver_is 555.58.02 12050 'Jun 25 202401:14:48'; }
anew() { rm -rf "$work/cache" "$work/state"; }
