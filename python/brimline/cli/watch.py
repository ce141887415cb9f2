"""Owns `brimline watch`."""

from dataclasses import dataclass
from pathlib import Path

from brimline.api.options import Group, option
from brimline.api.watch import LISTEN_DEFAULT
from brimline.api.watch import watch as watch_api
from brimline.cli.grouped import grouped
from brimline.cli.left import Left, leaving
from brimline.cli.talk import say


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Group):
    """Where it listens, and who may ask."""

    listen: str = option("--listen", "HOST:PORT", "Address of this host to be asked at.", default=LISTEN_DEFAULT)
    token_file: Path | None = option(
        "--token-file", "FILE", "Token that who asks must know; or set BRIMLINE_WATCH_TOKEN. A must beyond loopback."
    )
    disk: str | None = option(
        "--disk", "DEVICE", "The disk with the server's data, such as sda; default: as the server says."
    )


@grouped
def watch(said: WatchOptions) -> int:
    """Tell a run elsewhere how this host, on which its server runs, is doing. Reads only; ends with Ctrl-C."""
    try:
        with leaving(), watch_api(said.listen, token_file=said.token_file, disk=said.disk, say=say) as server:
            server.serve_forever()
    except Left as left:
        return left.exit_code  # how one leaves it, so there is nothing to say
    return 0
