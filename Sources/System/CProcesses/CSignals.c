#define _GNU_SOURCE
#include "CSignals.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Set before the first handler is. */
static volatile int write_end = -1;

int csignals_open(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    write_end = ends[1];
    return ends[0];
}

/* Runs on any thread, in the middle of anything. */
static void note(int number) {
    int former = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t count = write(write_end, &byte, 1);
    /* In a full pipe there are 65,536 signals that nobody has looked at yet. */
    (void)count;
    errno = former;
}

bool csignals_catch(int number) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) == 0;
}

bool csignals_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
