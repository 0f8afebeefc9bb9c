// The status page in a real browser: node status_page.mjs FOLDER SHOTS < scenes. One scene a line comes in, as JSON; its
// outcome goes out as a line, "ok" or what is wrong, when it has been played. Playwright is in FOLDER, pictures go to SHOTS.
import {mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {faint, nameless, unstructured} from './accessible.mjs';

const [folder, shots] = process.argv.slice(2);
const {chromium} = createRequire(`${folder}/`)('playwright-core');
const patience_ms = 20_000;
mkdirSync(shots, {recursive: true});

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

let page, origin = '', wrong = [];
const check = (holds, sentence) => { if (!holds) wrong.push(sentence); };
const text = id => page.locator(`#${id}`).innerText();
const number = async id => parseFloat((await text(id)).replace(/[\s\u00a0\u202f]/g, ''));
const until_health = words => page.locator('#health', {hasText: words}).waitFor({timeout: patience_ms});

async function open(url, options = {}) {
  await page?.context().close();
  wrong = []; // what the last page said when its sidecar had gone
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, colorScheme: 'light', ...options});
  page = await context.newPage();
  page.setDefaultTimeout(patience_ms);
  origin = new URL(url).origin;
  page.on('request', request => check(request.url().startsWith(`${origin}/`) || request.url().startsWith('data:'), `asked ${request.url()}`));
  page.on('console', message => check(!['error', 'warning'].includes(message.type()), `console: ${message.text()}`));
  page.on('pageerror', error => check(false, `error: ${error.message}`));
  // When the page first showed each state, by the clock that the test has too.
  await page.addInitScript(() => {
    window.shown_at = {};
    addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
      window.shown_at[document.getElementById('health').textContent] ??= Date.now();
    }).observe(document.getElementById('verdict'), {subtree: true, childList: true, characterData: true}));
  });
  await page.goto(url);
}

// In both themes and from the narrowest to the widest.
async function look_closely(name, widths = [360, 1280]) {
  wrong.push(...await nameless(page), ...await unstructured(page));
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({colorScheme: theme, reducedMotion: 'reduce'});
    wrong.push(...(await faint(page)).map(sentence => `${theme}: ${sentence}`));
    for (const width of widths) {
      await page.setViewportSize({width, height: 800});
      check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `at ${width} px the page has to be scrolled sideways`);
      await page.screenshot({path: `${shots}/${name}-${theme}-${width}.png`, fullPage: true});
    }
  }
  await page.emulateMedia({colorScheme: 'light'});
  await page.setViewportSize({width: 1280, height: 800});
}

// Ms from then to when the page showed it.
async function shown_after(words, since_ms) {
  await until_health(words);
  return await page.evaluate(shown => window.shown_at[shown], words) - since_ms;
}

const scenes = {
  async moves({url, ids}) {
    await open(url);
    await until_health('All is well');
    const load = setInterval(() => fetch(ids).catch(() => {}), 20);
    const line = () => page.locator('.chart path.line').nth(1).getAttribute('d');
    const before = {issued: await number('issued'), line: await line()};
    await page.waitForFunction(least => parseFloat(document.getElementById('issued').textContent.replace(/\s/g, '')) > least, before.issued + 1000);
    await page.waitForFunction(() => parseFloat(document.getElementById('demand').textContent) > 0);
    await page.waitForFunction(d => document.querySelectorAll('.chart path.line')[1].getAttribute('d') !== d, before.line);
    await page.waitForFunction(() => document.querySelector('.chart path.bars').getAttribute('d'));
    clearInterval(load);
    check(/^\d/.test(await text('lasts')), 'it does not say how long the IDs last');
    check(/lasts?|last /.test(await page.locator('#meter').getAttribute('aria-valuetext')), 'the meter says nothing to a screen reader');
    check(/highest [1-9]/.test(await page.locator('.chart svg').nth(1).getAttribute('aria-label')), 'the chart of demand has no text');
    check(/connected/.test(await text('pg-state')), 'PostgreSQL is not told as connected');
    await look_closely('well', [360, 1280, 1600]);
    await page.evaluate(() => { window.shown_at = {}; });
  },

  async outage({known_ms, most_ms}) {
    const took_ms = await shown_after('At risk', known_ms);
    check(took_ms <= most_ms, `the outage was shown after ${took_ms} ms`);
    check(/PostgreSQL is away\. At this demand the reserved IDs last \d+/.test(await text('summary')), `the summary: ${await text('summary')}`);
    // The first error may be one that calls for nothing; the next try's tells.
    await page.waitForFunction(() => /next-id (connects again|goes on trying)/.test(document.getElementById('advice').textContent), null, {timeout: most_ms})
      .catch(async () => check(false, `it is not said what to do about: ${await text('trouble')}`));
    check(/away, for/.test(await text('pg-state')), 'PostgreSQL is not told as away');
    check(await page.locator('#past-list li').count() > 0, 'what went wrong is not listed');
    check((await page.title()).includes('at risk'), `the title: ${await page.title()}`);
    check(/^At risk\. /.test(await page.locator('[aria-live]').innerText()), 'the outage is not announced');
    await look_closely('outage');
    await page.evaluate(() => { window.shown_at = {}; });
    return `shown after ${took_ms} ms`;
  },

  async recovery({known_ms, most_ms}) {
    const took_ms = await shown_after('All is well', known_ms);
    check(took_ms <= most_ms, `the recovery was shown after ${took_ms} ms`);
    check(await page.locator('#trouble').isHidden() && await page.locator('#advice').isHidden(), 'the trouble is still told');
    await page.evaluate(() => { window.shown_at = {}; });
    return `shown after ${took_ms} ms`;
  },

  async silence({known_ms, most_ms}) {
    const took_ms = await shown_after('No answer', known_ms);
    check(took_ms <= most_ms, `the silence was shown after ${took_ms} ms`);
    await look_closely('silent', [1280]);
    return `shown after ${took_ms} ms`;
  },

  async token({url, token}) {
    await open(url);
    const field = page.getByLabel('token');
    await field.waitFor();
    check(await page.locator('#report').isHidden(), 'figures are shown without a token');
    check(await field.evaluate(element => element === document.activeElement), 'the field has not the focus');
    await look_closely('token');
    const before = wrong.length;
    await field.fill('wrong');
    await page.keyboard.press('Enter');
    await page.locator('#token-note', {hasText: 'not valid'}).waitFor();
    wrong = wrong.slice(0, before).concat(wrong.slice(before).filter(sentence => !/console: .* 401/.test(sentence))); // the browser's own line
    await field.fill(token);
    await page.keyboard.press('Enter');
    await until_health('All is well');
    check(!page.url().includes(token) && await page.evaluate(() => localStorage.length) === 0, 'the token is kept where others find it');
    await page.reload();
    await until_health('All is well');
    await page.getByRole('button', {name: 'Forget the token'}).click();
    await field.waitFor();
    check(await page.evaluate(() => sessionStorage.length) === 0, 'the token was not forgotten');
  },

  async strict({url}) {
    await open(url);
    await until_health('All is well');
    check(/--order strict/.test(await text('lasts-note')), 'it is not said that there is no window');
    check(await page.locator('#window').isHidden() && await page.locator('.chart:visible').count() === 2, 'a window is shown that there is not');
    await look_closely('strict', [1280]);
  },

  async many({url, sequences}) {
    await open(url);
    await until_health('All is well');
    check(await page.locator('#rows tr').count() === sequences.length, `there are ${await page.locator('#rows tr').count()} rows`);
    const last = sequences.at(-1);
    await page.locator('#rows a').nth(sequences.length - 2).focus();
    await page.keyboard.press('Tab');
    check(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle) !== 'none', 'the focus is not seen');
    await page.keyboard.press('Enter');
    await page.locator('#sequence-title', {hasText: last}).waitFor();
    check(await page.locator('#rows a[aria-current]').innerText() === last, 'the chosen sequence is not marked');
    await look_closely('many', [360, 1600]);
  },
};

for await (const line of createInterface({input: process.stdin})) {
  const {scene, ...given} = JSON.parse(line);
  wrong = [];
  let figures = '';
  try {
    figures = await scenes[scene](given) ?? '';
  } catch (error) {
    wrong.push(error.message.replaceAll('\n', ' '));
    await page?.screenshot({path: `${shots}/${scene}-failed.png`, fullPage: true}).catch(() => {});
  }
  console.log([wrong.length ? wrong.join('; ') : 'ok', figures].filter(Boolean).join(' - '));
}
await browser.close();
