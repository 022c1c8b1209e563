"""The SDKs of OpenAI, Anthropic and Google as clients of the demo server.

They take seconds to import, so the default run leaves them out.
"""

import importlib.util
from pathlib import Path

import anyio
import pytest
from support.demo import answering

from ratatoskr.demo_server import Script

SCRIPT = Path(__file__).parents[2] / "docs" / "sdk_table.py"


@pytest.fixture(scope="module")
def sdks():
    """What docs/sdk_table.py can do."""
    spec = importlib.util.spec_from_file_location("sdk_table", SCRIPT)
    sdk_table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sdk_table)
    return sdk_table


@pytest.mark.slow
def test_an_sdk_reads_it_as_its_own_server():
    import openai  # takes long, so it is not for every process that collects tests

    def ask(fault):
        options = {"api_key": "any", "max_retries": 0, "default_headers": fault}
        with openai.OpenAI(base_url=f"{base_url}/v1", **options) as client:
            asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
            chunks = client.chat.completions.create(**asked, stream=True)
            return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    with answering(Script(text="A squirrel.", reasoning="A squirrel?")) as base_url:
        assert ask({}) == "A squirrel."
        assert "A squirrel.".startswith(ask({"X-Fault": "ends-early"}))
        with pytest.raises(openai.BadRequestError, match="there is no fault 'nope'"):
            ask({"X-Fault": "nope"})


@pytest.mark.slow
def test_the_sdks_read_it_as_their_own_server(sdks):
    async def by_async_calls(base_url):
        return [await sdks.async_outcome(call, base_url) for call in sdks.ASYNC_CALLS.values()]

    with answering(Script(text=sdks.TEXT, reasoning="A squirrel?")) as base_url:
        calls = [call for calls in sdks.CALLS.values() for call in calls]
        assert [sdks.outcome(call, base_url) for call in calls] == ["whole"] * 7
        assert anyio.run(by_async_calls, base_url) == ["whole"] * 4
        for call in (sdks.chat, sdks.messages, sdks.gemini):
            assert sdks.outcome(call, base_url, "ends-early") == "a part, no error"


@pytest.mark.slow
def test_the_table_of_the_document_is_what_is_measured(sdks):
    table = sdks.split_page()[1]
    if sdks.versions() not in table:
        pytest.skip(f"the table has other versions than {sdks.versions()}")
    assert table == sdks.measure()


@pytest.mark.slow
def test_async_calls_have_the_outcomes_of_sync_ones(sdks):
    with answering(Script(text=sdks.TEXT)) as base_url:
        for fault in sdks.FAULTS:
            for (name, (call, *_)), other in zip(
                sdks.CALLS.items(), sdks.ASYNC_CALLS.values(), strict=True
            ):
                async_outcome = anyio.run(sdks.async_outcome, other, base_url, fault)
                assert (name, fault, async_outcome) == (
                    name,
                    fault,
                    sdks.outcome(call, base_url, fault),
                )


@pytest.mark.slow
def test_a_retry_is_answered_when_the_first_request_was_refused(sdks):
    with answering(Script(text=sdks.TEXT)) as base_url:
        for status in (429, 503):
            headers = {"X-Fault": f"status={status},times=1"}
            options = sdks.openai_options(base_url, headers) | {"max_retries": 1}
            with sdks.openai.OpenAI(**options) as client:
                answer = client.chat.completions.create(model="m", messages=sdks.ASKED, stream=True)
                pieces = [chunk.choices[0].delta.content or "" for chunk in answer]
            assert "".join(pieces) == sdks.TEXT
