"""The runner of PyMongo's asynchronous client: a task for each worker, one client and one thread for all of them."""

import asyncio
import inspect
import os
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from typing import Any

import bson
import pymongo
from pymongo import AsyncMongoClient
from pymongo.asynchronous.client_session import AsyncClientSession
from pymongo.errors import PyMongoError

import frames
from calls import Call, Misfit, Terms, call_of
from frames import Command, Done

_CHUNK_BYTES = 1 << 16


class Worker:
    """What one task of an application does: a command after the other."""

    def __init__(
        self, client: AsyncMongoClient[dict[str, Any]], answers: frames.Answers, sessions: frames.Sessions
    ) -> None:
        self._commands: deque[Command] = deque()
        self._come = asyncio.Event()
        self._client = client
        self._answers = answers
        self._sessions = sessions
        self._session: AsyncClientSession | None = None
        self._task = asyncio.get_running_loop().create_task(self._work())

    def take(self, command: Command) -> None:
        """A further command, to be done after those that came before."""
        self._commands.append(command)
        self._come.set()

    async def _work(self) -> None:
        while True:
            while not self._commands:
                self._come.clear()
                await self._come.wait()
            command = self._commands.popleft()
            if not self._sessions.enters():
                return
            done, sent_ns, done_ns = await self._perform(command)
            self._answers.reply(command.place, command.number, done, sent_ns, done_ns)
            self._sessions.leave()

    async def _perform(self, command: Command) -> tuple[Done, int, int]:
        name = next(iter(command.body))
        terms = Terms(command.body, name)
        try:
            if terms.ends is not None:
                call = self._end_of_transaction(terms.ends)
            else:
                call = call_of(self._client, command.body, name, terms)
                await self._begin(terms)
            session = self._session if terms.is_inside else None
        except (Misfit, PyMongoError, TypeError, ValueError) as error:
            now_ns = time.monotonic_ns()
            return frames.done_of(error), now_ns, now_ns
        wait_ns = command.due_ns - time.monotonic_ns() if command.due_ns else 0
        if wait_ns > 0:
            await asyncio.sleep(wait_ns / 1e9)
        sent_ns = time.monotonic_ns()
        try:
            result = call.call(session)
            if inspect.isawaitable(result):
                result = await result
            if call.brings == "cursor":
                result = await result.to_list()
        except Exception as error:
            return frames.done_of(error), sent_ns, time.monotonic_ns()
        done_ns = time.monotonic_ns()
        return frames.brought(call, result, wants_documents=command.wants_documents), sent_ns, done_ns

    async def _begin(self, terms: Terms) -> None:
        if not terms.begins:
            return
        if self._session is None:
            self._session = self._client.start_session()
            self._sessions.ids.append(self._session.session_id)
        if self._session.in_transaction:
            await self._session.abort_transaction()
        await self._session.start_transaction(read_concern=terms.read_concern)

    def _end_of_transaction(self, name: str) -> Call:
        session = self._session
        if session is None:
            raise Misfit(f"{name} without a transaction")
        if name == "commitTransaction":
            return Call(lambda _: session.commit_transaction(), lambda _: {"ok": 1})
        return Call(lambda _: self._abort(session), lambda _: {"ok": 1})

    async def _abort(self, session: AsyncClientSession) -> None:
        begun_ns = time.monotonic_ns()
        await session.abort_transaction()
        self._sessions.require_answered(begun_ns)


class Connection:
    """Frames from the engine, as many as have come."""

    def __init__(self) -> None:
        self._arrived = bytearray()
        self._descriptor = sys.stdin.fileno()

    def frames(self) -> list[tuple[int, bytes]]:
        """Those that are whole, once something has come. Raises Gone."""
        chunk = os.read(self._descriptor, _CHUNK_BYTES)
        if not chunk:
            raise frames.Gone
        self._arrived += chunk
        whole: list[tuple[int, bytes]] = frames.split(self._arrived)
        return whole


async def main() -> None:
    """Speaks with the engine until it says that it is enough, or is gone."""
    connection = Connection()
    answers = frames.Answers(sys.stdout.fileno())
    loop = asyncio.get_running_loop()
    while not (first := connection.frames()):
        pass
    settings = bson.decode(first[0][1])
    pool, collections = frames.PoolEvents(), frames.Collections()
    try:
        client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
            settings["uri"],
            event_listeners=[pool],
            socketTimeoutMS=settings["operation_timeout_ms"],
            tz_aware=True,
            datetime_conversion="DATETIME_AUTO",
        )
        await client.admin.command("ping")
    except Exception as error:
        answers.send(frames.FAILED, frames.failed(error))
        frames.end()
    sessions = frames.Sessions(settings["operation_timeout_ms"])
    workers = [Worker(client, answers, sessions) for _ in range(settings["workers"])]
    closing, gone = asyncio.Event(), asyncio.Event()

    def leave() -> None:
        loop.remove_reader(sys.stdin.fileno())
        gone.set()
        closing.set()

    def follow() -> None:
        try:
            come = connection.frames()
        except frames.Gone:
            leave()
            return
        for kind, content in come:
            if kind == frames.COMMAND:
                command = Command(content)
                workers[command.place % len(workers)].take(command)
            elif kind == frames.CLOCK:
                answers.send(frames.CLOCK_IS, content + time.monotonic_ns().to_bytes(8, "little"))
            elif kind == frames.USE:
                answers.send(frames.USED, frames.used(pool, collections))
            else:
                closing.set()

    loop.add_reader(sys.stdin.fileno(), follow)
    loop.add_signal_handler(signal.SIGTERM, leave)
    answers.send(frames.READY, frames.ready("pymongo-async"))
    await closing.wait()
    for wait_s in sessions.waits():
        await asyncio.sleep(wait_s)
    if sessions.ids:
        with suppress(PyMongoError), pymongo.timeout(sessions.END_WITHIN_S):
            await client.admin.command("killSessions", sessions.ids)
    if not gone.is_set():
        await client.close()
    frames.end()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except frames.Gone:
        frames.end()
