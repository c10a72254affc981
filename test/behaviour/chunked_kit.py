# SPDX-License-Identifier: Apache-2.0
"""Layers with a table of contents, made from tars: eStargz and zstd:chunked, as their authors describe them."""
import gzip
import hashlib
import io
import json
import struct
import tarfile

CHUNK = 4 << 20


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def zstd_frame(data):
    """Not compressed: raw blocks (RFC 8878)."""
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    pieces = [data[i:i + (128 << 10)] for i in range(0, len(data), 128 << 10)] or [b""]
    for i, piece in enumerate(pieces):
        out += ((i + 1 == len(pieces)) | len(piece) << 3).to_bytes(3, "little") + piece
    return out


def skippable(data):
    return b"\x50\x2a\x4d\x18" + struct.pack("<I", len(data)) + data


def members(tar):
    """(name, offset of the content, size) of the files of a tar that have content, in its order."""
    with tarfile.open(fileobj=io.BytesIO(tar)) as t:
        return [(m.name, m.offset_data, m.size) for m in t if m.isreg() and m.size]


def estargz(tar, digests=None, table=None):
    """(blob, uncompressed tar, annotations): the table is an entry of the tar. digests: of files whose row shall lie; table: other JSON."""
    blob, at, entries = b"", 0, []
    for name, begin, size in members(tar):
        data = tar[begin:begin + size]
        for offset in range(0, size, CHUNK):
            blob += gzip.compress(tar[at:begin + offset], 6, mtime=0) if at < begin + offset else b""
            at = begin + offset
            row = {"name": name, "type": "chunk" if offset else "reg", "offset": len(blob), "chunkDigest": sha256(data[offset:offset + CHUNK])}
            row |= {"chunkOffset": offset} if offset else {"size": size, "digest": (digests or {}).get(name) or sha256(data)}
            row |= {"chunkSize": CHUNK} if size - offset >= CHUNK else {}
            entries.append(row)
    # The blocks of zeros at the end come after the table.
    with tarfile.open(fileobj=io.BytesIO(tar)) as t:
        end = max(m.offset_data + (m.size + 511) // 512 * 512 for m in t)
    blob += gzip.compress(tar[at:end], 6, mtime=0)
    table, out = table or json.dumps({"version": 1, "entries": entries}).encode(), io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        info = tarfile.TarInfo("stargz.index.json")
        info.size = len(table)
        t.addfile(info, io.BytesIO(table))
    place = len(blob)
    blob += gzip.compress(out.getvalue(), 6, mtime=0)
    blob += b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x1a\0SG\x16\0" + b"%016xSTARGZ" % place + b"\x01\0\0\xff\xff" + bytes(8)
    return blob, tar[:end] + out.getvalue(), {"containerd.io/snapshot/stargz/toc.digest": sha256(table)}


def zstd_chunked(tar, digests=None, table=None):
    blob, at, entries = b"", 0, []
    for name, begin, size in members(tar):
        data = tar[begin:begin + size]
        blob += zstd_frame(tar[at:begin])
        start = len(blob)
        blob += zstd_frame(data)
        entries.append({"name": name, "type": "reg", "size": size, "digest": (digests or {}).get(name) or sha256(data), "offset": start, "endOffset": len(blob)})
        at = begin + size
    blob += zstd_frame(tar[at:])
    table = table or json.dumps({"version": 1, "entries": entries}).encode()
    packed = zstd_frame(table)
    place = len(blob) + 8
    notes = {"io.github.containers.zstd-chunked.manifest-position": f"{place}:{len(packed)}:{len(table)}:1",
             "io.github.containers.zstd-chunked.manifest-checksum": sha256(packed)}
    footer = struct.pack("<7Q", place, len(packed), len(table), 1, 0, 0, 0) + b"GNUlInUx"
    return blob + skippable(packed) + skippable(footer), tar, notes
