#include "CDecoding.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

struct cdecoding_stop_flag {
    atomic_bool is_given;
    atomic_bool waits_for_memory;
};

static _Thread_local cdecoding_state state;

cdecoding_state *cdecoding_thread(void) {
    return &state;
}

uint64_t cdecoding_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool cdecoding_is_late(void) {
    if (state.stop && cdecoding_is_stop_given(state.stop)) return true;
    return state.deadline != 0 && cdecoding_now() >= state.deadline;
}

cdecoding_stop_flag *cdecoding_make_stop(void) {
    return calloc(1, sizeof(cdecoding_stop_flag));
}

void cdecoding_free_stop(cdecoding_stop_flag *stop) {
    free(stop);
}

void cdecoding_give_stop(cdecoding_stop_flag *stop) {
    atomic_store_explicit(&stop->is_given, true, memory_order_relaxed);
}

static cdecoding_stop_flag signalled;

static void on_signal(int signal) {
    (void)signal;
    cdecoding_give_stop(&signalled);
}

cdecoding_stop_flag *cdecoding_stop_by_signal(int number) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
    return &signalled;
}

void cdecoding_take_back_stop(cdecoding_stop_flag *stop) {
    atomic_store_explicit(&stop->is_given, false, memory_order_relaxed);
}

bool cdecoding_is_stop_given(const cdecoding_stop_flag *stop) {
    return atomic_load_explicit(&stop->is_given, memory_order_relaxed);
}

void cdecoding_set_waits_for_memory(cdecoding_stop_flag *stop, bool waits) {
    atomic_store_explicit(&stop->waits_for_memory, waits, memory_order_relaxed);
}

bool cdecoding_waits_for_memory(const cdecoding_stop_flag *stop) {
    return atomic_load_explicit(&stop->waits_for_memory, memory_order_relaxed);
}
