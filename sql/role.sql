-- Creates the role with which next-id logs in, and leaves it the least rights: to connect, and to call nextval() on the one
-- sequence. Run by the owner of the sequence, who must be allowed to create roles, if the role is not there yet; again for each further sequence.
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

SELECT format('CREATE ROLE %I LOGIN', :'role')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec

-- Said only where it changes something: whoever made the role beforehand need not lend the right to. From PostgreSQL 16 on, only who has such a right himself may say that another has not,
-- and of the last three, before, a superuser.
SELECT format('ALTER ROLE %I LOGIN', :'role') FROM pg_roles WHERE rolname = :'role' AND NOT rolcanlogin \gexec
SELECT format('ALTER ROLE %I NOCREATEDB', :'role') FROM pg_roles WHERE rolname = :'role' AND rolcreatedb \gexec
SELECT format('ALTER ROLE %I NOCREATEROLE', :'role') FROM pg_roles WHERE rolname = :'role' AND rolcreaterole \gexec
SELECT format('ALTER ROLE %I NOSUPERUSER NOREPLICATION NOBYPASSRLS', :'role')
FROM pg_roles WHERE rolname = :'role' AND (rolsuper OR rolreplication OR rolbypassrls) \gexec

SELECT format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM %I', current_database(), :'role'),
       format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'role'),
       format('REVOKE CREATE ON SCHEMA %s FROM %I', relnamespace::regnamespace, :'role'),
       format('GRANT USAGE ON SCHEMA %s TO %I', relnamespace::regnamespace, :'role')
FROM pg_class WHERE oid = :'sequence'::regclass \gexec

REVOKE ALL ON SEQUENCE :sequence FROM :"role";
GRANT USAGE ON SEQUENCE :sequence TO :"role";

COMMIT;
