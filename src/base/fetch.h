/* Loops over many records: what one of the next rounds looks at is fetched into the caches, so that
 * the misses of several rounds overlap.  In a big link they are most of a pass's time.  Nothing but
 * time depends on it. */
#ifndef CBI_FETCH_H
#define CBI_FETCH_H

/* Of an array of pointers: what a loop comes to some rounds after i, or a few; the last one behind
 * the end. */
#define CBI_LATER(items, i, count) ((items)[(i) + 6 < (count) ? (i) + 6 : (count)-1])
#define CBI_SOON(items, i, count)  ((items)[(i) + 3 < (count) ? (i) + 3 : (count)-1])

/* What lies there, or NULL; of a record its beginning. */
static inline void cbi_fetch(const void *record)
{
    enum { LINE = 64 };
    const char *line = record;
    __builtin_prefetch(line);
    if (line)
        __builtin_prefetch(line + LINE);
}

#endif
