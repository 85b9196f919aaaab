"""Texts in, comparable texts and tokens out, in every script.

`normalize` makes two spellings of one text equal; `tokenize` cuts a text into the units that ROUGE and the
other overlap measures count. What a character becomes is decided once, when it is first met, and kept in a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from typing import Literal, TypeAlias
from unicodedata import category, decimal
from unicodedata import normalize as unicode_normalize

from ..errors import ConfigError

__all__ = [
    "CLUSTER",
    "FOLD",
    "FOLD_AND_SEPARATE",
    "NEEDS_CONTEXT",
    "RUN",
    "SINGLE",
    "TOKEN",
    "TOKENIZERS",
    "CharTable",
    "Tokenizer",
    "character_table",
    "composes",
    "lower_ascii",
    "normalize",
    "porter_stem",
    "require_text",
    "resolve_tokenizer",
    "separate",
    "tokenize",
]

Tokenizer: TypeAlias = Literal["unicode", "rouge-score", "adk"] | Callable[[str], list[str]]
"""A preset, or any function from a text to its tokens."""

# One character is one token: Han (radicals, 々, 〇 and numerals too), kana, Bopomofo, Yi, Tangut, Nushu. Hangul apart,
# because Korean does write spaces.
_HAN_AND_KANA = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff"
    "\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
)
_SINGLE = _HAN_AND_KANA + "\uac00-\ud7a3"
# Line-breaking class SA: no spaces between words, and marks that belong to the letter before them. Thai, Lao, Myanmar
# (three blocks), Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet.
_SOUTH_EAST_ASIAN = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
)  # fmt: skip
_CJK_RADICALS = range(0x2E80, 0x2FE0)
_JAMO_AFTER_JAMO = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))  # vowels and final consonants
# Deleted beside format characters: combining grapheme joiner, tatweel, keycap and other enclosing marks, variation
# selectors.
_IGNORED = frozenset(
    map(chr, (0x034F, 0x0640, *range(0x20DD, 0x20E5), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
CLUSTER = "\x1f"  # put before the first letter of a cluster; as white space it ends the token before
NEEDS_CONTEXT = "\x00"  # what the character becomes depends on its neighbours

SINGLE = re.compile(f"[{_SINGLE}]")
_spaceless = re.compile(f"[{_SINGLE}{_SOUTH_EAST_ASIAN}]")
TOKEN = re.compile(rf"[{_SINGLE}]|[^\s{_SINGLE}]+")
RUN = re.compile(rf"[^\s{_SINGLE}]+")
_cluster_and_more = re.compile(rf"{CLUSTER}([{_SOUTH_EAST_ASIAN}]++)(\S+)")
_south_east_asian = re.compile(f"[{_SOUTH_EAST_ASIAN}]")
_space_beside_spaceless = re.compile("(?<=[{0}]) | (?=[{0}])".format(_HAN_AND_KANA + _SOUTH_EAST_ASIAN))
_not_ascii = re.compile(r"[^\x00-\x7f]")
_dotted_i = re.compile("i\u0307+")


class CharTable(dict[int, str]):
    """A table for `str.translate` that works out what a character becomes when it first meets it."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        self._rule = rule

    def __missing__(self, code: int) -> str:
        value = self[code] = self._rule(chr(code))
        return value


def _fold_char(char: str) -> str:
    """Compatibility and case folded, ignorable characters gone, digits ASCII, U+2212 a minus."""
    folded = unicode_normalize("NFKC", unicode_normalize("NFKC", char).casefold())
    return "".join(map(_fold_folded, folded))


def _fold_folded(char: str) -> str:
    if char in _IGNORED:
        return ""
    if char == "\u2212":
        return "-"
    if char == "\u200b":  # zero width space separates words; every other format character is invisible inside one
        return " "
    match category(char):
        case "Cf":
            return ""
        case "Nd":
            return str(decimal(char))
    return char


def _separate_char(char: str) -> str:
    """A folded character as it stands among tokens: itself, the start of a cluster, or a space."""
    kind = category(char)
    if kind[0] not in "LNM":
        return char if ord(char) in _CJK_RADICALS or (kind == "Cn" and SINGLE.match(char)) else " "
    return CLUSTER + char if kind[0] != "M" and _south_east_asian.match(char) else char


def _fold_and_separate_char(char: str) -> str:
    """Both at once, for a character that no neighbour can change."""
    folded = _fold_char(char)
    if any(map(composes, folded)):
        return NEEDS_CONTEXT
    return folded.translate(_SEPARATE)


def composes(char: str) -> bool:
    """Whether a character can become one with the one before it.

    >>> composes("\u0301"), composes("a")
    (True, False)
    """
    return category(char)[0] == "M" or any(ord(char) in jamo for jamo in _JAMO_AFTER_JAMO)


FOLD = CharTable(_fold_char)
_SEPARATE = CharTable(_separate_char)
FOLD_AND_SEPARATE = CharTable(_fold_and_separate_char)


def _fold(text: str) -> str:
    text = unicode_normalize("NFC", unicode_normalize("NFC", text).translate(FOLD))
    # İ folds to i and a dot above; whoever writes Turkish means the i.
    return unicode_normalize("NFC", _dotted_i.sub("i", text)) if "i\u0307" in text else text


def separate(text: str) -> str:
    """The text folded, with white space between its tokens except beside those that are single characters."""
    if text.isascii() or _only_separators(text):
        return _separate_ascii(text)
    separated = text.translate(FOLD_AND_SEPARATE)
    if NEEDS_CONTEXT in separated:
        separated = _fold(text).translate(_SEPARATE)
    return _cluster_and_more.sub(_end_cluster, separated) if CLUSTER in separated else separated


# Bytes are translated ten times as fast as a `str`.
ASCII_TOKENS = bytes(ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else ord(" ") for byte in range(256))


def _separate_ascii(text: str) -> str:
    """Lower-case ASCII letters and digits; a space for every other character."""
    return text.encode("ascii", "replace").translate(ASCII_TOKENS).decode("ascii")


def _only_separators(text: str) -> bool:
    """Whether what is not ASCII all separates, as in English with typographic quotes."""
    return all(FOLD_AND_SEPARATE[ord(char[0])].isspace() for char in _not_ascii.finditer(text))


def _end_cluster(match: re.Match[str]) -> str:
    """Put a space where a cluster of a south-east Asian script ends and other letters follow without one."""
    cluster, more = match.groups()
    end = next((i for i, char in enumerate(more) if category(char)[0] != "M"), len(more))
    return f"{CLUSTER}{cluster}{more[:end]} {more[end:]}"


def require_text(value: object, name: str) -> str:
    """Give back what is text; refuse all else, naming the argument.

    Raises:
        TypeError: `value` is not a `str`.

    >>> require_text(b"abc", "actual")
    Traceback (most recent call last):
    TypeError: actual must be a str, not bytes: b'abc'
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}: {value!r:.60}")
    return value


def tokenize(text: str, *, stem: bool = False) -> list[str]:
    """Cut a text into the tokens that overlap measures count.

    ASCII text gives what rouge-score 0.1.2 gives: lower-case runs of letters and digits. Beyond ASCII, a token is
    one character of Han, kana, Bopomofo, Yi, Tangut, Nushu, one Hangul syllable, one letter of Thai, Lao, Myanmar or
    Khmer with its marks, else a whole run of letters, digits and marks. Case and compatibility forms are folded,
    invisible characters deleted, digits of every script become ASCII digits; all else separates.

    Args:
        text: any text; lone surrogates separate.
        stem: reduce English words of more than three letters to their Porter stem.

    Returns:
        The tokens in order; none for a text of punctuation, symbols or emoji only.

    Raises:
        TypeError: `text` is not a `str`.

    >>> tokenize("Calls get_weather: 3.14, 今天25℃, naïve ผมชื่อJohn")
    ['calls', 'get', 'weather', '3', '14', '今', '天', '25', 'c', 'naïve', 'ผ', 'ม', 'ชื่', 'อ', 'john']
    >>> tokenize("Running agents", stem=True)
    ['run', 'agent']
    """
    require_text(text, "text")
    separated = separate(text)
    tokens = separated.split() if text.isascii() else TOKEN.findall(separated)
    return [porter_stem(token) for token in tokens] if stem else tokens


def normalize(text: str, *, punctuation: Literal["keep", "edges"] = "keep") -> str:
    r"""Make equal what differs only in case, width, composition, white space or invisible characters.

    Compatibility forms and case are folded (ß is ss), format characters and variation selectors deleted, digits of
    every script become ASCII digits, U+2212 becomes a minus, white space is collapsed and dropped at the ends and
    beside Han, kana, Thai, Lao, Myanmar and Khmer. Accents, articles and, by default, punctuation stay: 3.14 never
    equals 314, nor -5 5. Compatibility folding has its price: 10⁵ becomes 105.

    Args:
        text: any text.
        punctuation: ``"edges"`` drops marks that stand at the edge of a word: quotes, brackets, commas, full stops,
            Markdown's asterisks. Marks inside a word or number (don't, 10:30, a/b), a sign or decimal point before a
            number, %, #, & and @, currency and mathematical symbols stay.

    Returns:
        The normalized text; normalizing it again gives it back.

    Raises:
        TypeError: `text` is not a `str`.
        ConfigError: `punctuation` is neither.

    >>> normalize("  Use Ｐｙｔｈｏｎ 3 \n in 北京 ， Straße")
    'use python 3 in北京, strasse'
    >>> normalize('"The answer is (−42)!"', punctuation="edges")
    'the answer is -42'
    """
    require_text(text, "text")
    if punctuation not in ("keep", "edges"):
        raise ConfigError(f"punctuation must be 'keep' or 'edges', not {punctuation!r}")
    folded = text.lower() if text.isascii() else _fold(text)
    if punctuation == "edges":
        folded = _marks.sub(_keep_inner_marks, folded)
    collapsed = " ".join(folded.split())
    return collapsed if collapsed.isascii() else _space_beside_spaceless.sub("", collapsed)


_marks = re.compile(r"(?:[^\w\s]|_)+")
_KEPT_MARKS = frozenset("%‰#&@")


def _keep_inner_marks(match: re.Match[str]) -> str:
    run, text = match[0], match.string
    vowel_signs = "".join(takewhile(_is_mark, run))  # `\w` leaves them out, but they belong to the word before
    marks = run[len(vowel_signs) :]
    before, after = (
        vowel_signs[-1:] or text[max(match.start() - 1, 0) : match.start()],
        text[match.end() : match.end() + 1],
    )
    if len(marks) == 1 and _joins(before) and _joins(after):
        return run
    edge = len(marks)  # from here on they belong to the number that follows: sign, currency, decimal point
    if after.isdigit():
        if marks.endswith(".") and not marks.endswith(".."):
            edge -= 1
        while edge and category(marks[edge - 1]) == "Sc":
            edge -= 1
        if edge and marks[edge - 1] == "-":
            edge -= 1
    return vowel_signs + "".join(" " if _droppable(char) else char for char in marks[:edge]) + marks[edge:]


def _is_mark(char: str) -> bool:
    return category(char)[0] == "M"


def _droppable(char: str) -> bool:
    return char == "`" or (category(char)[0] == "P" and char not in _KEPT_MARKS)


def _joins(char: str) -> bool:
    """Whether a punctuation mark between this character and another such is inside a word or number."""
    return bool(char) and (char.isalnum() or _is_mark(char)) and not _spaceless.match(char)


@cache
def _porter() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer  # 0.2 s, and only for who stems

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


def porter_stem(token: str) -> str:
    """The Porter stem of a token of ASCII letters and digits with more than three of them; others as they are.

    >>> porter_stem("flying"), porter_stem("été"), porter_stem("sky")
    ('fli', 'été', 'sky')
    """
    plain = len(token) > 3 and token.isascii() and token.isalnum() and token == token.lower()
    return _porter()(token) if plain else token


def _rouge_score_tokens(text: str) -> list[str]:
    """The tokens of rouge-score 0.1.2: whatever is not an ASCII letter or digit separates."""
    return _separate_ascii(text.lower()).split()


def _adk_char(char: str) -> str:
    mark = category(char)[0] == "M"
    if "\u4e00" <= char <= "\u9fff" or "\u3040" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7af":
        return f" {char} "
    if "\u0e00" <= char <= "\u0eff" or "\u1780" <= char <= "\u17ff" or "\u1000" <= char <= "\u109f":
        return char if mark else " " + char
    return char if mark or char.isalnum() else " "


_ADK = CharTable(_adk_char)


def _adk_tokens(text: str) -> list[str]:
    """The tokens of google-adk 2.13's `response_match_score`."""
    if text.isascii():
        return _separate_ascii(text).split()
    return unicode_normalize("NFKC", text).lower().translate(_ADK).split()


def _adk_char_alone(char: str) -> str:
    """What `_adk_tokens` makes of a character, in the notation of `separate`, where neighbours cannot change it."""
    folded = unicode_normalize("NFKC", char).lower()
    separated = folded.translate(_ADK)
    # Σ becomes σ or ς; and which characters are tokens by themselves is not quite the same here and there.
    if char == "Σ" or any(map(composes, folded)):
        return NEEDS_CONTEXT
    if separated == f" {folded} " and SINGLE.match(folded):
        return folded
    return NEEDS_CONTEXT if SINGLE.match(folded) else separated


_ADK_ALONE = CharTable(_adk_char_alone)


def character_table(tokens_of: Callable[[str], list[str]]) -> CharTable | None:
    """What a preset makes of each character by itself; ``None`` for other functions.

    >>> table = character_table(tokenize)
    >>> table[ord("É")], table[ord("、")], table[ord("中")], table[0x301] == NEEDS_CONTEXT
    ('é', ' ', '中', True)
    """
    if tokens_of is tokenize:
        return FOLD_AND_SEPARATE
    return _ADK_ALONE if tokens_of is _adk_tokens else None


def lower_ascii(text: str, tokens_of: Callable[[str], list[str]]) -> bytes | None:
    """The text as lower-case ASCII letters and digits and spaces, if a preset makes only that of it.

    >>> lower_ascii("Don’t!", tokenize), lower_ascii("Café", tokenize), lower_ascii("Café", TOKENIZERS["rouge-score"])
    (b'don t ', None, b'caf ')
    """
    if tokens_of is _rouge_score_tokens:
        text = text.lower()
    elif not (
        (tokens_of is tokenize and (text.isascii() or _only_separators(text)))
        or (tokens_of is _adk_tokens and text.isascii())
    ):
        return None
    return text.encode("ascii", "replace").translate(ASCII_TOKENS)


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "unicode": tokenize,
    "rouge-score": _rouge_score_tokens,
    "adk": _adk_tokens,
}
"""The presets: this library's, rouge-score 0.1.2's, and that of google-adk 2.13."""


def resolve_tokenizer(tokenizer: Tokenizer) -> Callable[[str], list[str]]:
    """The function that a preset names; a function stays as it is.

    Raises:
        ConfigError: there is no such preset.

    >>> resolve_tokenizer("rouge-score")("Café 3.5")
    ['caf', '3', '5']
    """
    if callable(tokenizer):
        return tokenizer
    try:
        return TOKENIZERS[tokenizer]
    except (KeyError, TypeError):
        names = ", ".join(map(repr, TOKENIZERS))
        raise ConfigError(f"tokenizer must be one of {names}, or a function, not {tokenizer!r}") from None
