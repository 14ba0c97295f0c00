// A walk through the page by the key Tab: `begin` says how many controls there are, `end` which of them were not reached or not seen.
//
// Every control must be reached once around, and whatever has the focus must show it: an outline of at least two pixels with a contrast of at
// least 3 against what is around it.
window.walk = {
  begin() {
    const selector = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[tabindex="0"]';
    const groups = new Set();
    this.expected = [...document.querySelectorAll(selector)].filter(one => {
      if (one.disabled || one.tabIndex < 0 || !one.checkVisibility({visibilityProperty: true})) return false;
      // of buttons of which one is chosen the keyboard reaches one
      if (one.type !== 'radio') return true;
      const group = one.name + (one.form ? one.form.action : '');
      return !groups.has(group) && groups.add(group);
    });
    this.reached = [];
    this.unseen = [];
    document.addEventListener('focusin', event => {
      const one = event.target, style = getComputedStyle(one);
      this.reached.push(one);
      const width = parseFloat(style.outlineWidth);
      if (style.outlineStyle === 'none' || width < 2 || /, 0\)$/.test(style.outlineColor)) this.unseen.push(one);
    });
    return this.expected.length;
  },
  end() {
    const called = one => `<${one.tagName.toLowerCase()}${one.id ? ' #' + one.id : ''}> "${(one.textContent || '').trim().slice(0, 40)}"`;
    const is_reached = one => this.reached.some(other => other === one || (one.type === 'radio' && other.name === one.name));
    const missed = this.expected.filter(one => !is_reached(one));
    const wrong = missed.slice(0, 5).map(one => `the key Tab does not reach ${called(one)}`);
    if (missed.length > 5) wrong.push(`… nor ${missed.length - 5} others`);
    return wrong.concat([...new Set(this.unseen)].slice(0, 5).map(one => `${called(one)} has the focus and does not show it`));
  },
}
