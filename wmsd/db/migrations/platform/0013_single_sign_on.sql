-- The accounts at OpenID providers that users sign in with: each is known by its issuer and subject, which never
-- change, and is linked with the user at its first sign-on. A user has one account of an issuer.

CREATE TABLE sign_on_identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject),
    UNIQUE (user_id, issuer)
) STRICT, WITHOUT ROWID;
