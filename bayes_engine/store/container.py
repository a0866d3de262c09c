"""The container: JSON and raw arrays in one flat file, closed by its SHA-256. The format is in `bayes_engine.store`.
pickle and joblib run what a file says; NumPy's npz holds arrays only, and unpacks what it is given.

Nothing is compressed and nothing is named by a path, so no file can grow when it is read or lead out of itself. What is
read is bounded before it is read: the file by its size (`limit`), the header by its length and by its number of values,
both in proportion to that limit, an array by the bytes that are left for it. So what a file takes in memory is at most
its limit and a quarter of it, whatever it says; a file of many arrays needs a limit that many arrays would fill. Arrays
are views of the bytes that were read, without a copy, and read-only.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import BayesEngineError, StoreError
from bayes_engine.language import Message

Kind = Literal["model", "workspace", "statistics"]
Blob = bytes | NDArray[Any]

MAGIC = b"bayes\r\n\x1a"
"""The first eight bytes; the line end shows a file that was sent as text."""
VERSION = 1
ALIGNED = 64
"""Header and blobs begin at multiples of this."""
DIGEST = 32
MOST_BYTES = 96 * 2**20
"""The largest file that is read or written, unless told."""
MOST_HEADER = 8 * 2**20
MOST_VALUES = 250_000
"""Bytes and values of the header at most, up to that limit, and beyond it in proportion: a value takes up to 100 bytes
of memory, whatever it is and however few stand for it in the file."""
DEEPEST = 64
MOST_AXES = 32
DTYPES = ("|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
"""What an array may hold; no objects."""
BYTES = "bytes"
"""The dtype of a blob that is a memoryview, not an array."""


class Contents(NamedTuple):
    """What a file holds: `content` is plain JSON; of `blobs` the arrays are read-only, and bytes are a memoryview."""

    content: Any
    blobs: dict[str, memoryview | NDArray[Any]]


def pack(kind: Kind, content: Any, blobs: Mapping[str, Blob], *, limit: int = MOST_BYTES) -> bytes:
    """A file of this kind: `content`, any plain JSON value, and named `blobs`.

    Raises StoreError where something has no place in it, or the file would have more than `limit` bytes.

    >>> data = pack("workspace", {"page": "start"}, {"file": b"a,b", "counts": np.array([1.0, 2.0])})
    >>> content, blobs = unpack(data, "workspace")
    >>> content, bytes(blobs["file"]), blobs["counts"].tolist()
    ({'page': 'start'}, b'a,b', [1.0, 2.0])
    """
    described: dict[str, Any] = {}
    parts: list[bytes | memoryview] = []
    for name, blob in blobs.items():
        described[name], raw = _described(name, blob)
        parts.append(raw)
    try:
        header = json.dumps({"kind": kind, "content": content, "blobs": described}, allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError("the content is no plain JSON: {reason}", reason=str(error)) from None
    header += b" " * (-(16 + len(header)) % ALIGNED)
    _bounded(header, limit)
    whole = 16 + len(header) + sum(len(raw) + -len(raw) % ALIGNED for raw in parts) + DIGEST
    if whole > limit:
        raise StoreError(
            "the file would have {size} bytes, and {limit} are the most; raise the limit, or save less",
            size=whole,
            limit=limit,
        )
    pieces: list[bytes | memoryview] = [MAGIC, VERSION.to_bytes(4, "little"), len(header).to_bytes(4, "little"), header]
    for raw in parts:
        pieces += [raw, bytes(-len(raw) % ALIGNED)]
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return b"".join([*pieces, digest.digest()])


def unpack(data: bytes, kind: Kind, *, limit: int = MOST_BYTES) -> Contents:
    """What a file of this kind holds; the inverse of `pack`.

    Raises StoreError, with the reason, on everything else: a file that is damaged, cut off, too large, too deep, of
    another kind or version, or that says one thing and holds another.

    >>> data = pack("model", [1, 2], {})
    >>> unpack(data, "model").content
    [1, 2]
    >>> unpack(data, "workspace")
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the file holds no workspace; a model is loaded where models are
    """
    _readable(len(data), limit)
    if data[: len(MAGIC)] != MAGIC:
        raise StoreError(
            "the format is not recognized: this is not a model or a workspace that was saved here; choose a saved file"
        )
    if len(data) < 16 + DIGEST:
        raise StoreError("the file is cut off: it has {size} bytes; copy it again", size=len(data))
    version = int.from_bytes(data[8:12], "little")
    if version != VERSION:
        raise StoreError(
            "the file has version {version} of the format, and this program reads version {known}; update the program",
            version=version,
            known=VERSION,
        )
    view = memoryview(data)
    if hashlib.sha256(view[:-DIGEST]).digest() != data[-DIGEST:]:
        raise StoreError("the file is damaged: its bytes do not have the SHA-256 that it ends with; copy it again")
    end = 16 + int.from_bytes(data[12:16], "little")
    if end > len(data) - DIGEST or end % ALIGNED or end - 16 > _most(limit)[0]:
        raise StoreError("the header cannot have the length that is stated: {size} bytes", size=end - 16)
    written_kind, content, described = _header(data[16:end], limit)
    if written_kind != kind:
        if kind == "model":
            raise StoreError("the file holds no model; a workspace is opened where workspaces are")
        if kind == "statistics":
            raise StoreError("the file holds no partial statistics, but a {kind}", kind=str(written_kind)[:80])
        raise StoreError("the file holds no workspace; a model is loaded where models are")
    return Contents(content, _blobs(view[end:-DIGEST], described))


@contextmanager
def damage_refused(held: Message) -> Iterator[None]:
    """Raises StoreError on whatever goes wrong while the content of a file is made into what it should hold.

    >>> with damage_refused(Message("a model")):
    ...     [][1]
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the file does not hold a model: its parts do not go together (IndexError)
    """
    try:
        yield
    except StoreError:
        raise
    except BayesEngineError as error:
        raise StoreError("the file does not hold {held}: {reason}", held=held, reason=error.message) from None
    except Exception as error:  # a hostile file may go wrong anywhere, and nowhere is it the caller's fault
        raise StoreError(
            "the file does not hold {held}: its parts do not go together ({reason})",
            held=held,
            reason=type(error).__name__,
        ) from error


def read_file(source: str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes], limit: int) -> bytes:
    """The bytes of a path, of an open file, or themselves; of more than `limit` not one is read.

    Raises StoreError where there is no such regular file, it is too large, or it grows meanwhile.

    >>> import io
    >>> read_file(io.BytesIO(b"a,b"), 10)
    b'a,b'
    >>> read_file(bytearray(b"a,b"), 10)
    b'a,b'
    """
    if isinstance(source, bytes):
        return source
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str | os.PathLike):
        try:
            status = Path(source).stat()
            if not stat.S_ISREG(status.st_mode):
                raise StoreError("'{path}' is not a file", path=str(source))
            _readable(status.st_size, limit)
            with Path(source).open("rb") as file:
                data = file.read(status.st_size + 1)  # memory is taken for all that is asked for
            _readable(len(data), limit)
            if len(data) > status.st_size:
                raise StoreError("'{path}' grows while it is read; try again", path=str(source))
            return data
        except StoreError:
            raise
        except (OSError, ValueError) as error:
            raise StoreError("'{path}' cannot be read: {reason}", path=str(source), reason=str(error)) from None
    return bytes(source.read(limit + 1))


def _readable(size: int, limit: int) -> None:
    if size > limit:
        raise StoreError(
            "the file has {size} bytes, and {limit} are the most that is read; raise the limit if you trust it",
            size=size,
            limit=limit,
        )


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path`, whole or not at all: beside it first, then in its place.

    Raises StoreError where that cannot be done; what stood there before stays then.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "x"
    ...     write_file(place, b"a,b")
    ...     place.read_bytes(), len(list(Path(folder).iterdir()))
    (b'a,b', 1)
    """
    place = Path(path)
    part = place.with_name(f".{place.name}.{token_hex(4)}.part")
    try:
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("'{path}' cannot be written: {reason}", path=str(path), reason=reason) from error


# blobs ----------------------------------------------------------------------------------------------------------------


def _described(name: str, blob: Blob) -> tuple[dict[str, Any], bytes | memoryview]:
    """What the header says of a blob, and its bytes."""
    if isinstance(blob, bytes):
        return {"dtype": BYTES, "shape": [len(blob)]}, blob
    dtype = np.dtype(blob.dtype).newbyteorder("<").str
    if dtype not in DTYPES:
        raise StoreError("'{name}' is an array of {dtype}, which is not stored", name=name, dtype=str(blob.dtype))
    dense = np.asarray(blob.copy(order="K"), dtype=dtype, order="K")
    # sums run along the memory, so its order travels too: a model that was loaded rounds as the one that was saved
    axes = sorted(range(dense.ndim), key=lambda a: (-dense.strides[a], a)) if dense.size else list(range(dense.ndim))
    turned = dense.transpose(axes)
    raw = np.ascontiguousarray(turned).reshape(-1).data.cast("B") if dense.size else b""
    header: dict[str, Any] = {"dtype": dtype, "shape": list(dense.shape)}
    if axes != sorted(axes):
        header["axes"] = axes
    return header, raw


def _blobs(body: memoryview, described: Any) -> dict[str, memoryview | NDArray[Any]]:
    """The blobs one after the other, each where the one before ends; they fill the body."""
    blobs: dict[str, memoryview | NDArray[Any]] = {}
    offset = 0
    for name, header in described.items():
        blobs[name], size = _blob(name, header, body[offset:])
        offset += size + -size % ALIGNED
    if offset != len(body):
        raise StoreError("the file holds {size} bytes, and its header states {said}", size=len(body), said=offset)
    return blobs


def _blob(name: str, header: Any, rest: memoryview) -> tuple[memoryview | NDArray[Any], int]:
    if not isinstance(header, dict) or not {"dtype", "shape"} <= header.keys() <= {"dtype", "shape", "axes"}:
        raise StoreError("'{name}' is not described as a blob is: dtype, shape, axes", name=name[:80])
    dtype, shape, axes = header["dtype"], header["shape"], header.get("axes", None)
    if dtype not in (*DTYPES, BYTES) or not isinstance(dtype, str):
        raise StoreError("'{name}' has the dtype {dtype}, which is not stored", name=name[:80], dtype=repr(dtype)[:40])
    whole = isinstance(shape, list) and all(type(n) is int and 0 <= n <= 2**48 for n in shape)
    if not whole or len(shape) > MOST_AXES or (dtype == BYTES and len(shape) != 1):
        raise StoreError("'{name}' has a shape that no array has", name=name[:80])
    axes = list(range(len(shape))) if axes is None else axes
    if not isinstance(axes, list) or sorted(map(str, axes)) != sorted(map(str, range(len(shape)))):
        raise StoreError("'{name}' has axes that are no order of its axes", name=name[:80])
    size = math.prod(shape) * (1 if dtype == BYTES else np.dtype(dtype).itemsize)
    if size > len(rest):
        raise StoreError(
            "'{name}' states a shape of {said} bytes, and {size} are left in the file",
            name=name[:80],
            said=size,
            size=len(rest),
        )
    if dtype == BYTES:
        return rest[:size], size
    if dtype == "|b1" and size and np.frombuffer(rest[:size], dtype=np.uint8).max() > 1:
        raise StoreError("'{name}' holds what is neither true nor false", name=name[:80])
    order = [int(a) for a in axes]
    flat = np.frombuffer(rest[:size], dtype=dtype) if size else np.empty(0, dtype=dtype)
    turned = flat.reshape([shape[a] for a in order]).transpose(np.argsort(order))
    return turned, size


# the header -----------------------------------------------------------------------------------------------------------


def _most(limit: int) -> tuple[int, int]:
    """Bytes and values that the header of a file may have of which `limit` bytes are read at most.

    >>> _most(MOST_BYTES), _most(1000), _most(4 * MOST_BYTES)
    ((8388608, 250000), (8388608, 250000), (33554432, 1000000))
    """
    limit = max(limit, MOST_BYTES)
    return MOST_HEADER * limit // MOST_BYTES, MOST_VALUES * limit // MOST_BYTES


def _bounded(header: bytes, limit: int) -> None:
    """Raises StoreError where a header is too long, or has too many values: every one stands behind one of these."""
    values = sum(header.count(mark) for mark in (b",", b":", b"[", b"{"))
    most, many = _most(limit)
    if len(header) > most or values > many:
        raise StoreError(
            "the header has {size} bytes and up to {values} values; {most} and {many} are the most",
            size=len(header),
            values=values,
            most=most,
            many=many,
        )


def _header(header: bytes, limit: int) -> tuple[Any, Any, dict[str, Any]]:
    """Kind, content and what is said of the blobs."""
    _bounded(header, limit)
    try:
        parsed = json.loads(header.decode("ascii"), object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        raise _too_deep() from None
    except StoreError:
        raise
    except ValueError:
        raise StoreError("the header is no JSON in ASCII") from None
    whole = isinstance(parsed, dict) and parsed.keys() == {"kind", "content", "blobs"}
    if not whole or not isinstance(parsed["blobs"], dict):
        raise StoreError("the header does not consist of kind, content and blobs")
    _shallow(parsed)
    return parsed["kind"], parsed["content"], parsed["blobs"]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        double = next(a for a, b in pairwise(sorted(name for name, _ in pairs)) if a == b)
        raise StoreError("the header says '{name}' twice", name=double[:80])
    return members


def _no_constant(word: str) -> Any:
    raise StoreError("the header holds {word}, which is no JSON", word=word)


def _shallow(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [v for parent in level for v in (parent.values() if isinstance(parent, dict) else parent)
                 if isinstance(v, dict | list)]  # fmt: skip
        if not level:
            return
    raise _too_deep()


def _too_deep() -> StoreError:
    return StoreError("the header is nested more than {deepest} deep", deepest=DEEPEST)
