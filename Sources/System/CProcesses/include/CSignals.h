#pragma once
#include <stdbool.h>

/* Makes the pipe that csignals_catch writes to. Called once, before it.
   The end to be read, which does not block; -1 with errno when there are no descriptors left. */
int csignals_open(void);

/* From now on each signal `number` puts one byte, its number, into the pipe. False with errno for a signal
   that cannot be caught. */
bool csignals_catch(int number);

/* Whether the process ignores the signal, as under nohup. */
bool csignals_is_ignored(int number);
