"""A site's fields."""

from wmsd.base.fields import Input, Name


class NewSite(Input):
    name: Name
