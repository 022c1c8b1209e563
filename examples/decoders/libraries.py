"""The libraries that have an adapter here, for ``scores.py``, the benchmarks and the tests."""

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

NOTHING: Mapping[str, str] = MappingProxyType({})


class Library(NamedTuple):
    """A library by its distribution and the top-level module that this installs, its adapter, and
    the public report of each rule that it breaks.
    """

    name: str
    installs: str
    adapter: str
    factory: str
    reports: Mapping[str, str] = NOTHING

    def version(self) -> str:
        return importlib.metadata.version(self.name)

    def load(self) -> Callable[[], Any]:
        """Return what makes decoders of it. Raises NotInstalled if the library is missing."""
        try:
            module = importlib.import_module(self.adapter)
        except ModuleNotFoundError as error:
            if error.name != self.installs:
                raise
            raise NotInstalled(f"{self.name} is not installed: no module {self.installs}") from None
        factory: Callable[[], Any] = getattr(module, self.factory)
        return factory


class NotInstalled(Exception):
    """A library is missing; the message names it."""


EMPTY_BLOCKS = (
    "A retry field is not an event and changes none",
    "A block without data is not an event, but its id counts",
    "A block without data leaves no event type",
)

LIBRARIES = (
    Library(
        "httpx-sse",
        "httpx_sse",
        "httpx_sse_adapter",
        "HttpxSse",
        {
            **dict.fromkeys(EMPTY_BLOCKS, "florimondmanca/httpx-sse#36"),
            "An event carries the last id of the stream": "florimondmanca/httpx-sse#35",
        },
    ),
    Library(
        "httpx2",
        "httpx2",
        "httpx2_adapter",
        "Httpx2",
        dict.fromkeys(EMPTY_BLOCKS, "pydantic/httpx2#1048"),  # there it is kept on purpose
    ),
    Library("axio-sse", "axio_sse", "axio_sse_adapter", "AxioSse"),
    Library("launchdarkly-eventsource", "ld_eventsource", "launchdarkly_adapter", "LaunchDarkly"),
    Library("sseclient-py", "sseclient", "sseclient_py_adapter", "SseclientPy"),
    Library("assel", "assel", "assel_adapter", "Assel"),
    Library(
        "openai",
        "openai",
        "openai_adapter",
        "OpenAI",
        {"One leading BOM is dropped": "openai/openai-python#3819"},
    ),
    Library("anthropic", "anthropic", "anthropic_adapter", "Anthropic"),
)
