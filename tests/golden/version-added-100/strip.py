"""strip.py FILE: takes MERCURY_ISA_VERSION (0x5f) out of the attributes of every function of a cubin, as compilers up
to 13.0.17 did not write it, and makes the object's own version (.nv.compat, 7) 1.0"""
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
table, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 60)
sections = [struct.unpack_from("<IIQQQQ", data, table + 64 * i) for i in range(count)]
for i, (name, _, _, _, offset, size) in enumerate(sections):
    start = sections[names][4] + name
    name = bytes(data[start:data.index(0, start)]).decode()
    at = offset
    while at < offset + size:
        form, code, value = struct.unpack_from("<BBH", data, at)
        length = 4 + (value if form == 4 else 0)
        if ".nv.info." in name and code == 0x5F:
            data[at:offset + size] = data[at + length:offset + size] + bytes(length)
            struct.pack_into("<Q", data, table + 64 * i + 32, size - length)
            break
        if name == ".nv.compat" and code == 7:
            struct.pack_into("<H", data, at + 2, 0x100)
        if ".nv.info." not in name and name != ".nv.compat":
            break
        at += length
open(sys.argv[1], "wb").write(data)
