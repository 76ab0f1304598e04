#include "link/similar.h"

#include <stdlib.h>

enum { FAR = CBI_NEAR + 1, WIDTH = 2 * CBI_NEAR + 1 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The next row of the table of distances, of which only the diagonal band matters: cell d stands in
 * column `row - CBI_NEAR - 1 + d`, the first and the last cell behind the band's edges. */
static void fill_row(unsigned *band, size_t row, uint8_t letter, cbi_span b)
{
    unsigned left = FAR;
    for (size_t d = 1; d <= WIDTH; d++) {
        size_t behind = row + d, edge = CBI_NEAR + 1;
        unsigned cell = FAR;
        if (behind < edge)
            continue; /* FAR, as in the row before */
        if (behind == edge)
            cell = least((unsigned)row, FAR);
        else if (behind - edge <= b.size)
            cell = least(band[d] + (letter != b.data[behind - edge - 1]),
                         least(left, band[d + 1]) + 1);
        band[d] = left = least(cell, FAR);
    }
}

unsigned cbi_edit_distance(cbi_span a, cbi_span b)
{
    size_t more = a.size > b.size ? a.size - b.size : b.size - a.size;
    if (more > CBI_NEAR)
        return FAR;
    unsigned band[WIDTH + 2] = {0};
    for (unsigned d = 0; d < WIDTH + 2; d++)
        band[d] = FAR;
    for (unsigned d = CBI_NEAR + 1; d < WIDTH + 2; d++)
        band[d] = least(d - CBI_NEAR - 1, FAR);
    for (size_t row = 1; row <= a.size; row++)
        fill_row(band, row, a.data[row - 1], b);
    return band[b.size + CBI_NEAR + 1 - a.size];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_mangled(const char *name)
{
    return name[0] == '_' && name[1] == 'Z';
}

/* Length of the identifier part that overloads share: "_Z3foo" of "_Z3fooi"; 0 if there is none. */
static size_t mangled_base(const char *name)
{
    if (!is_mangled(name) || !is_digit(name[2]) || name[2] == '0')
        return 0;
    char *letters;
    unsigned long len = strtoul(name + 2, &letters, 10);
    size_t most = strlen(letters);
    return len <= most ? (size_t)(letters - name) + len : 0;
}

/* Does the base of a mangled name consist of a length and this plain name? */
static bool is_base_of(const char *plain, const char *mangled, size_t base)
{
    size_t size = strlen(plain);
    return size < base && memcmp(mangled + base - size, plain, size) == 0 &&
           is_digit(mangled[base - size - 1]);
}

static cbi_span letters_of(const char *name)
{
    return (cbi_span){(const uint8_t *)name, strlen(name)};
}

bool cbi_is_similar(const char *wanted, const char *have)
{
    enum { SHORTEST = 5 }; /* of shorter names many are near to each other */
    size_t base = mangled_base(wanted), other = mangled_base(have);
    if (base && strncmp(wanted, have, base) == 0)
        return true; /* same name, other parameters */
    if (!is_mangled(wanted) && other)
        return is_base_of(wanted, have, other);
    if (base && !is_mangled(have))
        return is_base_of(have, wanted, base);
    cbi_span name = letters_of(wanted);
    return name.size >= SHORTEST && cbi_edit_distance(name, letters_of(have)) <= CBI_NEAR;
}
