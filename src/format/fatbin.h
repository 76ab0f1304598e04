/* The fatbin container as constants.  All fields are little endian. */
#ifndef CBI_FATBIN_FORMAT_H
#define CBI_FATBIN_FORMAT_H

#define FATBIN_MAGIC          0xBA55ED50u
#define FATBIN_VERSION        1
#define FATBIN_HEADER_SIZE    16 /* magic u32, version u16, header size u16, size of entries u64 */
#define FATBIN_ENTRY_SIZE     64
#define FATBIN_HEADER_ENTRIES 8           /* offset of the size of the entries */
#define FATBIN_WRAPPER_MAGIC  0x466243B1u /* .nvFatBinSegment, 24 bytes each */
#define FATBIN_WRAPPER_SIZE   24

/* Offsets in an entry. */
#define FATBIN_ENTRY_KIND              0  /* u16 */
#define FATBIN_ENTRY_MARK              2  /* u16, FATBIN_MARK */
#define FATBIN_ENTRY_HEADER_SIZE       4  /* u32, extension included */
#define FATBIN_ENTRY_PAYLOAD_SIZE      8  /* u64, padding included */
#define FATBIN_ENTRY_COMPRESSED_SIZE   16 /* u32, 0 = stored */
#define FATBIN_ENTRY_OPTIONS           20 /* u32, offset of the option block from the entry */
#define FATBIN_ENTRY_VERSION           24 /* u16 minor, u16 major */
#define FATBIN_ENTRY_SM                28 /* u32 */
#define FATBIN_ENTRY_IDENT             32 /* u32 offset, u32 length */
#define FATBIN_ENTRY_FLAGS             40 /* u64 */
#define FATBIN_ENTRY_KEY               48 /* u64 */
#define FATBIN_ENTRY_UNCOMPRESSED_SIZE 56 /* u64 */

#define FATBIN_MARK 0x0101 /* in every entry of fatbinary; nvlink does not look at it */

/* Kinds. */
#define FATBIN_KIND_PTX     1
#define FATBIN_KIND_ELF     2
#define FATBIN_KIND_LTOIR   8
#define FATBIN_KIND_CAPSULE 16 /* ELF in capsule form */

/* Flags. */
#define FATBIN_FLAG_64BIT        0x1
#define FATBIN_FLAG_DEBUG        0x2
#define FATBIN_FLAG_CUDA         0x4 /* fatbinary --cuda; nvcc never sets it */
#define FATBIN_FLAG_OPENCL       0x8
#define FATBIN_FLAG_HOST_LINUX   0x10
#define FATBIN_FLAG_HOST_MAC     0x20
#define FATBIN_FLAG_HOST_WINDOWS 0x40
#define FATBIN_FLAG_LZ4          0x2000
#define FATBIN_FLAG_ZSTD         0x8000
#define FATBIN_FLAG_OBFUSCATED   0x10000
#define FATBIN_FLAG_SUFFIX_A     0x100000
#define FATBIN_FLAG_SUFFIX_F     0x200000
#define FATBIN_FLAG_CAPSULE      0x1000000

#endif
