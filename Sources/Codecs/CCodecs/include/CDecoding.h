#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What another thread may give to have one stop. */
typedef struct cdecoding_stop_flag cdecoding_stop_flag;

/* What a thread that decodes carries with it, for decoders that cannot be handed it in any other way. */
typedef struct {
    /* When the thread is to stop, in nanoseconds of CLOCK_MONOTONIC; 0 for never. */
    uint64_t deadline;
    /* NULL for nothing. */
    cdecoding_stop_flag *stop;
    /* Whether the thread holds a part of the memory that all decoding may take. */
    bool holds_memory;
    /* Who stops what the thread started elsewhere. */
    void *watch;
    /* Who is told when decoding takes long. */
    void *listener;
} cdecoding_state;

/* That of the calling thread. */
cdecoding_state *cdecoding_thread(void);

/* Whether its moment has passed, or it is to stop. Takes some 25 ns: to be asked once for each row. */
bool cdecoding_is_late(void);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t cdecoding_now(void);

/* NULL when there is no memory. */
cdecoding_stop_flag *cdecoding_make_stop(void);
void cdecoding_free_stop(cdecoding_stop_flag *stop);
void cdecoding_give_stop(cdecoding_stop_flag *stop);
bool cdecoding_is_stop_given(const cdecoding_stop_flag *stop);
/* The one that `signal` gives, sent by another process. It is taken back to be given again. */
cdecoding_stop_flag *cdecoding_stop_by_signal(int signal);
void cdecoding_take_back_stop(cdecoding_stop_flag *stop);

/* Whether the thread that looks for it waits for memory. */
void cdecoding_set_waits_for_memory(cdecoding_stop_flag *stop, bool waits);
bool cdecoding_waits_for_memory(const cdecoding_stop_flag *stop);
