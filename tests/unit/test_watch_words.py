"""The words of `brimline watch` and of `--host-metrics`, and how the watcher is left."""

import signal

import pytest

from tests.support.command_line import CommandLine


def test_who_may_ask_must_know_a_token_beyond_this_machine(brimline_cli: CommandLine) -> None:
    brimline_cli.run("watch", "--listen", "0.0.0.0:0").check_error(2, "there is no token", "BRIMLINE_WATCH_TOKEN")
    brimline_cli.run("watch", "--listen", "here").check_error(2, "is no address to listen at")
    brimline_cli.run("watch", "--token-file", "nowhere").check_error(
        2, "token file nowhere can't be read", "--token-file"
    )


def test_a_token_has_no_word_of_its_own(brimline_cli: CommandLine) -> None:
    refused = brimline_cli.run("watch", "--token", "of-nobody")
    assert refused.exit_code == 2 and "of-nobody" not in refused.stderr
    assert "no such option: --token; possible options: --listen, --token-file\n" in refused.stderr


def test_a_token_that_can_not_be_sent_is_refused_by_both_sides(brimline_cli: CommandLine) -> None:
    """The reasons are in tests/unit/servers/test_watch_token.py; a run reads the token as a server is known."""
    bad = {"BRIMLINE_WATCH_TOKEN": "geheim密码"}
    refused = brimline_cli.run("watch", "--listen", "127.0.0.1:0", environment=bad)
    refused.check_error(2, "the token of BRIMLINE_WATCH_TOKEN has a character that is no printable ASCII")
    assert "geheim" not in refused.stderr


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_is_left_by_a_signal_without_a_word(
    brimline_cli: CommandLine, number: signal.Signals, exit_code: int
) -> None:
    running = brimline_cli.start("watch", "--listen", "127.0.0.1:0")
    assert running.process.stderr is not None
    said = running.process.stderr.readline()
    assert "watching this host: asked at 127.0.0.1:" in said
    running.send(number)
    outcome = running.end(timeout_s=10)
    assert (outcome.exit_code, outcome.stdout, outcome.stderr.replace(said, "")) == (exit_code, "", "")


def test_what_says_nothing_of_a_host_is_refused(brimline_cli: CommandLine) -> None:
    words = ("run", "ycsb-c", "--null")
    brimline_cli.run(*words, "--host-metrics", "db:27027").check_error(
        2, "--host-metrics and --null exclude each other"
    )
    brimline_cli.run("run", "ycsb-c", "--host-disk", "sda").check_error(2, "--host-disk has no effect without")
