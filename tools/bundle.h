/* The commands that write containers: their option tables. */
#ifndef CUBIND_BUNDLE_H
#define CUBIND_BUNDLE_H

#include "options.h"

enum {
    BUNDLE_32,
    BUNDLE_64,
    BUNDLE_ARCH,
    BUNDLE_CICC_CMDLINE,
    BUNDLE_CMDLINE,
    BUNDLE_COMPRESS,
    BUNDLE_COMPRESS_ALL,
    BUNDLE_COMPRESS_MODE,
    BUNDLE_CREATE,
    BUNDLE_CUDA,
    BUNDLE_DEBUG,
    BUNDLE_DEVICE_C,
    BUNDLE_ELF,
    BUNDLE_EMBEDDED_FATBIN,
    BUNDLE_HELP,
    BUNDLE_HOST,
    BUNDLE_IDENT,
    BUNDLE_IMAGE,
    BUNDLE_IMAGE2,
    BUNDLE_IMAGE3,
    BUNDLE_KEY,
    BUNDLE_LINK,
    BUNDLE_NO_ASM,
    BUNDLE_OPENCL,
    BUNDLE_OPTIONS_FILE,
    BUNDLE_OUTPUT,
    BUNDLE_PTX,
    BUNDLE_VERSION,
    BUNDLE_COUNT
};

extern const cbi_option cbi_bundle_options_table[BUNDLE_COUNT];

enum {
    PRUNE_ARCH,
    PRUNE_GENERATE_CODE,
    PRUNE_HELP,
    PRUNE_NO_RELOCATABLE_ELF,
    PRUNE_OPTIONS_FILE,
    PRUNE_OUTPUT,
    PRUNE_VERSION,
    PRUNE_COUNT
};

extern const cbi_option cbi_prune_options_table[PRUNE_COUNT];

#endif
