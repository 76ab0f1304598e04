#include "format/eicompat.h"
#include "format/eiattr.h"

const cbi_eicompat cbi_eicompats[] = {
    /* name, id, format, merge, has default, default */
    {"EICOMPAT_ATTR_ERROR", 0x00, 0, CBI_COMPAT_IGNORE, false, 0},
    {"EICOMPAT_ATTR_PAD", 0x01, 0, CBI_COMPAT_IGNORE, false, 0},
    {"EICOMPAT_ATTR_ISA_CLASS", EICOMPAT_ISA_CLASS, CBI_ATTR_BYTE, CBI_COMPAT_CLASS, true, 0},
    {"EICOMPAT_ATTR_INST_TENSORMAP_V1", 0x03, CBI_ATTR_BYTE, CBI_COMPAT_OR, true, 3},
    {"EICOMPAT_ATTR_INST_TCGEN05_MMA_DEPRECATED", 0x04, 0, CBI_COMPAT_IGNORE, false, 0},
    {"EICOMPAT_ATTR_INST_TCGEN05_MMA", EICOMPAT_INST_TCGEN05_MMA, CBI_ATTR_BYTE, CBI_COMPAT_FIELDS,
     true, 0},
    {"EICOMPAT_ATTR_ENABLE_OPPORTUNISTIC_FINALIZATION", 0x06, CBI_ATTR_BYTE,
     CBI_COMPAT_EQUAL_OR_ONE, true, 1},
    {"EICOMPAT_ATTR_MERCURY_ISA_MAJOR_MINOR_VERSION", 0x07, CBI_ATTR_HALF, CBI_COMPAT_MAX, true,
     0x100},
    {"EICOMPAT_ATTR_MERCURY_ISA_PATCH_VERSION", 0x08, CBI_ATTR_HALF, CBI_COMPAT_MAX, false, 0},
    {"EICOMPAT_ATTR_CUDA_ACCELERATOR_TARGET", EICOMPAT_CUDA_ACCELERATOR_TARGET, CBI_ATTR_BYTE,
     CBI_COMPAT_TARGET, false, 0},
    {"EICOMPAT_ATTR_10", 0x0a, 0, CBI_COMPAT_IGNORE, false, 0}, /* no public name */
    {"EICOMPAT_ATTR_CAN_FASTPATH_FINALIZE", EICOMPAT_CAN_FASTPATH_FINALIZE, CBI_ATTR_SIZED,
     CBI_COMPAT_CAPABILITIES, false, 0},
};
const size_t cbi_eicompat_count = CBI_COUNT(cbi_eicompats);

const cbi_eicompat *cbi_eicompat_find(uint8_t id)
{
    /* rows are dense from id 0 */
    return id < cbi_eicompat_count ? &cbi_eicompats[id] : NULL;
}
