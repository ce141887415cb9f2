"""Owns the verb `stat`: looking at a server again and again, as mongostat does."""

import os
from collections.abc import Callable, Iterator

from brimline.api.options import URI_VARIABLE, named_uri
from brimline.api.protocols import require_protocol
from brimline.compat.mongostat import StatInterval
from brimline.compat.mongostat.watching import intervals
from brimline.servers import PasswordSource

URI_DEFAULT = "mongodb://localhost:27017"


def stat(
    uri: str | None = None,
    *,
    password: PasswordSource | None = None,
    interval_s: float = 1.0,
    rows: int | None = None,
    notice: Callable[[str], None] = lambda _text: None,
) -> Iterator[StatInterval]:
    """What a server did, interval by interval, without an end or until there are `rows` of them.

    `uri` names the server, else BRIMLINE_URI, else the one at localhost:27017; it need not be a primary. A server that
    stops answering is waited for: `notice` is told so once, and once when it is back; intervals begin anew then.

    Raises:
        UsageError: the connection string can't be honoured.
        TargetError: nothing answers at the start, or the user may not see the server's state.
    """
    named = named_uri(uri, os.environ.get(URI_VARIABLE)) or URI_DEFAULT
    require_protocol("stat", named)
    yield from intervals(named, password=password, interval_s=interval_s, rows=rows, notice=notice)
