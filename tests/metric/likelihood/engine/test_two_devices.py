"""A model whose layers are spread over two devices, as `--device-map auto` does."""

import pytest
from support import oracle
from support.engine.cases import REQUESTS, Fresh, assert_same, run
from support.engine.fake_devices import KIND, fake_devices
from support.engine.two_devices import PARTS, spread

ASKED = REQUESTS[:5]


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:The following device_map keys")  # a bias is not a module
@pytest.mark.parametrize(
    ("name", "path"), [*((name, "packed") for name in PARTS), ("bart", "shared")]
)
def test_layers_on_two_devices(name: str, path: str, fresh: Fresh) -> None:
    family = fresh(name)
    with fake_devices():
        spread(family, KIND)
        found = run(family, "native", ASKED, path=path)
    assert (found.work.path, found.work.switched_off) == (path, ())
    assert_same(found, oracle.scores(fresh(name), "native", ASKED))
