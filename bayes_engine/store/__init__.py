"""Saving models and workspaces in one closed, documented file.

A file is flat, and nothing in it is compressed, named by a path, or run. Numbers are little-endian. Version 1:

    bytes 0–7     the magic: "bayes", carriage return, line feed, 0x1A
    bytes 8–11    the version of the format, an unsigned integer
    bytes 12–15   H, the length of the header in bytes, an unsigned integer
    bytes 16–     the header: JSON in ASCII, filled up with spaces so that 16 + H is a multiple of 64
    after it      the blobs, one after the other as the header names them, each filled up to a multiple of 64 bytes
    last 32       the SHA-256 of all bytes before them

The header is an object of exactly `kind` ("model", "workspace" or "statistics"), `content` (any JSON) and `blobs`: for
each by name its `dtype` ("bytes", or as NumPy writes it: |b1 |u1 |i1 <u2 <i2 <u4 <i4 <u8 <i8 <f4 <f8), its `shape`,
and, where its memory does not run in C order, the `axes` from the slowest to the fastest. Where a blob begins follows
from those before it; together they fill the file, so there is nothing else in it. No name stands twice in an object,
and NaN, Infinity and values nested more than 64 deep are no JSON here.

What the content of a model says is in `bayes_engine.store.values` (how a value is written) and
`bayes_engine.store.models` (what of each estimator travels); that of statistics is one record, the unfinished count of
`bayes_engine.stats.partial`. A parameter, or a field of a record, that is not in a file has its default; one that this
program does not know refuses the file.

To read an array without this program: skip to its blob, take `shape` reordered by `axes`, and turn the axes back.
"""

from bayes_engine.store.container import MOST_BYTES, Contents, pack, read_file, unpack, write_file
from bayes_engine.store.models import load_model, save_model

__all__ = ["MOST_BYTES", "Contents", "load_model", "pack", "read_file", "save_model", "unpack", "write_file"]
