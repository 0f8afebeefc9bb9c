
'use strict';
{
  const poll_ms = 900, patience_ms = 750; // an outage of either kind shows within two seconds
  const seconds_kept = 300;
  const key = 'next-id token';
  const $ = id => document.getElementById(id);

  // -- Words and numbers -------------------------------------------------------------------------------------------------

  const thin = '\u202f';
  const grouped = number => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, thin);
  const short = number => {
    for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) {
      if (number < (size === 1e3 ? 1e4 : size)) continue;
      const parts = number / size;
      return [parts.toFixed(parts < 9.995 ? 2 : parts < 99.95 ? 1 : 0), unit];
    }
    return [number >= 100 || Number.isInteger(number) ? grouped(number) : number.toFixed(1), ''];
  };
  const duration = seconds => {
    if (seconds === null) return ['–', ''];
    if (seconds < 9.95) return [seconds.toFixed(1), 's'];
    if (seconds < 119.5) return [seconds.toFixed(0), 's'];
    const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
    if (minutes < 120) return [String(minutes), 'min'];
    return hours < 72 ? [String(hours), 'h'] : [grouped(hours / 24), 'days'];
  };
  const words = ([number, unit], noun = '') => [number, unit, noun].filter(Boolean).join('\u00a0');
  const ago = seconds => seconds === null ? 'not yet' : seconds < 1 ? 'just now' : words(seconds < 119.5 ? [String(Math.floor(seconds)), 's'] : duration(seconds)) + ' ago';
  const plural = (count, one, many) => `${grouped(count)} ${count === 1 ? one : many}`;

  // -- Small tools for the document: what did not change is not touched --------------------------------------------------

  const set = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const say = (id, text) => set($(id), text);
  const attribute = (element, name, value) => { if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value); };
  const show = (element, shown) => { if (element.hidden === shown) element.hidden = !shown; };
  const say_or_hide = (id, text) => { say(id, text); show($(id), text !== ''); };
  const figure_with_unit = (id, [number, unit], noun = '') => {
    const element = $(id);
    if (!element.firstElementChild) element.append(document.createTextNode(''), make('span', 'unit'));
    if (element.firstChild.data !== number) element.firstChild.data = number;
    set(element.lastElementChild, [unit, noun].filter(Boolean).map(part => '\u00a0' + part).join(''));
  };
  const make = (name, classes = '', ...children) => {
    const element = document.createElement(name);
    if (classes) element.className = classes;
    element.append(...children);
    return element;
  };
  const make_svg = (name, attributes, ...children) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [attribute_name, value] of Object.entries(attributes)) element.setAttribute(attribute_name, value);
    element.append(...children);
    return element;
  };

  // -- Health ------------------------------------------------------------------------------------------------------------

  const healths = {
    'ok': {words: 'All is well', icon: 'icon-ok', mark: '✓'},
    'at risk': {words: 'At risk', icon: 'icon-risk', mark: '▲'},
    'failing': {words: 'Failing', icon: 'icon-failing', mark: '✕'},
    'lost': {words: 'No answer', icon: 'icon-lost', mark: '?'},
  };
  const state_label = () => make('span', 'state', make_svg('svg', {'aria-hidden': 'true'}, make_svg('use', {href: ''})), make('span', 'state-name'));
  const set_state = (label, health, name) => {
    attribute(label, 'data-health', health);
    attribute(label.querySelector('use'), 'href', '#' + healths[health].icon);
    set(label.lastElementChild, name);
  };
  const health_of = one => !one.ready ? 'failing' : one.problem || one.trouble ? 'at risk' : 'ok';

  const show_icon = health => {
    const colour = getComputedStyle($('health')).color, shape = $(healths[health].icon).innerHTML;
    $('icon').href = 'data:image/svg+xml,' + encodeURIComponent(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="${colour}" stroke-width="2.5">${shape}</svg>`);
  };

  let announced = '', host = '';
  const show_health = (health, summary, trouble, advice) => {
    attribute($('verdict'), 'data-health', health);
    attribute($('health-icon'), 'href', '#' + healths[health].icon);
    say('health', healths[health].words);
    say('summary', summary);
    say_or_hide('trouble', trouble);
    say_or_hide('advice', advice);
    if (announced !== health) say('announcement', `${healths[health].words}. ${summary}`); // once, not at each second that it lasts
    if (announced !== health) show_icon(health);
    announced = health;
    const title = `${healths[health].mark} next-id${host && ` on ${host}`}: ${healths[health].words.toLowerCase()}`;
    if (document.title !== title) document.title = title;
  };

  // -- Charts ------------------------------------------------------------------------------------------------------------

  const ceiling = most => {
    const size = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map(step => step * size).find(top => top >= most);
  };
  let span = 60; // seconds that charts show: as many whole minutes as there are
  const minutes = () => words([String(span / 60), 'min']);
  const x_of = (index, count = span) => (index * 300 / (count - 1)).toFixed(1);
  const y_of = (value, top) => (100 - value / top * 100).toFixed(1);
  // The stretches without a gap, each as a list of [x, y].
  const stretches = (values, top) => {
    const found = [];
    values.forEach((value, i) => {
      if (value === null) return;
      if (i === 0 || values[i - 1] === null) found.push([]);
      found.at(-1).push(`${x_of(i, values.length)} ${y_of(value, top)}`);
    });
    return found;
  };
  const line_path = parts => parts.map(part => 'M' + part.join('L') + (part.length === 1 ? 'h0.01' : '')).join('');
  const area_path = parts => parts.map(part => `M${part[0].split(' ')[0]} 100L${part.join('L')}L${part.at(-1).split(' ')[0]} 100Z`).join('');
  const bar_path = (values, top) => values.map((value, i) => value ? `M${x_of(i)} 100V${y_of(value, top)}` : '').join('');
  // The newest value is at the right; what is older than the process is a gap.
  const aligned = values => Array(span - values.length).fill(null).concat(values);

  // One value for every few: small charts show the trend.
  const means = values => Array.from({length: values.length / 5}, (_, i) => {
    const known = values.slice(i * 5, i * 5 + 5).filter(value => value !== null);
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  });

  class Chart {
    constructor(title, unit, bars) {
      Object.assign(this, {title, unit, bars, values: [], hovered: null});
      this.now = make('b');
      this.area = make_svg('path', {class: 'area'});
      this.line = make_svg('path', {class: bars ? 'bars' : 'line'});
      this.aim = make_svg('path', {class: 'aim'});
      this.cursor = make_svg('path', {class: 'cursor'});
      this.svg = make_svg('svg', {role: 'img', viewBox: '0 0 300 100', preserveAspectRatio: 'none'}, this.area, this.aim, this.line, this.cursor);
      this.top = make('span', 'top');
      this.top.setAttribute('aria-hidden', 'true');
      this.oldest = make('span');
      const axis = make('div', 'axis', this.oldest, make('span', '', 'now'));
      axis.setAttribute('aria-hidden', 'true');
      const plot = make('div', 'plot', this.svg, this.top);
      this.element = make('figure', 'chart', make('figcaption', '', make('span', '', title), this.now), plot, axis);
      plot.addEventListener('pointermove', event => {
        const share = (event.clientX - plot.getBoundingClientRect().left) / plot.clientWidth;
        this.hovered = Math.min(Math.max(Math.round(share * (span - 1)), 0), span - 1);
        this.point_out();
      });
      plot.addEventListener('pointerleave', () => { this.hovered = null; this.point_out(); });
    }

    draw(values, aim) {
      this.values = aligned(values);
      const known = values.filter(value => value !== null);
      const most = Math.max(0, ...known);
      const top = Math.max(ceiling(Math.max(most, aim || 0)), 1);
      const parts = this.bars ? [] : stretches(this.values, top);
      attribute(this.area, 'd', area_path(parts));
      attribute(this.line, 'd', this.bars ? bar_path(this.values, top) : line_path(parts));
      attribute(this.aim, 'd', aim ? `M0 ${y_of(aim, top)}H300` : '');
      set(this.oldest, `${minutes()} ago`);
      set(this.top, words([short(top)[0].replace(/\.0+$/, ''), short(top)[1]]));
      const now = known.at(-1) ?? 0, sum = known.reduce((all, value) => all + value, 0);
      this.told = this.bars ? `${words(short(sum))} ${this.unit} in all` : `${words(short(now))} ${this.unit}`;
      attribute(this.svg, 'aria-label', `${this.title}, the last ${minutes()}: ` + (this.bars
        ? `${plural(known.filter(Boolean).length, 'second', 'seconds')} with a refill, ${words(short(sum))} ${this.unit} in all`
        : `now ${words(short(now))}, lowest ${words(short(Math.min(...known, most)))}, highest ${words(short(most))} ${this.unit}`));
      this.point_out();
    }

    point_out() {
      const value = this.hovered === null ? null : this.values[this.hovered];
      attribute(this.cursor, 'd', this.hovered === null ? '' : `M${x_of(this.hovered)} 0V100`);
      const when = this.hovered === span - 1 ? 'now' : `${words(duration(span - 1 - this.hovered))} ago`;
      set(this.now, this.hovered === null ? this.told : `${value === null ? 'nothing known' : words(short(value))}, ${when}`);
    }
  }

  const charts = {
    left: new Chart('IDs in the window', 'IDs', false),
    demand: new Chart('IDs issued in a second', 'IDs/s', false),
    refills: new Chart('IDs that refills brought', 'IDs', true),
  };
  $('charts').append(...Object.values(charts).map(chart => chart.element));

  // -- The history, gathered point by point ------------------------------------------------------------------------------

  let process = '', next = 0;
  const histories = new Map(); // of each sequence: {ids_left, issued_per_second, ids_reserved}
  const gather = status => {
    const afresh = status.started !== process || status.history_first !== next;
    for (const one of status.sequences) {
      const known = afresh ? undefined : histories.get(one.sequence);
      const both = Object.entries(one.history).map(([name, points]) => [name, [...known?.[name] ?? [], ...points].slice(-seconds_kept)]);
      histories.set(one.sequence, Object.fromEntries(both));
    }
    span = Math.max(...[...histories.values()].map(known => Math.ceil(known.ids_left.length / 60) * 60), 60);
    process = status.started;
    next = status.history_next;
  };

  // -- What is shown -----------------------------------------------------------------------------------------------------

  const worst_of = status => ['failing', 'at risk'].map(health => status.sequences.find(one => health_of(one) === health)).find(Boolean);
  const strict = status => status.order === 'strict';
  const chosen = status => {
    const wanted = decodeURIComponent(location.hash.slice(1));
    return status.sequences.find(one => one.sequence === wanted) ?? worst_of(status) ?? status.sequences[0];
  };
  const sum_of = (status, member) => status.sequences.reduce((sum, one) => sum + one[member], 0);

  const show_tiles = status => {
    const lasting = status.sequences.filter(one => one.seconds_left !== null).sort((a, b) => a.seconds_left - b.seconds_left);
    const several = status.sequences.length > 1;
    if (strict(status)) {
      figure_with_unit('lasts', ['–', '']);
      say('lasts-note', 'no window: --order strict');
      figure_with_unit('left', ['–', '']);
      say('left-note', 'each is asked of PostgreSQL');
    } else {
      figure_with_unit('lasts', lasting.length ? duration(lasting[0].seconds_left) : ['∞', '']);
      say('lasts-note', !lasting.length ? 'nobody takes any' : several ? lasting[0].sequence : 'without PostgreSQL');
      figure_with_unit('left', short(sum_of(status, 'ids_left')));
      say('left-note', `of ${words(short(sum_of(status, 'ids_target')))}${several ? ` in ${status.sequences.length} windows` : ''}`);
    }
    figure_with_unit('demand', short(Math.round(sum_of(status, 'demand_per_second') * 10) / 10), 'IDs/s');
    say('demand-note', `${words(short(sum_of(status, 'ids_issued')))} issued so far`);
    const waiting = sum_of(status, 'requests_waiting');
    figure_with_unit('waiting', short(waiting));
    say('waiting-note', waiting ? 'for a refill' : 'none is delayed');
  };

  const pg_label = $('pg-state').appendChild(state_label());
  const latest_refill = status => status.sequences.map(one => one.seconds_since_refill).filter(age => age !== null).sort((a, b) => a - b)[0] ?? null;
  const show_postgresql = status => {
    const {seconds, host, port, database, user} = status.postgresql_connection;
    const name = status.postgresql.split(':')[0]; // closed: no refill is due
    const told = {closed: 'closed, no refill is due', connected: 'connected', connecting: 'connecting', away: 'away'}[name] ?? name;
    set_state(pg_label, name === 'away' ? 'failing' : name === 'connecting' ? 'at risk' : 'ok', `${told}, for ${words(duration(seconds))}`);
    say('pg-server', `${host || 'the local socket'}, port ${port}`);
    say('pg-database', database);
    say('pg-user', user);
    say('pg-refilled', ago(latest_refill(status)));
  };

  const sequence_label = $('sequence-state').appendChild(state_label());
  $('sequence-state').className = '';
  const show_sequence = (status, one) => {
    say('sequence-title', status.sequences.length > 1 ? one.sequence : `Sequence ${one.sequence}`);
    set_state(sequence_label, health_of(one), one.ready ? one.state : `${one.state}, no ID at hand`);
    const trouble = [one.problem, one.trouble].filter(Boolean).join(' ');
    say_or_hide('sequence-trouble', one === worst_of(status) ? '' : [trouble, one.advice].filter(Boolean).join(' ')); // or else it is above
    for (const part of [$('window'), charts.left.element]) show(part, !strict(status));
    const share = Math.min(one.ids_left / Math.max(one.ids_target, 1), 1);
    $('meter-fill').style.width = `${share * 100}%`;
    $('meter-level').style.left = `${Math.min(one.refill_level / Math.max(one.ids_target, 1), 1) * 100}%`;
    const lasts = one.seconds_left === null ? 'nobody takes any' : `last ${words(duration(one.seconds_left))} at ${words(short(Math.round(one.demand_per_second * 10) / 10), 'IDs/s')}`;
    const told = `${words(short(one.ids_left))} of ${words(short(one.ids_target), 'IDs')}; ${lasts}; refilled below ${words(short(one.refill_level))}`;
    attribute($('meter'), 'aria-valuemax', one.ids_target);
    attribute($('meter'), 'aria-valuenow', Math.min(one.ids_left, one.ids_target));
    attribute($('meter'), 'aria-valuetext', told);
    say('meter-note', told);
    const history = histories.get(one.sequence);
    charts.left.draw(history.ids_left, one.ids_target);
    charts.demand.draw(history.issued_per_second);
    charts.refills.draw(history.ids_reserved);
    say('issued', grouped(one.ids_issued));
    say('discarded', grouped(one.ids_discarded));
    say('lowest', one.lowest_reserved ?? 'none yet');
    say('highest', one.highest_reserved ?? 'none yet');
    say('refilled', ago(one.seconds_since_refill));
    say('sequence-waiting', plural(one.requests_waiting, 'request', 'requests'));
  };

  const rows = new Map();
  let row_order = '';
  const make_row = name => {
    const row = {
      link: make('a', '', name), label: state_label(), fill: make('div'), left: make('td', 'number'), lasts: make('td', 'number'),
      demand: make('td', 'number'), spark: make_svg('path', {}), refilled: make('td', 'number wide'),
    };
    row.link.href = '#' + encodeURIComponent(name);
    const bar = make('div', 'bar', row.fill);
    const spark = make_svg('svg', {class: 'spark', viewBox: '0 0 300 100', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, row.spark);
    const head = make('th', '', row.link);
    head.scope = 'row';
    row.share = make('span', 'unseen');
    row.element = make('tr', '', head, make('td', '', row.label), make('td', '', bar, row.share), row.left, row.lasts, row.demand,
      make('td', 'wide', spark), row.refilled);
    return row;
  };
  const show_all = (status, current) => {
    show($('all'), status.sequences.length > 1);
    if (status.sequences.length < 2) return;
    const by_health = ['failing', 'at risk', 'ok'].flatMap(health => status.sequences.filter(one => health_of(one) === health));
    for (const one of by_health) if (!rows.has(one.sequence)) rows.set(one.sequence, make_row(one.sequence));
    const order = by_health.map(one => one.sequence).join();
    if (order !== row_order) $('rows').append(...by_health.map(one => rows.get(one.sequence).element));
    row_order = order;
    for (const one of status.sequences) {
      const row = rows.get(one.sequence);
      if (one === current) attribute(row.link, 'aria-current', 'true');
      else row.link.removeAttribute('aria-current');
      set_state(row.label, health_of(one), one.ready ? one.state : 'no IDs');
      const share = Math.round(Math.min(one.ids_left / Math.max(one.ids_target, 1), 1) * 100);
      row.fill.style.width = `${share}%`;
      set(row.share, `${share} percent`);
      set(row.left, words(short(one.ids_left)));
      set(row.lasts, words(duration(one.seconds_left)));
      set(row.demand, words(short(Math.round(one.demand_per_second * 10) / 10), 'IDs/s'));
      const values = means(aligned(histories.get(one.sequence).issued_per_second));
      attribute(row.spark, 'd', line_path(stretches(values, Math.max(1, ...values))));
      set(row.refilled, ago(one.seconds_since_refill));
    }
  };

  let past_shown = '';
  const show_past = status => {
    const past = JSON.stringify(status.past_troubles);
    if (past === past_shown) return;
    past_shown = past;
    show($('past-none'), !status.past_troubles.length);
    show($('past-list'), status.past_troubles.length > 0);
    $('past-list').replaceChildren(...status.past_troubles.map(one => {
      const when = make('time', 'when', new Date(one.time).toLocaleString(undefined, {day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'}));
      when.dateTime = one.time;
      const label = state_label();
      set_state(label, one.level === 'error' ? 'failing' : 'at risk', one.level);
      const said = make('div', 'said', make('p', '', label, one.message, ' ', make('span', 'fields', one.fields)));
      if (one.advice) said.append(make('p', '', make('strong', '', 'To do: '), one.advice));
      return make('li', '', when, said);
    }));
  };

  let last = null, last_at = 0;
  const show_status = status => {
    const current = chosen(status);
    const worst = worst_of(status);
    host = status.host;
    show_health(status.health, status.summary, worst ? worst.problem || worst.trouble : '', worst ? worst.advice : '');
    say('about', `${status.version} on ${status.host}, up ${words(duration(status.uptime_seconds))}`);
    show($('report'), true);
    show_tiles(status);
    show_postgresql(status);
    show_sequence(status, current);
    show_all(status, current);
    show_past(status);
    say('fresh', 'As of now; asked every second.');
    $('report').classList.remove('stale');
  };
  const show_lost = why => {
    const since = last_at ? ` for ${words(duration((performance.now() - last_at) / 1000))}` : '';
    show_health('lost', `The sidecar has not answered${since}.`, why, 'Is next-id running? Look at the process, and at its log. This page goes on asking.');
    $('report').classList.add('stale');
    say('fresh', last ? 'The figures are old.' : '');
  };

  // -- Asking ------------------------------------------------------------------------------------------------------------

  let token = null, timer = 0, asking = false;
  try { token = sessionStorage.getItem(key); } catch { /* a browser that keeps nothing: the token lasts as long as the page */ }
  const keep = value => {
    token = value;
    try { value === null ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, value); } catch { /* likewise */ }
    show($('forget'), value !== null);
  };
  const ask_for_token = note => {
    clearTimeout(timer);
    for (const id of ['verdict', 'report']) show($(id), false);
    show($('token-form'), true);
    if (note) say('token-note', note);
    document.title = 'next-id: token';
    $('token').focus();
  };

  const poll = async () => {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    const began = performance.now();
    try {
      const headers = token === null ? {} : {Authorization: `Bearer ${token}`};
      const response = await fetch(`status?format=string&since=${next}`, {headers, cache: 'no-store', signal: AbortSignal.timeout(patience_ms)});
      if (response.status === 401) {
        const refused = token !== null;
        keep(null);
        return ask_for_token(refused ? 'This token is not valid, or not any more.' : '');
      }
      if (!response.ok) throw new Error(`HTTP status ${response.status}`);
      const status = await response.json();
      gather(status);
      last = status;
      last_at = performance.now();
      show_status(status);
    } catch (error) {
      show_lost(error.name === 'TimeoutError' ? `No answer within ${patience_ms} ms.` : `Asking ${location.host}: ${error.message}.`);
    } finally {
      asking = false;
    }
    timer = setTimeout(poll, Math.max(began + poll_ms - performance.now(), 0));
  };

  $('token-form').addEventListener('submit', event => {
    event.preventDefault();
    keep($('token').value.trim());
    $('token').value = '';
    show($('token-form'), false);
    show($('verdict'), true);
    poll();
  });
  $('forget').addEventListener('click', () => { keep(null); ask_for_token(''); });
  addEventListener('hashchange', () => { if (last) show_status(last); });
  addEventListener('visibilitychange', () => { if (!document.hidden && last) poll(); }); // a hidden tab's timers are slow

  keep(token);
  if (document.body.dataset.token === 'wanted' && token === null) ask_for_token('');
  else poll();
}
