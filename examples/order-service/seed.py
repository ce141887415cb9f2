"""Makes orders through the service and writes their ids: `python seed.py http://127.0.0.1:8080 --orders 1000`.

With the addresses of several services all of them have the same orders but for the time at which they were made, so
that one file of ids is right for each.

ids.csv has a header and an id a line. With `--header-as-row` the header stands once more as the first row, as a file
has it whose reader takes every line for an id: the order service then is asked for the order "id".
"""

import argparse
import csv
import http.client
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

_CLIENTS = 8
_ATTEMPTS = 100
"""With the ids of the field report's generator many a try fails."""


def main() -> None:
    """Makes the orders and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("uri", nargs="+")
    parser.add_argument("--orders", type=int, default=1000)
    parser.add_argument("--file", type=Path, default=Path(__file__).with_name("ids.csv"))
    parser.add_argument("--header-as-row", action="store_true")
    told = parser.parse_args()
    shares = [told.orders // _CLIENTS + (number < told.orders % _CLIENTS) for number in range(_CLIENTS)]
    with ThreadPoolExecutor(_CLIENTS) as clients:
        made = clients.map(lambda share: _made(told.uri, *share), enumerate(shares))
        ids = [order_id for of_client in made for order_id in of_client]
    with told.file.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows([["id"], *([["id"]] if told.header_as_row else []), *([order_id] for order_id in ids)])
    print(f"{len(ids)} orders; their ids are in {told.file}")


def _made(uris: list[str], seed: int, count: int) -> list[str]:
    """The ids of `count` new orders, which every service has. Raises RuntimeError when one refuses, or fails on."""
    draw = random.Random(seed)  # noqa: S311 (data of an example)
    ids = []
    with ExitStack() as opened:
        first, *others = (opened.enter_context(closing(_connection(uri))) for uri in uris)
        for _ in range(count):
            order = _order(draw)
            order_id = _sent(first, "POST", "/orders", order, draw)["id"]
            for other in others:
                _sent(other, "PUT", f"/orders/{order_id}", order, draw)
            ids.append(order_id)
    return ids


def _connection(uri: str) -> http.client.HTTPConnection:
    address = urlsplit(uri)
    return http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port or 80, timeout=30)


def _sent(
    connection: http.client.HTTPConnection, method: str, path: str, order: dict[str, object], draw: random.Random
) -> dict[str, str]:
    for _ in range(_ATTEMPTS):
        connection.request(method, path, json.dumps(order), {"content-type": "application/json"})
        reply = connection.getresponse()
        answer: dict[str, str] = json.loads(reply.read())
        if reply.status in (200, 201):
            return answer
        if reply.status < 500:
            break  # the next try would be answered the same
        time.sleep(0.005 * draw.random())
    raise RuntimeError(f"the service answers {reply.status}: {answer}")


def _order(draw: random.Random) -> dict[str, object]:
    items = [
        {"sku": f"sku-{draw.randrange(10_000):05}", "n": draw.randint(1, 5), "price_cents": draw.randint(99, 9_999)}
        for _ in range(draw.randint(1, 4))
    ]
    return {"customer": f"customer-{draw.randrange(100_000):06}", "items": items, "note": "x" * draw.randint(0, 200)}


if __name__ == "__main__":
    main()
