-- Moves a sequence that went back (a failover that lost data, a restore, a setval) past an ID, and tells the latched sidecars
-- that they may resume. Run by the owner of the sequence, with the highest mark that any sidecar shows (the lowest, if the
-- sequence descends). It never moves a sequence back, and keeps its step: odd IDs stay odd.
--
--   psql -v past=123456 -f sql/resume_past.sql
--   psql -v past=123456 -v sequence='"Orders".ids' -f sql/resume_past.sql
--
-- Values after it are beyond `past`, and so are the whole blocks that they own in block mode.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?sequence}
\else
    \set sequence global_id_seq
\endif
\if :{?past}
\else
    \set past ''
\endif

BEGIN;
SELECT set_config('next_id.sequence', :'sequence', true) AS sequence, set_config('next_id.past', :'past', true) AS past \gset

DO $$
DECLARE
    sequence regclass := current_setting('next_id.sequence')::regclass;
    past_text text := current_setting('next_id.past');
    past numeric;
    parameters pg_sequence%ROWTYPE;
    here record;
    step numeric;
    used numeric;    -- the last value given out
    steps numeric;   -- whole increments from there to `past` or beyond
    target numeric;  -- where the sequence will stand
BEGIN
    IF past_text !~ '^-?[0-9]{1,19}$' THEN
        RAISE EXCEPTION 'past which ID? "%" is no whole number', past_text
            USING HINT = 'psql -v past=123456 -f sql/resume_past.sql, with the highest mark that any sidecar shows.';
    END IF;
    past := past_text::numeric;
    SELECT * INTO parameters FROM pg_sequence WHERE seqrelid = sequence;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% is not a sequence', sequence;
    END IF;

    -- Changes nothing, but waits until nobody takes values and keeps them waiting until this is committed. It also makes
    -- sessions forget the values that they cached (CACHE above 1).
    EXECUTE format('ALTER SEQUENCE %s CACHE %s', sequence, parameters.seqcache);
    SELECT * INTO parameters FROM pg_sequence WHERE seqrelid = sequence;
    EXECUTE format('SELECT last_value, is_called FROM %s', sequence) INTO here;

    IF parameters.seqcycle THEN
        RAISE EXCEPTION '% is CYCLE: at its end it gives IDs out twice', sequence
            USING HINT = format('ALTER SEQUENCE %s NO CYCLE;', sequence);
    END IF;
    step := parameters.seqincrement;
    used := here.last_value - CASE WHEN here.is_called THEN 0 ELSE step END;
    -- div() is exact, which / is not at this size; the sum rounds up.
    steps := greatest(0, div(past - used + step - sign(step), step));
    target := used + steps * step;
    IF target + step NOT BETWEEN parameters.seqmin AND parameters.seqmax THEN
        RAISE EXCEPTION '% has no value left past %: it ends at %', sequence, past,
            CASE WHEN step > 0 THEN parameters.seqmax ELSE parameters.seqmin END
            USING HINT = 'Is the mark right? If it is, ALTER SEQUENCE ... MAXVALUE (MINVALUE, if it descends) first.';
    END IF;

    -- Also when it stands far enough but was never called: a sidecar cannot see where such a sequence stands.
    IF steps > 0 OR (NOT here.is_called AND target BETWEEN parameters.seqmin AND parameters.seqmax) THEN
        PERFORM setval(sequence, target::bigint);
    END IF;
    EXECUTE format('COMMENT ON SEQUENCE %s IS %L', sequence, 'next-id: resume past ' || past);
    RAISE NOTICE '%: % past %; the next value is %', sequence,
        CASE WHEN steps > 0 THEN 'moved' ELSE 'was already' END, past, target + step;
END
$$;
COMMIT;
