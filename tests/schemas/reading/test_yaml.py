"""YAML that cannot blow up, in which no key hides another and 1:30, on and no are texts."""

import runpy
from pathlib import Path

import pytest
import yaml

import nnd.schemas.reading.yaml as module
from nnd.schemas.reading.yaml import line_finder, load_yaml


def test_an_alias_stands_for_what_it_names() -> None:
    assert load_yaml("a: &one {b: [1, 2]}\nc: *one\nd: {<<: *one, b: 3}\n") == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": {"b": 3},
    }


def test_a_bomb_is_refused() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    # 3 values in a; times 9 and 1 more in each: 28, 253, 2,278, 20,503; f in line 6 passes 100,000.
    with pytest.raises(yaml.YAMLError, match=r"NND_MAX_YAML. up to here\n.*line 6"):
        load_yaml(bomb)


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 1\n", "c: {a: 1, 'a': 2}", "- {a: 1, a: 2}"])
def test_no_key_hides_another(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match='the key "a" occurs twice; keep one'):
        load_yaml(text)


def test_lists_may_repeat_themselves() -> None:
    assert load_yaml("- {a: 1}\n- {a: 1}\n") == [{"a": 1}, {"a": 1}]


@pytest.mark.parametrize("text", ["1:30", "-190:20:30", "190:20:30.15", "+1:30", "!!int 1:30"])
def test_numbers_of_base_60_are_texts(text: str) -> None:
    # YAML 1.1 makes 90 of 1:30.
    assert load_yaml(f"a: {text}") == {"a": text.removeprefix("!!int ")}


@pytest.mark.parametrize("text", ["on", "Off", "yes", "NO", "y"])
def test_words_of_yaml_1_1_are_texts(text: str) -> None:
    # So that `join: {file: …, on: …}` has a key `on`, and the language of Norway is no.
    assert load_yaml(f"{text}: [{text}]") == {text: [text]}


def test_true_and_false_are_no_texts() -> None:
    assert load_yaml("[true, False, TRUE]") == [True, False, True]


def test_other_numbers_are_numbers() -> None:
    assert load_yaml("[1, -2, 0, 1.5, -1e-3, 0.0]") == [1, -2, 0, 1.5, "-1e-3", 0.0]


def test_without_libyaml_it_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    slow = runpy.run_path(str(Path(module.__file__)))["load_yaml"]
    text = "a: &one {b: [1, 1:30, no]}\nc: *one\n"
    assert slow(text) == load_yaml(text) == {"a": {"b": [1, "1:30", "no"]}, "c": slow(text)["a"]}
    with pytest.raises(yaml.YAMLError, match='the key "a" occurs twice; keep one'):
        slow("a: 1\na: 2")


def test_the_line_of_a_key_or_an_entry_is_found() -> None:
    text = "# runs\n- a: 1\n  b:\n  - x\n  - y\n- &two {c: 2}\n- *two\n"
    places: list[tuple[list[int | str], int]] = [
        ([], 1),
        ([0, "a"], 2),
        ([0, "b"], 3),
        ([0, "b", "1"], 5),
        ([1, "c"], 6),
        ([0, "missing"], 2),
    ]
    find = line_finder(text)
    assert [find(place) for place, _ in places] == [line for _, line in places]
