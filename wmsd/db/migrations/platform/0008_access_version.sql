-- A number that grows when something changes that decides who may do what. Bookkeeping does not change it: when a
-- token was last used, how many requests there were, a new token. So a server keeps in memory what it knows of callers
-- and companies.

CREATE TABLE access_version (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO access_version VALUES (1, 0);

CREATE TRIGGER access_version_operators_inserted AFTER INSERT ON operators BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_operators_updated AFTER UPDATE ON operators BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_operators_deleted AFTER DELETE ON operators BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_companies_inserted AFTER INSERT ON companies BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_companies_updated AFTER UPDATE ON companies BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_companies_deleted AFTER DELETE ON companies BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_company_modules_inserted AFTER INSERT ON company_modules BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_company_modules_updated AFTER UPDATE ON company_modules BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_company_modules_deleted AFTER DELETE ON company_modules BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_users_inserted AFTER INSERT ON users BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_users_updated AFTER UPDATE ON users BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_users_deleted AFTER DELETE ON users BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_user_companies_inserted AFTER INSERT ON user_companies BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_user_companies_updated AFTER UPDATE ON user_companies BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_user_companies_deleted AFTER DELETE ON user_companies BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_signing_keys_inserted AFTER INSERT ON signing_keys BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_signing_keys_updated AFTER UPDATE ON signing_keys BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_signing_keys_deleted AFTER DELETE ON signing_keys BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_kernel_tokens_inserted AFTER INSERT ON kernel_tokens BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_kernel_tokens_updated AFTER UPDATE ON kernel_tokens BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_kernel_tokens_deleted AFTER DELETE ON kernel_tokens BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_sites_inserted AFTER INSERT ON sites BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_sites_updated AFTER UPDATE ON sites BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_sites_deleted AFTER DELETE ON sites BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_tokens_updated AFTER UPDATE OF jti, user_id, name, abilities, company_ids, expires_at, revoked_at ON tokens BEGIN
    UPDATE access_version SET version = version + 1;
END;

CREATE TRIGGER access_version_tokens_deleted AFTER DELETE ON tokens BEGIN
    UPDATE access_version SET version = version + 1;
END;
