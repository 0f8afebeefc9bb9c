-- Creates the role with which next-id logs in, and leaves it the least rights: to connect, and to call nextval() on the one
-- sequence. Run by the owner of the sequence, who must be allowed to create roles, if the role is not there yet; again for each
-- further sequence. All or nothing: a right that the owner may not give is named, with who may. It takes all other rights away,
-- and so refuses a role that administers.
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
SELECT set_config('next_id.role', :'role', true) AS role, set_config('next_id.sequence', :'sequence'::regclass::text, true) AS sequence,
       set_config('next_id.role_is_new', (NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role'))::text, true) AS role_is_new \gset

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

-- Said only where it changes something: whoever made the role beforehand need not lend the right to. From PostgreSQL 16 on, only
-- who has such a right himself may say that another has not, and of the last two, before, a superuser.
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

-- PostgreSQL only warns where one may not grant or revoke. So look at what came of it.
DO $$
DECLARE
    to_run text;
BEGIN
    WITH s AS (
        SELECT r.oid AS role, quote_ident(rolname) AS role_sql, c.oid, relacl, relowner, relnamespace, d.oid AS database, datdba
        FROM pg_roles r, pg_class c, pg_database d
        WHERE rolname = current_setting('next_id.role') AND c.oid = current_setting('next_id.sequence')::regclass
          AND datname = current_database()
    ), missing(place, statement, by_whom) AS (
        SELECT 1, format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), role_sql), datdba::regrole::text
        FROM s WHERE NOT has_database_privilege(role, database, 'CONNECT')
        UNION
        SELECT 2, format('GRANT USAGE ON SCHEMA %s TO %s', relnamespace::regnamespace, role_sql),
               -- That of the schema public from PostgreSQL 15 on stands for the database's.
               CASE nspowner::regrole::text WHEN 'pg_database_owner' THEN datdba ELSE nspowner END::regrole::text
        FROM s JOIN pg_namespace n ON n.oid = relnamespace WHERE NOT has_schema_privilege(role, relnamespace, 'USAGE')
        UNION
        SELECT 3, format('GRANT USAGE ON SEQUENCE %s TO %s', oid::regclass, role_sql), relowner::regrole::text
        FROM s WHERE NOT has_sequence_privilege(role, oid, 'USAGE')
        UNION
        SELECT 4, format('REVOKE UPDATE ON SEQUENCE %s FROM %s', oid::regclass, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE role_sql END),
               grantor::regrole::text
        FROM s, aclexplode(relacl) WHERE privilege_type = 'UPDATE' AND grantee IN (0, role)
        UNION
        SELECT 5, format('REVOKE %s FROM %s', roleid::regrole, role_sql), 'who administers it'
        FROM s JOIN pg_auth_members ON member = role
        WHERE pg_has_role(role, roleid, 'USAGE') AND has_sequence_privilege(roleid, s.oid, 'UPDATE')
          AND NOT has_sequence_privilege('public', s.oid, 'UPDATE')
        UNION
        -- Since this transaction's is rolled back.
        SELECT 0, format('CREATE ROLE %s LOGIN', role_sql), current_user FROM s WHERE current_setting('next_id.role_is_new')::bool
    )
    SELECT string_agg(format(E'\n  %s;  -- by %s', statement, by_whom), '' ORDER BY place, statement) INTO to_run
    FROM missing HAVING max(place) > 0;
    IF to_run IS NOT NULL THEN
        RAISE EXCEPTION 'role % would have too few rights or too many, so nothing is changed. First run:%',
            quote_ident(current_setting('next_id.role')), to_run
            USING HINT = 'A superuser may run it, too. Then run sql/role.sql again.';
    END IF;
END
$$;

COMMIT;
