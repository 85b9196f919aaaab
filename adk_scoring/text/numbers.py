"""A text in, the numbers it states out, by value: 1,000 is 1000, (42)! is 42, 50% is not 50.

How a text is read, for every script's digits:

- A comma, an apostrophe or a narrow space between groups of three digits (Indian: of two, then three) separates
  thousands; a full stop between digits is a decimal point. Other commas separate numbers.
- A minus sign (also U+2212 and its wide forms) counts where it cannot be a hyphen or a range: -5, (-5), but not 3-5.
- Versions, dates and times are read as their parts: 1.2.3 as 1, 2 and 3, 2024-01-15 as 2024, 1 and 15, 10:30 as 10
  and 30.
- thousand, million, billion, trillion, 万 and 亿 multiply. k, M and other letters are units, which are not read,
  nor are powers in superscript and fractions like ½.
- Digits inside a name are not numbers (Python3, a1b2), except after a currency code (USD100) and in v2.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from unicodedata import category, decimal

from .tokens import CharTable, require_text

__all__ = ["Number", "missing_numbers", "numbers"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as a text states it.

    Attributes:
        value: the number before its unit.
        unit: ``"%"``, ``"‰"`` or ``""``.

    >>> Number(Decimal("50"), "%") == Number(Decimal("50.0"), "%")
    True
    """

    value: Decimal
    unit: Literal["", "%", "‰"] = ""

    def __str__(self) -> str:
        return f"{self.value:f}{self.unit}"


def _plain(char: str) -> str:
    return _PLAIN_FORMS.get(char) or (str(decimal(char)) if category(char) == "Nd" else char)


_PLAIN_FORMS = {
    **dict.fromkeys("\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\uff0c\u066c", ","),
    **dict.fromkeys("\uff0e\u066b", "."),
    **dict.fromkeys("\uff05\u066a\ufe6a", "%"),
    **dict.fromkeys("\u2019\uff07", "'"),
    **dict.fromkeys("\u00a0\u2009\u202f", "\u2009"),
}
_plain_forms = CharTable(_plain)

_SCALES = (
    {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
    | dict.fromkeys("万萬만", 4)
    | dict.fromkeys("亿億억", 8)
)
_number = re.compile(
    r"""
    (?: (?<! [a-z0-9_] ) | (?<= \b(?:usd|eur|gbp|jpy|cny|rmb|inr|krw|hkd|sgd|twd|aud|cad|chf) ) | (?<= \bv )
      | (?<= \dx ) (?<! \b0x ) )
    (?! 0x[0-9a-f] )
    (?: (?<! [\w.)\]] ) (?P<sign> -[$€£¥₹₩]? ) )?
    (?P<part> (?<= \d\. ) )?+                                                       # the 2 of 1.2.3
    (?P<digits>
        \d{1,3} (?P<group> [,'\u2009] ) \d{3} (?: (?P=group) \d{3} )* (?! \d )      # 1,000,000
      | \d{1,2} (?: ,\d\d )+ ,\d{3} (?! \d )                                        # 1,00,000
      | \d++
      | (?<! \d\. ) (?= \.\d )                                                      # .5
    )
    (?P<fraction> (?(part)(?!)) \.\d++ (?! \.\d ) )?
    (?P<exponent> e[+-]?\d{1,3} (?! [\w.] ) )?
    (?! (?! x\d ) [a-z_]{1,40} \d )                                                 # a1b2
    (?: [ \u2009]?
        (?: (?P<unit> %|‰ ) | (?P<percent> (?:percent|per\ cent)\b )
          | (?P<scale> (?:thousand|million|billion|trillion)\b | [万萬만亿億억] ) )
    )?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def numbers(text: str, *, percent_as_fraction: bool = False) -> list[Number]:
    """Find the numbers of a text, in order.

    Args:
        text: any text.
        percent_as_fraction: read 50% as 0.5; by default it is neither 50 nor 0.5.

    Returns:
        Every number with its exact value; numbers with equal value and unit are equal.

    Raises:
        TypeError: `text` is not a `str`.

    >>> [str(n) for n in numbers("From −5 to 1,000.50 in 2024-01-15: 50 % (3.14)! ٣٫٥ 1.2万")]
    ['-5', '1000.50', '2024', '1', '15', '50%', '3.14', '3.5', '12000']
    >>> numbers("50%", percent_as_fraction=True) == numbers("0.5")
    True
    """
    require_text(text, "text")
    found = []
    for match in _number.finditer(text.translate(_plain_forms)):
        digits = re.sub("[,'\u2009]", "", match["digits"]) + (match["fraction"] or "")
        exponent = int(match["exponent"][1:]) if match["exponent"] else 0
        if match["scale"]:
            exponent += _SCALES[match["scale"].lower()]
        unit: Literal["", "%", "‰"] = "%" if match["percent"] or match["unit"] == "%" else "‰" if match["unit"] else ""
        if percent_as_fraction and unit:
            exponent -= 2 if unit == "%" else 3
            unit = ""
        # Written out, because arithmetic would round to 28 digits.
        found.append(Number(Decimal(f"{'-' if match['sign'] else ''}{digits}E{exponent}"), unit))
    return found


def missing_numbers(actual: str, expected: str, *, percent_as_fraction: bool = False) -> list[Number]:
    """The numbers of the expected text that the actual one does not state, each once, in order.

    Args:
        actual: the answer.
        expected: the reference.
        percent_as_fraction: read 50% as 0.5.

    Raises:
        TypeError: an argument is not a `str`.

    >>> [str(n) for n in missing_numbers("It costs 900 dollars for 2.", "2 tickets: $1,000")]
    ['1000']
    >>> missing_numbers("The answer is (42)!", "42")
    []
    """
    require_text(actual, "actual")
    require_text(expected, "expected")
    stated = set(numbers(actual, percent_as_fraction=percent_as_fraction))
    wanted = dict.fromkeys(numbers(expected, percent_as_fraction=percent_as_fraction))
    return [number for number in wanted if number not in stated]
