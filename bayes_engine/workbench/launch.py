"""The console command `bayes-workbench`: `streamlit run` on the app, from a checkout or from an installed wheel."""

from __future__ import annotations

import ctypes
import ipaddress
import os
import runpy
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any, NoReturn, TextIO

from bayes_engine.language import _, preferred, set_language
from bayes_engine.workbench import loading, private
from bayes_engine.workbench.front import Front
from bayes_engine.workbench.lessons.class_answers import CLASS
from bayes_engine.workbench.workers import pool

COMMANDS = ("fit", "classify", "evaluate")
"""What is done without the app, by `bayes_engine.workbench.command_line`."""
UNREAD = 141
"""The exit code where nobody reads any more: 128 and the number of SIGPIPE."""
CLASSROOM = "BAYES_WORKBENCH_CLASSROOM"
"""The environment variable that tells the app that it was started for a classroom."""
_PROBES = ("198.51.100.1", "10.255.255.254", "172.31.255.254", "192.168.255.254", "2001:db8::1")
"""Towards which the routing table is read: anywhere at all first (addresses of RFC 5737 and 3849, nobody's)."""
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""How glibc's `mallopt` calls the number of heaps, and the size from which an array has memory of its own."""
LARGE = 2**18
"""Bytes from which an array is large."""
FIRST_PAGE = 2.0
"""Seconds from the loading of the engine in which the first page is drawn."""
FIRST_PAGES = 15.0
"""Seconds in which a class has come that was told the address at once, and each of its first pages is drawn."""


def app_file() -> Path:
    """`app.py`: in the wheel under `_app`, in a checkout beside the package."""
    package = Path(__file__).parents[1]
    installed = package / "_app" / "app.py"
    return installed if installed.exists() else package.parent / "app.py"


def main() -> None:
    """Open the app; `--help` says how. Arguments that are not ours go to Streamlit
    (`bayes-workbench --server.port 8600`)."""
    copy_context().run(_open)  # the terminal's language is this command's alone


def _open() -> None:
    set_language(preferred(next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), None)))
    if sys.argv[1:] and sys.argv[1] in COMMANDS:
        one_heap()
        sys.exit(unless_unread(lambda: import_module("bayes_engine.workbench.command_line").run(sys.argv[1:])))
    if {"-h", "--help"} & set(sys.argv[1:]):
        if code := unless_unread(lambda: print(usage())):  # noqa: T201
            sys.exit(code)
        return
    if find_spec("streamlit") is None:
        sys.exit(_("The app needs its own packages: install them with  pip install 'bayes-engine[app]'"))
    asked, wanted, others = split(sys.argv[1:])
    address, flags = None, []
    if asked:
        address = classroom_address(wanted, others)
        flags = classroom_flags(address)
        os.environ[CLASSROOM] = "1"
    one_heap()
    ask_nobody()
    private.spare_the_first_run()
    put_in_front(address)
    sys.argv[:] = ["streamlit", "run", str(app_file()), *flags, *others]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def unless_unread(work: Callable[[], int | None]) -> int:
    """The exit code of `work`, 0 for None; 141, as of what SIGPIPE ends, where a pipe that is written to is closed
    (`| head`): nothing is said of that."""
    try:
        try:
            return work() or 0
        finally:  # also where it exits
            sys.stdout.flush()
            sys.stderr.flush()
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            _leave(stream)
        return UNREAD


def _leave(stream: TextIO) -> None:
    """What a closed pipe has not taken goes nowhere, or Python would try again as it ends."""
    try:
        stream.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def one_heap() -> None:
    """One heap for all threads, and memory of its own for every large array; to be called before the first thread.

    glibc gives threads heaps of their own, up to eight a processor, and learns to take large arrays from them as well.
    A session's runs and jobs are threads: it held twice what it needed, long after it had let go of it.
    """
    with suppress(TypeError, AttributeError, OSError):  # not glibc
        set_option = ctypes.CDLL(None).mallopt
        set_option(_ARENA_MAX, 1)
        set_option(_MMAP_THRESHOLD, LARGE)


def ask_nobody() -> None:
    """The app asks nobody in the internet for its own address. Streamlit does, waiting up to two seconds in which
    nobody is served, where it listens on every address and whenever a websocket names a foreign origin."""
    net_util: Any = import_module("streamlit.net_util")
    net_util.get_external_ip = lambda: None


def usage() -> str:
    """What the command takes."""
    return _(
        "bayes-workbench [--classroom [ADDRESS]] [options of Streamlit]\n"
        "bayes-workbench fit | classify | evaluate …\n\n"
        "Opens Bayes Workbench in the browser. As it stands it answers this computer only. The second form works on\n"
        "files of any size without the app; bayes-workbench fit --help says how, and so for the others.\n\n"
        "  --classroom            answer the local network too, and show the address and its QR code; the address is\n"
        "                         that of the network this computer reaches others by\n"
        "  --classroom ADDRESS    the same on another address of this computer\n"
        "  -h, --help             say this\n\n"
        "Everything else goes to Streamlit, for example --server.port 8600; `streamlit run --help` lists it all."
    )


def split(arguments: Sequence[str]) -> tuple[bool, str, list[str]]:
    """(whether a classroom is asked for, the address asked for or "", the arguments that are Streamlit's).

    >>> split(["--classroom", "192.168.0.7", "--server.port", "8600"])
    (True, '192.168.0.7', ['--server.port', '8600'])
    >>> split(["--server.port", "8600", "--classroom"])
    (True, '', ['--server.port', '8600'])
    """
    ours = ArgumentParser(add_help=False, allow_abbrev=False)
    ours.add_argument("--classroom", nargs="?", const="")
    known, others = ours.parse_known_args(arguments)
    return known.classroom is not None, known.classroom or "", others


# the classroom --------------------------------------------------------------------------------------------------------


def lan_addresses() -> list[str]:
    """The private addresses of this computer, that of the default route first. Nothing is sent: a datagram socket that
    is «connected» only looks up the route."""
    addresses: list[str] = []
    for address in _sources():
        one = ipaddress.ip_address(address)
        if one.is_private and not (one.is_loopback or one.is_link_local or one.is_unspecified):
            addresses.append(address)
    return list(dict.fromkeys(addresses))


def _sources() -> Iterator[str]:
    """The addresses this computer would send from, and those its own name stands for."""
    for probe in _PROBES:
        family = socket.AF_INET6 if ":" in probe else socket.AF_INET
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as route:
                route.connect((probe, 9))
                yield route.getsockname()[0]
        except OSError:  # no such network
            continue
    try:
        yield from socket.gethostbyname_ex(socket.gethostname())[2]
    except OSError:
        return


def classroom_address(wanted: str, others: Sequence[str]) -> str:
    """The address a classroom is bound to: the one `wanted`, or the first of the local network. Where there is none the
    command ends with a sentence."""
    if clash := next((word for word in others if word.startswith("--server.address")), None):
        _end(_("--classroom chooses the address itself: leave out {flag}, or write --classroom ADDRESS.").format(
            flag=clash.partition("=")[0]))  # fmt: skip
    if wanted:
        try:
            address = ipaddress.ip_address(wanted.strip("[]"))
            family = socket.AF_INET if address.version == 4 else socket.AF_INET6
            with socket.socket(family) as own:
                own.bind((str(address), 0))
        except (ValueError, OSError):
            address = None
        if address is None or address.is_unspecified or address.is_multicast:
            _end(_("'{address}' is not an address of this computer. Its addresses in local networks: {list}.").format(
                address=wanted, list=", ".join(lan_addresses()) or _("none")))  # fmt: skip
        return str(address)
    addresses = lan_addresses()
    if not addresses:
        _end(_("This computer has no address in a local network. Connect it to the classroom's network, or name its "
               "address: bayes-workbench --classroom ADDRESS"))  # fmt: skip
    return addresses[0]


def _end(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)  # noqa: T201
    sys.exit(2)


def classroom_flags(address: str) -> list[str]:
    """Streamlit's flags for a classroom: where to listen, which hosts to answer, and what to call itself. The rest of
    the shipped configuration stands.

    >>> classroom_flags("192.168.0.7")[:4]
    ['--server.address', '0.0.0.0', '--server.allowedHosts', '192.168.0.7']
    """
    one = ipaddress.ip_address(address)
    everywhere = one.version == 4 and not one.is_loopback  # so that this computer's own 127.0.0.1 answers as well
    flags = ["--server.address", "0.0.0.0" if everywhere else address]
    for host in dict.fromkeys([address, socket.gethostname(), "localhost", "127.0.0.1"]):
        flags += ["--server.allowedHosts", host]
    return [*flags, "--browser.serverAddress", _in_url(address), "--logger.hideWelcomeMessage", "true"]


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def announcement(url: str, other: Sequence[str] = (), key: str = "") -> str:
    """What the terminal says once the classroom is open: the address and its QR code, and the teacher's key."""
    import segno

    matrix = [list(row) for row in segno.make(url, micro=False, error="m").matrix_iter(border=2)]
    colours = ("\033[30;107m", "\033[0m") if sys.stdout.isatty() else ("", "")
    drawn = [
        colours[0] + "".join(" ▀▄█"[up + 2 * down] for up, down in zip(*pair, strict=True)) + colours[1]
        for pair in zip(matrix[::2], [*matrix[1::2], [0] * len(matrix[0])], strict=False)
    ]
    lines = [_("Bayes Workbench is open to the local network:"), "", f"  {url}", "", *drawn, ""]
    if other:
        lines.append(_("Other addresses of this computer: {list}; choose with --classroom ADDRESS.").format(
            list=", ".join(other)))  # fmt: skip
    if key:
        lines.append(_("Key of the teacher, for the menu «Teacher» of the app: {key}").format(key=key))
    return "\n".join([*lines, _("The button «Share» shows the QR code of what is on screen. End with Ctrl+C.")])


# in front of Streamlit ------------------------------------------------------------------------------------------------


def _open_further() -> None:
    """Start what the first page does not need."""
    loading.imported(*loading.OTHERS)
    pool.start()


def put_in_front(address: str | None) -> None:
    """Have every request go through a `Front`. Once it is open the engine is loaded, which takes as long as a browser
    needs for Streamlit's scripts, and a classroom's `address` is announced. The worker processes are started once a
    first page may have been drawn, or a class's, with which they would compete; until then jobs compute here."""

    def opened(where: Callable[[], tuple[str, int]]) -> None:
        later = Timer(FIRST_PAGE if address is None else FIRST_PAGES, _open_further)
        later.daemon = True
        loading.imported(loading.PAGES).add_done_callback(lambda _engine: later.start())
        if address is None:
            return
        scheme, port = where()
        url = f"{scheme}://{_in_url(address)}:{port}"
        others = [one for one in lan_addresses() if one != address]
        key = CLASS.new_key()
        try:
            print(announcement(url, others, key), flush=True)  # noqa: T201
        except UnicodeEncodeError:  # a terminal without block characters
            print(url, key, sep="\n", flush=True)  # noqa: T201

    pages = app_file().parent / "pages"
    private.wrap_application(lambda app, where: Front(app, address, partial(opened, where), pages))
