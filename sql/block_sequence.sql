-- Creates a sequence for block mode (next-id --increment block), unless it exists: one nextval() reserves a whole block, so
-- that the load on PostgreSQL does not grow with the demand. Run by the owner of the schema, once.
--
--   psql -f sql/block_sequence.sql                            the ID 1, then blocks of 1000: 2 to 1001, ...
--   psql -v block=100000 -f sql/block_sequence.sql            larger blocks
--
-- A value v owns v - INCREMENT + 1 to v, but for the very first, which owns itself alone. Since a block ends at its value, a
-- sequence that is in use becomes a block sequence by one statement, and INCREMENT can be changed at any time; at worst IDs are
-- left out:
--
--   ALTER SEQUENCE global_id_seq INCREMENT BY 1000;
\set ON_ERROR_STOP on
\if :{?sequence}
\else
    \set sequence global_id_seq
\endif
\if :{?block}
\else
    \set block 1000
\endif

CREATE SEQUENCE IF NOT EXISTS :sequence AS bigint INCREMENT BY :block MINVALUE 1 CACHE 1 NO CYCLE;
