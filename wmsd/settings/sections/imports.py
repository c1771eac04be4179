"""[imports]: limits for uploaded files."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Imports(Section):
    """Files that people upload at the pages."""

    megabytes: Annotated[int, Field(ge=1, le=2000, description="How large an uploaded file may be.")] = 100
