/* Loops over many records: what one of the next rounds looks at is fetched into the caches, so that
 * the misses of several rounds overlap.  In a big link they are most of a pass's time.  Nothing but
 * time depends on it. */
#ifndef CBI_FETCH_H
#define CBI_FETCH_H

/* Of an array: what a loop comes to many rounds after i, some, or a few; the last one behind the
 * end.  A record is fetched later, what it points to soon, and what that names next: a round is
 * ten times shorter than a look into memory. */
#define CBI_AHEAD(items, i, count, n) ((items)[(i) + (n) < (count) ? (i) + (n) : (count)-1])
#define CBI_LATER(items, i, count)    CBI_AHEAD(items, i, count, 16)
#define CBI_SOON(items, i, count)     CBI_AHEAD(items, i, count, 8)
#define CBI_NEXT(items, i, count)     CBI_AHEAD(items, i, count, 4)
/* The same of a loop from the last one to the first. */
#define CBI_BELOW(items, i, n)   ((items)[(i) < (n) ? 0 : (i) - (n)])
#define CBI_LATER_BACK(items, i) CBI_BELOW(items, i, 16)
#define CBI_SOON_BACK(items, i)  CBI_BELOW(items, i, 8)

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
