"""Owns how mongostat writes amounts for people: three figures and a letter, or plain bytes."""

_BYTE_LETTERS = ("B", "K", "M", "G")
_BIT_LETTERS = ("b", "k", "m", "g")
_FIGURES = 3


def bytes_text(size: int, *, human: bool) -> str:
    """Memory in steps of 1024: "2.50G", "140M"."""
    return _text(size, base=1024, letters=_BYTE_LETTERS) if human else str(size)


def bits_text(size: int, *, human: bool) -> str:
    """Traffic in steps of 1000: "111b", "44.8k", "1.14m". The letters say bits; the figures are bytes, as there."""
    return _text(size, base=1000, letters=_BIT_LETTERS) if human else str(size)


def _text(size: int, *, base: int, letters: tuple[str, ...]) -> str:
    amount, letter = float(size), 0
    while amount >= base and letter < len(letters) - 1:
        amount /= base
        letter += 1
    decimals = 0 if letter == 0 else max(0, _FIGURES - len(str(int(amount))))
    return f"{amount:.{decimals}f}{letters[letter]}"
