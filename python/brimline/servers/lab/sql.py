"""Owns labs of one MariaDB or one PostgreSQL."""

from dataclasses import dataclass

from brimline.errors import TargetError
from brimline.servers.lab import access, mariadb, postgres
from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.recipe import Made, Recipe
from brimline.servers.lab.sql_access import answers, connection_string
from brimline.servers.sql_client import SqlError
from brimline.servers.sql_programs import SqlProgram
from brimline.servers.sql_reading import ConnectionLost


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRecipe(Recipe):
    """One server of `program`."""

    program: SqlProgram

    @property
    def described(self) -> str:
        """The program."""
        return self.program.described

    @property
    def version(self) -> str:
        """That of the program."""
        return self.program.version

    def make(self, fleet: Fleet) -> Made:
        """One server with a user and a database, both called brimline."""
        lab, system = fleet.lab, self.program.system
        (mariadb if system == "mariadb" else postgres).write_secrets(lab)
        wish = mariadb.MariaDbWish if system == "mariadb" else postgres.PostgresWish
        (server,) = fleet.start([wish(role=system, binary=self.program, spec=fleet.spec)])
        fleet.await_answer(server, lambda server: answers(lab, server))
        if system == "postgres":
            try:
                postgres.make_database(lab, server, self.program)
            except (TargetError, SqlError, ConnectionLost) as error:
                raise TargetError("the lab went away as soon as it was up", hint="try again") from error
        return Made(
            uris=(connection_string(lab, server, with_password=False),),
            uris_with_password=(connection_string(lab, server, with_password=True),),
            facts={"database": access.DATABASE},
        )
