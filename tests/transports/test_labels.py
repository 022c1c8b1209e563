"""The label line of an error; tests/app/test_labels.py goes through all of them."""

import pytest

from ratatoskr_proto import MalformedSseData, RatatoskrError
from ratatoskr_transports import error_label


def test_label_shows_the_fields_and_text_of_the_server_escaped():
    assert error_label(MalformedSseData("a\x1b\n")) == r"[malformed_sse_data] raw='a\x1b\n'"


def test_error_of_somebody_else_has_no_label():
    class SomebodysError(RatatoskrError):
        pass

    with pytest.raises(TypeError, match="SomebodysError has no label"):
        error_label(SomebodysError())
