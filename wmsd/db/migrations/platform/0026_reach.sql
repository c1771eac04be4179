-- What existed before a user's reach grew keeps the reach that it had (accounts/growing.py). A reach is JSON: role,
-- abilities and company_ids, which are null for every company.

ALTER TABLE users ADD COLUMN password_reach TEXT; -- what the password opens; NULL: all that the user reaches
ALTER TABLE users ADD COLUMN waiting_since TEXT; -- since when the password opens less; else NULL
ALTER TABLE users ADD COLUMN password_scope TEXT; -- JSON: the companies of whoever made its link; NULL: every one
ALTER TABLE users ADD COLUMN password_by INTEGER; -- who made that link; NULL: the command line, or before this
ALTER TABLE invitations ADD COLUMN scope TEXT; -- the same of a link that was not used yet
ALTER TABLE invitations ADD COLUMN made_by INTEGER;
ALTER TABLE sessions ADD COLUMN reach TEXT; -- what the session opens; NULL: all that its user reaches

CREATE TRIGGER access_version_sessions_updated AFTER UPDATE OF reach ON sessions BEGIN
    UPDATE access_version SET version = version + 1;
END;

-- Whatever exists keeps its reach. Passwords of before are good for every company where the audit says that only
-- platform admins and the command line have made links and passwords for the user, else for those that it has.
UPDATE users SET password_scope = (SELECT json_group_array(company_id) FROM user_companies WHERE user_id = users.id)
WHERE role <> 'platform-admin' AND email NOT IN (
    SELECT subject FROM audit
    WHERE action LIKE 'user.create %' OR action IN ('user.link', 'user.set-password')
    GROUP BY subject
    HAVING max(action LIKE 'user.create %') AND min(
        action NOT LIKE '% by %' AND (
            actor = 'wmsd' OR actor LIKE 'command line%'
            OR actor IN (SELECT email FROM users WHERE role = 'platform-admin')
        )
    )
);

UPDATE invitations SET scope = (SELECT password_scope FROM users WHERE users.id = invitations.user_id);
