"""What is kept from one start to the next: found as it was written, or made anew."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bayes_engine.workbench import font_parts, front, kept_files
from bayes_engine.workbench.skeleton import with_skeleton
from tests.conftest import finished

NAME = kept_files.name_of([b"source"])


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory, which does not exist yet."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bayes-workbench"


class Maker:
    """Counts how often it is asked."""

    def __init__(self, content: bytes = b"made") -> None:
        self.content, self.asked = content, 0

    def __call__(self, *_: object) -> bytes:
        self.asked += 1
        return self.content


def test_it_is_made_once_and_what_it_is_made_from_is_its_name(there: Path) -> None:
    make = Maker()
    assert [kept_files.kept(NAME, make) for _ in range(3)] == [b"made"] * 3 and make.asked == 1
    assert [file.name for file in there.iterdir()] == [NAME]
    assert kept_files.find(kept_files.name_of([b"another source"])) is None
    kept_files.keep(NAME, b"")
    assert kept_files.find(NAME) == b""


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:-1],
        lambda whole: whole + b"x",
        lambda whole: whole[:40] + b"x" + whole[41:],
        lambda whole: b"x" + whole[1:],
    ],
)
def test_what_is_damaged_is_made_anew(damage: Any, there: Path) -> None:
    kept_files.keep(NAME, b"content of many bytes")
    (there / NAME).write_bytes(damage((there / NAME).read_bytes()))
    assert kept_files.find(NAME) is None
    assert kept_files.kept(NAME, Maker(b"content of many bytes")) == b"content of many bytes"
    assert kept_files.find(NAME) == b"content of many bytes"


def test_a_file_under_another_s_name_is_not_taken(there: Path) -> None:
    kept_files.keep(NAME, b"made")
    other = kept_files.name_of([b"another source"])
    (there / NAME).rename(there / other)
    assert kept_files.find(other) is None


@pytest.mark.parametrize("refusal", ["read-only", "a file", "replaced by nobody"])
def test_where_nothing_can_be_kept_it_is_made_every_time(
    refusal: str, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    if refusal == "read-only":
        monkeypatch.setattr(kept_files.tempfile, "mkstemp", refuse)  # a test may run as root, who may do all
    elif refusal == "a file":
        there.parent.mkdir()
        there.write_text("in the way")
    else:
        monkeypatch.setattr(os, "replace", refuse)
    make = Maker()
    assert [kept_files.kept(NAME, make) for _ in range(2)] == [b"made"] * 2 and make.asked == 2
    assert not there.is_dir() or not [*there.iterdir()]


def test_a_user_without_a_home_has_nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert kept_files.kept(NAME, Maker()) == b"made" and kept_files.find(NAME) is None


@pytest.mark.slow
def test_two_starts_at_once_write_whole_files(there: Path) -> None:
    """Whoever reads meanwhile finds all of it or nothing."""
    content, wrong, done = bytes(range(256)) * 4000, [], threading.Event()

    def read() -> None:
        while not done.is_set():
            if kept_files.find(NAME) not in (None, content):
                wrong.append(1)
            if (there / NAME).exists() and len((there / NAME).read_bytes()) != len(content) + 32:
                wrong.append(2)

    def write() -> None:
        for _ in range(20):
            kept_files.keep(NAME, content)

    reader, writers = threading.Thread(target=read), [threading.Thread(target=write) for _ in range(2)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert not wrong and kept_files.find(NAME) == content and [file.name for file in there.iterdir()] == [NAME]


def test_the_oldest_go(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "MOST", 3)
    for k in range(5):
        kept_files.keep(name := kept_files.name_of([b"%d" % k]), b"")
        os.utime(there / name, (k, k))
    assert [kept_files.find(kept_files.name_of([b"%d" % k])) for k in range(5)] == [None, None, b"", b"", b""]


@pytest.mark.parametrize(
    ("platform", "environment", "where"),
    [
        ("linux", {"XDG_CACHE_HOME": "/fast"}, "/fast/bayes-workbench"),
        ("linux", {"XDG_CACHE_HOME": "here"}, "/me/.cache/bayes-workbench"),
        ("darwin", {}, "/me/Library/Caches/bayes-workbench"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/bayes-workbench"),
        ("win32", {"LOCALAPPDATA": ""}, "/me/AppData/Local/bayes-workbench"),
    ],
)
def test_every_system_has_its_place(
    platform: str, environment: dict[str, str], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/me"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert kept_files.folder() == Path(where)


# what the launcher keeps ----------------------------------------------------------------------------------------------


def look(before: front.Front) -> None:
    """In a thread of its own: in this one the browser's event loop may still be running."""
    with ThreadPoolExecutor(1) as thread:
        for name in before.fonts:
            thread.submit(asyncio.run, before._cut(name)).result()


def test_a_script_is_packed_at_the_first_start_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "a.js"
    script.write_text("let x = 1;" * 100)

    def packed(coding: str) -> bytes:
        return front._pack_once(*front._name_of_packed(script, coding), coding)

    first = packed("gzip")
    monkeypatch.setattr(front, "_pack", Maker(b"anew"))
    assert packed("gzip") == first
    assert packed("br") == b"anew"
    script.write_text("let x = 2;" * 100)
    assert packed("gzip") == b"anew"


def test_icons_are_looked_for_at_the_first_start_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.py").write_text("icon = 'home'")
    font = tmp_path / "MaterialSymbols.woff2"
    font.write_bytes(b"a font")
    make = Maker(b"a part")

    async def part(*_: object) -> bytes:
        return make()

    monkeypatch.setattr(front, "part_apart", part)
    monkeypatch.setattr(front, "LATER", 0.0)

    def started() -> dict[str, bytes]:
        before = front.Front(None, pages=tmp_path)  # type: ignore[arg-type]
        before.fonts, before.streamlit = {"font": font}, tmp_path
        look(before)
        return before.parts

    assert [started() for _ in range(2)] == [{"font": b"a part"}] * 2 and make.asked == 1
    (tmp_path / "page.py").write_text("icon = 'tune'")
    assert started() == {"font": b"a part"} and make.asked == 2


def test_a_classroom_has_those_fonts_cut_out_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That which the page names at once, another with the first who asks for it; nobody asks for the third."""
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text('<link rel="preload" href="./static/first.woff2">')
    cut: list[tuple[str, int]] = []

    async def part(font: Path, _streamlit: Path, _own: list[Path], aside: int) -> bytes:
        cut.append((font.name, aside))
        return font.read_bytes()

    async def started(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "lifespan.startup.complete"})

    async def sent(_event: Any) -> None:
        pass

    async def lesson() -> list[bytes]:
        before = front.Front(started, "127.0.0.2", pages=tmp_path)
        before.streamlit = tmp_path
        before.fonts = {f"static/{name}.woff2": tmp_path / f"{name}.woff2" for name in ("first", "second", "third")}
        for file in before.fonts.values():
            file.write_bytes(file.stem.encode())
        await before({"type": "lifespan"}, sent, sent)  # type: ignore[arg-type]
        await before.cutting["static/first.woff2"]
        assert cut == [("first.woff2", 0)]
        asked = ("static/second.woff2", "static/first.woff2", "static/second.woff2")
        return [await before._part(name) for name in asked]

    monkeypatch.setattr(front, "part_apart", part)
    assert finished(lesson()) == [b"second", b"first", b"second"]
    assert cut == [("first.woff2", 0), ("second.woff2", 0)]


@pytest.mark.slow
def test_where_no_part_can_be_made_nothing_is_kept(
    tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "LATER", 0.0)
    font = tmp_path / "MaterialSymbols.woff2"
    font.write_bytes(b"no font")
    before = front.Front(None)  # type: ignore[arg-type]
    before.fonts, before.streamlit = {"font": font}, tmp_path
    look(before)
    assert before.parts == {"font": b""} and not there.exists()


def test_a_process_that_cannot_be_started_or_fails_makes_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    assert finished(font_parts.part_apart(tmp_path / "font", tmp_path, [tmp_path], 10)) == b""
    monkeypatch.setattr(sys, "executable", program(tmp_path, "echo half\nexit 3"))
    assert finished(font_parts.part_apart(tmp_path / "font", tmp_path, [tmp_path], 10)) == b""


def test_a_server_that_ends_waits_for_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited until the process had ended, which gives way to all others: on a busy computer for minutes."""
    begun, whole = tmp_path / "begun", tmp_path / "whole"
    late = f"import time; open({str(begun)!r}, 'w').close(); time.sleep(30); open({str(whole)!r}, 'w').close()"
    monkeypatch.setattr(sys, "executable", program(tmp_path, f'exec "{sys.executable}" -c "{late}"'))

    async def ended_early() -> None:
        cutting = asyncio.create_task(font_parts.part_apart(tmp_path / "font", tmp_path, [tmp_path], 10))
        while not begun.exists():
            await asyncio.sleep(0.01)
        cutting.cancel()

    finished(ended_early())  # waits for the threads of the loop
    assert not whole.exists()


def program(folder: Path, commands: str) -> str:
    """A program of the shell."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{commands}\n")
    file.chmod(0o700)
    return str(file)


# what is needed soon --------------------------------------------------------------------------------------------------


def test_the_scripts_of_every_page_are_named_with_what_they_import(tmp_path: Path) -> None:
    folder = tmp_path / "static" / "js"
    folder.mkdir(parents=True)
    (tmp_path / "index.html").write_text('<script src="./static/js/index.a1.js"></script>')
    scripts = {"Html.b-2.js": 'import{a}from"./index.a1.js";import{b}from"./deep.c3.js";', "deep.c3.js":
               'import"./deeper.d4.js";import"./gone.js"', "deeper.d4.js": 'import"./deep.c3.js"',
               "index.a1.js": "", "Other.e5.js": ""}  # fmt: skip
    for name, code in scripts.items():
        (folder / name).write_text(code)
    soon = front._needed(folder)
    assert soon == ["static/js/Html.b-2.js", "static/js/deep.c3.js", "static/js/deeper.d4.js"]
    page = with_skeleton('<html lang="en"><head></head><body><div id="root"></div>', "en", soon)
    assert [page.index(name) for name in soon] == sorted(page.index(name) for name in soon)
    assert page.index(soon[-1]) < page.index("</head>")
