"""Each test of the core runs over the wire layer in Python and over the one in C."""

import pytest
import support.feeding

import ratatoskr_proto._turn
import ratatoskr_proto._wire

try:
    import ratatoskr_proto._compiled
except ImportError:  # it was not built
    VERSIONS = [pytest.param(ratatoskr_proto._wire, id="python")]
else:
    # Coverage is measured over the one in Python: it has to be whole without the one in C.
    VERSIONS = [
        pytest.param(ratatoskr_proto._wire, id="python"),
        pytest.param(ratatoskr_proto._compiled, id="c", marks=pytest.mark.no_cover),
    ]

# What a module of tests has its decoders from.
DECODERS = {"EventStreamDecoder", "TurnDecoder"}
DECODERS |= {name for name in vars(support.feeding) if name.startswith(("feed_", "decode_"))}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    own = "wire_layer" in vars(metafunc.module)
    if not own and not DECODERS.isdisjoint(vars(metafunc.module)):
        metafunc.parametrize("wire_layer", VERSIONS, indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def wire_layer(request):
    """Put one version where the tests and the turn layer take their decoder from."""
    version = getattr(request, "param", ratatoskr_proto._wire)
    with pytest.MonkeyPatch.context() as patch:
        for module in (request.module, support.feeding):
            if "EventStreamDecoder" in vars(module):
                patch.setattr(module, "EventStreamDecoder", version.EventStreamDecoder)
        patch.setattr(ratatoskr_proto._turn, "FrameDecoder", version.FrameDecoder)
        yield version
