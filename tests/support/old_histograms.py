"""Owns histograms as every release of HdrHistogram encodes them, written from its published layout."""

import base64
import struct
import zlib
from collections.abc import Mapping

HEADER_WORDS = {"V0": 0x1C849308, "V1": 0x1C849301, "V2": 0x1C849303}


def encoded(
    counts: Mapping[int, int],
    *,
    version: str,
    compressed: bool,
    counter_bytes: int = 8,
    digits: int = 3,
    lowest: int = 1,
) -> str:
    """Base64 of a histogram with `counts` by value; values below 2 · 10^digits are exact in units of `lowest`."""
    array = [0] * (1 + max((index_of(value, digits, lowest) for value in counts), default=0))
    for value, count in counts.items():
        array[index_of(value, digits, lowest)] += count
    highest = 1 << 42
    if version == "V2":
        payload = b"".join(zigzag(each) for each in runs(array))
        size = 1
    else:
        size = counter_bytes
        payload = struct.pack(f">{len(array)}{ {2: 'h', 4: 'i', 8: 'q'}[size] }".replace(" ", ""), *array)
    cookie = HEADER_WORDS[version] | size << 4
    if version == "V0":
        plain = struct.pack(">iiqqq", cookie, digits, lowest, highest, sum(array)) + payload
    else:
        plain = struct.pack(">iiiiqqd", cookie, len(payload), 0, digits, lowest, highest, 1.0) + payload
    if not compressed:
        return base64.b64encode(plain).decode()
    deflated = zlib.compress(plain)
    return base64.b64encode(struct.pack(">ii", cookie + 1, len(deflated)) + deflated).decode()


def index_of(value: int, digits: int, lowest: int) -> int:
    """Where HdrHistogram counts a value: powers of two, each divided into as many steps as its digits need."""
    unit_bits = lowest.bit_length() - 1
    steps_bits = (2 * 10**digits - 1).bit_length() - 1
    value >>= unit_bits
    shift = max(value.bit_length() - steps_bits - 1, 0)
    return (shift << steps_bits) + (value >> shift)


def runs(array: list[int]) -> list[int]:
    """Counts, with zeros in a row as their negative number."""
    found: list[int] = []
    for count in array:
        if count == 0 and found and found[-1] < 0:
            found[-1] -= 1
        else:
            found.append(count if count else -1)
    return found


def zigzag(number: int) -> bytes:
    """Seven bits a byte, the lowest first; what is left behind eight of them in a ninth."""
    rest = (number << 1) ^ (number >> 63)
    rest &= (1 << 64) - 1
    found = bytearray()
    while rest >= 0x80 and len(found) < 8:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    found.append(rest & 0xFF)
    return bytes(found)
