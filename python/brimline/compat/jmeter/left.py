"""Owns what is said of elements that no part of the translation takes: why not, and what to do instead."""

from typing import Final

from brimline.compat.jmeter.assertions import ASSERTIONS
from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.extractors import EXTRACTORS
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.scope import is_step
from brimline.compat.jmeter.timers import OTHER_TIMERS, TIMERS

_TAKEN: Final = (
    EXTRACTORS | ASSERTIONS | TIMERS | {"HeaderManager", "CookieManager", "AuthManager", "Arguments", "CSVDataSet"}
)
_SCRIPT: Final = ("is a script", "write what it makes as values")
_EXPECT: Final = "write expect at the step"
_SAVE: Final = "write save at the step"
_OTHERS: Final = {
    **OTHER_TIMERS,
    "ConfigTestElement": ("is of another protocol than HTTP", "leave it out"),
    "CacheManager": ("nothing is cached, and every request is sent", "leave it out"),
    "DNSCacheManager": ("a name is looked up once", "give the address by --uri"),
    "KeystoreConfig": ("certificates of a client are those of the target", "give --tls-… of the target"),
    "CounterConfig": ("counts on its own", "write a value {add: [$index, 1]}"),
    "RandomVariableConfig": ("draws a variable", "write a value {kind: int, min: …, max: …}"),
    "UserParameters": ("has values by thread", "write them as a CSV file"),
    "DurationAssertion": ("limits the time of a reply", "write operation_timeout, after which an operation fails"),
    "SizeAssertion": ("limits the size of a reply", _EXPECT),
    "XPathAssertion": ("reads XML", _EXPECT),
    "XPath2Assertion": ("reads XML", _EXPECT),
    "XMLAssertion": ("reads XML", _EXPECT),
    "HTMLAssertion": ("reads HTML", _EXPECT),
    "MD5HexAssertion": ("compares a digest", _EXPECT),
    "CompareAssertion": ("compares replies with each other", _EXPECT),
    "JMESPathAssertion": ("has paths of JMESPath", "write expect: {json: {path: value}}"),
    "XPathExtractor": ("reads XML", _SAVE),
    "XPath2Extractor": ("reads XML", _SAVE),
    "HtmlExtractor": ("reads HTML by CSS", "write save: {name: {text: 'regular expression'}}"),
    "ResultCollector": (
        "keeps or shows results",
        "the report has them, and brimline report --format jtl",
    ),
    "Summariser": ("shows results", "the terminal and the report have them"),
    "BackendListener": ("sends results elsewhere", "brimline report --format json or csv writes them"),
    "ResultAction": ("acts on a failure", "read the report: a failed request ends its operation"),
    "AnchorModifier": ("follows links of the page before", "save the link, and send it"),
    "URLRewritingModifier": ("puts a session into links", "save the session, and send it"),
    "HTTPMirrorControl": ("is a server", "leave it out"),
    "ProxyControl": ("records a plan", "leave it out"),
}
_BY_ENDING: Final = (
    ("Config", ("is of another protocol than HTTP", "leave it out")),
    ("DataSource", ("is of another protocol than HTTP", "write a workload with protocol: sql")),
    ("Timer", ("is a timer of a plugin", "write a think_time")),
    ("Assertion", ("is an assertion that there is none of", _EXPECT)),
    ("Extractor", ("is an extractor that there is none of", _SAVE)),
    ("PostProcessor", _SCRIPT),
    ("PreProcessor", _SCRIPT),
    ("Listener", ("is a listener", "the report has the results")),
    ("Collector", ("is a listener", "the report has the results")),
    ("Visualizer", ("is a listener", "the report has the results")),
)


def tell_of_others(plan: Element, remarks: Remarks) -> None:
    """Says of each element that nothing else is said of, and that is not taken over, why not."""
    for each in plan.active():
        if is_step(each) and not each.kind.endswith("ThreadGroup"):
            remarks.lose(each, "stands in no thread group", "put it into one, or leave it out")
    for each in plan.everything():
        if is_step(each) or each.kind in _TAKEN or _is_http_defaults(each):
            continue
        why, instead = _OTHERS.get(each.kind) or _of_ending(each.kind)
        remarks.lose(each, why, instead)


def _is_http_defaults(element: Element) -> bool:
    return element.kind == "ConfigTestElement" and any(name.startswith("HTTPSampler.") for name in element.properties)


def _of_ending(kind: str) -> tuple[str, str]:
    if kind.startswith(("JSR223", "BeanShell", "BSF")):
        return _SCRIPT
    found = (words for ending, words in _BY_ENDING if kind.endswith(ending))
    return next(found, ("is no element that is known here", "leave it out, or write its part by hand"))
