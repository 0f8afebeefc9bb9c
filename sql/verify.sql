-- Verifies a set-up, and says for each point what to do. Changes nothing, takes no ID. Run by the sidecar's role, or by
-- anyone else with `role` named. FAIL: next-id refuses to work, or IDs may be given out twice. warn: read it and decide.
--
--   psql -U next_id -f sql/verify.sql
--   psql -v role=next_id -v sequence='"Orders".ids' -f sql/verify.sql
\set ON_ERROR_STOP on
\pset footer off
\if :{?sequence}
\else
    \set sequence global_id_seq
\endif
\if :{?role}
\else
    SELECT current_user AS role \gset
\endif

WITH asked AS (
    SELECT parse_ident(:'sequence')::name[] AS parts, cardinality(parse_ident(:'sequence')) AS depth
), named AS (
    -- to_regclass() fails where one may not use the schema that is named.
    SELECT depth, CASE depth WHEN 1 THEN to_regclass(:'sequence')
                ELSE (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                      WHERE relname = parts[depth] AND nspname = parts[depth - 1]
                        AND (depth = 2 OR (depth = 3 AND parts[1] = current_database())))::regclass END AS oid,
           :'role'::name AS role, format('%I', :'role') AS role_sql
    FROM asked
), may AS (
    SELECT oid, CASE WHEN EXISTS (SELECT FROM pg_sequence WHERE seqrelid = oid)
                     THEN has_sequence_privilege(oid, 'USAGE, SELECT') END AS read_it
    FROM named
), s AS (
    SELECT named.*, c.relkind, c.relpersistence, c.relowner, c.relnamespace, q.*,
           c.relnamespace::regnamespace AS schema,
           may.read_it,
           CASE WHEN may.read_it THEN pg_sequence_last_value(named.oid) END AS last_value,
           sign(q.seqincrement::numeric) AS direction
    FROM named CROSS JOIN may LEFT JOIN pg_class c ON c.oid = named.oid LEFT JOIN pg_sequence q ON q.seqrelid = named.oid
), room AS (
    SELECT (CASE WHEN direction > 0 THEN seqmax ELSE seqmin END - coalesce(last_value, seqstart::numeric - seqincrement))
               * direction AS ids,
           seqmax::numeric - seqmin + 1 AS of_ids
    FROM s
), checks(place, "check", result, found, "what to do") AS (
    SELECT 1, 'server version', CASE WHEN current_setting('server_version_num')::int >= 140000 THEN 'ok' ELSE 'FAIL' END,
           current_setting('server_version'), 'PostgreSQL 14 or newer'
    UNION ALL
    SELECT 2, 'takes writes',
           CASE WHEN pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' THEN 'FAIL' ELSE 'ok' END,
           CASE WHEN pg_is_in_recovery() THEN 'a standby' WHEN current_setting('transaction_read_only') = 'on'
                THEN 'read-only' ELSE 'yes' END,
           'connect to the primary; no default_transaction_read_only for the role'
    UNION ALL
    SELECT 3, 'sequence exists', CASE WHEN relkind = 'S' THEN 'ok' ELSE 'FAIL' END,
           CASE WHEN oid IS NULL THEN 'nothing of that name' || CASE depth WHEN 1 THEN ', or no USAGE on its schema' ELSE '' END
                WHEN relkind = 'S' THEN oid::text ELSE oid::text || ' is no sequence' END,
           'psql -f sql/sequence.sql' FROM s
    UNION ALL
    SELECT 4, 'no CYCLE', CASE WHEN seqcycle THEN 'FAIL' ELSE 'ok' END, CASE WHEN seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END,
           format('ALTER SEQUENCE %s NO CYCLE', oid) FROM s WHERE relkind = 'S'
    UNION ALL
    SELECT 5, 'survives a crash', CASE relpersistence WHEN 'p' THEN 'ok' ELSE 'FAIL' END,
           CASE relpersistence WHEN 'p' THEN 'permanent' WHEN 'u' THEN 'unlogged' ELSE 'temporary' END,
           format('a permanent sequence: ALTER SEQUENCE %s SET LOGGED', oid) FROM s WHERE relkind = 'S'
    UNION ALL
    SELECT 6, 'increment', CASE WHEN seqincrement > 0 THEN 'ok' ELSE 'warn' END,
           seqincrement || CASE WHEN seqincrement > 1 THEN ': --increment block, unless it keeps data centres apart' ELSE '' END,
           'descending: --increment step only' FROM s WHERE relkind = 'S'
    UNION ALL
    SELECT 7, 'CACHE 1', CASE WHEN seqcache = 1 THEN 'ok' ELSE 'warn' END, 'CACHE ' || seqcache,
           format('ALTER SEQUENCE %s CACHE 1, for IDs in the order of the calls (--order strict needs it)', oid)
    FROM s WHERE relkind = 'S'
    UNION ALL
    SELECT 8, 'role may connect',
           CASE WHEN r.oid IS NOT NULL AND r.rolcanlogin AND has_database_privilege(r.oid, current_database(), 'CONNECT')
                THEN 'ok' ELSE 'FAIL' END,
           CASE WHEN r.oid IS NULL THEN 'no role ' || s.role_sql WHEN NOT r.rolcanlogin THEN s.role_sql || ' is NOLOGIN'
                WHEN NOT has_database_privilege(r.oid, current_database(), 'CONNECT') THEN s.role_sql || ': no CONNECT'
                ELSE s.role_sql END,
           'psql -f sql/role.sql' FROM s LEFT JOIN pg_roles r ON r.rolname = s.role
    UNION ALL
    SELECT 9, 'role may take IDs',
           CASE WHEN has_schema_privilege(r.oid, relnamespace, 'USAGE') AND has_sequence_privilege(r.oid, s.oid, 'USAGE')
                THEN 'ok' ELSE 'FAIL' END,
           CASE WHEN NOT has_schema_privilege(r.oid, relnamespace, 'USAGE') THEN 'no USAGE on schema ' || schema
                WHEN NOT has_sequence_privilege(r.oid, s.oid, 'USAGE') THEN 'no USAGE on the sequence' ELSE 'USAGE' END,
           'psql -f sql/role.sql' FROM s JOIN pg_roles r ON r.rolname = s.role WHERE relkind = 'S'
    UNION ALL
    SELECT 10, 'role may do no more', CASE WHEN too_much = '' THEN 'ok' ELSE 'warn' END,
           CASE WHEN too_much = '' THEN 'only what it needs' ELSE too_much END,
           'a role of its own: psql -f sql/role.sql'
    FROM (SELECT concat_ws(', ', CASE WHEN r.rolsuper THEN 'superuser' END,
                           CASE WHEN r.rolcreaterole THEN 'creates roles' END,
                           CASE WHEN pg_has_role(r.oid, relowner, 'MEMBER') THEN 'owns the sequence' END,
                           CASE WHEN has_sequence_privilege(r.oid, s.oid, 'UPDATE') THEN 'may call setval' END) AS too_much
          FROM s JOIN pg_roles r ON r.rolname = s.role WHERE relkind = 'S') AS rights
    UNION ALL
    SELECT 11, 'fsync', CASE current_setting('fsync') WHEN 'on' THEN 'ok' ELSE 'FAIL' END, current_setting('fsync'),
           'fsync = on: else a crash of the machine gives IDs out twice'
    UNION ALL
    SELECT 12, 'full_page_writes', CASE current_setting('full_page_writes') WHEN 'on' THEN 'ok' ELSE 'warn' END,
           current_setting('full_page_writes'), 'on, unless the file system cannot tear a page'
    UNION ALL
    SELECT 13, 'synchronous_commit', CASE WHEN level IN ('on', 'remote_apply') THEN 'ok' ELSE 'warn' END, level,
           'next-id raises it for its own statements; programs that call nextval() themselves need it too'
    FROM (SELECT coalesce((SELECT split_part(setting, '=', 2)
                           FROM pg_db_role_setting d JOIN pg_roles r ON r.rolname = named.role, unnest(setconfig) AS setting
                           WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
                             AND setrole IN (0, r.oid) AND setting LIKE 'synchronous_commit=%'
                           ORDER BY setrole <> 0 DESC, setdatabase <> 0 DESC LIMIT 1),
                          current_setting('synchronous_commit')) AS level FROM named) AS for_role
    UNION ALL
    SELECT 14, 'synchronous standby',
           CASE WHEN current_setting('synchronous_standby_names') <> '' THEN 'ok' ELSE 'warn' END,
           CASE WHEN current_setting('synchronous_standby_names') <> '' THEN current_setting('synchronous_standby_names')
                ELSE 'none' END,
           'if you fail over: synchronous_standby_names; else a failover may lose IDs already given out'
    UNION ALL
    SELECT 15, 'IDs left',
           CASE WHEN NOT read_it THEN 'warn' WHEN ids < abs(seqincrement::numeric) THEN 'FAIL'
                WHEN ids < of_ids / 10 THEN 'warn' ELSE 'ok' END,
           CASE WHEN read_it THEN ids || ' (' || round(100 * ids / of_ids, 1) || ' %)'
                                  || CASE WHEN last_value IS NULL THEN ' from START on' ELSE '' END
                ELSE format('unknown: %I may not read the sequence', current_user) END,
           CASE WHEN read_it THEN format('AS bigint, and a MAXVALUE (MINVALUE) further off: ALTER SEQUENCE %s', s.oid)
                ELSE 'run this as the sidecar''s role, or as the owner' END
    FROM room, s WHERE relkind = 'S'
)
SELECT "check", result, found, CASE WHEN result = 'ok' THEN '' ELSE "what to do" END AS "what to do"
FROM checks ORDER BY place;
