#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What a thread that decodes carries with it, for decoders that cannot be handed it in any other way. */

/* When the thread is to stop, in nanoseconds of CLOCK_MONOTONIC; 0 for never. */
uint64_t cdecoding_deadline(void);
void cdecoding_set_deadline(uint64_t deadline);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t cdecoding_now(void);

/* What another thread may give to have this one stop; NULL for nothing. */
typedef struct cdecoding_stop_flag cdecoding_stop_flag;
cdecoding_stop_flag *cdecoding_stop(void);
void cdecoding_set_stop(cdecoding_stop_flag *stop);

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

/* Whether that moment has passed, or the thread is to stop. Takes some 25 ns: to be asked once for each row. */
bool cdecoding_is_late(void);

/* Whether the thread holds a part of the memory that all decoding may take. */
bool cdecoding_holds_memory(void);
void cdecoding_set_holds_memory(bool holds);

/* Who stops what the thread started elsewhere. */
void *cdecoding_watch(void);
void cdecoding_set_watch(void *watch);

/* Who is told when decoding takes long. */
void *cdecoding_listener(void);
void cdecoding_set_listener(void *listener);
