-- The public halves of the recovery phrases, which backups seal the keys to. The phrases themselves are nowhere here.
-- A backup has this table, so a restored installation goes on with its phrase.

CREATE TABLE recovery_phrases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient TEXT NOT NULL UNIQUE, -- of age, such as age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
    created_at TEXT NOT NULL,
    checked_at TEXT, -- when somebody last typed the phrase
    replaced_at TEXT -- from then on backups are not sealed to it any more
) STRICT;

-- That somebody decided to go on without a recovery phrase.

CREATE TABLE recovery_phrase_declined (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    declined_at TEXT NOT NULL
) STRICT;
