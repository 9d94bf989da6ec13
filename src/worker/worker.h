/* A worker with the driver, or another compiler: takes over the process, as jw_worker_main does */
#pragma once

int worker_main(void);
