/* libjitwarm: all of it (docs/library.md is its guide). */
#ifndef JITWARM_JITWARM_H
#define JITWARM_JITWARM_H

#include <jitwarm/accounts.h>
#include <jitwarm/ahead.h>
#include <jitwarm/bake.h>
#include <jitwarm/cache.h>
#include <jitwarm/cancel.h>
#include <jitwarm/carry.h>
#include <jitwarm/check.h>
#include <jitwarm/compiler.h>
#include <jitwarm/doctor.h>
#include <jitwarm/error.h>
#include <jitwarm/estimate.h>
#include <jitwarm/find.h>
#include <jitwarm/key.h>
#include <jitwarm/lint.h>
#include <jitwarm/marks.h>
#include <jitwarm/nvrtc.h>
#include <jitwarm/pack.h>
#include <jitwarm/places.h>
#include <jitwarm/prime.h>
#include <jitwarm/prune.h>
#include <jitwarm/record.h>
#include <jitwarm/recording.h>
#include <jitwarm/scan.h>
#include <jitwarm/share.h>
#include <jitwarm/startup.h>
#include <jitwarm/store.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>
#include <jitwarm/tune.h>
#include <jitwarm/uninstall.h>
#include <jitwarm/verdict.h>
#include <jitwarm/version.h>
#include <jitwarm/worker.h>

#endif
