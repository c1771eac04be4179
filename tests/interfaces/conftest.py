"""An installation where nobody waits for long work."""

import pytest

from wmsd.dispatch.limits import work_admission


@pytest.fixture
def whole_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches and downloads use the whole processor in installations that are opened later, so that no caller
    has to wait.
    """
    whole = {kind: bound._replace(share=1.0) for kind, bound in work_admission.BOUNDS.items()}
    monkeypatch.setattr(work_admission, "BOUNDS", whole)
