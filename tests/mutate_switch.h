/* Places of the sources that a number switches to another rule (mutate_switch.py). */
#ifndef CBI_MUTATE_SWITCH_H
#define CBI_MUTATE_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t cbi_mutant;     /* the place that is changed; 0: none */
extern uint8_t *cbi_places_met; /* per place whether a change would make a difference to what was
                                   computed there */

/* Whether this number is the one that is changed. */
static inline bool cbi_changed(uint32_t place)
{
    cbi_places_met[place] = 1;
    return cbi_mutant == place;
}

static inline bool cbi_compared(uint32_t place, bool is, bool would_be)
{
    if (is != would_be)
        cbi_places_met[place] = 1;
    return cbi_mutant == place ? would_be : is;
}

#endif
