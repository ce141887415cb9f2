"""Owns the pages: each a function of a request, its words by templates in the visitor's language."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from brimline.errors import BrimlineError, UsageError, redact_text
from brimline.report import said_in
from brimline.report.html import STYLE_FILE
from brimline.ui.forms import OWN_TEXT, TEXT_OF, VerbForm, filled
from brimline.ui.guard import FORM, Access
from brimline.ui.jobs import Job, Jobs
from brimline.ui.live import progress_of
from brimline.ui.shelf import Filter, Shelf, outcome_of
from brimline.ui.words import ended_words, line_of, progress_words
from brimline.wording import LANGUAGES

LANGUAGE_COOKIE: Final = "brimline-lang"
PAGE_SIZE: Final = 200
"""Records that are listed at once; a filter finds the others."""
REPORT_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""A report is a page of a stranger's: it may draw its charts and nothing else, without our cookie or our origin."""
_OWN_FILES: Final = Path(__file__).parent
_LOG: Final = logging.getLogger(__name__)
_HTML_LANGUAGES: Final = {"zh": "zh-CN"}


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages over a shelf. `language` is that of whoever asks for none."""

    shelf: Shelf
    access: Access
    forms: Sequence[VerbForm] = ()
    jobs: Jobs = field(default_factory=lambda: Jobs(Path("runs")))
    language: str = "en"

    def index(self, request: Request) -> Response:
        """What is running, and the list of records with its filters."""
        return self._page(request, "index.html.j2", **self._listed(request), **self._at_work(request))

    def rows(self, request: Request) -> Response:
        """The list alone, for the script."""
        return self._page(request, "rows.html.j2", **self._listed(request))

    def running(self, request: Request) -> Response:
        """What is running alone, for the script."""
        return self._page(request, "running.html.j2", **self._at_work(request))

    def record(self, request: Request) -> Response:
        """A record: its report in a frame, and what can be done with it."""
        name = str(request.path_params["name"])
        directory = self.shelf.find(name)
        entry = next(each for each in self.shelf.entries() if each.directory == directory)
        source = f"/records/{quote(name)}/report?{urlencode({'lang': self.language_of(request)})}"
        line = line_of(entry, self.language_of(request))
        return self._page(
            request, "record.html.j2", line=line, source=source, is_running=outcome_of(entry) == "running"
        )

    def report(self, request: Request) -> Response:
        """The report itself, for the frame."""
        return self._framed(request, partial(self.shelf.report, str(request.path_params["name"])))

    def compare(self, request: Request) -> Response:
        """Two records side by side, in a frame; the older one is A."""
        a, b = self._two(request)
        source = f"/compare/report?{urlencode({'a': a, 'b': b, 'lang': self.language_of(request)})}"
        return self._page(request, "compare.html.j2", a=a, b=b, source=source)

    def comparison(self, request: Request) -> Response:
        """The comparison itself, for the frame."""
        given = request.query_params
        return self._framed(request, partial(self.shelf.comparison, given.get("a", ""), given.get("b", "")))

    def _two(self, request: Request) -> tuple[str, str]:
        chosen = sorted(set(request.query_params.getlist("r")))
        if len(chosen) != 2:
            raise UsageError("two records are compared", hint="tick two in the list")
        for name in chosen:
            self.shelf.find(name)
        return chosen[0], chosen[1]

    def verbs(self, request: Request) -> Response:
        """What can be started."""
        return self._page(request, "verbs.html.j2", forms=self.forms)

    def form(self, request: Request) -> Response:
        """The form of a verb."""
        form = self._form(request)
        return self._page(request, "form.html.j2", form=form, own_text=OWN_TEXT, text_of=TEXT_OF)

    def start(self, request: Request) -> Response:
        """Starts what a form says, and goes to its page."""
        form = self._form(request)
        job = self.jobs.start(form, filled(form, request.scope[FORM]), language=self.language_of(request))
        return redirected(f"/jobs/{job.number}")

    def job(self, request: Request) -> Response:
        """What was started, as it goes on."""
        job = self.jobs.find(str(request.path_params["number"]))
        return self._page(request, "job.html.j2", job=job, **self._state(request, job))

    def job_state(self, request: Request) -> Response:
        """Its state alone, for the script."""
        job = self.jobs.find(str(request.path_params["number"]))
        return self._page(request, "state.html.j2", job=job, **self._state(request, job))

    def stop(self, request: Request) -> Response:
        """Stops it, and goes to its page."""
        job = self.jobs.find(str(request.path_params["number"]))
        self.jobs.stop(job)
        return redirected(f"/jobs/{job.number}")

    def _form(self, request: Request) -> VerbForm:
        asked = str(request.path_params["verb"])
        form = next((each for each in self.forms if each.name == asked), None)
        if form is None:
            raise UsageError("this can't be started from here", hint="go back to the list")
        return form

    def _state(self, request: Request, job: Job) -> dict[str, Any]:
        language, record = self.language_of(request), self._known_record(job)
        progress = progress_of(record) if record is not None and job.exit_code is None else None
        ended = ended_words(job.exit_code, language)
        return {
            "record": None if record is None else record.name,
            "progress": progress,
            "words": [] if progress is None else progress_words(progress, language),
            "ended": ended,
            "talk": job.talk,
        }

    def _known_record(self, job: Job) -> Path | None:
        """What a job writes or wrote, once it can be shown."""
        record = job.record()
        try:
            return None if record is None else self.shelf.find(record.name)
        except UsageError:
            return None

    def static(self, request: Request) -> Response:
        """The style sheet and the script, which say the same to everybody who is let in."""
        name = str(request.path_params["name"])
        kinds = {"ui.css": "text/css", "ui.js": "text/javascript"}
        if name not in kinds:
            raise UsageError("there is no such file", hint="go back to the list")
        return Response(_static(name), media_type=kinds[name])

    def failed(self, request: Request, error: Exception, *, framed: bool = False) -> Response:
        """What went wrong, as a page, or within the frame of one."""
        message, hint = "internal", None
        if isinstance(error, BrimlineError):
            message, hint = error.message, error.hint
        status = 404 if isinstance(error, UsageError) and request.method == "GET" else 400
        status = 500 if not isinstance(error, BrimlineError) else status
        said = {"message": redact_text(message), "hint": redact_text(hint or "")}
        return self._page(request, "error.html.j2", status=status, framed=framed, **said)

    def language_of(self, request: Request) -> str:
        """That which is asked for, or was asked for before."""
        asked = request.query_params.get("lang") or request.cookies.get(LANGUAGE_COOKIE, "")
        return asked if asked in LANGUAGES else self.language

    def _listed(self, request: Request) -> dict[str, Any]:
        given, language = request.query_params, self.language_of(request)
        wanted = Filter(kind=given.get("kind", ""), outcome=given.get("outcome", ""), text=given.get("text", "")[:200])
        every, chosen = self.shelf.entries(), self.shelf.entries(wanted)
        query = urlencode({"kind": wanted.kind, "outcome": wanted.outcome, "text": wanted.text})
        return {
            "wanted": wanted,
            "kinds": {each: said_in(language, each) for each in sorted({entry.kind for entry in every} - {""})},
            "outcomes": {each: said_in(language, each) for each in sorted({outcome_of(entry) for entry in every})},
            "lines": [line_of(entry, language) for entry in chosen[:PAGE_SIZE]],
            "more": max(0, len(chosen) - PAGE_SIZE),
            "count": len(every),
            "rows_source": f"/rows?{query}",
        }

    def _at_work(self, request: Request) -> dict[str, Any]:
        language = self.language_of(request)
        at_work = [job for job in self.jobs.all() if job.exit_code is None]
        started = {record: job for job in at_work if (record := job.record()) is not None}
        running = self.shelf.running()
        by_directory = {entry.directory: entry for entry in self.shelf.entries()}
        working = []
        for directory in running:
            if (entry := by_directory.get(directory)) is not None:
                progress = progress_of(directory)
                line = line_of(entry, language)
                working.append((line, progress_words(progress, language), progress.share, started.get(directory)))
        return {
            "working": working,
            "unrecorded": [job for job in at_work if not any(started.get(each) is job for each in running)],
            "ended": [
                (job, ended_words(job.exit_code, language)) for job in self.jobs.all() if job.exit_code is not None
            ],
        }

    def _framed(self, request: Request, make: Callable[[str], str]) -> Response:
        try:
            text = make(self.language_of(request))
        except Exception as error:
            if not isinstance(error, BrimlineError):
                _LOG.exception("a report could not be made")
            return self.failed(request, error, framed=True)
        return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})

    def _page(
        self, request: Request, template: str, *, status: int = 200, framed: bool = False, **values: Any
    ) -> Response:
        """A page of our own. In the frame of a report a page has its style with it: nothing is loaded there."""
        language = self.language_of(request)
        text = (
            _templates()
            .get_template(template)
            .render(
                access=self.access,
                said=partial(said_in, language),
                html_language=_HTML_LANGUAGES.get(language, language),
                language=language,
                other_language=self._in(request, "zh" if language == "en" else "en"),
                csrf=self.access.csrf,
                path=request.url.path,
                framed=framed,
                style=_static("ui.css").decode() if framed else "",
                **values,
            )
        )
        made = HTMLResponse(
            text, status_code=status, headers={"content-security-policy": REPORT_POLICY} if framed else None
        )
        if request.query_params.get("lang") in LANGUAGES:
            made.set_cookie(LANGUAGE_COOKIE, language, samesite="strict", httponly=True)
        return made

    def _in(self, request: Request, language: str) -> str:
        """The same page in another language."""
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
        return f"?{urlencode([*rest, ('lang', language)])}"


def redirected(place: str) -> Response:
    """To another page, after something was done."""
    return RedirectResponse(place, status_code=303)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("brimline.ui"), autoescape=True, undefined=jinja2.StrictUndefined
    )


@cache
def _static(name: str) -> bytes:
    own = (_OWN_FILES / "static" / name).read_bytes()
    return STYLE_FILE.read_bytes() + own if name == "ui.css" else own
