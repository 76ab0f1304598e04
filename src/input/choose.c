/* The choice of one image of a fatbin for a target. */
#include "input/fatbin.h"

#include "format/eiattr.h"
#include "format/eicompat.h"

/* Does the entry's copy of .nv.compat say that it is no 'a' object? The copy follows a NUL. */
static bool says_portable(const cbi_fatbin_entry *entry)
{
    if (!entry->has_options || entry->options.size < 1)
        return false;
    cbi_reader r = cbi_reader_at(entry->options, 1);
    bool found = false;
    while (r.pos < r.span.size) {
        uint8_t format = cbi_read8(&r);
        uint8_t tag = cbi_read8(&r);
        uint16_t value = cbi_read16(&r);
        if (format == CBI_ATTR_SIZED)
            cbi_read_bytes(&r, value);
        if (r.bad) /* the copy may lack the last byte of its last record */
            break;
        if (tag == EICOMPAT_CUDA_ACCELERATOR_TARGET) {
            if (value & 0xff)
                return false;
            found = true;
        }
    }
    return found;
}

static bool fits(const cbi_fatbin_entry *entry, const cbi_choice *choice)
{
    if (!(entry->flags & FATBIN_FLAG_64BIT))
        return false;
    if (cbi_fatbin_is_elf(entry)) {
        if (choice->ptx_only)
            return false;
        bool portable = (entry->flags & FATBIN_FLAG_CAPSULE) && says_portable(entry);
        return cbi_arch_accepts_elf_entry(entry->sm, entry->suffix, portable, choice->target);
    }
    if (entry->kind == FATBIN_KIND_PTX || entry->kind == FATBIN_KIND_LTOIR)
        return cbi_arch_accepts_ptx_entry(entry->sm, entry->suffix, choice->target);
    return false;
}

static int suffix_rank(char suffix)
{
    return suffix == 'a' ? 2 : suffix == 'f' ? 1 : 0;
}

/* Among equals plain machine code comes before capsule forms. */
static int form_rank(const cbi_fatbin_entry *entry)
{
    if (entry->kind != FATBIN_KIND_ELF)
        return 1;
    return entry->flags & FATBIN_FLAG_CAPSULE ? 0 : 2;
}

/* LTO-IR or not, then the number, machine code before PTX, the suffix, the form. */
static bool is_better(const cbi_fatbin_entry *entry, const cbi_fatbin_entry *best,
                      const cbi_choice *choice)
{
    bool lto = entry->kind == FATBIN_KIND_LTOIR;
    bool best_lto = best->kind == FATBIN_KIND_LTOIR;
    if (lto != best_lto)
        return best_lto != choice->prefer_lto;
    if (entry->sm != best->sm)
        return entry->sm > best->sm;
    bool elf = cbi_fatbin_is_elf(entry);
    if (elf != cbi_fatbin_is_elf(best))
        return elf;
    if (entry->suffix != best->suffix)
        return suffix_rank(entry->suffix) > suffix_rank(best->suffix);
    if (elf && form_rank(entry) != form_rank(best))
        return form_rank(entry) > form_rank(best);
    if (entry->kind == FATBIN_KIND_ELF)
        return false;
    return entry->sm == choice->target->sm;
}

bool cbi_fatbin_choose(cbi_fatbin *fatbin, const cbi_choice *choice, cbi_fatbin_entry *ret_entry)
{
    cbi_fatbin_entry best = {0};
    cbi_fatbin_entry entry;
    bool found = false;
    fatbin->pos = fatbin->entries;
    while (cbi_fatbin_next(fatbin, &entry)) {
        if (!fits(&entry, choice) || (found && !is_better(&entry, &best, choice)))
            continue;
        best = entry;
        found = true;
    }
    if (found)
        *ret_entry = best;
    return found;
}
