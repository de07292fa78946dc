\echo Use "CREATE EXTENSION addrspec" to load this file. \quit

-- The functions that depend on the engine alone are immutable, so that indexes, generated
-- columns and constraints may have them. Those that depend on the lists are stable, since
-- the setting addrspec.lists changes them. README.md says where the costs come from.

CREATE FUNCTION addrspec_valid(address text) RETURNS boolean
AS 'MODULE_PATHNAME', 'sql_valid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;

CREATE FUNCTION addrspec_normalized(address text) RETURNS text
AS 'MODULE_PATHNAME', 'sql_normalized' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50;

CREATE FUNCTION addrspec_canonical(address text) RETURNS text
AS 'MODULE_PATHNAME', 'sql_canonical' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;

-- json and not jsonb, which has no order of members.
CREATE FUNCTION addrspec(address text, details boolean DEFAULT false, full_suggestion boolean DEFAULT false) RETURNS json
AS 'MODULE_PATHNAME', 'sql_result' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 60;

CREATE FUNCTION addrspec_verdict(address text, policy json) RETURNS json
AS 'MODULE_PATHNAME', 'sql_verdict' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 60;

CREATE FUNCTION addrspec_version() RETURNS json
AS 'MODULE_PATHNAME', 'sql_version' LANGUAGE C STABLE PARALLEL SAFE;

-- Not strict: constraint_name may be null. The result for a null address is null, which
-- satisfies a constraint.
CREATE FUNCTION addrspec_require(address text, constraint_name text DEFAULT NULL) RETURNS boolean
AS 'MODULE_PATHNAME', 'sql_require' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

CREATE DOMAIN email_address AS text
CONSTRAINT email_address_check CHECK (addrspec_require(VALUE, 'email_address_check'));

COMMENT ON FUNCTION addrspec_valid(text) IS 'whether the address is valid (RFC 5322, RFC 6531) and mail can carry it';
COMMENT ON FUNCTION addrspec_normalized(text) IS 'the address in lower case and NFC, without comments; null unless valid';
COMMENT ON FUNCTION addrspec_canonical(text) IS 'the identity of the mailbox under the rules of its provider; null unless valid';
COMMENT ON FUNCTION addrspec(text, boolean, boolean) IS 'the facts about the address';
COMMENT ON FUNCTION addrspec_verdict(text, json) IS 'what the policy decides about the address';
COMMENT ON FUNCTION addrspec_version() IS 'the versions that determine the results';
COMMENT ON FUNCTION addrspec_require(text, text) IS 'true, or an error that says why the address is not valid';
COMMENT ON DOMAIN email_address IS 'a valid email address';
