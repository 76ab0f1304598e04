/* The options of `cubind bundle`: fatbinary's, and a few spellings more; those of `cubind prune`:
 * nvprune's. */
#include "bundle.h"

#define FLAG       OPT_KIND_FLAG, 0, OPT_RECORD_NEVER, 0, NULL, NULL, NULL, NULL
#define TEXT(name) OPT_KIND_STRING, 0, OPT_RECORD_NEVER, 0, NULL, NULL, (name), NULL
#define OLD                                                                                        \
    OPT_HIDDEN | OPT_NO_EFFECT | OPT_DEPRECATED, OPT_RECORD_NEVER, 0, NULL, NULL, "<value>", NULL, \
        "Of old."
#define OLD_FLAG                                                                                   \
    OPT_KIND_FLAG, OPT_HIDDEN | OPT_DEPRECATED, OPT_RECORD_NEVER, 0, NULL, NULL, NULL, NULL
#define IMAGES(name) OPT_KIND_EACH, 0, OPT_RECORD_NEVER, 0, NULL, NULL, (name), NULL

const cbi_option cbi_bundle_options_table[BUNDLE_COUNT] = {
    [BUNDLE_32] = {"32", "32", FLAG, "The host code is compiled for 32 bits."},
    [BUNDLE_64] = {"64", "64", FLAG, "The host code is compiled for 64 bits, as by default."},
    [BUNDLE_ARCH] = {"arch", "arch", OPT_KIND_STRING, OLD},
    [BUNDLE_CICC_CMDLINE] = {"cicc-cmdline", "cicc-cmdline", TEXT("<options>"),
                             "What the compiler was given: kept with LTO-IR."},
    [BUNDLE_CMDLINE] = {"cmdline", "cmdline", TEXT("<options>"),
                        "What ptxas was given: kept with PTX, for the time when it is "
                        "assembled."},
    [BUNDLE_COMPRESS] = {"compress", "compress", OPT_KIND_BOOL, 0, OPT_RECORD_NEVER, 0, NULL, NULL,
                         "<true|false>", "true", "Compress PTX and LTO-IR."},
    [BUNDLE_COMPRESS_ALL] = {"compress-all", "compress-all", FLAG,
                             "Compress machine code, too, as with --device-c and --debug."},
    [BUNDLE_COMPRESS_MODE] = {"compress-mode", "compress-mode", OPT_KIND_STRING, 0,
                              OPT_RECORD_NEVER, 0, "default size speed balance none", NULL,
                              "<mode>", "default",
                              "How to compress: speed is LZ4, balance zstd (the default), size the "
                              "best of zstd, for machine code, too."},
    [BUNDLE_CREATE] = {"create", "create", TEXT("<file>"), "The fatbin to write."},
    [BUNDLE_CUDA] = {"cuda", "cuda", OLD_FLAG, "The images are CUDA's."},
    [BUNDLE_DEBUG] = {"debug", "g", FLAG, "The images were compiled for debugging."},
    [BUNDLE_DEVICE_C] = {"device-c", "c", FLAG,
                         "The images are relocatable: an embedded fatbin goes where a device "
                         "link finds it."},
    [BUNDLE_ELF] = {"elf", "elf", OPT_KIND_STRING, OLD},
    [BUNDLE_EMBEDDED_FATBIN] = {"embedded-fatbin", "fatbin", TEXT("<file>"),
                                "Write the fatbin as C code, for inclusion in host code."},
    [BUNDLE_HELP] = {"help", "h", FLAG, "Print this help."},
    [BUNDLE_HOST] = {"host", "host", OPT_KIND_STRING, OPT_HIDDEN | OPT_DEPRECATED, OPT_RECORD_NEVER,
                     0, "linux mac windows", NULL, "<name>", NULL, "The host's system."},
    [BUNDLE_IDENT] = {"ident", "ident", TEXT("<name>"), "A name for the code: the source file."},
    [BUNDLE_IMAGE] = {"image", "image", IMAGES("<image>"),
                      "An image as clang names it: profile=sm_90,file=F, or compute_90 for PTX."},
    [BUNDLE_IMAGE2] = {"image2", "image2", OPT_KIND_EACH, OPT_HIDDEN, OPT_RECORD_NEVER, 0, NULL,
                       NULL, "<image>", NULL, "An image without a target: refused, as ever."},
    [BUNDLE_IMAGE3] = {"image3", "image3", IMAGES("<image>"),
                       "An image, its kind and target: kind=elf,sm=90a,file=F.  Kinds are elf, "
                       "ptx and nvvm, which is LTO-IR."},
    [BUNDLE_KEY] = {"key", "key", OPT_KIND_STRING, OLD},
    [BUNDLE_LINK] = {"link", "link", FLAG,
                     "The images were linked: the embedded fatbin refers to the objects that went "
                     "into them."},
    [BUNDLE_NO_ASM] = {"no-asm", "no-asm", FLAG,
                       "Write the embedded fatbin as an array, not as assembler text."},
    [BUNDLE_OPENCL] = {"opencl", "opencl", OLD_FLAG, "The images are OpenCL's."},
    [BUNDLE_OPTIONS_FILE] = {"options-file", "optf", OPT_KIND_LIST, OPT_FILES, OPT_RECORD_NEVER, 0,
                             NULL, NULL, "<file>,...", NULL, "Read more options from files."},
    [BUNDLE_OUTPUT] = {"output-file", "o", OPT_KIND_STRING, 0, OPT_RECORD_NEVER, 0, NULL, NULL,
                       "<file>", NULL, "The same as --create."},
    [BUNDLE_PTX] = {"ptx", "ptx", OPT_KIND_STRING, OLD},
    [BUNDLE_VERSION] = {"version", "V", FLAG, "Print the version."},
};

const cbi_option cbi_prune_options_table[PRUNE_COUNT] = {
    [PRUNE_ARCH] = {"arch", "arch", OPT_KIND_LIST, 0, OPT_RECORD_NEVER, 0, "@arch", NULL,
                    "<target>,...", NULL,
                    "Keep the images for these targets: machine code for 'sm_90', PTX for "
                    "'compute_90', LTO-IR for 'lto_90'."},
    [PRUNE_GENERATE_CODE] = {"generate-code", "gencode", OPT_KIND_EACH, 0, OPT_RECORD_NEVER, 0,
                             NULL, NULL, "<specification>", NULL,
                             "The same as nvcc spells it: arch=compute_90,code=[sm_90,compute_90]. "
                             "What stands behind 'code' is kept."},
    [PRUNE_HELP] = {"help", "h", FLAG, "Print this help."},
    [PRUNE_NO_RELOCATABLE_ELF] = {"no-relocatable-elf", "no-relocatable-elf", FLAG,
                                  "Keep no machine code that still has to be linked."},
    [PRUNE_OPTIONS_FILE] = {"options-file", "optf", OPT_KIND_LIST, OPT_FILES, OPT_RECORD_NEVER, 0,
                            NULL, NULL, "<file>,...", NULL, "Read more options from files."},
    [PRUNE_OUTPUT] = {"output-file", "o", TEXT("<file>"), "The file to write."},
    [PRUNE_VERSION] = {"version", "V", FLAG, "Print the version."},
};
