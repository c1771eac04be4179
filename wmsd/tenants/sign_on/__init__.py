"""Single sign-on: people sign in to the pages through OpenID providers (OpenID Connect Core 1.0)."""
