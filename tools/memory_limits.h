/* How much memory a command may need by default: so much, and that many times the bytes of what is
 * read.  Links need three to ten times their inputs, decompressed fatbins up to thirty. */
#ifndef CUBIND_MEMORY_LIMITS_H
#define CUBIND_MEMORY_LIMITS_H

enum { CBI_MEMORY_MEBIBYTES = 1024, CBI_MEMORY_MULTIPLE = 64 };

#endif
