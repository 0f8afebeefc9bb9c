-- Reserves IDs. The one statement with which next-id takes values from a sequence; compiled into the program.
--
--   $1  the sequence's name, as in SQL: global_id_seq, or "Orders".ids
--   $2  how many values to take: at least 1
--   $3  how long to wait for the sequence's lock: '2000ms'
--
-- Answers one row. firsts[i] and counts[i] are a run of values that lie exactly one increment apart, in the order of the
-- calls: programs that call nextval() meanwhile break runs, and never share a value.
--
-- The shape decides the correctness:
--   * "guard" is evaluated before the first nextval(), since every nextval() reads its row, and once, being materialized.
--   * Its message gives this transaction a WAL record and an xid, so that its commit waits until the record is safe, and
--     with it all earlier records of the sequence. nextval() alone writes one record in 33 calls, and the callers between
--     do not wait: after a crash their values are given out again.
--   * synchronous_commit is raised for this transaction alone, and the warning that tells of a cancelled wait for a
--     standby must not be filtered.
--   * The parameters are read after the values were taken: nextval() holds a lock until commit that keeps ALTER SEQUENCE
--     away. Read earlier, or from pg_sequences, they could be those before an ALTER that this statement waited for.
--     For the same reason an unlogged sequence is told by its init fork: pg_class is read with the statement's snapshot.
WITH guard AS MATERIALIZED (
    SELECT $1::text::regclass AS sequence,
           set_config('synchronous_commit',
                      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
                      true),
           set_config('lock_timeout', $3::text, true),
           set_config('client_min_messages', 'warning', true),
           pg_logical_emit_message(true, 'next-id', '')
), taken AS MATERIALIZED (
    SELECT nextval(sequence) AS value FROM guard, generate_series(1, $2::int)
), described AS MATERIALIZED (
    SELECT sequence, number, (parameters).*
    FROM (SELECT (SELECT sequence FROM guard) AS sequence,
                 count(*) AS number,
                 pg_sequence_parameters((SELECT sequence FROM guard)) AS parameters
          FROM taken) AS after_taking
), runs AS (
    -- A value begins a run unless it is its predecessor's plus the increment; the sum is made only where it fits.
    SELECT place, value AS first, lead(place, 1, number + 1) OVER (ORDER BY place) - place AS count
    FROM (SELECT value, lag(value) OVER () AS previous, row_number() OVER () AS place FROM taken) AS placed, described
    WHERE CASE WHEN previous IS NULL THEN true
               WHEN CASE WHEN increment > 0 THEN previous > 9223372036854775807 - increment
                         ELSE previous < -9223372036854775807 - 1 - increment END THEN true
               ELSE value <> previous + increment END
)
SELECT firsts,
       counts,
       minimum_value,
       maximum_value,
       increment,
       cycle_option,
       cache_size,
       pg_sequence_last_value(sequence) AS last_value,
       CASE WHEN pg_relation_size(sequence, 'init') > 0 THEN 'u'
            ELSE (SELECT relpersistence FROM pg_class WHERE oid = sequence) END AS persistence,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database_oid,
       sequence::oid AS sequence_oid
FROM described, (
    SELECT array_agg(first ORDER BY place) AS firsts, array_agg(count ORDER BY place) AS counts FROM runs) AS compressed
