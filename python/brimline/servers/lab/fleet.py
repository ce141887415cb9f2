"""Owns starting the server processes of a lab, side by side, and waiting until each listens on its port."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from brimline.errors import TargetError
from brimline.servers.bundled import MONGOD_LOG
from brimline.servers.deployment import split_address
from brimline.servers.failure import StartFailure, start_error, start_failure
from brimline.servers.lab import cpu_share, small_disk
from brimline.servers.lab.forwarding import forward
from brimline.servers.lab.network import Network
from brimline.servers.lab.ports import claim_port
from brimline.servers.lab.spec import LabSpec
from brimline.servers.lab.state import Lab, LabServer, directory_name, server_process
from brimline.servers.lab.wish import Wish
from brimline.servers.launch import Guardian, launch
from brimline.servers.listening import listens

_ATTEMPTS = 4
_LOOK_S = 0.05
_PING_S = 0.1


@dataclass(slots=True, kw_only=True)
class Fleet:
    """The servers of a lab that is being brought up. `guardians` holds every one that was started, dead ones too."""

    lab: Lab
    spec: LabSpec
    until: float
    meanwhile: Callable[[], None]
    say: Callable[[str], None] = lambda _: None
    guardians: list[Guardian] = field(default_factory=list)
    servers: list[LabServer] = field(default_factory=list)

    def start(self, wishes: Sequence[Wish]) -> list[LabServer]:
        """Starts servers side by side; all listen when it returns. One whose port is taken gets another.

        Raises TargetError when one ends or the deadline passes, with its last words; OSError.
        """
        pending = [(wish, *self._launch(wish)) for wish in wishes]
        started = []
        for wish, server, guardian in pending:
            for attempt in range(1, _ATTEMPTS + 1):
                failure = self._await_port(server, guardian)
                if failure is None:
                    break
                if not failure.port_was_taken or attempt == _ATTEMPTS:
                    raise start_error(failure, binary=wish.program, waited_s=0.0, cache_entry=wish.cache_entry)
                server, guardian = self._launch(wish)
            self._hold(server)
            started.append(self._at_its_distance(wish, server))
        self.servers += started
        return started

    def await_answer(self, server: LabServer, answers: Callable[[LabServer], bool]) -> None:
        """Waits until a server that listens answers. Raises TargetError when the deadline passes."""
        while not answers(server):
            self.meanwhile()
            if time.monotonic() > self.until:
                raise TargetError(
                    f"the server at {server.address} doesn't answer in time", hint="give a longer --deadline"
                )
            time.sleep(_PING_S)

    def _hold(self, server: LabServer) -> None:
        process = server_process(self.lab, server)
        if self.spec.cpu_share is not None and process is not None:
            cpu_share.hold(self.lab.directory, server=server.directory_name, pid=process.pid, share=self.spec.cpu_share)

    def _at_its_distance(self, wish: Wish, server: LabServer) -> LabServer:
        """The server as it is reached: through a forwarder, where connections of the lab's line come to it."""
        network, process = self.spec.network, server_process(self.lab, server)
        if network is None or process is None or not _is_on_the_line(wish, network):
            return server
        return forward(
            self.lab,
            server,
            network,
            pid=process.pid,
            guardians=self.guardians,
            until=self.until,
            meanwhile=self.meanwhile,
        )

    def _launch(self, wish: Wish) -> tuple[LabServer, Guardian]:
        port, directory = claim_port(self.lab.servers_directory, lambda port: directory_name(_address(port)))
        member = wish.member
        server = LabServer(
            address=_address(port),
            role=wish.role,
            set_name=wish.set_name,
            priority=None if member is None else member.priority,
            hidden=member is not None and member.hidden,
            delay_s=0 if member is None else member.delay_s,
        )
        (directory / "data").mkdir(mode=0o700)
        if self.spec.disk_bytes is not None:
            small_disk.mount(directory / "data", self.spec.disk_bytes)
        command, manner = wish.start(self.lab, directory, port)
        guardian = launch(command, directory=directory, manner=replace(manner, cpus=self.spec.cpus))
        self.guardians.append(guardian)
        return server, guardian

    def _await_port(self, server: LabServer, guardian: Guardian) -> StartFailure | None:
        """None when the process that was started listens; else why it ended."""
        port = split_address(server.address)[1]
        while True:
            process = server_process(self.lab, server)
            if process is not None and listens(process.pid, port):
                return None
            self.meanwhile()
            if guardian.poll() is not None:
                directory = self.lab.directory_of(server)
                return start_failure(
                    exit_code=guardian.returncode, log=directory / MONGOD_LOG, stderr=directory / "stderr"
                )
            if time.monotonic() > self.until:
                raise TargetError(
                    f"the {server.role} at {server.address} doesn't listen in time",
                    hint="the machine may be busy: give a longer --deadline",
                )
            time.sleep(_LOOK_S)


def _address(port: int) -> str:
    return f"127.0.0.1:{port}"


def _is_on_the_line(wish: Wish, network: Network) -> bool:
    """Whether connections that the line is for come to such a server."""
    if network.between == "members":
        return wish.set_name is not None
    return network.between == "all" or wish.serves_clients
