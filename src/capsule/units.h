/* Length of the Mercury form of instructions that have no record in the capsule. */
#ifndef CBI_CAPSULE_UNITS_H
#define CBI_CAPSULE_UNITS_H

#include "capsule/capsule.h"

enum { CBI_MERCURY_UNIT = 16 }; /* bytes */

/* One or two units, by opcode and modifiers (docs/capsule.md); instruction: its 16 bytes of SASS.
 */
unsigned cbi_capsule_units(const uint8_t *instruction);

/* Bounds of that, which are equal where the opcode is common enough to be sure. */
void cbi_capsule_derived_units(const uint8_t *instruction, uint64_t *least, uint64_t *most);

#endif
