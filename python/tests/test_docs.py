"""The examples of docs/PYTHON.md and of README.md run, one after another, in a folder of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PAGE = next(p for p in (HERE.parent / "PYTHON.md", HERE.parent.parent / "docs" / "PYTHON.md") if p.exists())
README = next(p for p in (HERE.parent / "README.md", HERE.parent.parent / "README.md") if "## Learn in it" in p.read_text(encoding="utf-8"))
NEEDS_TORCH = "stable_baselines3"


def _blocks(page: Path) -> list[tuple[int, str]]:
    text = page.read_text(encoding="utf-8")
    return [(text[: m.start()].count("\n") + 2, m[1]) for m in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def _examples(long: bool) -> list[tuple[int, str]]:
    found = _blocks(PAGE)
    assert len(found) > 8
    return [(line, code) for line, code in found if long or NEEDS_TORCH not in code]


def _run(examples: list[tuple[int, str]], page: Path = PAGE) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in examples:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(_examples(long=False))


@pytest.mark.long
def test_all_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(_examples(long=True))


def test_learning_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """README: ten lines to a learning curve, two to a recording that proves itself."""
    monkeypatch.chdir(tmp_path)
    blocks = _blocks(README)
    assert [len(code.splitlines()) for _, code in blocks] == [10, 2]
    _run(blocks, README)
    curve = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert len(curve) == 30
    chance = sum(curve[:2]) / 2  # nothing was learned yet
    assert -12 < chance < -4
    assert curve[-1] > 10, f"the curve is {curve}; chance has {chance}"
    assert (tmp_path / "best.murk").stat().st_size > 1000
