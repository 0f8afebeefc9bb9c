// What a page has to have for those who cannot see it, or see it badly: looked up in the page as the browser shows it.

// Whatever has one of these roles says what it is.
const named = ['link', 'button', 'textbox', 'meter', 'table', 'image', 'heading', 'columnheader', 'rowheader', 'region'];

// Sentences: which nodes of the browser's accessibility tree have no name.
export async function nameless(page) {
  const session = await page.context().newCDPSession(page);
  const {nodes} = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes
    .filter(node => !node.ignored && named.includes(node.role?.value) && !node.name?.value?.trim())
    .map(node => `a ${node.role.value} has no name`);
}

// Sentences: which text has less contrast to what lies behind it than WCAG 2 asks for (AA: 4.5, large text 3).
export function faint(page) {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data;
    };
    const luminance = ([r, g, b]) => {
      const [x, y, z] = [r, g, b].map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = element => {
      for (let e = element; e; e = e.parentElement) {
        const colour = rgba(getComputedStyle(e).backgroundColor);
        if (colour[3] === 255) return colour;
      }
      return rgba('white');
    };
    const found = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
      const style = getComputedStyle(element);
      const [low, high] = [luminance(rgba(style.color)), luminance(behind(element))].sort((a, b) => a - b);
      const contrast = (high + 0.05) / (low + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      let opacity = 1;
      for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
      if (opacity < 1 || contrast < (large ? 3 : 4.5))
        found.add(`"${texts.currentNode.data.trim().slice(0, 40)}" has contrast ${contrast.toFixed(2)}, opacity ${opacity}`);
    }
    return [...found];
  });
}

// Sentences: landmarks, headings and live regions that are missing, and tables whose columns have no heads.
export async function unstructured(page) {
  const found = [];
  for (const landmark of ['banner', 'main', 'contentinfo'])
    if (await page.getByRole(landmark).count() !== 1) found.push(`there is not one ${landmark}`);
  if (await page.getByRole('heading', {level: 1}).count() !== 1) found.push('there is not one heading of level 1');
  if (await page.locator('[aria-live=polite]').count() !== 1) found.push('nothing is announced');
  if (!await page.evaluate(() => document.documentElement.lang)) found.push('the language is not said');
  for (const table of await page.getByRole('table').all()) {
    const columns = await table.locator('thead th[scope=col]').count();
    for (const row of await table.locator('tbody tr').all()) {
      const cells = await row.locator('td, th').count(), heads = await row.locator('th[scope=row]').count();
      if (cells !== columns || heads !== 1) found.push('a row of a table has other cells than its head');
    }
  }
  return found;
}
