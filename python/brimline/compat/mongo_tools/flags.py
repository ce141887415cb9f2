"""Owns what flags of MongoDB's own tools would be here: all that they say of a server is in the connection string."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from brimline.errors import UsageError
from brimline.process_list import PASSWORD_VARIABLE

_ADDRESS: Final = "--uri mongodb://HOST:PORT"
_USER: Final = "the user is in the address: --uri mongodb://USER@HOST:PORT"
_LOGIN: Final = f"the password comes from --password-file FILE, {PASSWORD_VARIABLE} or a prompt"
_HINTS: Final[Mapping[str, str]] = {
    "-h": f"the server is {_ADDRESS}; -h alone, or --help, is the help",
    "--host": f"the server is {_ADDRESS}; members of a set are in it too: mongodb://A,B/?replicaSet=NAME",
    "--port": f"the port is in the address: {_ADDRESS}",
    "-u": _USER,
    "--username": _USER,
    "-p": _LOGIN,
    "--password": _LOGIN,
    "--config": f"there is no file of options; {_LOGIN}",
    "--sslPEMKeyPassword": "an encrypted key is not read: decrypt it, and give it as tlsCertificateKeyFile in --uri",
    "--sslCRLFile": "lists of revoked certificates are not read: leave it out",
    "--sslFIPSMode": "there is no FIPS mode: leave it out",
    "--awsSessionToken": "authentication is by SCRAM or X.509: see docs/reference/connection-strings.md",
    "--gssapiServiceName": "authentication is by SCRAM or X.509: see docs/reference/connection-strings.md",
    "--gssapiHostName": "authentication is by SCRAM or X.509: see docs/reference/connection-strings.md",
}
_OPTION_OF_ADDRESS: Final[Mapping[str, str]] = {
    "--authenticationDatabase": "authSource=NAME",
    "--authenticationMechanism": "authMechanism=NAME",
    "--ssl": "tls=true",
    "--tls": "tls=true",
    "--sslCAFile": "tlsCAFile=FILE",
    "--tlsCAFile": "tlsCAFile=FILE",
    "--sslPEMKeyFile": "tlsCertificateKeyFile=FILE",
    "--tlsCertificateKeyFile": "tlsCertificateKeyFile=FILE",
    "--sslAllowInvalidCertificates": "tlsAllowInvalidCertificates=true",
    "--sslAllowInvalidHostnames": "tlsAllowInvalidHostnames=true",
    "--tlsInsecure": "tlsInsecure=true",
    "--compressors": "compressors=NAME",
    "--readPreference": "readPreference=NAME",
    "--replicaSet": "replicaSet=NAME",
}
_LIKE_MONGO_TOOLS: Final = ("import", "stat")
"""Verbs that stand for a tool of MongoDB's, where `-h` takes a host."""
_LEVEL: Final = re.compile(r"^(--verbose|-v)=[0-9]{1,3}$")
_SCHEMES: Final = ("mongodb://", "mongodb+srv://")
FLAGS: Final = (*_HINTS, *_OPTION_OF_ADDRESS)


def hint_for(flag: str) -> str | None:
    """What `flag` would be here; None where it is none of those tools' flags about a server."""
    if (option := _OPTION_OF_ADDRESS.get(flag)) is not None:
        return f"it is an option of the address: --uri 'mongodb://HOST:PORT/?{option}'"
    return _HINTS.get(flag)


def refuse_host(verb: str | None, words: Sequence[str]) -> None:
    """Raises UsageError for `-h HOST`, which would print the help and do nothing."""
    if verb not in _LIKE_MONGO_TOOLS:
        return
    for word, after in zip(words, [*words[1:], "-"], strict=True):
        if (word == "-h" and not after.startswith("-")) or (word.startswith("-h") and word != "-h"):
            raise UsageError(f"-h takes no host in brimline {verb}", hint=_HINTS["-h"])


def without_levels(verb: str | None, words: Sequence[str]) -> list[str]:
    """The words without the level that mongoimport's `--verbose` may have: the record holds all of it at each."""
    return [_LEVEL.sub(r"\1", word) if verb == "import" else word for word in words]


def refuse_address(files: Sequence[str]) -> None:
    """Raises UsageError for a server's address among `files`, where mongoimport takes it; some hold a password."""
    if any(each.lower().startswith(_SCHEMES) for each in files):
        raise UsageError(
            "the address of a server stands where files do",
            hint="put --uri before it: brimline import --uri mongodb://HOST:PORT/DATABASE -c COLLECTION FILE",
        )
