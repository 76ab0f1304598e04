/* Time for durations; no output depends on it. */
#ifndef CBI_CLOCK_H
#define CBI_CLOCK_H

#include <time.h>

/* Milliseconds of a clock that nobody sets. */
static inline double cbi_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#endif
