"""Single sign-on through OpenID providers (OpenID Connect Core 1.0)."""
