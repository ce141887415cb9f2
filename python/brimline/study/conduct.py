"""Owns making the experiments of a study: in order, each once, on servers that are shared where the study says so."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from brimline.api.lab import lab
from brimline.api.options import DataOptions, ServerOptions
from brimline.api.options.group import declared
from brimline.api.resume import resuming_option
from brimline.errors import BrimlineError, Interrupted, UsageError
from brimline.record.files import is_there, make_directory
from brimline.record.layout import EXPERIMENT_FILE
from brimline.study.commands import file_words, with_files
from brimline.study.costs import StudyPlan, Verbs
from brimline.study.order_service import ORDERS, at_scale, fill_order_service
from brimline.study.spec import ExperimentSpec, LoadedStudy
from brimline.study.state import FILES, Ended, StudyDirectory

Say = Callable[[str], None]


def begin(study: LoadedStudy, plan: StudyPlan, *, runs_dir: Path) -> StudyDirectory:
    """The directory of a new study. Raises RecordError."""
    return StudyDirectory.begin(runs_dir, study, plan)


def conduct(directory: StudyDirectory, verbs: Verbs, *, say: Say) -> None:
    """Makes what of the study is not there yet. An experiment that fails is told in the document, and ends nothing.

    Raises Interrupted, with what goes on with it.
    """
    study = directory.study
    experiments = {each.name: each for each in study.spec.experiments}
    entries = directory.entries
    with _Servers(study, directory, say) as servers:
        for number, entry in enumerate(entries, start=1):
            if entry.lacks is not None or (entry.ended is not None and entry.ended.is_final):
                continue
            say(f"{number} of {len(entries)}: {entry.name}")
            experiment = experiments[entry.name]
            began = time.monotonic()
            try:
                server = servers.for_experiment(experiment)
                files = _made_files(study, directory, experiment, verbs)
            except BrimlineError as failed:
                error: BrimlineError | None = failed
            else:
                words = [*with_files(entry.words, {**files, **servers.folders}), *server]
                error = _made(directory, entry.name, words, verbs)
            took_s = time.monotonic() - began
            if isinstance(error, Interrupted):
                error.hint = f"what was measured is kept; brimline study run --resume {directory.path} goes on with it"
                raise error
            said = "" if error is None else error.message
            if said:
                say(f"{entry.name}: {said}")
            exit_code = 0 if error is None else int(error.exit_code)
            directory.note_end(entry.name, Ended(took_s=took_s, exit_code=exit_code, error=said))
    directory.drop_files()


def _made(directory: StudyDirectory, name: str, words: Sequence[str], verbs: Verbs) -> BrimlineError | None:
    """Makes an experiment, or goes on with it; its error, if it has one."""
    places = ["--runs-dir", str(directory.records(name)), "--quiet"]
    if (begun := directory.record(name)) is not None:
        if is_there(begun / EXPERIMENT_FILE):
            try:
                verbs.perform([*_of_surroundings(words), resuming_option(words[0]), str(begun), *places])
            except UsageError:
                pass  # what it needs is not the same any more, as a lab that is gone
            except BrimlineError as error:
                return error
            else:
                return None
        directory.put_aside(begun)
    try:
        verbs.perform([*words, *places])
    except BrimlineError as error:
        return error
    return None


def _of_surroundings(words: Sequence[str]) -> list[str]:
    """The verb, and what of its words says where it runs: the rest is as it was begun."""
    options = [option for group in (ServerOptions, DataOptions) for option in declared(group).values()]
    flags = {flag: option for option in options for flag in option.flags.split()}
    kept, rest = [words[0]], iter(words[1:])
    for word in rest:
        option = flags.get(word)
        if option is not None:
            kept += [word] if bool in option.types else [word, next(rest)]
    return kept


def _made_files(
    study: LoadedStudy, directory: StudyDirectory, experiment: ExperimentSpec, verbs: Verbs
) -> dict[str, Path]:
    """The files of rows that an experiment names, made where they are not there."""
    said, found = f"{experiment.workload} {experiment.options}", {}
    for name, file in study.spec.files.items():
        if f"{{{name}}}" not in said:
            continue
        found[name] = directory.file(name, file.format)
        if not directory.has_file(name):
            if not (directory.path / FILES).is_dir():
                make_directory(directory.path / FILES)
            verbs.perform((*file_words(study, file, directory.scale, found[name]), "--force"))
            directory.note_file(name)
    return found


class _Servers:
    """The servers that experiments share: each comes up when it is first asked for, and goes when another is.

    `folders`: of an order service that is up, where workloads for it and the ids of its orders are, by its name.
    """

    def __init__(self, study: LoadedStudy, directory: StudyDirectory, say: Say) -> None:
        self._study, self._directory, self._say = study, directory, say
        self._up, self._name, self._words = ExitStack(), "", list[str]()
        self.folders: dict[str, Path] = {}

    def for_experiment(self, experiment: ExperimentSpec) -> list[str]:
        """The options that name its server; none for one of its own. Raises BrimlineError."""
        if experiment.server is None:
            return []
        if experiment.server != self._name:
            self._up.close()
            self._name, self._words = "", []
            self._words = self._up.enter_context(self._brought_up(experiment.server))
            self._name = experiment.server
        return self._words

    @contextmanager
    def _brought_up(self, name: str) -> Iterator[list[str]]:
        said = dict(self._study.spec.servers[name])
        orders = said.pop(ORDERS, None)
        words = {option.replace("-", "_"): value for option, value in said.items()}
        self._say(f"server {name}")
        with lab(say=self._say, **words) as found:  # type: ignore[arg-type]
            if orders is not None:
                self.folders = {name: self._directory.folder(name)}
                fill_order_service(found.uris[0], self.folders[name], orders=at_scale(orders, self._directory.scale))
            speaks_http = found.uris[0].startswith("http")  # the password is that of the database behind it
            secret = None if speaks_http else found.password_file
            password = [] if secret is None else ["--password-file", str(secret)]
            yield ["--uri", ",".join(found.uris), *password]

    def __enter__(self) -> "_Servers":
        return self

    def __exit__(self, *_: object) -> None:
        self._up.close()
