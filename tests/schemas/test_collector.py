"""The collector rests inside, and is afterwards as it was."""

import gc

import pytest

from nnd.schemas import collector_paused


def test_collector_rests_inside_and_works_afterwards() -> None:
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_error_lets_the_collector_go_on() -> None:
    with pytest.raises(ValueError, match="inside"), collector_paused():
        raise ValueError("inside")
    assert gc.isenabled()
