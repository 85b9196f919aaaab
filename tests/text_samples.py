"""Texts for the property tests: words of many scripts and the characters that trip tokenizers."""

from __future__ import annotations

from hypothesis import strategies as st

_LATIN = "the running agents Runs 1990s don't 3.14 -5 get_weather $1,000.50 naïve café"
_EAST = "今天天气 很好， 𠮷野家 データ ﾃﾞｰﾀ か\u3099 が゙ 東京の 학교에 \u1112\u1161\u11ab ⼀ ⺀ 々〇 ー・"
_SOUTH = "ㄅㄆ ꀀ ＡＢＣ１２３ สวัสดี ผมชื่อJohn ๑๒๓ ฿500 น้ำ ສະບາຍດີ မင်္ဂလာပါ သွားeng សួស្តី नमस्ते हिन्दी १२३ বাংলা வணக்கம் Việt"
_WEST = "cafe\u0301 Straße ẞ İstanbul ısparta ΣΊΣΥΦΟΣ σίσυφος Привет Ёлка مَرْحَبًا ٣٫١٤ مـــرحبا می\u200cخواهم"
_SIGNS = "👍 👨\u200d👩\u200d👧 1️⃣ ❤️ 10⁵ ½ ℃ ㎏ Ⅳ 𝐀𝐁 − “quoted” … foo\u200bbar so\u00adft \ud800 \x00 \x1f a\u034f\u0301"
WORDS = f"{_LATIN} {_EAST} {_SOUTH} {_WEST} {_SIGNS}".split(" ")

scripts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
glued = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)
wild = st.text(st.characters(), max_size=20)
ascii_texts = st.text(st.characters(max_codepoint=127), max_size=60)
texts = st.one_of(scripts, glued, wild, ascii_texts)
lines = st.lists(texts, max_size=4).map("\n".join)
