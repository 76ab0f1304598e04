/* The symbol table: what an entry says, and the section numbers beside it that do not fit. */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/patches.h"
#include "link/tables_work.h"

/* Executables use plain ELF object symbols without memory spaces. */
static void output_info(const cbi_linker *lk, const cbi_lsym *sym, const cbi_placement *place,
                        uint8_t *ret_info, uint8_t *ret_other)
{
    uint8_t info = sym->info, other = sym->other;
    if (place->hidden)
        other |= STV_INTERNAL;
    if (place->state == CBI_SYM_UNDEF && CBI_ST_BIND(info) == STB_WEAK && !sym->in_local_list)
        info = CBI_ST_INFO(STB_GLOBAL, CBI_ST_TYPE(info));
    if (lk->exec && !lk->mercury) {
        if (CBI_ST_TYPE(info) == STT_CUDA_OBJECT)
            info = CBI_ST_INFO(CBI_ST_BIND(info), STT_OBJECT);
        if (!sym->func)
            other &= (uint8_t)~STO_CUDA_SPACE;
    }
    /* Only --preserve-relocs lets shared variables through; they stay hidden from others. */
    if (lk->exec && cbi_is_shared_var(sym) && !lk->shows_debug)
        other |= STV_INTERNAL;
    *ret_info = info;
    *ret_other = other;
}

/* -r marks undefined variables that are errors later, an executable does not and leaves the
 * driver's own as they are. */
static uint64_t undefined_value(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (sym->func)
        return 0;
    if (lk->exec && (sym->other & STO_CUDA_SPACE) == STO_CUDA_GLOBAL)
        return 0;
    if (lk->exec || sym->dynamic || !(sym->other & STO_CUDA_SPACE))
        return sym->value;
    return lk->opt->allow_undefined_globals ? 0 : UINT64_MAX;
}

static uint64_t output_value(const cbi_linker *lk, const cbi_lsym *sym, const cbi_placement *place)
{
    if (place->state == CBI_SYM_UNDEF)
        return undefined_value(lk, sym);
    if (cbi_is_shared_var(sym)) {
        if (!lk->exec && lk->shows_debug && sym->size == 0)
            return place->value;
        if (!lk->exec)
            /* of dynamic ones, that of an earlier -r link: its place, which passes for an alignment
             */
            return cbi_shared_align(lk, sym);
        /* Dynamic variables live in .nv_debug.shared, which counts when it holds something. */
        const uint64_t area = cbi_reserved_shared(lk);
        bool counts = area && ((lk->opt->preserve_relocs && !lk->shows_debug) || !sym->dynamic ||
                               cbi_shared_of(lk->records->debug_shared)->total);
        /* nvlink adds the area as often as it has the variable in its list. */
        return place->value + (counts ? cbi_variable_of(sym)->listed * area : 0);
    }
    return place->value;
}

/* The null symbol stands for the shared memory of every kernel that ptxas -ewp laid out. */
static uint64_t null_value(const cbi_linker *lk)
{
    uint64_t value = lk->layout->null_symbol_value, reserved = 0;
    for (size_t i = lk->records->few_secs.len; i-- > 0;) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        const cbi_lsym *sym = cbi_shared_of(sec)->whole;
        bool unwanted =
            lk->exec ? cbi_is_dead(lk, sec) || !sec->func || !cbi_fate_of(lk, sec->func)->entry
                     : sec->func && !sec->func->entry;
        if (!sym || unwanted)
            continue;
        const cbi_placement place = cbi_placement_of(lk, sym);
        value = lk->exec ? place.value : cbi_shared_align(lk, sym);
        reserved += output_value(lk, sym, &place) - value;
    }
    return value + reserved;
}

/* In order of creation.  In final links nvlink has one more section at first, never written. */
static uint32_t section_number(const cbi_linker *lk, size_t i)
{
    return (uint32_t)i + 1 + (lk->exec && i >= lk->records->fixed_secs);
}

/* Sections that are not written count, too. */
bool cbi_needs_shndx(const cbi_linker *lk)
{
    return section_number(lk, lk->records->secs.len) > SHN_LORESERVE;
}

const cbi_osec *cbi_shndx_of(const cbi_linker *lk)
{
    return cbi_sec_find(lk, cbi_intern(lk->ctx, ".symtab_shndx"));
}

/* Where the entries of the symbol table are written. */
typedef struct symbol_entries {
    uint8_t *all;
    uint8_t *numbers; /* of .symtab_shndx, or NULL */
} symbol_entries;

static void put_symbol(const cbi_linker *lk, const symbol_entries *to, const cbi_lsym *sym,
                       uint32_t i)
{
    uint8_t *p = to->all + i * sizeof(Elf64_Sym);
    const cbi_placement place = cbi_placement_of(lk, sym);
    uint32_t index =
        place.state == CBI_SYM_UNDEF || !place.sec ? 0 : cbi_section_index(lk, place.sec);
    uint16_t field = place.state == CBI_SYM_COMMON ? SHN_COMMON : (uint16_t)index;
    /* Where st_shndx suffices, nvlink leaves the section's number in order of creation. It
     * takes a section that happens to be number SHN_COMMON for common symbols, too. */
    bool beyond = index >= SHN_LORESERVE && index != SHN_COMMON;
    if (to->numbers && index)
        cbi_st32(to->numbers + i * 4, beyond ? index : section_number(lk, place.sec->number));
    if (beyond)
        field = SHN_XINDEX;
    cbi_st32(p, lk->filling->symbol_names.items[i]);
    output_info(lk, sym, &place, &p[4], &p[5]);
    cbi_st16(p + 6, field);
    cbi_st64(p + 8, output_value(lk, sym, &place));
    cbi_st64(p + 16, sym->size);
}

/* Where the null symbol was removed, a section's has its number, which nvlink passes over when it
 * gives sections the numbers that they have in the file. */
static void put_first(const cbi_linker *lk, const symbol_entries *to)
{
    const cbi_lsym *sym = lk->tables->symbols.items[0];
    put_symbol(lk, to, sym, 0);
    if (sym->is_section)
        cbi_st16(to->all + 6, (uint16_t)section_number(lk, sym->sec->number));
}

static void put_symbols(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const cbi_lsym *const *symbols = lk->tables->symbols.items;
    const size_t count = lk->tables->symbols.len;
    for (size_t i = share->first ? share->first : 1; i < share->end; i++) {
        cbi_fetch(CBI_LATER(symbols, i, count));
        cbi_fetch(CBI_SOON(symbols, i, count)->sec);
        const cbi_lsym *next = CBI_NEXT(symbols, i, count);
        if (next->sec)
            cbi_fetch(cbi_out_of(lk, next->sec));
        put_symbol(lk, arg, symbols[i], (uint32_t)i);
    }
}

void cbi_fill_symtab(const cbi_linker *lk)
{
    size_t count = lk->tables->symbols.len;
    const cbi_span str = lk->tables->str;
    symbol_entries to = {
        .all = CBI_ARRAY_TO_FILL(lk->ctx, count * sizeof(Elf64_Sym), uint8_t),
        .numbers = cbi_needs_shndx(lk) ? cbi_out_open(lk, cbi_shndx_of(lk), count * 4) : NULL,
    };
    cbi_out_fill(lk, lk->records->symtab, to.all, count * sizeof(Elf64_Sym));
    if (count && lk->tables->symbols.items[0]) {
        put_first(lk, &to);
    } else if (count) {
        memset(to.all, 0, sizeof(Elf64_Sym));
        cbi_st64(to.all + 8, null_value(lk));
    }
    cbi_link_in_shares(lk, count, put_symbols, &to);
    cbi_vec_free(lk->ctx, &lk->filling->symbol_names);
    cbi_out_fill(lk, lk->records->strtab, str.data, str.size);
}
