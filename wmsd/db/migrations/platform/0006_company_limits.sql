-- A company's own limit of GraphQL documents, and how large its file may grow.

ALTER TABLE companies ADD COLUMN graphql_per_minute INTEGER CHECK (graphql_per_minute > 0);
ALTER TABLE companies ADD COLUMN quota_megabytes INTEGER CHECK (quota_megabytes > 0);
