"""Owns extractors: what is kept of a reply for later requests, as a step's `save` has it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.json_paths import dotted_jmes, dotted_path
from brimline.compat.jmeter.patterns import groups, literal, usable, with_one_group
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.variables import Variables

EXTRACTORS: Final = frozenset({"RegexExtractor", "JSONPostProcessor", "JMESPathExtractor", "BoundaryExtractor"})
_HEADER: Final = re.compile(r"\^?([A-Za-z][A-Za-z-]*): ?(.*)", re.DOTALL)
_TEMPLATE: Final = re.compile(r"\$(\d+)\$")
_AT_STEP: Final = "write save at the step"


@dataclass(frozen=True, slots=True)
class Save:
    """What is kept under a name of the workload; `form` is what stands behind it in `save`."""

    name: str
    form: Any


def saved_variables(plan: Element) -> list[str]:
    """The variables, by JMeter's names, that extractors of a plan set."""
    names: list[str] = []
    for each in plan.everything():
        if each.kind in EXTRACTORS:
            names += [name for name in _names(each) if name not in names]
    return names


def _names(extractor: Element) -> list[str]:
    match extractor.kind:
        case "RegexExtractor":
            given = extractor.text("RegexExtractor.refname")
        case "BoundaryExtractor":
            given = extractor.text("BoundaryExtractor.refname")
        case "JMESPathExtractor":
            given = extractor.text("JMESExtractor.referenceName")
        case _:
            given = extractor.text("JSONPostProcessor.referenceNames")
    return [each.strip() for each in given.split(";") if each.strip()]


def saves_of(extractors: Iterable[Element], variables: Variables, remarks: Remarks) -> list[Save]:
    """What extractors keep, in the order of the plan."""
    found: list[Save] = []
    for extractor in extractors:
        match extractor.kind:
            case "RegexExtractor":
                found += _regular(extractor, variables, remarks)
            case "BoundaryExtractor":
                found += _between(extractor, variables, remarks)
            case "JMESPathExtractor" | "JSONPostProcessor":
                found += _json(extractor, variables, remarks)
    return found


def _regular(extractor: Element, variables: Variables, remarks: Remarks) -> list[Save]:
    def lose(why: str, instead: str = _AT_STEP) -> list[Save]:
        remarks.lose(extractor, why, instead)
        return []

    pattern = variables.constant(extractor.text("RegexExtractor.regex"))
    template = _TEMPLATE.fullmatch(extractor.text("RegexExtractor.template", "$1$").strip() or "$1$")
    if pattern is None or not usable(pattern):
        return lose("its pattern is not known beforehand, or has what there is none of, as looks ahead or back")
    if template is None:
        return lose("its template is more than one group", "save each group by an extractor of its own")
    if not _is_first(extractor, "RegexExtractor.match_number", variables, remarks):
        return lose("it takes another match than the first", "write a pattern that finds it first")
    name = _names(extractor)[:1]
    default = extractor.text("RegexExtractor.default")
    where = extractor.text("RegexExtractor.useHeaders", "false")
    if where == "true":
        header = _HEADER.fullmatch(pattern)
        rest = None if header is None else with_one_group(header[2], int(template[1]))
        if header is None or not rest or not usable(rest):
            return lose("its pattern does not begin with the name of one header", "write save: {name: headers.etag}")
        form = {"headers": header[1].lower(), "pattern": rest}
        return [_saved(each, form, default, variables) for each in name]
    if where not in ("false", "", "unescaped"):
        return lose("it looks at something else than body and headers")
    if (one := with_one_group(pattern, int(template[1]) if groups(pattern) else 0)) is None:
        return lose("its template names a group that the pattern doesn't have")
    return [_saved(each, {"text": one}, default, variables) for each in name]


def _between(extractor: Element, variables: Variables, remarks: Remarks) -> list[Save]:
    left = variables.constant(extractor.text("BoundaryExtractor.lboundary"))
    right = variables.constant(extractor.text("BoundaryExtractor.rboundary"))
    is_first = _is_first(extractor, "BoundaryExtractor.match_number", variables, remarks)
    if left is None or right is None or extractor.text("BoundaryExtractor.useHeaders", "false") not in ("false", ""):
        remarks.lose(extractor, "it looks elsewhere, or for what is not known beforehand", _AT_STEP)
        return []
    if not is_first:
        remarks.lose(extractor, "it takes another match than the first", "write a pattern that finds it first")
        return []
    end = literal(right) if right else r"\z"
    pattern = f"(?s){literal(left)}(.*?){end}"
    default = extractor.text("BoundaryExtractor.default")
    return [_saved(each, {"text": pattern}, default, variables) for each in _names(extractor)[:1]]


def _json(extractor: Element, variables: Variables, remarks: Remarks) -> list[Save]:
    is_jmes = extractor.kind == "JMESPathExtractor"
    prefix = "JMESExtractor" if is_jmes else "JSONPostProcessor"
    paths = extractor.text("JMESExtractor.jmesPathExpr" if is_jmes else "JSONPostProcessor.jsonPathExprs").split(";")
    defaults = extractor.text("JMESExtractor.defaultValue" if is_jmes else "JSONPostProcessor.defaultValues").split(";")
    if not _is_first(extractor, f"{prefix}.{'matchNumber' if is_jmes else 'match_numbers'}", variables, remarks):
        remarks.lose(
            extractor, "it takes several matches, or another than the first", "name the place: json.items.0.id"
        )
        return []
    found: list[Save] = []
    for place, name in enumerate(_names(extractor)):
        written = variables.constant(paths[place]) if place < len(paths) else None
        path = (dotted_jmes if is_jmes else dotted_path)(written or "")
        if path is None:
            remarks.lose(extractor, f"the path of {name} may lead to several places", "name the place: json.items.0.id")
            continue
        default = defaults[place] if place < len(defaults) else ""
        found.append(_saved(name, {"path": f"json.{path}" if path else "json"}, default, variables))
    return found


def _is_first(extractor: Element, property_name: str, variables: Variables, remarks: Remarks) -> bool:
    """Whether the first match is taken, or any one."""
    written = extractor.text(property_name)
    numbers = [variables.number(each) if each.strip() else 1 for each in written.split(";")]
    if 0 in numbers and extractor.kind != "JSONPostProcessor" and extractor.kind != "JMESPathExtractor":
        remarks.change(extractor, "takes the first match, and not one at random")
    return all(each in (0, 1) for each in numbers)


def _saved(variable: str, form: dict[str, str], default: str, variables: Variables) -> Save:
    known = variables.constant(default) if default else None
    if known:
        return Save(
            variables.will_save(variable),
            {**form, "default": known.replace("$", "$$", 1) if known[0] == "$" else known},
        )
    # Without a default an operation whose reply lacks it fails, where JMeter would send the name itself.
    return Save(variables.will_save(variable), form.get("path", form))
