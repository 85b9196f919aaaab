"""A zipped log (inspect's ``.eval``) -> the samples in it, one by one, each with the log's header.

Nothing is written to disk, no entry is read beyond its declared size, and entries that are out of proportion are
refused before they are read.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..errors import ReadError

__all__ = ["ZIP", "zipped_records"]

ZIP = b"PK\x03\x04"
_LARGEST = 512 << 20
_SMALL = 16 << 20  # what is no larger than this may be packed however tightly
_TIGHTEST = 200
_WHOLE = 1 << 30  # likewise for all samples together
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_HEADERS = ("header.json", "_journal/start.json")
_ZSTD = 93


def zipped_records(first: bytes, stream: BinaryIO) -> Iterator[tuple[str, Any]]:
    """The samples of a log as ``(name of the entry, {"header", "sample"} or the error)``.

    Args:
        first: what has been read of the stream.
        stream: the rest of it.
    """
    from ._document import parse_json

    try:
        file = stream if stream.seekable() else io.BytesIO(first + stream.read())
        archive = zipfile.ZipFile(file)
        packed = file.seek(0, io.SEEK_END)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        yield "", ReadError(f"not a zip archive, though it begins like one: {error}; it may be truncated")
        return
    names = [entry for entry in archive.infolist() if _SAMPLE.fullmatch(entry.filename)]
    unpacked = sum(entry.file_size for entry in names)
    if unpacked > _WHOLE and unpacked / packed > _TIGHTEST:
        # Entries that share their bytes make an archive of any size out of a small one.
        yield "", ReadError(f"the archive unpacks from {packed:,} to {unpacked:,} bytes, which looks like a zip bomb")
        return
    header: Any = None
    for name in _HEADERS:
        if header is None and name in archive.NameToInfo:
            try:
                header = parse_json(_content(archive, archive.NameToInfo[name]))
            except ReadError as error:
                yield name, error
    if not names and header is None:
        yield "", ReadError("a zip archive that holds no log of inspect; wanted header.json and samples/*.json in it")
    elif not names:
        yield "", {"header": header, "sample": None}
    for entry in sorted(names, key=lambda each: _numbers(each.filename)):
        try:
            yield entry.filename, {"header": header, "sample": parse_json(_content(archive, entry))}
        except ReadError as error:
            yield entry.filename, error


def _numbers(name: str) -> list[tuple[int, int, str]]:
    """Sorts ``samples/10_epoch_1.json`` behind ``samples/9_epoch_1.json``."""
    parts = re.split(r"(\d{1,18})", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    size, packed = entry.file_size, max(entry.compress_size, 1)
    if size > _LARGEST or (size > _SMALL and size / packed > _TIGHTEST):
        raise ReadError(
            f"the entry unpacks from {packed:,} to {size:,} bytes, which looks like a zip bomb; "
            f"unpack it by hand if it is what you want, and read the .json in it"
        )
    if entry.compress_type == _ZSTD and not _has_zstd():
        raise ReadError(
            "the entry is compressed by zstd, which Python's zipfile reads from version 3.14 on; "
            "use that, or convert the log to JSON (inspect log convert --to json)"
        )
    try:
        with archive.open(entry) as file:
            return file.read(size)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise ReadError(f"the entry cannot be unpacked: {error}") from error


def _has_zstd() -> bool:
    return hasattr(zipfile, "ZIP_ZSTANDARD")
