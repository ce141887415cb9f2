"""Owns test plans of JMeter as text: elements with their properties and what stands below them."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_GUI_CLASSES = {
    "HeaderManager": "HeaderPanel",
    "CookieManager": "CookiePanel",
    "AuthManager": "AuthPanel",
    "ConfigTestElement": "HttpDefaultsGui",
}
"""By these JMeter tells which settings are about requests of HTTP."""
_TAGS = {bool: "boolProp", int: "intProp", str: "stringProp"}


def element(kind: str, name: str, properties: Mapping[str, Any], *below: str, enabled: bool = True) -> str:
    """An element and its tree, as JMeter 3 to 5 write them."""
    classes = {"guiclass": _GUI_CLASSES.get(kind, f"{kind}Gui"), "testclass": kind, "testname": name}
    attributes = " ".join(f"{each}={quoteattr(value)}" for each, value in classes.items())
    inner = "".join(_property(each, value) for each, value in properties.items())
    tree = "<hashTree>\n" + "".join(below) + "</hashTree>\n" if below else "<hashTree/>\n"
    return f'<{kind} {attributes} enabled="{str(enabled).lower()}">\n{inner}</{kind}>\n{tree}'


def _property(name: str, value: Any) -> str:
    named = f" name={quoteattr(name)}"
    if isinstance(value, Mapping):
        inner = "".join(_property(each, member) for each, member in value.items())
        kind = next(iter(value)).partition(".")[0]  # as properties are called by their class
        return f'<elementProp{named} elementType="{kind}">\n{inner}</elementProp>\n'
    if isinstance(value, list | tuple):
        members = "".join(_property(str(place), each) for place, each in enumerate(value))
        return f"<collectionProp{named}>\n{members}</collectionProp>\n"
    tag = _TAGS[type(value)]
    return f"<{tag}{named}>{escape(str(value).lower() if isinstance(value, bool) else str(value))}</{tag}>\n"


def plan_text(*below: str, variables: Mapping[str, str] | None = None, name: str = "Shop") -> str:
    """A whole file."""
    pairs = [{"Argument.name": each, "Argument.value": value} for each, value in (variables or {}).items()]
    plan = element("TestPlan", name, {"TestPlan.user_defined_variables": {"Arguments.arguments": pairs}}, *below)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">\n'
    return f"{head}<hashTree>\n{plan}</hashTree>\n</jmeterTestPlan>\n"


def group(
    *below: str,
    name: str = "Users",
    threads: Any = 2,
    loops: Any = 3,
    ramp_up: Any = 0,
    duration: Any = None,
    **more: Any,
) -> str:
    """A thread group; `loops` -1 is without an end."""
    properties = {
        "ThreadGroup.num_threads": threads,
        "ThreadGroup.ramp_time": ramp_up,
        "ThreadGroup.on_sample_error": "startnextloop",
        "ThreadGroup.main_controller": {"LoopController.loops": loops, "LoopController.continue_forever": False},
        "ThreadGroup.scheduler": duration is not None,
        **({} if duration is None else {"ThreadGroup.duration": duration}),
        **{f"ThreadGroup.{each}": value for each, value in more.items()},
    }
    return element("ThreadGroup", name, properties, *below)


def sampler(
    name: str = "Home",
    path: str = "/",
    *below: str,
    method: str = "GET",
    arguments: Sequence[tuple[str, str] | tuple[str, str, bool]] = (),
    body: str | None = None,
    domain: str = "127.0.0.1",
    port: Any = 8080,
    enabled: bool = True,
    **more: Any,
) -> str:
    """An HTTP request; an argument is encoded unless its third member says otherwise."""
    given = [
        {
            "HTTPArgument.always_encode": each[2] if len(each) > 2 else True,
            "Argument.name": each[0],
            "Argument.value": each[1],
        }
        for each in arguments
    ]
    if body is not None:
        given = [{"HTTPArgument.always_encode": False, "Argument.value": body}]
    properties = {
        **({} if body is None else {"HTTPSampler.postBodyRaw": True}),
        "HTTPsampler.Arguments": {"Arguments.arguments": given},
        "HTTPSampler.domain": domain,
        "HTTPSampler.port": str(port),
        "HTTPSampler.protocol": "",
        "HTTPSampler.path": path,
        "HTTPSampler.method": method,
        "HTTPSampler.follow_redirects": False,
        "HTTPSampler.use_keepalive": True,
        **{f"HTTPSampler.{each}": value for each, value in more.items()},
    }
    return element("HTTPSamplerProxy", name, properties, *below, enabled=enabled)


def headers(**values: str) -> str:
    """A header manager; "_" in a name is "-"."""
    pairs = [{"Header.name": name.replace("_", "-"), "Header.value": value} for name, value in values.items()]
    return element("HeaderManager", "Headers", {"HeaderManager.headers": pairs})


def controller(kind: str, *below: str, name: str = "", **properties: Any) -> str:
    """A controller, whose properties begin with its class."""
    prefix = {"InterleaveControl": "InterleaveControl"}.get(kind, kind)
    named = {f"{prefix}.{each}": value for each, value in properties.items()}
    return element(kind, name or kind, named, *below)
