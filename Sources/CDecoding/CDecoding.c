#include "CDecoding.h"

#include <stddef.h>
#include <time.h>

static _Thread_local struct {
    uint64_t deadline;
    bool holds_memory;
    void *watch;
} state;

uint64_t cdecoding_deadline(void) {
    return state.deadline;
}

void cdecoding_set_deadline(uint64_t deadline) {
    state.deadline = deadline;
}

uint64_t cdecoding_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool cdecoding_is_late(void) {
    return state.deadline != 0 && cdecoding_now() >= state.deadline;
}

bool cdecoding_holds_memory(void) {
    return state.holds_memory;
}

void cdecoding_set_holds_memory(bool holds) {
    state.holds_memory = holds;
}

void *cdecoding_watch(void) {
    return state.watch;
}

void cdecoding_set_watch(void *watch) {
    state.watch = watch;
}
