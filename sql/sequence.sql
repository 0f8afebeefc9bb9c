-- Creates the sequence from which next-id takes IDs, unless it exists. Run by the owner of the schema, once.
--
--   psql -f sql/sequence.sql                                  global_id_seq: 1, 2, 3, ...
--   psql -v sequence='"Orders".ids' -f sql/sequence.sql       another name
--   psql -v start=2 -v increment=2 -f sql/sequence.sql        even IDs, for the second of two data centres
\set ON_ERROR_STOP on
\if :{?sequence}
\else
    \set sequence global_id_seq
\endif
\if :{?start}
\else
    \set start 1
\endif
\if :{?increment}
\else
    \set increment 1
\endif

-- NO CYCLE: a sequence that begins anew gives IDs out twice. CACHE 1: IDs follow the order of the calls.
CREATE SEQUENCE IF NOT EXISTS :sequence AS bigint START WITH :start INCREMENT BY :increment CACHE 1 NO CYCLE;
