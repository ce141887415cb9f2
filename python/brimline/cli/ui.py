"""Owns `brimline ui`."""

import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import printing
from brimline.doctor.extras import UI
from brimline.errors import UsageError

PORT_DEFAULT = 8170
EXTRA = ("starlette", "uvicorn")


@grouped
def ui(
    output: Annotated[
        opt.OutputOptions, only("runs_dir", language="Language of the page; default: BRIMLINE_LANG, else en.")
    ],
    *,
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port; 0: any that is free.")] = PORT_DEFAULT,
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="ADDRESS",
            help="Address of this machine; any but loopback is reached by others, without TLS.",
        ),
    ] = "127.0.0.1",
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="NAME",
            help="Another name that this machine is reached by; repeatable.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Show the records as a page in the browser, start runs from it, and stop them."""
    require_extra()
    from brimline.cli.verb_forms import verb_forms
    from brimline.ui.guard import Access
    from brimline.ui.serve import serve
    from brimline.ui.shelf import Shelf

    access = Access(port=port, address=listen, names=tuple(host or ()))

    def opened(bound: Access) -> None:
        with printing():
            sys.stdout.write(f"{bound.url}\n")
        if not bound.is_loopback:
            sys.stderr.write("warning: others reach this address, and what is sent is not encrypted\n")

    serve(Shelf(output.runs_dir), access, forms=verb_forms(), language=output.language, opened=opened)
    return 0


def require_extra() -> None:
    """Raises UsageError where what the page is served by isn't installed."""
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"brimline ui needs {' and '.join(missing)}, not installed here",
            hint=UI.how,
        )
