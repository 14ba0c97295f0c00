"""Parquet files in pure Python: version 1 data pages, plain encoding, no compression, only the column types that benchmarks need."""
import array
import struct

MAGIC = b"PAR1"
ROWS_OF_PAGE = 65_536
# physical types and converted types of the format
INT32, DOUBLE, BYTE_ARRAY = 1, 5, 6
UTF8 = 0
# types of the thrift compact protocol
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def integer(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def text(value):
    value = value.encode()
    return varint(len(value)) + value


def structure(*fields):
    """A thrift structure of fields (number, type, encoded value) in the order of their numbers."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out += bytes([(number - last) << 4 | kind]) + value
        last = number
    return bytes(out) + b"\0"


def sequence(kind, values):
    header = bytes([len(values) << 4 | kind]) if len(values) < 15 else bytes([0xF0 | kind]) + varint(len(values))
    return header + b"".join(values)


def doubles(values):
    return array.array("d", values).tobytes()


def integers(values):
    return array.array("i", values).tobytes()


def strings(values):
    encoded = [value.encode() for value in values]
    return b"".join(struct.pack("<I", len(value)) + value for value in encoded)


class Writer:
    """Writer of one file. Rows come in blocks: `write(rows, {column: encoded values})`.

    columns: {name: "double", "integer" or "string"}. A column whose name is in `optional` may be entirely absent from a block (None).
    """

    KINDS = {"double": DOUBLE, "integer": INT32, "string": BYTE_ARRAY}

    def __init__(self, path, columns, optional=()):
        self.columns, self.optional = columns, set(optional)
        self.file = open(path, "wb")
        self.file.write(MAGIC)
        self.at, self.rows, self.groups = len(MAGIC), 0, []

    def write(self, rows, blocks):
        """Writes one row group of one page for each column. At most 65,536 rows keep pages small."""
        chunks, total = [], 0
        for name, kind in self.columns.items():
            values = blocks[name]
            levels = b""
            if name in self.optional:
                # one run of equal definition levels: 1 (present) or 0 (absent), with the length before it
                run = varint(rows << 1) + bytes([values is not None])
                levels = struct.pack("<I", len(run)) + run
            page = levels + (values or b"")
            # values, encoding plain, definition and repetition levels in the encoding RLE
            data = structure((1, I32, integer(rows)), (2, I32, integer(0)), (3, I32, integer(3)), (4, I32, integer(3)))
            size = integer(len(page))
            header = structure((1, I32, integer(0)), (2, I32, size), (3, I32, size), (5, STRUCT, data))
            start, length = self.at, len(header) + len(page)
            self.file.write(header)
            self.file.write(page)
            self.at += length
            total += length
            meta = structure(
                (1, I32, integer(self.KINDS[kind])),
                (2, LIST, sequence(I32, [integer(0), integer(3)])),
                (3, LIST, sequence(BINARY, [text(name)])),
                (4, I32, integer(0)),
                (5, I64, integer(rows)),
                (6, I64, integer(length)),
                (7, I64, integer(length)),
                (9, I64, integer(start)),
            )
            chunks.append(structure((2, I64, integer(start)), (3, STRUCT, meta)))
        self.groups.append(structure((1, LIST, sequence(STRUCT, chunks)), (2, I64, integer(total)), (3, I64, integer(rows))))
        self.rows += rows

    def close(self):
        schema = [structure((4, BINARY, text("schema")), (5, I32, integer(len(self.columns))))]
        for name, kind in self.columns.items():
            fields = [(1, I32, integer(self.KINDS[kind])), (3, I32, integer(int(name in self.optional))), (4, BINARY, text(name))]
            if kind == "string":
                fields.append((6, I32, integer(UTF8)))
            schema.append(structure(*fields))
        footer = structure(
            (1, I32, integer(1)),
            (2, LIST, sequence(STRUCT, schema)),
            (3, I64, integer(self.rows)),
            (4, LIST, sequence(STRUCT, self.groups)),
        )
        self.file.write(footer + struct.pack("<I", len(footer)) + MAGIC)
        self.file.close()
