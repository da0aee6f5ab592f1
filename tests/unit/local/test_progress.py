"""What a long start tells the one who waits."""

from __future__ import annotations

import logging

import pytest

from mcp_neo4j_vector_graphrag.local import progress as progress_module
from mcp_neo4j_vector_graphrag.local.progress import LogProgress, RichProgress


def test_the_current_step_says_how_far_it_is():
    progress = LogProgress()
    assert progress.current == ""
    with progress.step("downloading Neo4j", 200) as advance:
        advance(90)
        assert progress.current == "downloading Neo4j, 45 %"
        with progress.step("loading the model"):
            assert progress.current == "loading the model"
        assert progress.current == "downloading Neo4j, 45 %"
    assert progress.current == ""


def test_a_step_is_logged_once_and_only_when_there_is_something_to_do(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    progress = LogProgress()
    with progress.step("downloading Neo4j", 2) as advance:
        advance(1)
        advance(2)
    with progress.step("loading the graph", 2):
        pass
    with progress.step("starting Neo4j"):
        pass
    assert caplog.messages == ["downloading Neo4j", "starting Neo4j"]


def test_a_step_that_fails_is_over():
    progress = LogProgress()
    with pytest.raises(ValueError, match="no"), progress.step("starting Neo4j"):
        raise ValueError("no")
    assert progress.current == ""


@pytest.mark.parametrize(("patience", "is_shown"), [(0.0, True), (60.0, False)])
def test_a_bar_is_drawn_on_standard_error_for_a_long_step_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, patience: float, *, is_shown: bool
):
    monkeypatch.setattr(progress_module, "_PATIENCE", patience)
    with RichProgress() as progress, progress.step("downloading Neo4j", 2) as advance:
        advance(1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("downloading Neo4j" in captured.err) is is_shown
