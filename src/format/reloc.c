#include "format/reloc.h"

/* clang-format off */
#define C_NONE         CBI_RELOC_CLASS_NONE
#define C_LINKER       CBI_RELOC_CLASS_LINKER
#define C_EITHER       CBI_RELOC_CLASS_EITHER
#define C_DRIVER       CBI_RELOC_CLASS_DRIVER
#define C_FINALIZER    CBI_RELOC_CLASS_FINALIZER
#define A_DROP         CBI_RELOC_DROP
#define A_PATCH        CBI_RELOC_PATCH
#define A_KEEP         CBI_RELOC_KEEP
#define A_UNIFIED      CBI_RELOC_UNIFIED
#define A_CLEAR_UNUSED CBI_RELOC_CLEAR_UNUSED
#define A_PCREL        CBI_RELOC_PCREL
#define A_PROG_REL     CBI_RELOC_PROG_REL
#define A_INVALID      CBI_RELOC_INVALID
#define A_YIELD        CBI_RELOC_YIELD
#define S_VALUE             CBI_SRC_VALUE
#define S_BANK              CBI_SRC_BANK
#define S_ADDEND            CBI_SRC_ADDEND
#define S_ZERO              CBI_SRC_ZERO
#define S_PCREL             CBI_SRC_PCREL
#define S_GENERIC           CBI_SRC_GENERIC
#define S_UNIFIED           CBI_SRC_UNIFIED
#define S_FUNC_DESC         CBI_SRC_FUNC_DESC
#define S_FUNC_DESC_ADDRESS CBI_SRC_FUNC_DESC_ADDRESS
#define S_TEX_INDEX         CBI_SRC_TEX_INDEX
#define S_SAMP_INDEX        CBI_SRC_SAMP_INDEX
#define S_SURF_INDEX        CBI_SRC_SURF_INDEX
#define S_SURF_DESC         CBI_SRC_SURF_DESC
#define S_INSTRUCTION       CBI_SRC_INSTRUCTION

/* type, name, class, action, fields {start, width, source, shift}, plain, SASS types, slot */
const cbi_reloc_type cbi_reloc_cuda[CBI_RELOC_CUDA_TYPES] = {
    {0, "R_CUDA_NONE", C_NONE, A_DROP, 0, {{0, 0, 0, 0}}, 0, 0, 0, 0, false},
    {1, "R_CUDA_32", C_EITHER, A_PATCH, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {2, "R_CUDA_64", C_EITHER, A_PATCH, 1, {{0, 64, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {3, "R_CUDA_G32", C_DRIVER, A_KEEP, 1, {{0, 32, S_GENERIC, 0}}, 0, 0, 0, 0, false},
    {4, "R_CUDA_G64", C_DRIVER, A_KEEP, 1, {{0, 64, S_GENERIC, 0}}, 0, 0, 0, 0, false},
    {5, "R_CUDA_ABS32_26", C_EITHER, A_PATCH, 1, {{26, 32, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {6, "R_CUDA_TEX_HEADER_INDEX", C_DRIVER, A_KEEP, 1, {{0, 20, S_TEX_INDEX, 0}}, 0, 0, 0, 0, false},
    {7, "R_CUDA_SAMP_HEADER_INDEX", C_DRIVER, A_KEEP, 1, {{20, 12, S_SAMP_INDEX, 0}}, 0, 0, 0, 0, false},
    {8, "R_CUDA_SURF_HW_DESC", C_DRIVER, A_KEEP, 1, {{0, 32, S_SURF_DESC, 0}}, 0, 0, 0, 0, false},
    {9, "R_CUDA_SURF_HW_SW_DESC", C_DRIVER, A_KEEP, 1, {{0, 32, S_SURF_DESC, 0}}, 0, 0, 0, 0, false},
    {10, "R_CUDA_ABS32_LO_26", C_EITHER, A_PATCH, 1, {{26, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {11, "R_CUDA_ABS32_HI_26", C_EITHER, A_PATCH, 1, {{26, 32, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {12, "R_CUDA_ABS32_23", C_EITHER, A_PATCH, 1, {{23, 32, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {13, "R_CUDA_ABS32_LO_23", C_EITHER, A_PATCH, 1, {{23, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {14, "R_CUDA_ABS32_HI_23", C_EITHER, A_PATCH, 1, {{23, 32, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {15, "R_CUDA_ABS24_26", C_LINKER, A_PATCH, 1, {{26, 24, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {16, "R_CUDA_ABS24_23", C_LINKER, A_PATCH, 1, {{23, 24, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {17, "R_CUDA_ABS16_26", C_LINKER, A_PATCH, 1, {{26, 16, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {18, "R_CUDA_ABS16_23", C_LINKER, A_PATCH, 1, {{23, 16, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {19, "R_CUDA_TEX_SLOT", C_LINKER, A_PATCH, 1, {{32, 8, S_ADDEND, 0}}, 0, 0, 0, 0, false},
    {20, "R_CUDA_SAMP_SLOT", C_LINKER, A_PATCH, 1, {{40, 5, S_ADDEND, 0}}, 0, 0, 0, 0, false},
    {21, "R_CUDA_SURF_SLOT", C_LINKER, A_PATCH, 1, {{26, 6, S_ADDEND, 0}}, 0, 0, 0, 0, false},
    {22, "R_CUDA_TEX_BINDLESSOFF13_32", C_LINKER, A_PATCH, 1, {{32, 13, S_VALUE, 2}}, 0, 0, 0, 0, true},
    {23, "R_CUDA_TEX_BINDLESSOFF13_47", C_LINKER, A_PATCH, 1, {{47, 13, S_VALUE, 2}}, 0, 0, 0, 0, true},
    {24, "R_CUDA_CONST_FIELD19_28", C_LINKER, A_PATCH, 3, {{28, 14, S_VALUE, 2}, {42, 4, S_BANK, 0}, {26, 1, S_BANK, 4}}, 0, 0, 0, 0, true},
    {25, "R_CUDA_CONST_FIELD19_23", C_LINKER, A_PATCH, 2, {{23, 14, S_VALUE, 2}, {37, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {26, "R_CUDA_TEX_SLOT9_49", C_LINKER, A_PATCH, 1, {{49, 9, S_ADDEND, 0}}, 0, 0, 0, 0, false},
    {27, "R_CUDA_6_31", C_LINKER, A_PATCH, 1, {{31, 6, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {28, "R_CUDA_2_47", C_LINKER, A_PATCH, 1, {{47, 2, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {29, "R_CUDA_TEX_BINDLESSOFF13_41", C_LINKER, A_PATCH, 1, {{41, 13, S_VALUE, 2}}, 0, 0, 0, 0, true},
    {30, "R_CUDA_TEX_BINDLESSOFF13_45", C_LINKER, A_PATCH, 1, {{45, 13, S_VALUE, 2}}, 0, 0, 0, 0, true},
    {31, "R_CUDA_FUNC_DESC32_23", C_DRIVER, A_KEEP, 1, {{23, 32, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {32, "R_CUDA_FUNC_DESC32_LO_23", C_DRIVER, A_KEEP, 1, {{23, 32, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {33, "R_CUDA_FUNC_DESC32_HI_23", C_DRIVER, A_KEEP, 1, {{23, 32, S_FUNC_DESC, 32}}, 0, 0, 0, 0, false},
    {34, "R_CUDA_FUNC_DESC_32", C_DRIVER, A_KEEP, 1, {{0, 32, S_FUNC_DESC_ADDRESS, 0}}, 0, 0, 0, 0, false},
    {35, "R_CUDA_FUNC_DESC_64", C_DRIVER, A_KEEP, 1, {{0, 64, S_FUNC_DESC_ADDRESS, 0}}, 0, 0, 0, 0, false},
    {36, "R_CUDA_CONST_FIELD21_26", C_LINKER, A_PATCH, 2, {{26, 16, S_VALUE, 0}, {42, 5, S_BANK, 0}}, 0, 0, 0, 0, false},
    {37, "R_CUDA_QUERY_DESC21_37", C_LINKER, A_PATCH, 2, {{37, 16, S_VALUE, 0}, {53, 5, S_BANK, 0}}, 0, 0, 0, 0, false},
    {38, "R_CUDA_CONST_FIELD19_26", C_LINKER, A_PATCH, 2, {{26, 14, S_VALUE, 2}, {40, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {39, "R_CUDA_CONST_FIELD21_23", C_LINKER, A_PATCH, 2, {{23, 16, S_VALUE, 0}, {39, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {40, "R_CUDA_PCREL_IMM24_26", C_LINKER, A_PCREL, 1, {{26, 24, S_PCREL, 0}}, 0, 0, 0, 0, false},
    {41, "R_CUDA_PCREL_IMM24_23", C_LINKER, A_PCREL, 1, {{23, 24, S_PCREL, 0}}, 0, 0, 0, 0, false},
    {42, "R_CUDA_ABS32_20", C_EITHER, A_PATCH, 1, {{20, 32, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {43, "R_CUDA_ABS32_LO_20", C_EITHER, A_PATCH, 1, {{20, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {44, "R_CUDA_ABS32_HI_20", C_EITHER, A_PATCH, 1, {{20, 32, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {45, "R_CUDA_ABS24_20", C_LINKER, A_PATCH, 1, {{20, 24, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {46, "R_CUDA_ABS16_20", C_LINKER, A_PATCH, 1, {{20, 16, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {47, "R_CUDA_FUNC_DESC32_20", C_DRIVER, A_KEEP, 1, {{20, 32, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {48, "R_CUDA_FUNC_DESC32_LO_20", C_DRIVER, A_KEEP, 1, {{20, 32, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {49, "R_CUDA_FUNC_DESC32_HI_20", C_DRIVER, A_KEEP, 1, {{20, 32, S_FUNC_DESC, 32}}, 0, 0, 0, 0, false},
    {50, "R_CUDA_CONST_FIELD19_20", C_LINKER, A_PATCH, 2, {{20, 14, S_VALUE, 2}, {34, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {51, "R_CUDA_BINDLESSOFF13_36", C_LINKER, A_PATCH, 1, {{36, 13, S_VALUE, 2}}, 0, 0, 0, 0, true},
    {52, "R_CUDA_SURF_HEADER_INDEX", C_DRIVER, A_KEEP, 1, {{0, 20, S_SURF_INDEX, 0}}, 0, 0, 0, 0, false},
    {53, "R_CUDA_INSTRUCTION64", C_DRIVER, A_KEEP, 1, {{0, 64, S_INSTRUCTION, 0}}, 0, 0, 0, 0, false},
    {54, "R_CUDA_CONST_FIELD21_20", C_LINKER, A_PATCH, 2, {{20, 16, S_VALUE, 0}, {36, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {55, "R_CUDA_ABS32_32", C_EITHER, A_PATCH, 1, {{32, 32, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {56, "R_CUDA_ABS32_LO_32", C_EITHER, A_PATCH, 1, {{32, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {57, "R_CUDA_ABS32_HI_32", C_EITHER, A_PATCH, 1, {{32, 32, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {58, "R_CUDA_ABS47_34", C_DRIVER, A_KEEP, 1, {{34, 47, S_VALUE, 2}}, 0, 0, 0, 0, false},
    {59, "R_CUDA_ABS16_32", C_LINKER, A_PATCH, 1, {{32, 16, S_VALUE, 0}}, 0, 0, 0, 0, true},
    {60, "R_CUDA_ABS24_32", C_LINKER, A_PATCH, 1, {{32, 24, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {61, "R_CUDA_FUNC_DESC32_32", C_DRIVER, A_KEEP, 1, {{32, 32, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {62, "R_CUDA_FUNC_DESC32_LO_32", C_DRIVER, A_KEEP, 1, {{32, 32, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {63, "R_CUDA_FUNC_DESC32_HI_32", C_DRIVER, A_KEEP, 1, {{32, 32, S_FUNC_DESC, 32}}, 0, 0, 0, 0, false},
    {64, "R_CUDA_CONST_FIELD19_40", C_LINKER, A_PATCH, 2, {{40, 14, S_VALUE, 2}, {54, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {65, "R_CUDA_BINDLESSOFF14_40", C_LINKER, A_PATCH, 1, {{40, 14, S_VALUE, 2}}, 0, 0, 0, 0, true},
    {66, "R_CUDA_CONST_FIELD21_38", C_LINKER, A_PATCH, 2, {{38, 16, S_VALUE, 0}, {54, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {67, "R_CUDA_INSTRUCTION128", C_DRIVER, A_KEEP, 1, {{0, 128, S_INSTRUCTION, 0}}, 0, 0, 0, 0, false},
    {68, "R_CUDA_YIELD_OPCODE9_0", C_LINKER, A_YIELD, 1, {{0, 9, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {69, "R_CUDA_YIELD_CLEAR_PRED4_87", C_LINKER, A_YIELD, 1, {{87, 4, S_ZERO, 0}}, 0, 0, 0, 0, false},
    {70, "R_CUDA_32_LO", C_EITHER, A_PATCH, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {71, "R_CUDA_32_HI", C_EITHER, A_PATCH, 1, {{0, 32, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {72, "R_CUDA_UNUSED_CLEAR32", C_LINKER, A_CLEAR_UNUSED, 1, {{0, 32, S_ZERO, 0}}, 0, 0, 0, 0, false},
    {73, "R_CUDA_UNUSED_CLEAR64", C_LINKER, A_CLEAR_UNUSED, 1, {{0, 64, S_ZERO, 0}}, 0, 0, 0, 0, false},
    {74, "R_CUDA_ABS24_40", C_LINKER, A_PATCH, 1, {{40, 24, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {75, "R_CUDA_ABS55_16_34", C_DRIVER, A_KEEP, 2, {{16, 8, S_VALUE, 2}, {34, 47, S_VALUE, 10}}, 0, 0, 0, 0, false},
    {76, "R_CUDA_8_0", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {77, "R_CUDA_8_8", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 8}}, 0, 0, 0, 0, false},
    {78, "R_CUDA_8_16", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 16}}, 0, 0, 0, 0, false},
    {79, "R_CUDA_8_24", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 24}}, 0, 0, 0, 0, false},
    {80, "R_CUDA_8_32", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {81, "R_CUDA_8_40", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 40}}, 0, 0, 0, 0, false},
    {82, "R_CUDA_8_48", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 48}}, 0, 0, 0, 0, false},
    {83, "R_CUDA_8_56", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 56}}, 0, 0, 0, 0, false},
    {84, "R_CUDA_G8_0", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 0}}, 0, 0, 0, 0, false},
    {85, "R_CUDA_G8_8", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 8}}, 0, 0, 0, 0, false},
    {86, "R_CUDA_G8_16", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 16}}, 0, 0, 0, 0, false},
    {87, "R_CUDA_G8_24", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 24}}, 0, 0, 0, 0, false},
    {88, "R_CUDA_G8_32", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 32}}, 0, 0, 0, 0, false},
    {89, "R_CUDA_G8_40", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 40}}, 0, 0, 0, 0, false},
    {90, "R_CUDA_G8_48", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 48}}, 0, 0, 0, 0, false},
    {91, "R_CUDA_G8_56", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 56}}, 0, 0, 0, 0, false},
    {92, "R_CUDA_FUNC_DESC_8_0", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 0}}, 0, 0, 0, 0, false},
    {93, "R_CUDA_FUNC_DESC_8_8", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 8}}, 0, 0, 0, 0, false},
    {94, "R_CUDA_FUNC_DESC_8_16", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 16}}, 0, 0, 0, 0, false},
    {95, "R_CUDA_FUNC_DESC_8_24", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 24}}, 0, 0, 0, 0, false},
    {96, "R_CUDA_FUNC_DESC_8_32", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 32}}, 0, 0, 0, 0, false},
    {97, "R_CUDA_FUNC_DESC_8_40", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 40}}, 0, 0, 0, 0, false},
    {98, "R_CUDA_FUNC_DESC_8_48", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 48}}, 0, 0, 0, 0, false},
    {99, "R_CUDA_FUNC_DESC_8_56", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 56}}, 0, 0, 0, 0, false},
    {100, "R_CUDA_ABS20_44", C_LINKER, A_PATCH, 1, {{44, 20, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {101, "R_CUDA_SAMP_HEADER_INDEX_0", C_DRIVER, A_KEEP, 1, {{0, 12, S_SAMP_INDEX, 0}}, 0, 0, 0, 0, false},
    {102, "R_CUDA_UNIFIED", C_DRIVER, A_UNIFIED, 1, {{0, 64, S_UNIFIED, 0}}, 2, 0, 0, 0, false},
    {103, "R_CUDA_UNIFIED_32", C_DRIVER, A_UNIFIED, 1, {{0, 32, S_UNIFIED, 0}}, 1, 0, 0, 0, false},
    {104, "R_CUDA_UNIFIED_8_0", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 0}}, 76, 0, 0, 0, false},
    {105, "R_CUDA_UNIFIED_8_8", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 8}}, 77, 0, 0, 0, false},
    {106, "R_CUDA_UNIFIED_8_16", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 16}}, 78, 0, 0, 0, false},
    {107, "R_CUDA_UNIFIED_8_24", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 24}}, 79, 0, 0, 0, false},
    {108, "R_CUDA_UNIFIED_8_32", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 32}}, 80, 0, 0, 0, false},
    {109, "R_CUDA_UNIFIED_8_40", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 40}}, 81, 0, 0, 0, false},
    {110, "R_CUDA_UNIFIED_8_48", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 48}}, 82, 0, 0, 0, false},
    {111, "R_CUDA_UNIFIED_8_56", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 56}}, 83, 0, 0, 0, false},
    {112, "R_CUDA_UNIFIED32_LO_32", C_DRIVER, A_UNIFIED, 1, {{32, 32, S_UNIFIED, 0}}, 56, 0, 0, 0, false},
    {113, "R_CUDA_UNIFIED32_HI_32", C_DRIVER, A_UNIFIED, 1, {{32, 32, S_UNIFIED, 32}}, 57, 0, 0, 0, false},
    {114, "R_CUDA_ABS56_16_34", C_DRIVER, A_KEEP, 2, {{16, 8, S_VALUE, 2}, {34, 48, S_VALUE, 10}}, 0, 0, 0, 0, false},
    {115, "R_CUDA_CONST_FIELD22_37", C_LINKER, A_PATCH, 2, {{37, 17, S_VALUE, 0}, {54, 5, S_BANK, 0}}, 0, 0, 0, 0, true},
    {116, "R_CUDA_NONE_LAST", C_NONE, A_INVALID, 0, {{0, 0, 0, 0}}, 0, 0, 0, 0, false},
};

/* likewise, then the SASS types in data, in text, and in text for other instructions */
const cbi_reloc_type cbi_reloc_mercury[CBI_RELOC_MERCURY_TYPES] = {
    {0x10000, "R_MERCURY_NONE", C_NONE, A_INVALID, 0, {{0, 0, 0, 0}}, 0, 0, 0, 0, false},
    {0x10001, "R_MERCURY_G64", C_DRIVER, A_KEEP, 1, {{0, 64, S_GENERIC, 0}}, 0, 4, 0, 0, false},
    {0x10002, "R_MERCURY_ABS64", C_EITHER, A_PATCH, 1, {{0, 64, S_VALUE, 0}}, 0, 2, 75, 114, false},
    {0x10003, "R_MERCURY_ABS32", C_EITHER, A_PATCH, 1, {{0, 32, S_VALUE, 0}}, 0, 1, 55, 115, true},
    {0x10004, "R_MERCURY_ABS16", C_EITHER, A_PATCH, 1, {{0, 16, S_VALUE, 0}}, 0, 0, 59, 66, true},
    {0x10005, "R_MERCURY_ABS32_LO", C_DRIVER, A_KEEP, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 56, 62, false},
    {0x10006, "R_MERCURY_ABS32_HI", C_DRIVER, A_KEEP, 1, {{0, 32, S_VALUE, 32}}, 0, 0, 57, 63, false},
    {0x10007, "R_MERCURY_PROG_REL64", C_FINALIZER, A_PROG_REL, 1, {{0, 64, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {0x10008, "R_MERCURY_PROG_REL32", C_FINALIZER, A_PROG_REL, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {0x10009, "R_MERCURY_PROG_REL32_LO", C_FINALIZER, A_PROG_REL, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {0x1000a, "R_MERCURY_PROG_REL32_HI", C_FINALIZER, A_PROG_REL, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {0x1000b, "R_MERCURY_TEX_HEADER_INDEX", C_DRIVER, A_KEEP, 1, {{0, 20, S_TEX_INDEX, 0}}, 0, 6, 0, 0, false},
    {0x1000c, "R_MERCURY_SAMP_HEADER_INDEX", C_DRIVER, A_KEEP, 1, {{20, 12, S_SAMP_INDEX, 0}}, 0, 101, 0, 0, false},
    {0x1000d, "R_MERCURY_SURF_HEADER_INDEX", C_DRIVER, A_KEEP, 1, {{0, 20, S_SURF_INDEX, 0}}, 0, 52, 0, 0, false},
    {0x1000e, "R_MERCURY_UNUSED_CLEAR64", C_LINKER, A_CLEAR_UNUSED, 1, {{0, 64, S_ZERO, 0}}, 0, 73, 0, 0, false},
    {0x1000f, "R_MERCURY_FUNC_DESC_64", C_DRIVER, A_KEEP, 1, {{0, 64, S_FUNC_DESC_ADDRESS, 0}}, 0, 35, 0, 0, false},
    {0x10010, "R_MERCURY_8_0", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 0}}, 0, 76, 0, 0, false},
    {0x10011, "R_MERCURY_8_8", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 8}}, 0, 77, 0, 0, false},
    {0x10012, "R_MERCURY_8_16", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 16}}, 0, 78, 0, 0, false},
    {0x10013, "R_MERCURY_8_24", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 24}}, 0, 79, 0, 0, false},
    {0x10014, "R_MERCURY_8_32", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 32}}, 0, 80, 0, 0, false},
    {0x10015, "R_MERCURY_8_40", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 40}}, 0, 81, 0, 0, false},
    {0x10016, "R_MERCURY_8_48", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 48}}, 0, 82, 0, 0, false},
    {0x10017, "R_MERCURY_8_56", C_EITHER, A_PATCH, 1, {{0, 8, S_VALUE, 56}}, 0, 83, 0, 0, false},
    {0x10018, "R_MERCURY_G8_0", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 0}}, 0, 84, 0, 0, false},
    {0x10019, "R_MERCURY_G8_8", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 8}}, 0, 85, 0, 0, false},
    {0x1001a, "R_MERCURY_G8_16", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 16}}, 0, 86, 0, 0, false},
    {0x1001b, "R_MERCURY_G8_24", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 24}}, 0, 87, 0, 0, false},
    {0x1001c, "R_MERCURY_G8_32", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 32}}, 0, 88, 0, 0, false},
    {0x1001d, "R_MERCURY_G8_40", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 40}}, 0, 89, 0, 0, false},
    {0x1001e, "R_MERCURY_G8_48", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 48}}, 0, 90, 0, 0, false},
    {0x1001f, "R_MERCURY_G8_56", C_DRIVER, A_KEEP, 1, {{0, 8, S_GENERIC, 56}}, 0, 91, 0, 0, false},
    {0x10020, "R_MERCURY_FUNC_DESC_8_0", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 0}}, 0, 92, 0, 0, false},
    {0x10021, "R_MERCURY_FUNC_DESC_8_8", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 8}}, 0, 93, 0, 0, false},
    {0x10022, "R_MERCURY_FUNC_DESC_8_16", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 16}}, 0, 94, 0, 0, false},
    {0x10023, "R_MERCURY_FUNC_DESC_8_24", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 24}}, 0, 95, 0, 0, false},
    {0x10024, "R_MERCURY_FUNC_DESC_8_32", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 32}}, 0, 96, 0, 0, false},
    {0x10025, "R_MERCURY_FUNC_DESC_8_40", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 40}}, 0, 97, 0, 0, false},
    {0x10026, "R_MERCURY_FUNC_DESC_8_48", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 48}}, 0, 98, 0, 0, false},
    {0x10027, "R_MERCURY_FUNC_DESC_8_56", C_DRIVER, A_KEEP, 1, {{0, 8, S_FUNC_DESC, 56}}, 0, 99, 0, 0, false},
    {0x10028, "R_MERCURY_ABS_PROG_REL32_LO", C_DRIVER, A_KEEP, 1, {{0, 32, S_VALUE, 0}}, 0, 0, 56, 0, false},
    {0x10029, "R_MERCURY_ABS_PROG_REL32_HI", C_DRIVER, A_KEEP, 1, {{0, 32, S_VALUE, 32}}, 0, 0, 57, 0, false},
    {0x1002a, "R_MERCURY_PROG_REL8_0", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 0}}, 0, 0, 0, 0, false},
    {0x1002b, "R_MERCURY_PROG_REL8_8", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 8}}, 0, 0, 0, 0, false},
    {0x1002c, "R_MERCURY_PROG_REL8_16", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 16}}, 0, 0, 0, 0, false},
    {0x1002d, "R_MERCURY_PROG_REL8_24", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 24}}, 0, 0, 0, 0, false},
    {0x1002e, "R_MERCURY_PROG_REL8_32", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 32}}, 0, 0, 0, 0, false},
    {0x1002f, "R_MERCURY_PROG_REL8_40", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 40}}, 0, 0, 0, 0, false},
    {0x10030, "R_MERCURY_PROG_REL8_48", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 48}}, 0, 0, 0, 0, false},
    {0x10031, "R_MERCURY_PROG_REL8_56", C_FINALIZER, A_PROG_REL, 1, {{0, 8, S_VALUE, 56}}, 0, 0, 0, 0, false},
    {0x10032, "R_MERCURY_UNIFIED", C_DRIVER, A_UNIFIED, 1, {{0, 64, S_UNIFIED, 0}}, 0x10002, 2, 0, 0, false},
    {0x10033, "R_MERCURY_UNIFIED_32", C_DRIVER, A_UNIFIED, 1, {{0, 32, S_UNIFIED, 0}}, 0x10003, 1, 0, 0, false},
    {0x10034, "R_MERCURY_UNIFIED_8_0", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 0}}, 0x10010, 76, 0, 0, false},
    {0x10035, "R_MERCURY_UNIFIED_8_8", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 8}}, 0x10011, 77, 0, 0, false},
    {0x10036, "R_MERCURY_UNIFIED_8_16", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 16}}, 0x10012, 78, 0, 0, false},
    {0x10037, "R_MERCURY_UNIFIED_8_24", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 24}}, 0x10013, 79, 0, 0, false},
    {0x10038, "R_MERCURY_UNIFIED_8_32", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 32}}, 0x10014, 80, 0, 0, false},
    {0x10039, "R_MERCURY_UNIFIED_8_40", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 40}}, 0x10015, 81, 0, 0, false},
    {0x1003a, "R_MERCURY_UNIFIED_8_48", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 48}}, 0x10016, 82, 0, 0, false},
    {0x1003b, "R_MERCURY_UNIFIED_8_56", C_DRIVER, A_UNIFIED, 1, {{0, 8, S_UNIFIED, 56}}, 0x10017, 83, 0, 0, false},
    {0x1003c, "R_MERCURY_ABS_PROG_REL32", C_DRIVER, A_KEEP, 1, {{0, 32, S_VALUE, 0}}, 0, 1, 0, 0, false},
    {0x1003d, "R_MERCURY_ABS_PROG_REL64", C_DRIVER, A_KEEP, 1, {{0, 64, S_VALUE, 0}}, 0, 2, 0, 0, false},
    {0x1003e, "R_MERCURY_UNIFIED32_LO", C_DRIVER, A_UNIFIED, 1, {{0, 32, S_UNIFIED, 0}}, 0x10005, 0, 112, 62, false},
    {0x1003f, "R_MERCURY_UNIFIED32_HI", C_DRIVER, A_UNIFIED, 1, {{0, 32, S_UNIFIED, 32}}, 0x10006, 0, 113, 63, false},
    {0x10040, "R_MERCURY_NONE_LAST", C_NONE, A_DROP, 0, {{0, 0, 0, 0}}, 0, 0, 0, 0, false},
};
/* clang-format on */

bool cbi_is_prog_rel(uint32_t type)
{
    const cbi_reloc_type *row = cbi_reloc_find(type);
    return row && row->action == CBI_RELOC_PROG_REL;
}

const char *cbi_reloc_source_name(uint8_t source)
{
    static const char *const names[] = {
        [CBI_SRC_VALUE] = "V",
        [CBI_SRC_BANK] = "bank",
        [CBI_SRC_ADDEND] = "A",
        [CBI_SRC_ZERO] = "0",
        [CBI_SRC_PCREL] = "V-P",
        [CBI_SRC_GENERIC] = "generic(V)",
        [CBI_SRC_UNIFIED] = "unified(V)",
        [CBI_SRC_FUNC_DESC] = "descriptor",
        [CBI_SRC_FUNC_DESC_ADDRESS] = "descriptor-address",
        [CBI_SRC_TEX_INDEX] = "texture-header",
        [CBI_SRC_SAMP_INDEX] = "sampler-header",
        [CBI_SRC_SURF_INDEX] = "surface-header",
        [CBI_SRC_SURF_DESC] = "surface-descriptor",
        [CBI_SRC_INSTRUCTION] = "instruction",
    };
    return source < CBI_COUNT(names) ? names[source] : "?";
}
