/* nvlink's list sort, reproduced because its treatment of equal elements shows in the output.
 *
 * A merge sort on a singly linked list that deals the elements alternately onto the fronts of two
 * lists, sorts both and merges; `keep(a, b)` says that a may stay in front of b.  The recursion is
 * log2(n) deep whatever the elements are.
 */
#include "link/layout.h"

/* NOLINTNEXTLINE(misc-no-recursion) */
static void sort(const void **list, const void **scratch, size_t n,
                 bool (*keep)(const void *, const void *))
{
    if (n < 2)
        return;
    size_t na = (n + 1) / 2, nb = n / 2;
    const void **a = scratch, **b = scratch + na;
    for (size_t i = 0; i < n; i++) {
        if (i % 2 == 0)
            a[na - 1 - i / 2] = list[i];
        else
            b[nb - 1 - i / 2] = list[i];
    }
    /* The list itself is free now and serves as scratch for the halves. */
    sort(a, list, na, keep);
    sort(b, list + na, nb, keep);
    size_t i = 0, j = 0, out = 0;
    while (i < na && j < nb)
        list[out++] = keep(a[i], b[j]) ? a[i++] : b[j++];
    while (i < na)
        list[out++] = a[i++];
    while (j < nb)
        list[out++] = b[j++];
}

void cbi_list_sort(cbi_ctx *ctx, const void **items, size_t count,
                   bool (*keep)(const void *, const void *))
{
    sort(items, CBI_NEW_ARRAY(ctx, count, const void *), count, keep);
}
