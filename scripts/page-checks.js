// What is wrong with the page that is open, as a list of sentences: run in it by scripts/test-desk.
//
// Names of fields, buttons and links are looked at in the browser's own accessibility tree (in scripts/test-desk); here is what that tree
// does not tell: headings, tables, ids, colours against their grounds, sizes of what is to be hit, and whether the page scrolls sideways.
(() => {
  const wrong = [];
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const words = one => (one.textContent || '').replace(/\s+/g, ' ').trim().slice(0, 50);
  const called = one => `<${one.tagName.toLowerCase()}${one.id ? ' #' + one.id : ''}${
    one.className && one.className.baseVal === undefined ? ' .' + one.className : ''}> "${words(one)}"`;
  const is_shown = one => {
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    return style.visibility !== 'hidden' && style.display !== 'none' && box.width > 0 && box.height > 0;
  };
  // for screen readers alone: cut off to a pixel, or far to the left
  const is_cut = one => {
    for (let up = one; up && up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up), box = up.getBoundingClientRect();
      if (box.right < 0 || style.clipPath === 'inset(50%)' || (box.width <= 1 && box.height <= 1)) return true;
    }
    return false;
  };

  // the document
  if (!document.documentElement.lang) wrong.push('html has no lang');
  if (!document.title.trim()) wrong.push('the page has no title');
  if (all('main').length !== 1) wrong.push(`${all('main').length} main, expected 1`);
  if (!document.querySelector('meta[name=viewport]')) wrong.push('no viewport');
  if (all('h1').length !== 1) wrong.push(`${all('h1').length} h1, expected 1`);
  let level = 0;
  for (const heading of all('h1,h2,h3,h4,h5,h6').filter(is_shown)) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) wrong.push(`${called(heading)} comes after a heading of level ${level}`);
    if (!words(heading)) wrong.push(`${called(heading)} is empty`);
    level = now;
  }
  const ids = all('[id]').map(one => one.id);
  for (const id of new Set(ids.filter((id, k) => ids.indexOf(id) !== k))) wrong.push(`the id ${id} is there twice`);
  for (const name of ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls'])
    for (const one of all(`[${name}]`))
      for (const id of one.getAttribute(name).split(/\s+/))
        if (!document.getElementById(id)) wrong.push(`${called(one)}: ${name}="${id}" leads nowhere`);
  for (const link of all('a[href^="#"]'))
    if (!document.getElementById(link.hash.slice(1))) wrong.push(`${called(link)} leads nowhere`);

  // tables
  for (const table of all('table')) {
    if ((!table.caption || !words(table.caption)) && !table.getAttribute('aria-label')) wrong.push(`${called(table)} has no caption`);
    if (!table.querySelector('th')) wrong.push(`${called(table)} has no headers`);
    for (const head of all('th:not([scope])', table)) wrong.push(`${called(head)} has no scope`);
  }
  for (const one of all('*')) {
    const style = getComputedStyle(one);
    const scrolls = ['auto', 'scroll'].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
    if (scrolls && one !== document.documentElement && one !== document.body
        && one.tabIndex < 0 && !one.querySelector('a[href],button,input:not([type=hidden]),select,textarea'))
      wrong.push(`${called(one)} scrolls and the keyboard does not reach it`);
  }

  for (const set of all('fieldset'))
    if (!set.querySelector(':scope > legend') || !words(set.querySelector('legend'))) wrong.push(`${called(set)} has no legend`);

  // pictures
  for (const svg of all('svg')) {
    const hidden = svg.closest('[aria-hidden=true]');
    const name = svg.getAttribute('aria-label') || svg.getAttribute('aria-labelledby') || (svg.querySelector('title') || {}).textContent;
    if (!hidden && !(svg.getAttribute('role') === 'img' && name)) wrong.push(`${called(svg)} has neither a name nor is it hidden`);
  }
  for (const image of all('img:not([alt])')) wrong.push(`${called(image)} has no alt`);
  for (const svg of all('svg').filter(is_shown)) {
    const box = svg.getBoundingClientRect();
    const texts = all('text', svg).filter(is_shown).map(text => [words(text), text.getBoundingClientRect()]);
    texts.forEach(([a, p], i) => {
      if (p.left < box.left - 1 || p.right > box.right + 1 || p.bottom > box.bottom + 1) wrong.push(`"${a}" leaves its chart`);
      for (const [b, q] of texts.slice(i + 1))
        if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 3 && q.top < p.bottom - 3)
          wrong.push(`"${a}" touches "${b}"`);
    });
  }

  // colours: what is behind, laid over each other, and the letters over it
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const rgba = text => {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
  };
  const over = (top, under) => [0, 1, 2].map(k => top[k] * top[3] + under[k] * (1 - top[3])).concat(1);
  const sheet = rgba(matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#ffffff');
  const ground = one => {
    const layers = [];
    for (let up = one; up; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (up.namespaceURI.endsWith('svg') && up.tagName !== 'svg') continue;
      const colour = rgba(style.backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), sheet);
  };
  const light = colour => {
    const [r, g, b] = colour.map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.textContent.trim() || seen.has(one) || !is_shown(one) || is_cut(one)) continue;
    seen.add(one);
    if (['SCRIPT', 'STYLE', 'OPTION'].includes(one.tagName) || one.closest(':disabled')) continue;
    const style = getComputedStyle(one), in_svg = one.namespaceURI.endsWith('svg');
    let behind = ground(one);
    let opacity = 1;
    for (let up = one; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
    const colour = [...rgba(in_svg ? style.fill : style.color)];
    colour[3] *= opacity;
    const found = contrast(over(colour, behind), behind);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const least = size >= 24 || (size >= 18.66 && bold) ? 3 : 4.5;
    if (found < least - 0.005) wrong.push(`${called(one)}: contrast ${found.toFixed(2)}, expected ${least}`);
  }
  for (const field of all('input:not([type=hidden]):not([type=range]):not([type=checkbox]):not([type=radio]),select,textarea').filter(is_shown)) {
    const style = getComputedStyle(field), outside = ground(field.parentElement);
    const found = Math.max(contrast(over(rgba(style.borderTopColor), outside), outside), contrast(ground(field), outside));
    if (found < 2.995) wrong.push(`${called(field)}: its edge has contrast ${found.toFixed(2)}, expected 3`);
  }

  // what is to be hit: 24 pixels, unless it is a word in a sentence or stands alone
  const targets = all('a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button]').filter(is_shown).filter(one => !is_cut(one));
  const boxes = targets.map(one => {
    let box = one.getBoundingClientRect();
    return {one, left: box.left, right: box.right, top: box.top, bottom: box.bottom};
  });
  for (const box of boxes) {
    const {one} = box, width = box.right - box.left, height = box.bottom - box.top;
    if (width >= 23.9 && height >= 23.9) continue;
    const block = one.closest('p,li,td,dd,caption,label,div');
    const is_in_sentence = getComputedStyle(one).display === 'inline' && block && words(block).length > words(one).length + 3;
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    const is_alone = boxes.every(other => other.one === one || other.one.contains(one) || one.contains(other.one)
      || Math.hypot(Math.max(other.left - x, x - other.right, 0), Math.max(other.top - y, y - other.bottom, 0)) >= 12);
    if (!is_in_sentence && !is_alone) wrong.push(`${called(one)} is ${width.toFixed(0)} by ${height.toFixed(0)} pixels, expected 24`);
  }

  // nothing scrolls sideways
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    const out = all('body *').filter(is_shown).find(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll'));
    wrong.push(`the page is ${wide} pixels wide on a screen of ${innerWidth}${out ? ': ' + called(out) : ''}`);
  }
  return [...new Set(wrong)];
})()
