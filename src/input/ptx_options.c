/* The options that an input may ask its assembler for. */
#include "input/collect.h"

/* Those that change the code, its notes or the messages, and no more.  Missing are those that name
 * files or further sources, and those after which nothing is assembled. */
static const struct ptx_option {
    const char *name, *short_name;
    bool valued;
} allowed[] = {
    {"--Ofast-compile", "-Ofc", true},
    {"--allow-expensive-optimizations", "-allow-expensive-optimizations", true},
    {"--compile-as-tools-patch", "-astoolspatch", false},
    {"--compile-only", "-c", false},
    {"--compiler-annotations", "-annotate", false},
    {"--def-load-cache", "-dlcm", true},
    {"--def-store-cache", "-dscm", true},
    {"--device-debug", "-g", false},
    {"--device-function-maxrregcount", "-func-maxrregcount", true},
    {"--device-stack-protector", "-device-stack-protector", true},
    {"--disable-optimizer-constants", "-disable-optimizer-consts", false},
    {"--disable-warnings", "-w", false},
    {"--dont-merge-basicblocks", "-no-bb-merge", false},
    {"--entry", "-e", true},
    {"--extensible-whole-program", "-ewp", false},
    {"--fmad", "-fmad", true},
    {"--force-load-cache", "-flcm", true},
    {"--force-store-cache", "-fscm", true},
    {"--g-tensor-memory-access-check", "-g-tmem-access-check", false},
    {"--generate-line-info", "-lineinfo", false},
    {"--gno-tensor-memory-access-check", "-gno-tmem-access-check", false},
    {"--legacy-bar-warp-wide-behavior", "-legacy-bar-warp-wide-behavior", false},
    {"--machine", "-m", true},
    {"--make-errors-visible-at-exit", "-make-errors-visible-at-exit", false},
    {"--maxntid", "-maxntid", true},
    {"--maxrregcount", "-maxrregcount", true},
    {"--minnctapersm", "-minnctapersm", true},
    {"--opt-level", "-O", true},
    {"--optimize-float-atomics", "-opt-fp-atomics", false},
    {"--override-directive-values", "-override-directive-values", false},
    {"--position-independent-code", "-pic", true},
    {"--preserve-relocs", "-preserve-relocs", false},
    {"--register-usage-level", "-regUsageLevel", true},
    {"--return-at-end", "-ret-end", false},
    {"--sanitize", "-sanitize", true},
    {"--sp-bounds-check", "-sp-bounds-check", false},
    {"--split-compile", "-split-compile", true},
    {"--suppress-async-bulk-multicast-advisory-warning",
     "-suppress-async-bulk-multicast-advisory-warning", false},
    {"--suppress-debug-info", "-suppress-debug-info", false},
    {"--suppress-double-demote-warning", "-suppress-double-demote-warning", false},
    {"--suppress-sparse-mma-advisory-info", "-suppress-sparse-mma-advisory-info", false},
    {"--suppress-stack-size-warning", "-suppress-stack-size-warning", false},
    {"--verbose", "-v", false},
    {"--warn-on-double-precision-use", "-warn-double-usage", false},
    {"--warn-on-local-memory-usage", "-warn-lmem-usage", false},
    {"--warn-on-spills", "-warn-spills", false},
    {"--warning-as-error", "-Werror", false},
};

static bool is_name(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

static const struct ptx_option *find(const char *word, size_t len)
{
    for (size_t i = 0; i < CBI_COUNT(allowed); i++)
        if (is_name(word, len, allowed[i].name) || is_name(word, len, allowed[i].short_name))
            return &allowed[i];
    return NULL;
}

/* -O3, -m64 */
static bool is_glued(const char *word)
{
    size_t digits =
        word[0] == '-' && (word[1] == 'O' || word[1] == 'm') ? strspn(word + 2, "0123456789") : 0;
    return digits && !word[2 + digits];
}

const char *cbi_refused_ptx_option(const cbi_strings *words)
{
    for (size_t i = 0; i < words->len; i++) {
        const char *word = words->items[i];
        size_t len = strcspn(word, "=");
        const struct ptx_option *option = find(word, len);
        if (!option && !is_glued(word))
            return word;
        if (option && option->valued && !word[len] &&
            (++i == words->len || words->items[i][0] == '-'))
            return word;
    }
    return NULL;
}
