"""Owns the verb `watch`: telling, from a server's host, how that host is doing."""

from collections.abc import Callable
from pathlib import Path

from brimline.errors import UsageError
from brimline.monitor.host.asking import PORT_DEFAULT
from brimline.monitor.host.serving import HostReader, HostServer
from brimline.record import brimline_version
from brimline.servers.addresses import joined_address, names_loopback, read_address
from brimline.servers.password import watch_token

LISTEN_DEFAULT = f"127.0.0.1:{PORT_DEFAULT}"


def watch(
    listen: str = LISTEN_DEFAULT,
    *,
    token_file: Path | None = None,
    disk: str | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> HostServer:
    """Listens at `listen`, an address of this host and a port; `serve_forever` of what is returned answers.

    `disk`: the one with the server's data, else that is found by the server's own word. `say` is told where it listens.
    The token is that of `token_file`, else of BRIMLINE_WATCH_TOKEN.

    Raises:
        UsageError: the address can't be, nobody knows a token though other machines may ask, or there is no such disk.
        TargetError: nothing can listen there.
    """
    if (address := read_address(listen, port_min=0)) is None:
        raise UsageError(f"{listen} is no address to listen at", hint=f"write one like {LISTEN_DEFAULT}")
    host, port = address
    token = watch_token(token_file, option="--token-file")
    if not token and not names_loopback(host):
        raise UsageError(
            f"at {host} other machines may ask, and there is no token",
            hint="set BRIMLINE_WATCH_TOKEN or give --token-file FILE, on both sides; or listen on 127.0.0.1, "
            "behind a tunnel of your own",
        )
    if disk is not None and not (Path("/sys/class/block") / Path(disk).name).exists():
        raise UsageError(f"there is no disk {disk}", hint="name it as in /sys/class/block, such as sda or nvme0n1")
    reader = HostReader(disk=None if disk is None else Path(disk).name)
    server = HostServer((host, port), token=token, reader=reader, version=brimline_version())
    wanted = "a token is wanted" if token else "whoever is on this machine may ask"
    say(f"watching this host: asked at {joined_address(host, server.server_address[1])}, {wanted}")
    return server
