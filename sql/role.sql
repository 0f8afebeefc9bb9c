-- Creates the role with which next-id logs in, and leaves it the least rights: to connect, and to call nextval() on the one
-- sequence. Run by the owner of the sequence, who must be allowed to create roles, if the role is not there yet; again for each further sequence.
-- It takes all other rights away, and so refuses a role that administers.
--
--   psql -f sql/role.sql                                      role next_id, sequence global_id_seq
--   psql -v role=ids -v sequence='"Orders".ids' -f sql/role.sql
--
-- The password is not set here, for files and histories keep it. Set it with psql's own command, which sends a hash:
--
--   \password next_id
\set ON_ERROR_STOP on
\if :{?role}
\else
    \set role next_id
\endif
\if :{?sequence}
\else
    \set sequence global_id_seq
\endif

-- One transaction: a sidecar that is at work never meets the moment between REVOKE and GRANT.
BEGIN;
SELECT set_config('next_id.role', :'role', true) AS role, set_config('next_id.sequence', :'sequence'::regclass::text, true) AS sequence \gset

-- It may well be postgres, the default of PG_USER.
DO $$
DECLARE
    what text;
BEGIN
    SELECT CASE WHEN rolname IN (current_user, session_user) THEN 'is the one that runs this'
                WHEN rolsuper THEN 'is a superuser'
                WHEN pg_has_role(r.oid, relowner, 'MEMBER') THEN 'owns ' || c.oid::regclass || ', or is a member of its owner'
           END INTO what
    FROM pg_roles r, pg_class c
    WHERE rolname = current_setting('next_id.role') AND c.oid = current_setting('next_id.sequence')::regclass;
    IF what IS NOT NULL THEN
        RAISE EXCEPTION 'role % %; the sidecar needs one that can do nothing else', quote_ident(current_setting('next_id.role')), what
            USING HINT = 'Name a role of its own: psql -v role=next_id -f sql/role.sql';
    END IF;
END
$$;

SELECT format('CREATE ROLE %I LOGIN', :'role')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec

-- Said only where it changes something: whoever made the role beforehand need not lend the right to. From PostgreSQL 16 on, only who has such a right himself may say that another has not,
-- and of the last two, before, a superuser.
SELECT format('ALTER ROLE %I LOGIN', :'role') FROM pg_roles WHERE rolname = :'role' AND NOT rolcanlogin \gexec
SELECT format('ALTER ROLE %I NOCREATEDB', :'role') FROM pg_roles WHERE rolname = :'role' AND rolcreatedb \gexec
SELECT format('ALTER ROLE %I NOCREATEROLE', :'role') FROM pg_roles WHERE rolname = :'role' AND rolcreaterole \gexec
SELECT format('ALTER ROLE %I NOREPLICATION NOBYPASSRLS', :'role')
FROM pg_roles WHERE rolname = :'role' AND (rolreplication OR rolbypassrls) \gexec

SELECT format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM %I', current_database(), :'role'),
       format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'role'),
       format('REVOKE CREATE ON SCHEMA %s FROM %I', relnamespace::regnamespace, :'role'),
       format('GRANT USAGE ON SCHEMA %s TO %I', relnamespace::regnamespace, :'role')
FROM pg_class WHERE oid = :'sequence'::regclass \gexec

REVOKE ALL ON SEQUENCE :sequence FROM :"role";
GRANT USAGE ON SEQUENCE :sequence TO :"role";

COMMIT;
