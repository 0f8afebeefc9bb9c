/* protocol/window_layout.h for spin, exhaustively: two takers; one publisher that may die before any step and whose window is adopted; a ring
   of SLOTS slots used again and again; drain, close, and the wake. Each access to a shared word is one step, in every order that relaxed
   accesses may take; where a stronger order forbids one (the swap and wake_at), a planted fault shows what it would do. Not here:
   take_consecutive (a take that gives out less than it passes over) and weak swaps that fail for nothing (a round more of the same loop).
   A taker's death needs no step: it is one that never moves again, and all but the wake is asserted in every prefix. (A taker that dies between
   its swap and its look at wake_at does lose the wake; the refill looks once a second as well.)
   check.sh has the sizes, and the faults that are planted with -D.                                                                          */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef WIDTH
#define WIDTH 2                           /* IDs in a slot, at most; a ticket is slot number * WIDTH + offset */
#endif
#ifndef RANGES
#define RANGES 3                          /* published, at most: the ring goes round */
#endif
#ifndef TAKES
#define TAKES 2                           /* by each taker */
#endif
#ifndef MOST
#define MOST 3                            /* IDs asked for at once, at most */
#endif
#ifndef DEATHS
#define DEATHS 1                          /* of the publisher */
#endif
#ifndef DRAINS
#define DRAINS 1
#endif
#ifndef WAKES
#define WAKES 1                           /* how often it says when to wake it */
#endif
#ifndef LEVEL
#define LEVEL 2                           /* IDs left, at most, at which it wants to be woken */
#endif
#define RETIRED 255
#define NUMBER(t) ((t) / WIDTH)
#define SLOT(t) (NUMBER(t) % SLOTS)
#define NEXT(t) ((NUMBER(t) + 1) * WIDTH)
#define OFFSET(t) ((t) % WIDTH)
#define RING (SLOTS * WIDTH)

byte cursor, limit, wake_at, first[SLOTS], count[SLOTS];
#ifdef FLAG_CLOSE
bool flag;
#endif
byte sequence = 1, ranges, deaths, drains, wakes;  /* PostgreSQL's next value; how often the publisher has reserved, died, ... */
bool closed;
byte id_of[(RANGES + 1) * WIDTH];         /* ghost: the ID that a ticket names, from its publication on */
bool given[(RANGES + 1) * WIDTH + 1];     /* ghost: that ID is out */
bool armed, told = true;                  /* ghost: the publisher wants to be woken; it knows, or somebody has said so */

/* What is asserted: the k-th ID handed out is the one that the k-th ticket names, none goes out twice, none is passed over. */
inline hand_out(begin, end, ids) {
    t = begin; k = 0;
    do
    :: t < end ->
        if
        :: id_of[t] != 0 -> assert(ids == id_of[t]); assert(!given[id_of[t]]); given[id_of[t]] = true; k++
        :: else
        fi;
        t++
    :: else -> break
    od
}

/* Of a taker that moved the cursor from `from` to `at`. */
#ifdef WAKE_OFF_BY_ONE
#define SAY_WAKE(level) if :: from < level && level < at -> told = true :: else fi
#else
#define SAY_WAKE(level) if :: from < level && level <= at -> told = true :: else fi
#endif

proctype taker() {
    byte takes, n, from, lim, at, got, f, c, part, id[MOST];
    bool some_will_do, planned;
    byte t, k;                            /* scratch, zero between steps */
#ifdef WAKE_READ_FIRST
    byte level;
#endif
    do
    :: atomic { takes < TAKES ->
        takes++;
        select(n : 1 .. MOST);
        if :: some_will_do = true :: some_will_do = false fi;
        from = cursor }
again:
#ifdef FLAG_CLOSE
        if :: flag -> goto refused :: else fi;
#endif
        atomic {
            lim = limit;
            if :: from >= lim -> goto refused :: else fi;
            lim = (lim < from + RING -> lim : from + RING);                 /* bounds the walk, whatever the words say */
#ifdef OLD_PLAN
            if :: planned -> at = from + part; goto swap :: else fi;
#endif
            at = from; got = 0
        };
        do
        :: atomic { got < n && at < lim -> if :: f = first[SLOT(at)] :: c = count[SLOT(at)] fi };
            atomic {
                if :: f != 0 -> c = count[SLOT(at)] :: f == 0 -> f = first[SLOT(at)] fi;
#ifdef LATE_END
                c++;
#endif
                c = (c >= OFFSET(at) -> c - OFFSET(at) : MOST);             /* garbage wraps round to something huge */
                part = (c < n - got -> c : n - got);
                k = 0;
                do
                :: k < part -> id[got] = f + OFFSET(at) + k; got++; k++
                :: else -> break
                od;
                at = (part == c -> NEXT(at) : at + part);
                f = 0; c = 0; k = 0;
                part = at - from
            }
        :: atomic { else ->
                if :: got < n && !some_will_do -> at = from; got = 0 :: else fi; /* a refusal is sealed by a swap as well */
#ifdef OLD_PLAN
                planned = true;
#endif
                break }
        od;
swap:
#ifdef WAKE_READ_FIRST
        level = wake_at;
#endif
        atomic {
            if
            :: cursor == from ->
                cursor = at;
#ifdef READ_AFTER
                goto read_after
#else
                hand_out(from, at, id[k]);
                assert(k == got)
#endif
            :: else ->
                for (k : 0 .. MOST - 1) { id[k] = 0 }
                from = cursor; k = 0; goto again
            fi
        };
#ifdef READ_AFTER
read_after:
        atomic { hand_out(from, at, first[SLOT(t)] + OFFSET(t)) };
#endif
#ifdef WAKE_READ_FIRST
        SAY_WAKE(level);
        level = 0;
#else
        atomic { SAY_WAKE(wake_at) };
#endif
refused:
        atomic {
            for (k : 0 .. MOST - 1) { id[k] = 0 }
            n = 0; from = 0; lim = 0; at = 0; got = 0; part = 0; t = 0; k = 0; some_will_do = false; planned = false
        }
    :: atomic { takes == TAKES -> break }
    od
}

#define MAY_DIE if :: deaths < DEATHS -> goto died :: true fi
#if defined(EARLY_SLOT)
#define HAS_ROOM (cursor != RETIRED && NUMBER(lim) - NUMBER(cursor) <= SLOTS)
#elif defined(EARLY_TICKET)
#define HAS_ROOM (cursor != RETIRED && (NUMBER(lim) - NUMBER(cursor) < SLOTS || \
                  (NUMBER(lim) - NUMBER(cursor) == SLOTS && OFFSET(cursor) + 1 == count[SLOT(cursor)])))
#else
#define HAS_ROOM (cursor != RETIRED && NUMBER(lim) - NUMBER(cursor) < SLOTS)
#endif

inline store_limit() {
    d_step { for (k : 0 .. length - 1) { id_of[lim + k] = base + k } limit = NEXT(lim); k = 0 }
}

proctype publisher() {
    byte lim, length, base, at, begin, missing, part, t, k;
    goto adopt;
died:                                     /* and whoever comes next reads what is there: sound() */
    atomic { deaths++; armed = false; told = true };
adopt:
    atomic {
        length = 0; base = 0; at = 0; begin = 0; missing = 0; part = 0; t = 0; k = 0; lim = limit;
#ifdef ADOPT_RESETS
        if :: deaths > 0 && lim > 0 && cursor != RETIRED -> cursor = lim - WIDTH :: else fi;
#endif
        assert(cursor == RETIRED || (cursor <= lim && NUMBER(lim) - NUMBER(cursor) <= SLOTS))
    };
    do
    /* publish(): at once, or when there is room */
    :: atomic { ranges < RANGES && length == 0 && !closed -> select(length : 1 .. WIDTH); ranges++; base = sequence; sequence = sequence + length }
    :: atomic { length != 0 && HAS_ROOM };
#ifdef LIMIT_FIRST
        store_limit();
#endif
        if
        :: first[SLOT(lim)] = base; MAY_DIE; count[SLOT(lim)] = length
        :: count[SLOT(lim)] = length; MAY_DIE; first[SLOT(lim)] = base
        fi;
        MAY_DIE;
#ifndef LIMIT_FIRST
        store_limit();
#endif
        MAY_DIE;
        atomic { lim = NEXT(lim); length = 0; base = 0 }
    /* wake_when_left() */
    :: atomic { wakes < WAKES && !closed ->
            wakes++;
            begin = cursor;
            begin = (lim > RING && begin < lim - RING -> lim - RING : begin);
            select(missing : 0 .. LEVEL);
            t = missing;
            at = lim;
            do
            :: missing != 0 && at > begin ->
                at = at - WIDTH;
                part = (count[SLOT(at)] < missing -> count[SLOT(at)] : missing);
                missing = missing - part;
                if :: missing == 0 -> at = at + count[SLOT(at)] - part :: else fi
            :: else -> break
            od;
            /* ghost: just so many IDs lie between there and the limit, or as many as there were */
            part = 0;
            for (k : at .. lim) { if :: k < lim && id_of[k] != 0 -> part++ :: else fi }
            assert(part == t || at <= begin);
            k = 0; t = 0; part = 0; missing = 0; begin = 0
        };
#ifdef WAKE_LOAD_FIRST
        begin = cursor;
        atomic { wake_at = at; armed = true; told = begin >= at };
#else
        atomic { wake_at = at; armed = true; told = false };
        MAY_DIE;
#ifdef WAKE_BLIND
        skip;
#else
        atomic { if :: cursor >= at -> told = true :: else fi };
#endif
#endif
        atomic { at = 0; begin = 0 }
    /* drain(): of a closed window, nothing. The publisher knows that nothing is left, and need not be told */
    :: atomic { drains < DRAINS -> drains++ };
#ifndef DRAIN_REOPENS
        if :: cursor != RETIRED ->
#else
        if :: true ->
#endif
#ifdef DRAIN_BY_STORE
            at = cursor;
            atomic { cursor = lim; told = true };
#else
            atomic { at = cursor; cursor = lim; told = true };      /* one exchange */
#endif
            MAY_DIE;
            atomic { hand_out(at, lim, first[SLOT(t)] + OFFSET(t)); at = 0; t = 0; k = 0 }
        :: else
        fi
    /* close() */
    :: atomic { !closed && cursor != RETIRED };
#ifdef FLAG_CLOSE
        flag = true;
        atomic { at = cursor; closed = true; told = true };
#else
        atomic { at = cursor; cursor = RETIRED; closed = true; told = true };  /* one exchange */
#endif
        MAY_DIE;
        atomic { hand_out(at, lim, first[SLOT(t)] + OFFSET(t)); at = 0; t = 0; k = 0 }   /* what is left is ours, to be thrown away */
#ifndef FLAG_CLOSE
    :: atomic { closed -> assert(cursor == RETIRED); if :: drains == DRAINS -> break :: else fi }
#endif
    :: atomic { deaths < DEATHS -> goto died }
    :: break
    od
}

init {
    atomic { run taker(); run taker(); run publisher() };
    /* When nobody moves any more: no wake was lost. */
    timeout -> assert(!armed || cursor < wake_at || told)
}
