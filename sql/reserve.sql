-- Reserves IDs. The one statement with which next-id takes values from a sequence; compiled into the program.
--
--   $1  the sequence's name, as in SQL: global_id_seq, or "Orders".ids
--   $2  how many values to take: at least 1
--   $3  how long to wait for the sequence's lock: '2000ms'
--   $4  the sidecar's mark: the sequence's last value as it saw it last
--   $5  the direction in which the sequence ran then: 1, or -1; 0 while there is no mark
--
-- Answers one row. count says how many values were taken: fewer than $2 when the sequence was seen behind the mark, and
-- then none once that was seen. values are all of them in the order of the calls, or only the first where the others follow
-- it one increment apart, as they do unless another session called nextval() meanwhile. uncalled: the sequence had given no
-- value before, so that its first one need not lie an increment beyond all that was given out.
--
-- The shape decides the correctness:
--   * "guard" is evaluated before the first nextval(), since all else reads its row, and once, being materialized.
--   * Its message gives this transaction a WAL record and an xid, so that its commit waits until the record is safe, and
--     with it all earlier records of the sequence. nextval() alone writes one record in 33 calls, and the callers between
--     do not wait: after a crash their values are given out again.
--   * synchronous_commit is raised for this transaction alone, and the warning that tells of a cancelled wait for a
--     standby must not be filtered.
--   * "locked" is there for the lock, which pg_sequence_last_value() takes as nextval() does, and keeps until commit: ALTER
--     SEQUENCE stays away from all that follows. Read without it, or from pg_sequences, the parameters could be those
--     before an ALTER that this statement waited for. For the same reason an unlogged sequence is told by its init fork:
--     pg_class is read with the statement's snapshot.
--   * The mark is compared with the sequence itself, not with a snapshot, before each nextval(): where the sequence went
--     back, every further call would move it on, into IDs that other sidecars hold, and past their marks. setval() heeds
--     no lock that nextval() takes, so that one call may slip between; what it returned tells the sidecar.
--   * Rows are made one at a time, in SELECT, where FROM would store them all before the first call: a third of the cost.
--     OFFSET 0 keeps the planner from moving the comparison to where it is made once.
WITH guard AS MATERIALIZED (
    SELECT $1::text::regclass AS sequence,
           set_config('synchronous_commit',
                      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
                      true),
           set_config('lock_timeout', $3::text, true),
           set_config('client_min_messages', 'warning', true),
           pg_logical_emit_message(true, 'next-id', '')
), locked AS MATERIALIZED (
    SELECT sequence, pg_sequence_last_value(sequence) AS value_before FROM guard
), taken AS MATERIALIZED (
    SELECT sequence,
           value_before,
           parameters.*,
           ARRAY(SELECT nextval(sequence) FROM (SELECT generate_series(1, $2::int) OFFSET 0) AS calls
                 WHERE CASE WHEN $5::int > 0 THEN increment > 0 AND pg_sequence_last_value(sequence) >= $4::bigint
                            WHEN $5::int < 0 THEN increment < 0 AND pg_sequence_last_value(sequence) <= $4::bigint
                            ELSE true END) AS all_values
    FROM locked, pg_sequence_parameters(sequence) AS parameters
)
SELECT CASE WHEN EXISTS (SELECT FROM (SELECT unnest(all_values) AS value,
                                             generate_series(all_values[1], all_values[cardinality(all_values)], increment)
                                                 AS evenly) AS pairs
                         WHERE value IS DISTINCT FROM evenly)
            THEN all_values ELSE all_values[:1] END AS values,
       cardinality(all_values) AS count,
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
       sequence::oid AS sequence_oid,
       value_before IS NULL AS uncalled
FROM taken
