"""An installation where nobody waits for work that is long."""

import pytest

from wmsd.dispatch.limits import work_admission


@pytest.fixture
def whole_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which searches and downloads may have all, in an installation that is opened after it: whoever asks for
    much waits for nobody.
    """
    whole = {kind: bound._replace(share=1.0) for kind, bound in work_admission.BOUNDS.items()}
    monkeypatch.setattr(work_admission, "BOUNDS", whole)
