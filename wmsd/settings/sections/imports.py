"""[imports]: limits for uploaded files."""

from typing import Annotated

from pydantic import Field

from wmsd.settings.sections.fields import Section


class Imports(Section):
    """Files that people upload on the pages."""

    megabytes: Annotated[int, Field(ge=1, le=2000, description="Maximum size of an uploaded file, in MB.")] = 100
