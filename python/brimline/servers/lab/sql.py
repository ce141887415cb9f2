"""Owns labs of one MariaDB or one PostgreSQL."""

from dataclasses import dataclass

from pg8000.dbapi import Error as PostgresError

from brimline.errors import TargetError
from brimline.servers.lab import access, mariadb, postgres
from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.recipe import Made, Recipe
from brimline.servers.sql_programs import SqlProgram


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
        lab = fleet.lab
        is_mariadb = self.program.system == "mariadb"
        (mariadb if is_mariadb else postgres).write_secrets(lab)
        wish = (mariadb.MariaDbWish if is_mariadb else postgres.PostgresWish)(
            role=self.program.system, binary=self.program, spec=fleet.spec
        )
        (server,) = fleet.start([wish])
        answers = mariadb.answers if is_mariadb else postgres.answers
        fleet.await_answer(server, lambda server: answers(lab, server.address))
        if not is_mariadb:
            try:
                postgres.make_database(lab, server.address, self.program)
            except (PostgresError, OSError) as error:
                raise TargetError("the lab went away as soon as it was up", hint="try again") from error
        string = mariadb.connection_string if is_mariadb else postgres.connection_string
        uris = [string(lab, server.address, with_password=each) for each in (False, True)]
        return Made(uris=(uris[0],), uris_with_password=(uris[1],), facts={"database": access.DATABASE})
