// What makes the pages better with a script. Every page works without it, and nothing is stored.
const all = (selector) => document.querySelectorAll(selector);
const announce = (text) => {
  const region = document.getElementById('announce');
  if (region) region.textContent = text;
};

const copiedMs = 2000;

for (const button of all('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    if (!source) return;
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = 'Copied';
      announce('Copied');
      setTimeout(() => {
        button.textContent = 'Copy';
        announce('');
      }, copiedMs);
    } catch {
      // Without HTTPS, or where it is forbidden: it is selected, and the person copies it.
      getSelection()?.selectAllChildren(source);
      announce('Selected. Copy it with your keyboard.');
    }
  });
}

for (const menu of all('[data-menu]')) {
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
  addEventListener('click', (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
}

// A double click sends once.
for (const form of all('form[method=post]')) {
  form.addEventListener('submit', (event) => {
    if ('sent' in form.dataset) event.preventDefault();
    form.dataset.sent = '';
    event.submitter?.setAttribute('aria-disabled', 'true');
  });
}
addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  for (const form of all('[data-sent]')) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll('[aria-disabled]')) button.removeAttribute('aria-disabled');
  }
});

// A page that comes back out of the browser's cache shows no secret again.
addEventListener('pagehide', () => {
  for (const element of all('[data-secret]')) element.textContent = '';
});

// A part that belongs to one choice (`data-when="expires=date"`) is in sight while that is chosen.
for (const part of all('[data-when]')) {
  const [name, value] = part.dataset.when.split('=');
  const update = () => {
    part.hidden = part.closest('form')?.elements[name]?.value !== value;
  };
  part.closest('form')?.addEventListener('change', update);
  addEventListener('pageshow', update);
  update();
}

// The slider of time fills the field beside it, and asks when a pointer lets it go.
for (const slider of all('[data-slider]')) {
  const { form, max } = slider;
  slider.closest('[hidden]').hidden = false;
  slider.addEventListener('input', () => {
    const at = slider.value === max ? '' : new Date(slider.value * 1000).toJSON().slice(0, 19);
    form.as_of.value = at;
    slider.ariaValueText = at || 'Now';
  });
  slider.addEventListener('pointerup', () => form.requestSubmit());
}

document.querySelector('[data-focus]')?.focus();
