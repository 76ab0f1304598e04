/* cubind bundle: puts device images into a fatbin; fatbinary's command line. */
#include "bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/identity.h"
#include "base/files.h"
#include "base/output_file.h"
#include "container/bundle.h"
#include "input/recognise.h"
#include "limits.h"
#include "messages.h"
#include "say.h"
#include "tools.h"

typedef struct bundle_run {
    cbi_ctx *ctx;
    cbi_messages messages;
    bool as_fatbinary; /* called by that name */
    int argc;
    char *const *argv;
    cbi_opt_value values[BUNDLE_COUNT];
    cbi_words inputs;
    cbi_words option_files;
    cbi_bundle bundle;
    cbi_outputs results;
} bundle_run;

#define MISTAKE(run, ...) cbi_fatal((run)->ctx, "command-line", NULL, NULL, __VA_ARGS__)

/* The part of fatbinary that looks at images has a voice of its own. */
static void on_diagnostic(void *user, const cb_diagnostic *d)
{
    bundle_run *run = user;
    if (run->as_fatbinary && d->id && strcmp(d->id, "bundle-image") == 0)
        fprintf(stderr, "\nnvFatbin error: %s\n", d->message);
    else
        cbi_messages_print(&run->messages, d);
}

CBI_NORETURN static void bad_image(bundle_run *run, const char *file, const char *help,
                                   const char *what)
{
    cbi_fatal(run->ctx, "bundle-image", &(cbi_place){.file = file},
              file ? cbi_printf(run->ctx, "'%s'%s%s", file, help ? ": " : "", help ? help : "")
                   : help,
              "%s", what);
}

/* ---- images ---- */

enum { KEY_FILE, KEY_KIND, KEY_SM, KEY_PROFILE, KEY_COUNT };
static const char *const key_names[KEY_COUNT] = {"file", "kind", "sm", "profile"};

/* Splits "key=value,...", with the keys that the option has. */
static void read_keys(bundle_run *run, const char *option, const char *text, unsigned allowed,
                      const char *ret_values[KEY_COUNT])
{
    cbi_words items = {0};
    cbi_split_list(run->ctx, text, &items);
    for (size_t i = 0; i < items.len; i++) {
        const char *item = items.items[i];
        size_t len = strcspn(item, "=");
        int key = 0;
        while (key < KEY_COUNT && !((allowed >> key & 1) && strlen(key_names[key]) == len &&
                                    strncmp(key_names[key], item, len) == 0))
            key++;
        if (key == KEY_COUNT)
            MISTAKE(run, "Keyword '%.*s' is not defined for option '%s'", (int)len, item, option);
        if (!item[len])
            MISTAKE(run, "'%s' is not in 'keyword=value' format", item);
        if (ret_values[key])
            MISTAKE(run, "redefinition of keyword '%s' ", key_names[key]);
        ret_values[key] = item + len + 1;
    }
}

static cbi_span read_input(bundle_run *run, const char *path)
{
    cbi_span bytes;
    errno = 0;
    if (cbi_map_file(run->ctx, path, &bytes) != CB_OK)
        cbi_fatal(run->ctx, "input-file", &(cbi_place){.file = path},
                  errno ? strerror(errno) : NULL, "Could not open input file '%s'", path);
    return bytes;
}

static void add_image(bundle_run *run, const char *path, const cbi_bundle_image *image)
{
    const char *wrong = cbi_bundle_add(run->ctx, &run->bundle, image);
    if (!wrong)
        return;
    const char *help = NULL;
    uint32_t sm = image->kind == FATBIN_KIND_ELF ? cbi_image_sm(image->bytes) : 0;
    if (sm && sm != image->sm)
        help = cbi_printf(run->ctx, "it is code for sm_%u", sm);
    bad_image(run, path, help, wrong);
}

/* --image3=kind=elf,sm=90,file=F */
static void add_image3(bundle_run *run, const char *text)
{
    const char *values[KEY_COUNT] = {NULL};
    cbi_bundle_image image = {0};
    read_keys(run, "image3", text, 1 << KEY_FILE | 1 << KEY_KIND | 1 << KEY_SM, values);
    const char *kind = values[KEY_KIND] ? values[KEY_KIND] : "";
    image.kind = strcmp(kind, "elf") == 0    ? FATBIN_KIND_ELF
                 : strcmp(kind, "ptx") == 0  ? FATBIN_KIND_PTX
                 : strcmp(kind, "nvvm") == 0 ? FATBIN_KIND_LTOIR
                                             : 0;
    if (!image.kind)
        cbi_fatal(run->ctx, "command-line", NULL, "kinds are elf, ptx and nvvm",
                  "Missing or unknown kind in image3");
    if (!values[KEY_FILE])
        MISTAKE(run, "Missing file in image");
    if (!values[KEY_SM])
        MISTAKE(run, "Missing sm in image3");
    image.bytes = read_input(run, values[KEY_FILE]);
    if (!image.bytes.size)
        bad_image(run, values[KEY_FILE], NULL, "empty input");
    if (!cbi_arch_parse_number(values[KEY_SM], &image.sm, &image.suffix))
        bad_image(
            run, values[KEY_FILE],
            cbi_printf(run->ctx, "sm is a number such as 90 or 90a, not '%s'", values[KEY_SM]),
            "invalid architecture");
    add_image(run, values[KEY_FILE], &image);
}

/* --image=profile=sm_90,file=F, as clang has it up to version 19. */
static void add_profile(bundle_run *run, const char *text)
{
    const char *values[KEY_COUNT] = {NULL};
    cbi_bundle_image image = {.kind = FATBIN_KIND_ELF};
    read_keys(run, "image", text, 1 << KEY_FILE | 1 << KEY_PROFILE, values);
    if (!values[KEY_FILE])
        MISTAKE(run, "Missing file in image");
    const char *number = values[KEY_PROFILE] ? values[KEY_PROFILE] : "";
    if (strncmp(number, "sm_", 3) == 0) {
        number += 3;
    } else if (strncmp(number, "compute_", 8) == 0) {
        number += 8;
        image.kind = FATBIN_KIND_PTX;
    } else {
        cbi_fatal(run->ctx, "command-line", NULL,
                  "profiles are sm_90, which is a cubin, and compute_90, which is PTX, for example",
                  "Missing or unknown profile in image");
    }
    image.bytes = read_input(run, values[KEY_FILE]);
    if (!cbi_arch_parse_number(number, &image.sm, &image.suffix))
        bad_image(run, values[KEY_FILE], NULL, "invalid architecture");
    add_image(run, values[KEY_FILE], &image);
}

/* A file that says itself what it is. */
static void add_file(bundle_run *run, const char *path)
{
    cbi_bundle_image image;
    cbi_span bytes = read_input(run, path);
    if (!cbi_image_describe(bytes, &image)) {
        cbi_content content = cbi_recognise(bytes);
        bool holds = content == CBI_CONTENT_FATBIN || content == CBI_CONTENT_ARCHIVE ||
                     content == CBI_CONTENT_HOST_OBJECT || content == CBI_CONTENT_HOST_LINKED;
        bad_image(run, path,
                  holds ? cbi_printf(run->ctx,
                                     "it is %s; `cubind extract -o FOLDER` writes its images",
                                     cbi_content_text(content))
                        : "give its kind and target: --image3=kind=...,sm=...,file=...",
                  "not a cubin, PTX or LTO-IR with a target");
    }
    add_image(run, path, &image);
}

/* ---- the run ---- */

static bool given(const bundle_run *run, int option)
{
    return run->values[option].given;
}

static const char *text_of(const bundle_run *run, int option)
{
    return run->values[option].given ? run->values[option].text : NULL;
}

typedef struct word_value {
    const char *word;
    uint32_t value;
} word_value;

/* What the word given with the option stands for. */
static uint32_t value_of(bundle_run *run, int option, uint32_t otherwise, const word_value *table,
                         size_t count, const char *help)
{
    const char *word = text_of(run, option);
    for (size_t i = 0; word && i < count; i++)
        if (strcmp(table[i].word, word) == 0)
            return table[i].value;
    if (word)
        bad_image(run, NULL, help, "unknown option");
    return otherwise;
}

static cbi_pack read_mode(bundle_run *run)
{
    static const word_value modes[] = {{"default", CBI_PACK_BALANCE},
                                       {"size", CBI_PACK_SIZE},
                                       {"speed", CBI_PACK_SPEED},
                                       {"balance", CBI_PACK_BALANCE},
                                       {"none", CBI_PACK_NONE}};
    return (cbi_pack)value_of(run, BUNDLE_COMPRESS_MODE, CBI_PACK_BALANCE, modes, CBI_COUNT(modes),
                              "modes are default, size, speed, balance and none");
}

/* What a fatbin may be told of the host. */
static uint32_t read_host(bundle_run *run)
{
    static const word_value hosts[] = {{"linux", FATBIN_FLAG_HOST_LINUX},
                                       {"mac", FATBIN_FLAG_HOST_MAC},
                                       {"windows", FATBIN_FLAG_HOST_WINDOWS}};
    uint32_t host = value_of(run, BUNDLE_HOST, FATBIN_FLAG_HOST_LINUX, hosts, CBI_COUNT(hosts),
                             "hosts are linux, mac and windows");
    if (given(run, BUNDLE_CUDA) && given(run, BUNDLE_OPENCL))
        bad_image(run, NULL, "--cuda and --opencl exclude each other", "unknown option");
    return host | (given(run, BUNDLE_CUDA) ? FATBIN_FLAG_CUDA : 0) |
           (given(run, BUNDLE_OPENCL) ? FATBIN_FLAG_OPENCL : 0);
}

/* Images without a target are a thing of the past, but their files are opened first. */
static void refuse_old_image(bundle_run *run, int option)
{
    if (!given(run, option))
        return;
    read_input(run, text_of(run, option));
    bad_image(run, text_of(run, option), "give its target: --image3=kind=...,sm=...,file=...",
              "input contained null pointer");
}

static void set_options(bundle_run *run)
{
    cbi_bundle_options *o = &run->bundle.options;
    if (given(run, BUNDLE_32) && given(run, BUNDLE_64))
        bad_image(run, NULL, "-32 and -64 exclude each other", "unknown option");
    o->host32 = given(run, BUNDLE_32);
    o->debug = given(run, BUNDLE_DEBUG);
    o->host = read_host(run);
    o->pack = read_mode(run);
    o->pack_elf = given(run, BUNDLE_COMPRESS_ALL) || given(run, BUNDLE_DEVICE_C) || o->debug ||
                  o->pack == CBI_PACK_SIZE;
    if (given(run, BUNDLE_COMPRESS) && !run->values[BUNDLE_COMPRESS].number)
        o->pack = CBI_PACK_NONE;
    o->ident = text_of(run, BUNDLE_IDENT);
    o->ptx_options = text_of(run, BUNDLE_CMDLINE);
    o->lto_options = text_of(run, BUNDLE_CICC_CMDLINE);
}

static void add_result(bundle_run *run, const char *path, const cbi_rope *rope)
{
    if (path && cbi_outputs_add(&run->results, path, rope) != CBI_OUTPUT_OK)
        cbi_fatal(run->ctx, "output-file", &(cbi_place){.file = path},
                  errno ? strerror(errno) : NULL, "Could not open output file '%s'", path);
}

static void print_help(const bundle_run *run)
{
    printf("\nUsage: %s [options]%s\n\n"
           "Puts device images into a fatbin: cubins, PTX and LTO-IR, each for a target.\n\n"
           "Options\n=======\n\n",
           run->as_fatbinary ? "fatbinary" : "cubind bundle",
           run->as_fatbinary ? "" : " [FILE...]");
    cbi_print_option_table(cbi_bundle_options_table, BUNDLE_COUNT);
}

static void write_results(bundle_run *run)
{
    cbi_ctx *ctx = run->ctx;
    if (!run->as_fatbinary && !given(run, BUNDLE_CREATE) && !given(run, BUNDLE_OUTPUT) &&
        !given(run, BUNDLE_EMBEDDED_FATBIN))
        MISTAKE(run, "no output given: --create names the fatbin to write");
    const char *paths[] = {text_of(run, BUNDLE_CREATE), text_of(run, BUNDLE_OUTPUT),
                           text_of(run, BUNDLE_EMBEDDED_FATBIN)};
    if (!run->as_fatbinary)
        cbi_refuse_replacing(ctx, paths, CBI_COUNT(paths));
    cbi_rope fatbin = cbi_bundle_finish(ctx, &run->bundle);
    cbi_rope code = {0};
    add_result(run, text_of(run, BUNDLE_CREATE), &fatbin);
    add_result(run, text_of(run, BUNDLE_OUTPUT), &fatbin);
    if (given(run, BUNDLE_EMBEDDED_FATBIN)) {
        const cbi_embedding how = {.relocatable = given(run, BUNDLE_DEVICE_C),
                                   .linked = given(run, BUNDLE_LINK),
                                   .no_asm = given(run, BUNDLE_NO_ASM)};
        cbi_span text = cbi_embed_fatbin(ctx, &fatbin, &how);
        cbi_vec_push(ctx, &code.parts, text);
        code.size = text.size;
        add_result(run, text_of(run, BUNDLE_EMBEDDED_FATBIN), &code);
    }
    cbi_refuse_changed(ctx);
    if (cbi_outputs_commit(&run->results) != CBI_OUTPUT_OK) {
        const char *path = run->results.failed ? run->results.failed : "";
        cbi_fatal(ctx, "output-file", NULL, errno ? strerror(errno) : NULL,
                  "Could not write output file '%s'", path);
    }
}

static cb_status job(cbi_ctx *ctx, void *arg)
{
    bundle_run *run = arg;
    run->ctx = ctx;
    const cbi_parsed parsed = {
        .values = run->values, .inputs = &run->inputs, .option_files = &run->option_files};
    cbi_parse_options(ctx, cbi_bundle_options_table, BUNDLE_COUNT, run->argc, run->argv, &parsed);
    if (given(run, BUNDLE_VERSION)) {
        printf("%s: %s\n", run->as_fatbinary ? "fatbinary" : "cubind bundle", CBI_OWN_VERSION);
        return CB_OK;
    }
    /* fatbinary prints its help for an empty command line and for what is no option */
    if (given(run, BUNDLE_HELP) || run->argc < 2 || (run->as_fatbinary && run->inputs.len)) {
        print_help(run);
        return CB_OK;
    }
    if (given(run, BUNDLE_IMAGE2))
        MISTAKE(run, "Missing or unknown kind in image3");
    set_options(run);
    for (size_t i = 0; i < run->values[BUNDLE_IMAGE3].list.len; i++)
        add_image3(run, run->values[BUNDLE_IMAGE3].list.items[i]);
    for (size_t i = 0; i < run->values[BUNDLE_IMAGE].list.len; i++)
        add_profile(run, run->values[BUNDLE_IMAGE].list.items[i]);
    refuse_old_image(run, BUNDLE_ELF);
    refuse_old_image(run, BUNDLE_PTX);
    for (size_t i = 0; i < run->inputs.len; i++)
        add_file(run, run->inputs.items[i]);
    write_results(run);
    return CB_OK;
}

int cbi_tool_bundle(int argc, char **argv)
{
    bool as_fatbinary = strcmp(argv[0], "fatbinary") == 0;
    bundle_run run = {
        .as_fatbinary = as_fatbinary,
        .argc = argc,
        .argv = argv,
        .messages = {.tool_name = as_fatbinary ? "fatbinary" : "cubind bundle",
                     .plain = as_fatbinary},
    };
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_limit_memory(&ctx, -1);
    ctx.on_diagnostic = on_diagnostic;
    ctx.on_diagnostic_user = &run;
    cb_status status = cbi_run(&ctx, job, &run);
    if (status != CB_OK)
        cbi_outputs_drop(&run.results);
    cbi_messages_end(&run.messages, &ctx, status);
    free(run.results.failed);
    cbi_ctx_fini(&ctx);
    return cbi_check_stdout(run.messages.tool_name, status == CB_OK ? 0 : 1, 1);
}
