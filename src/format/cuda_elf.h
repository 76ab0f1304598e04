/* The device ELF ABI as constants.  Plain ELF names come from <elf.h>; the CUDA ones keep their
 * public names.  Source: measured with the CUDA 13.0 tools (docs/format.md). */
#ifndef CBI_CUDA_ELF_H
#define CBI_CUDA_ELF_H

#include <elf.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* e_ident */
#define ELFOSABI_CUDA           0x41
#define ELFOSABI_CUDA_LEGACY    0x33
#define CUDA_ABI_VERSION        8
#define CUDA_ABI_VERSION_LEGACY 7

/* e_type of an extensible-whole-program object (ptxas -ewp) */
#define ET_CUDA_EWP 0xff00

/* e_flags, OSABI 0x41: kind in bits 0..7, SM number in 8..23, index of .note.nv.cuinfo in 24..31 */
#define EF_CUDA_KIND_MERCURY   0x01
#define EF_CUDA_KIND_CAPMERC   0x02 /* SASS plus Mercury capsules: sm_100 and later */
#define EF_CUDA_KIND_SASS      0x04
#define EF_CUDA_SM(flags)      (((flags) >> 8) & 0xffff)
#define EF_CUDA_CUINFO(flags)  ((flags) >> 24)
#define EF_CUDA_CUINFO_BY_NAME 0xffU /* there: the section is to be found by name */
/* What stands there for a section: its number, if that fits; else with capsules its low eight
 * bits. */
#define EF_CUDA_CUINFO_OF(section, kind)                                                           \
    ((kind) == EF_CUDA_KIND_SASS && (section) > 0xff ? EF_CUDA_CUINFO_BY_NAME : (section)&0xffU)
/* e_flags, OSABI 0x33 */
#define EF_CUDA_LEGACY_64BIT_ADDRESS 0x400
#define EF_CUDA_LEGACY_ACCELERATED   0x800       /* an 'a' object */
#define EF_CUDA_LEGACY_CAPMERC       0x4000      /* as EF_CUDA_KIND_CAPMERC */
#define EF_CUDA_LEGACY_REFUSED       0x80000000u /* nvlink 13 takes no file with this bit */

/* Toolkits as .note.nv.cuinfo names them: times ten. */
enum {
    CUDA_TOOLKIT = 130,     /* the one whose linker this is */
    CUDA_TOOLKIT_MIN = 120, /* the first that knew sm_90 for good */
    CUDA_TOOLKIT_10 = 100,
};

/* Shared memory of the system, from sm_90 on: the start of every kernel's, and of that its own. */
enum { CUDA_RESERVED_SHARED = 0x400, CUDA_RESERVED_SHARED_OWN = 0x40 };

/* sh_type */
#define SHT_CUDA_INFO               0x70000000
#define SHT_CUDA_CALLGRAPH          0x70000001
#define SHT_CUDA_PROTOTYPE          0x70000002
#define SHT_CUDA_RESOLVED_RELA      0x70000003
#define SHT_CUDA_METADATA           0x70000004
#define SHT_CUDA_CONSTANT           0x70000006
#define SHT_CUDA_GLOBAL             0x70000007
#define SHT_CUDA_GLOBAL_INIT        0x70000008
#define SHT_CUDA_LOCAL              0x70000009
#define SHT_CUDA_SHARED             0x7000000a
#define SHT_CUDA_RELOCINFO          0x7000000b /* .nv.rel.action */
#define SHT_CUDA_UFT                0x7000000e
#define SHT_CUDA_UIDX               0x70000010
#define SHT_CUDA_UFT_ENTRY          0x70000011
#define SHT_CUDA_UDT                0x70000012
#define SHT_CUDA_UDT_ENTRY          0x70000014
#define SHT_CUDA_SHARED_RESERVED    0x70000015
#define SHT_CUDA_CAPMERC            0x70000016
#define SHT_CUDA_CONSTANT_B0        0x70000064 /* bank n is this + n, n = 0..17 */
#define SHT_CUDA_CONSTANT_USER      0x70000067 /* bank 3: __constant__ variables */
#define SHT_CUDA_CONSTANT_ADDRESSES 0x70000068 /* bank 4: of position-independent code */
#define SHT_CUDA_CONSTANT_BANKS     18
#define SHT_CUDA_MERC_IMAGE_INDICES 0x70000079
#define SHT_CUDA_MERC_CONSTANT_USER 0x7000007c
#define SHT_CUDA_MERC_CONSTANT_PIC  0x7000007d
#define SHT_CUDA_MERC_RELA          0x70000082
#define SHT_CUDA_MERC_INFO          0x70000083
#define SHT_CUDA_MERC_CONSTANT_OPT  0x70000084
#define SHT_CUDA_MERC_SYMTAB        0x70000085
#define SHT_CUDA_COMPAT             0x70000086
#define SHT_CUDA_HOST               0x70000087
#define SHT_CUDA_MERC_RESOLVED_RELA 0x70000088

/* sh_flags */
#define SHF_CUDA_CUINFO          0x1000000
#define SHF_CUDA_TKINFO          0x2000000
#define SHF_CUDA_MERCURY         0x10000000
#define SHF_CUDA_BARRIERS_MASK   (UINT64_C(0x7f) << 20)
#define SHF_CUDA_BARRIERS(flags) (((flags)&SHF_CUDA_BARRIERS_MASK) >> 20)

/* sh_info of code: the symbol of its function, and up to sm_89 above it the register count */
#define CUDA_TEXT_SYMBOL(info)    ((info)&0xffffffU)
#define CUDA_TEXT_REGISTERS(info) ((info) >> 24)

/* st_info types */
#define STT_CUDA_TEXTURE 10
#define STT_CUDA_SAMPLER 11
#define STT_CUDA_SURFACE 12
#define STT_CUDA_OBJECT  13

/* st_other */
#define STO_CUDA_VISIBILITY      0x03
#define CUDA_IS_INTERNAL(other)  (((other)&STO_CUDA_VISIBILITY) == STV_INTERNAL)
#define STO_CUDA_MANAGED         0x04 /* objects; functions: unified */
#define STO_CUDA_ENTRY           0x10 /* functions; objects with 0x20: unified variable */
#define STO_CUDA_SPACE           0xe0
#define STO_CUDA_GLOBAL          0x20
#define STO_CUDA_SHARED          0x40
#define STO_CUDA_LOCAL           0x60
#define STO_CUDA_CONSTANT        0x80
#define STO_CUDA_RESERVED_SHARED 0xa0

/* What one constant bank holds, in bytes. */
#define CUDA_CONSTANT_BANK_SIZE 0x10000

/* The value of a common symbol whose place nvlink -r has lost: an initialised weak definition
 * followed. */
#define CUDA_COMMON_LOST (UINT64_MAX - 1)

/* notes: owner "NVIDIA Corp" */
#define NT_CUDA_CUINFO   1000
#define NT_CUDA_TKINFO   2000
#define CUDA_NOTE_HEADER 24 /* namesz, descsz, type, 12-byte owner */

#endif
