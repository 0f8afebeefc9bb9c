-- Describes a sequence and takes no value from it: verifies an adopted window at the first connection, and looks for the
-- way out of a latched guard. Compiled into the program; needs only USAGE on the sequence.
--
--   $1  the sequence's name, as in SQL
--   $2  how long to wait for the sequence's lock: '2000ms'
--
-- last_value is null until the first nextval(). It is read first: its lock keeps ALTER SEQUENCE away from the rest.
WITH guard AS MATERIALIZED (
    SELECT $1::text::regclass AS sequence, set_config('lock_timeout', $2::text, true)
), locked AS MATERIALIZED (
    SELECT sequence, pg_sequence_last_value(sequence) AS last_value FROM guard
), described AS MATERIALIZED (
    SELECT sequence, last_value, (parameters).*
    FROM (SELECT sequence, last_value, pg_sequence_parameters(sequence) AS parameters FROM locked OFFSET 0) AS after_lock
)
SELECT minimum_value,
       maximum_value,
       increment,
       cycle_option,
       cache_size,
       last_value,
       CASE WHEN pg_relation_size(sequence, 'init') > 0 THEN 'u'
            ELSE (SELECT relpersistence FROM pg_class WHERE oid = sequence) END AS persistence,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database_oid,
       sequence::oid AS sequence_oid,
       obj_description(sequence, 'pg_class') AS comment
FROM described
