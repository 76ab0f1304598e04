#include "format/eicompat.h"
#include "format/eiattr.h"

const cbi_eicompat cbi_eicompats[] = {
    /* id, name, format, merge, has default, default */
    {0x00, "EICOMPAT_ATTR_ERROR", 0, CBI_COMPAT_IGNORE, false, 0},
    {0x01, "EICOMPAT_ATTR_PAD", 0, CBI_COMPAT_IGNORE, false, 0},
    {0x02, "EICOMPAT_ATTR_ISA_CLASS", CBI_ATTR_BYTE, CBI_COMPAT_CLASS, true, 0},
    {0x03, "EICOMPAT_ATTR_INST_TENSORMAP_V1", CBI_ATTR_BYTE, CBI_COMPAT_OR, true, 3},
    {0x04, "EICOMPAT_ATTR_INST_TCGEN05_MMA_DEPRECATED", 0, CBI_COMPAT_IGNORE, false, 0},
    {0x05, "EICOMPAT_ATTR_INST_TCGEN05_MMA", CBI_ATTR_BYTE, CBI_COMPAT_FIELDS, true, 0},
    {0x06, "EICOMPAT_ATTR_ENABLE_OPPORTUNISTIC_FINALIZATION", CBI_ATTR_BYTE,
     CBI_COMPAT_EQUAL_OR_ONE, true, 1},
    {0x07, "EICOMPAT_ATTR_MERCURY_ISA_MAJOR_MINOR_VERSION", CBI_ATTR_HALF, CBI_COMPAT_MAX, true,
     0x100},
    {0x08, "EICOMPAT_ATTR_MERCURY_ISA_PATCH_VERSION", CBI_ATTR_HALF, CBI_COMPAT_MAX, false, 0},
    {0x09, "EICOMPAT_ATTR_CUDA_ACCELERATOR_TARGET", CBI_ATTR_BYTE, CBI_COMPAT_TARGET, false, 0},
    {0x0a, "EICOMPAT_ATTR_10", 0, CBI_COMPAT_IGNORE, false, 0}, /* no public name */
    {0x0b, "EICOMPAT_ATTR_CAN_FASTPATH_FINALIZE", CBI_ATTR_SIZED, CBI_COMPAT_CAPABILITIES, false,
     0},
};
const size_t cbi_eicompat_count = CBI_COUNT(cbi_eicompats);

const cbi_eicompat *cbi_eicompat_find(uint8_t id)
{
    /* rows are dense from id 0 */
    return id < cbi_eicompat_count ? &cbi_eicompats[id] : NULL;
}
