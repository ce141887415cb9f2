"""Owns how the help of a verb is laid out. It knows no verb, so that to list them all is quick."""

from typing import Any

from typer.core import TyperCommand

_OWN = "Options"


class GroupedCommand(TyperCommand):
    """A verb whose help has a part for each group of options, in the order of the verb's parameters."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the parts."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], _OWN: []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                argument = each.param_type_name == "argument"
                panel = "Arguments" if argument else getattr(each, "rich_help_panel", None) or _OWN
                panels.setdefault(panel, []).append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
