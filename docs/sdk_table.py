"""Measures how the SDKs of OpenAI, Anthropic and Google react to each fault of the demo server, and
writes it into docs/testing-clients.md. Needs the extra "dev".

    .venv/bin/python docs/sdk_table.py
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import anthropic
import httpx
import openai
from anyio.from_thread import start_blocking_portal
from google import genai
from google.genai.types import HttpOptions

from ratatoskr._requests import Said, request_body
from ratatoskr.demo_server import PATHS, DemoServer, Script
from ratatoskr_proto import RatatoskrError, ServerError, Text
from ratatoskr_proto.dialects import DIALECTS
from ratatoskr_transports.httpx import stream_turn_sync

PAGE = Path(__file__).with_name("testing-clients.md")
START, END = "<!-- written by docs/sdk_table.py -->\n", "<!-- end -->\n"
TEXT = "Ratatoskr runs up and down the ash."
TIMEOUT = 1.0
FAULTS = (
    "ends-early",
    "cut-at-frame",
    "cut-in-frame",
    "reset",
    "stall",
    "error",
    "no-end-mark",
    "bad-json",
    "empty",
    "keepalive",
    "status=429",
    "status=503",
    "html",
)
MODELS = ("openai-chat", "openai-responses", "anthropic", "gemini")
ASKED = [{"role": "user", "content": "Hi"}]

Headers = dict[str, str]
Call = Callable[[str, Headers], Iterator[str]]
AsyncCall = Callable[[str, Headers], AsyncIterator[str]]


def openai_options(base_url: str, headers: Headers) -> dict:
    return {
        "base_url": f"{base_url}/v1",
        "api_key": "any",
        "default_headers": headers,
        "timeout": TIMEOUT,
        "max_retries": 0,
    }


def anthropic_options(base_url: str, headers: Headers) -> dict:
    return openai_options(base_url, headers) | {"base_url": base_url}


def google_client(base_url: str, headers: Headers) -> genai.Client:
    options = HttpOptions(base_url=base_url, headers=headers, timeout=int(TIMEOUT * 1000))
    return genai.Client(api_key="any", vertexai=False, http_options=options)


# Each yields the text of the answer, piece by piece; the helpers at once.


def chat(base_url: str, headers: Headers) -> Iterator[str]:
    with openai.OpenAI(**openai_options(base_url, headers)) as client:
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            yield chunk.choices[0].delta.content or ""


def chat_helper(base_url: str, headers: Headers) -> Iterator[str]:
    with (
        openai.OpenAI(**openai_options(base_url, headers)) as client,
        client.chat.completions.stream(model="m", messages=ASKED) as stream,
    ):
        yield stream.get_final_completion().choices[0].message.content or ""


def responses(base_url: str, headers: Headers) -> Iterator[str]:
    with openai.OpenAI(**openai_options(base_url, headers)) as client:
        for event in client.responses.create(model="m", input="Hi", stream=True):
            if event.type == "response.output_text.delta":
                yield event.delta


def responses_helper(base_url: str, headers: Headers) -> Iterator[str]:
    with (
        openai.OpenAI(**openai_options(base_url, headers)) as client,
        client.responses.stream(model="m", input="Hi") as stream,
    ):
        yield stream.get_final_response().output_text


def messages(base_url: str, headers: Headers) -> Iterator[str]:
    with anthropic.Anthropic(**anthropic_options(base_url, headers)) as client:
        asked = {"model": "m", "max_tokens": 100, "messages": ASKED}
        for event in client.messages.create(**asked, stream=True):
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                yield event.delta.text


def messages_helper(base_url: str, headers: Headers) -> Iterator[str]:
    with anthropic.Anthropic(**anthropic_options(base_url, headers)) as client:
        asked = {"model": "m", "max_tokens": 100, "messages": ASKED}
        with client.messages.stream(**asked) as stream:
            content = stream.get_final_message().content
            yield "".join(block.text for block in content if block.type == "text")


def gemini(base_url: str, headers: Headers) -> Iterator[str]:
    with google_client(base_url, headers) as client:
        for chunk in client.models.generate_content_stream(model="m", contents="Hi"):
            yield chunk.text or ""


# What is called, and its helper that gives the whole answer, if there is one.
CALLS: dict[str, tuple[Call, ...]] = {
    "openai, chat": (chat, chat_helper),
    "openai, responses": (responses, responses_helper),
    "anthropic": (messages, messages_helper),
    "google-genai": (gemini,),
}


async def chat_async(base_url: str, headers: Headers) -> AsyncIterator[str]:
    async with openai.AsyncOpenAI(**openai_options(base_url, headers)) as client:
        completions = client.chat.completions
        async for chunk in await completions.create(model="m", messages=ASKED, stream=True):
            yield chunk.choices[0].delta.content or ""


async def responses_async(base_url: str, headers: Headers) -> AsyncIterator[str]:
    async with openai.AsyncOpenAI(**openai_options(base_url, headers)) as client:
        async for event in await client.responses.create(model="m", input="Hi", stream=True):
            if event.type == "response.output_text.delta":
                yield event.delta


async def messages_async(base_url: str, headers: Headers) -> AsyncIterator[str]:
    async with anthropic.AsyncAnthropic(**anthropic_options(base_url, headers)) as client:
        asked = {"model": "m", "max_tokens": 100, "messages": ASKED}
        async for event in await client.messages.create(**asked, stream=True):
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                yield event.delta.text


async def gemini_async(base_url: str, headers: Headers) -> AsyncIterator[str]:
    async with google_client(base_url, headers).aio as client:
        async for chunk in await client.models.generate_content_stream(model="m", contents="Hi"):
            yield chunk.text or ""


ASYNC_CALLS: dict[str, AsyncCall] = {
    "openai, chat": chat_async,
    "openai, responses": responses_async,
    "anthropic": messages_async,
    "google-genai": gemini_async,
}


def outcome(call: Call, base_url: str, fault: str = "") -> str:
    """What a call makes of an answer: "whole", "a part, no error", or the name of the error."""
    text = ""
    try:
        for piece in call(base_url, {"X-Fault": fault} if fault else {}):
            text += piece
    except Exception as error:
        return error_name(error)
    return completeness(text)


async def async_outcome(call: AsyncCall, base_url: str, fault: str = "") -> str:
    """As ``outcome``."""
    text = ""
    try:
        async for piece in call(base_url, {"X-Fault": fault} if fault else {}):
            text += piece
    except Exception as error:
        return error_name(error)
    return completeness(text)


def completeness(text: str) -> str:
    if text == TEXT:
        return "whole"
    return "a part, no error" if text else "nothing, no error"


def error_name(error: Exception) -> str:
    """The name of the error, with its package if that is not the SDK's."""
    if "has no fault" in str(error):
        return "–"
    package = type(error).__module__.partition(".")[0]
    own = package in ("openai", "anthropic", "google", "ratatoskr_proto", "builtins")
    return f"`{'' if own else package + '.'}{type(error).__name__}`"


def ratatoskr_outcome(base_url: str, fault: str, dialect: str) -> str:
    """What our own transport makes of an answer."""
    text = ""
    try:
        with (
            httpx.Client(timeout=TIMEOUT, trust_env=False) as client,
            stream_turn_sync(
                client,
                base_url + PATHS[dialect],
                json=request_body(dialect, [Said("user", "Hi")]),
                headers={"X-Fault": fault},
                dialect=DIALECTS[dialect],
            ) as turn,
        ):
            for event in turn:
                if isinstance(event, Text):
                    text += event.text
    except RatatoskrError as error:
        return "–" if "has no fault" in getattr(error, "body", "") else error_name(error)
    return f"`{type(event).__name__}`" if isinstance(event, ServerError) else completeness(text)


def ratatoskr_cell(base_url: str, fault: str) -> str:
    """The outcome of our own transport, the same in each of these dialects that has the fault."""
    outcomes = {ratatoskr_outcome(base_url, fault, dialect) for dialect in MODELS}
    (one,) = outcomes - {"–"}
    return one


def cell(calls: tuple[Call, ...], base_url: str, fault: str) -> str:
    """The outcome of a call, and that of its helper if it is another one."""
    first, *helpers = [outcome(call, base_url, fault) for call in calls]
    return "; ".join([first, *(f"helper: {other}" for other in helpers if other != first)])


def versions() -> str:
    """Which SDKs were measured."""
    sdks = ("openai", "anthropic", "google-genai")
    return ", ".join(f"{sdk} {importlib.metadata.version(sdk)}" for sdk in sdks)


def measure() -> str:
    """The table."""
    rows = [["fault", *CALLS, "Ratatoskr"], ["---"] * (len(CALLS) + 2)]
    server = DemoServer(Script(text=TEXT))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(server.listening()) as base_url,
    ):
        for fault in FAULTS:
            cells = [cell(calls, base_url, fault) for calls in CALLS.values()]
            rows.append([f"`{fault}`", *cells, ratatoskr_cell(base_url, fault)])
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{table}\nMeasured with {versions()}; their retries are off.\n"


def split_page() -> tuple[str, str, str]:
    """The page before the table, the table, and the page after it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    table, _, after = rest.partition(END)
    return before, table, after


def main() -> None:
    before, _, after = split_page()
    PAGE.write_text(f"{before}{START}{measure()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
