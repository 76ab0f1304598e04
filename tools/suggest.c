/* The nearest of some words to one that is misspelt. */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "format/arch.h"

enum { LONGEST = 127 };

/* Letters to insert, remove, replace or swap. */
static unsigned distance(const char *a, size_t alen, const char *b, size_t blen)
{
    unsigned rows[3][LONGEST + 1];
    for (size_t k = 0; k <= blen; k++)
        rows[0][k] = (unsigned)k;
    for (size_t i = 1; i <= alen; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= blen; k++) {
            unsigned best = above[k - 1] + (a[i - 1] != b[k - 1]);
            best = above[k] + 1 < best ? above[k] + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            row[k] = swapped && before[k - 2] + 1 < best ? before[k - 2] + 1 : best;
        }
    }
    return rows[alen % 3][blen];
}

void cbi_suggestion_offer(cbi_suggestion *s, const char *candidate)
{
    size_t alen = strlen(s->word), blen = strlen(candidate);
    if (alen == 0 || alen > LONGEST || blen > LONGEST)
        return;
    unsigned near = distance(s->word, alen, candidate, blen);
    /* one slip in three letters, three at most */
    size_t allowed = (alen > blen ? alen : blen) / 3;
    if (near == 0 || near > (allowed < 3 ? allowed : 3) || (s->distance && near >= s->distance))
        return;
    s->distance = near;
    memcpy(s->best, candidate, blen + 1);
}

const char *cbi_suggestion_text(const cbi_suggestion *s)
{
    return s->distance ? s->best : NULL;
}

const char *cbi_suggest_target(cbi_suggestion *s, bool only_real,
                               bool (*takes)(const cbi_arch *arch))
{
    static const char *const prefixes[] = {"sm", "compute", "lto"};
    char name[32];
    snprintf(name, sizeof name, "sm_%.20s", s->word);
    const cbi_arch *meant = cbi_arch_find(name);
    if (meant && (!takes || takes(meant))) {
        s->distance = 1;
        memcpy(s->best, name, sizeof name);
        return s->best;
    }
    for (size_t i = 0; i < cbi_arch_count; i++)
        for (size_t p = 0; p < (only_real ? 1 : CBI_COUNT(prefixes)); p++)
            if (!takes || takes(&cbi_archs[i])) {
                snprintf(name, sizeof name, "%s%s", prefixes[p], cbi_archs[i].name + strlen("sm"));
                cbi_suggestion_offer(s, name);
            }
    return cbi_suggestion_text(s);
}
