"""The examples of docs/PYTHON.md run, one after another, in a folder of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PAGE = next(p for p in (HERE.parent / "PYTHON.md", HERE.parent.parent / "docs" / "PYTHON.md") if p.exists())
NEEDS_TORCH = "stable_baselines3"


def _examples(long: bool) -> list[tuple[int, str]]:
    text = PAGE.read_text(encoding="utf-8")
    found = [(text[: m.start()].count("\n") + 2, m[1]) for m in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
    assert len(found) > 8
    return [(line, code) for line, code in found if long or NEEDS_TORCH not in code]


def _run(examples: list[tuple[int, str]]) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in examples:
        exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), names)


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(_examples(long=False))


@pytest.mark.long
def test_all_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(_examples(long=True))
