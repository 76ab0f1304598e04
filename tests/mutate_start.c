/* For unit tests with switched places (mutate_switch.h): CBI_MUTANT is the place that is changed,
 * CBI_MET a file for the places that are met, one bit each. */
#include "mutate_switch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACES = 1 << 16 };

static uint8_t met[PLACES];
uint32_t cbi_mutant;
uint8_t *cbi_places_met = met;

__attribute__((constructor)) static void start(void)
{
    const char *place = getenv("CBI_MUTANT");
    cbi_mutant = place ? (uint32_t)strtoul(place, NULL, 10) : 0;
}

/* Processes that the test started add to what there is. */
__attribute__((destructor)) static void stop(void)
{
    const char *path = getenv("CBI_MET");
    int fd = path ? open(path, O_RDWR | O_CREAT, 0666) : -1;
    if (fd < 0)
        return;
    static uint8_t bits[PLACES / 8];
    ssize_t size = read(fd, bits, sizeof bits);
    for (size_t i = 0; i < PLACES; i++)
        bits[i / 8] |= (uint8_t)(met[i] << i % 8);
    size = pwrite(fd, bits, sizeof bits, 0);
    (void)size;
    close(fd);
}
