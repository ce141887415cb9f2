"""The runner of PyMongo's blocking client: a thread for each worker, one client for all of them."""

import signal
import sys
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NoReturn

import bson
import pymongo
from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import PyMongoError

import frames
from calls import Call, Misfit, Terms, call_of
from frames import Command, Done


class Worker:
    """What one thread of an application does: a command after the other."""

    def __init__(self, client: MongoClient[dict[str, Any]], answers: frames.Answers, sessions: frames.Sessions) -> None:
        self.commands: SimpleQueue[Command] = SimpleQueue()
        self._client = client
        self._answers = answers
        self._sessions = sessions
        self._session: ClientSession | None = None
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            command = self.commands.get()
            if not self._sessions.enters():
                return
            done, sent_ns, done_ns = self._perform(command)
            self._answers.reply(command.place, command.number, done, sent_ns, done_ns)
            self._sessions.leave()

    def _perform(self, command: Command) -> tuple[Done, int, int]:
        name = next(iter(command.body))
        terms = Terms(command.body, name)
        try:
            if terms.ends is not None:
                call = self._end_of_transaction(terms.ends)
            else:
                call = call_of(self._client, command.body, name, terms)
                self._begin(terms)
            session = self._session if terms.is_inside else None
        except (Misfit, PyMongoError, TypeError, ValueError) as error:
            now_ns = time.monotonic_ns()
            return frames.done_of(error), now_ns, now_ns
        wait_ns = command.due_ns - time.monotonic_ns() if command.due_ns else 0
        if wait_ns > 0:
            time.sleep(wait_ns / 1e9)
        sent_ns = time.monotonic_ns()
        try:
            result = call.call(session)
            if call.brings == "cursor":
                result = list(result)
        except Exception as error:
            return frames.done_of(error), sent_ns, time.monotonic_ns()
        done_ns = time.monotonic_ns()
        return frames.brought(call, result, wants_documents=command.wants_documents), sent_ns, done_ns

    def _begin(self, terms: Terms) -> None:
        if not terms.begins:
            return
        if self._session is None:
            self._session = self._client.start_session()
            self._sessions.ids.append(self._session.session_id)
        if self._session.in_transaction:
            self._session.abort_transaction()
        self._session.start_transaction(read_concern=terms.read_concern)

    def _end_of_transaction(self, name: str) -> Call:
        session = self._session
        if session is None:
            raise Misfit(f"{name} without a transaction")
        if name == "commitTransaction":
            return Call(lambda _: session.commit_transaction(), lambda _: {"ok": 1})
        return Call(lambda _: self._abort(session), lambda _: {"ok": 1})

    def _abort(self, session: ClientSession) -> None:
        begun_ns = time.monotonic_ns()
        session.abort_transaction()
        self._sessions.require_answered(begun_ns)


def main() -> None:
    """Speaks with the engine until it says that it is enough, or is gone."""
    next_frame = frames.frames_of(sys.stdin.buffer)
    answers = frames.Answers(sys.stdout.fileno())
    kind, content = next_frame()
    settings = bson.decode(content)
    pool, collections = frames.PoolEvents(), frames.Collections()
    try:
        client: MongoClient[dict[str, Any]] = MongoClient(
            settings["uri"],
            event_listeners=[pool],
            socketTimeoutMS=settings["operation_timeout_ms"],
            tz_aware=True,
            datetime_conversion="DATETIME_AUTO",
        )
        client.admin.command("ping")
    except Exception as error:
        answers.send(frames.FAILED, frames.failed(error))
        frames.end()
    sessions = frames.Sessions(settings["operation_timeout_ms"])
    workers = [Worker(client, answers, sessions) for _ in range(settings["workers"])]
    signal.signal(signal.SIGTERM, _terminated)
    answers.send(frames.READY, frames.ready("pymongo"))
    try:
        while True:
            kind, content = next_frame()
            if kind == frames.COMMAND:
                command = Command(content)
                workers[command.place % len(workers)].commands.put(command)
            elif kind == frames.CLOCK:
                answers.send(frames.CLOCK_IS, content + time.monotonic_ns().to_bytes(8, "little"))
            elif kind == frames.USE:
                answers.send(frames.USED, frames.used(pool, collections))
            else:
                break
    except frames.Gone:
        _end_sessions(client, sessions)
    else:
        _end_sessions(client, sessions)
        client.close()
    frames.end()


def _terminated(*_: object) -> NoReturn:
    raise frames.Gone


def _end_sessions(client: MongoClient[dict[str, Any]], sessions: frames.Sessions) -> None:
    for wait_s in sessions.waits():
        time.sleep(wait_s)
    if sessions.ids:
        with suppress(PyMongoError), pymongo.timeout(sessions.END_WITHIN_S):
            client.admin.command("killSessions", sessions.ids)


if __name__ == "__main__":
    try:
        main()
    except frames.Gone:
        frames.end()
