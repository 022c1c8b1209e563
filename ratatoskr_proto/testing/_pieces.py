"""The pieces of which the strategies and ``check_decoder`` make streams."""

BOM = b"\xef\xbb\xbf"
LINE_ENDS = (b"\n", b"\r\n", b"\r")

# Lines that mean something, without their ends.
LINES = (
    *[b"data: a", b"data:b", b"data:  c", b"data", b"data:", b"data: \xc3\xa9\xf0\x9f\x8c\xb3"],
    *[b"id: 1", b"id:2", b"id", b"id:", b"event: x", b"event:y", b"event", b"retry: 5", b"retry:7"],
    *[b":", b": hi", b":data: a"],
)

# Lines that look as if they did, or that trip parsers.
ODD_LINES = (
    *[b"Data: a", b" data: a", b"data : a", b"data ", b"datas: a", b"a", b" ", b"\t", b"::"],
    *[b"data:\ta", b"data: a ", b"data: a:b", b"data::", b"data: data: a", b'{"a": 1}'],
    *[b"id: \0", b"id: 3\0", b"id:  ", b"data: \0", b"data\0: a", b"event: \0", b":\0"],
    *[b"retry", b"retry:", b"retry: x", b"retry: -1", b"retry: +5", b"retry: 1.5", b"retry: 5 "],
    *[b"retry: \xc2\xb2", b"retry: \xd9\xa3", b"retry: 1_0", b"retry: 0x10", b"retry: 007"],
    *[BOM, BOM + b"data: a", b"data:" + BOM, b"\xef", b"\xef\xbb", b"\xfe\xff"],
    *[b"data: \xff", b"data: \xe2\x82", b"data: \xed\xa0\x80", b"data: \xf0\x9f\x98", b"\xff: a"],
    *[b"data: \xc0\x8a", b"id: \xff", b"event: \xc3", b":\xff"],
    *["data: a\u2028b".encode(), "data: a\u2029".encode(), "data: a\x85b".encode(), b"data: a\x85"],
    *[
        b"data: a\x0bb",
        b"data: a\x0cb",
        b"data: a\x1cb",
        b"data: a\x1e",
        "\u2028".encode(),
        b"\x0c",
    ],
)

# Parts of lines, to be put together in any way.
FRAGMENTS = (
    *[b"data", b"id", b"event", b"retry", b":", b" ", b"a", b"7", b"\0", BOM, b"\xef", b"\xff"],
    *["é".encode(), "\u2028".encode(), "\x85".encode(), b"\xe2\x82", b"\n\n", b"\r\r", b"\r\n\r\n"],
)
